//! Longer runs of elements in each thread, without moving elements between warps.

use super::{In, Layout, LayoutError};

impl Layout {
    /// The layout in which each warp holds what it holds in this one, and each thread `run` elements (a power of two)
    /// next to each other in a walk of the tile in `order`: registers take the steps within a run from lanes, which take
    /// the next steps of the walk that registers have. None where warps have a step within a run, or registers no other.
    ///
    /// ```
    /// use tilec::layout::{Layout, Shape};
    /// // A 16x8 fragment of mma.sync, twice along each row.
    /// let shape = Shape::new(&[16, 16]).unwrap();
    /// let [row, rows] = [[1, 2, 4, 8], [16, 32, 64, 128]];
    /// let register = vec![row[0], row[3], rows[3]];
    /// let lane = vec![row[1], row[2], rows[0], rows[1], rows[2]];
    /// let fragment = Layout::distributed(shape, register, lane, vec![]).unwrap();
    /// assert_eq!(
    ///     fragment.with_runs(&[1, 0], 4).unwrap().to_string(),
    ///     "16x16: reg [(0,1),(0,2),(8,0)] lane [(0,8),(0,4),(1,0),(2,0),(4,0)] warp []"
    /// );
    /// assert!(fragment.with_runs(&[1, 0], 32).is_none());
    /// ```
    pub fn with_runs(&self, order: &[usize], run: u64) -> Option<Layout> {
        let walk = self.shape().units(order).ok()?;
        let bits = run.checked_ilog2()? as usize;
        let (within, behind) = (walk.get(..bits)?, walk.get(bits..)?);
        let [mut register, mut lane] = [In::Register, In::Lane].map(|i| self.bases(i).to_vec());
        for &step in within
            .iter()
            .filter(|s| !self.bases(In::Register).contains(s))
        {
            let taken = lane.iter_mut().find(|l| **l == step)?;
            let given = behind.iter().find(|s| register.contains(s))?;
            let place = register.iter_mut().find(|r| *r == given)?;
            std::mem::swap(taken, place);
        }
        let at = |r: &u64| walk.iter().position(|s| s == r).unwrap_or(walk.len());
        register.sort_by_key(at);
        let warp = self.bases(In::Warp).to_vec();
        Layout::distributed(self.shape().clone(), register, lane, warp).ok()
    }

    /// Lanes of a warp whose runs of `run` elements lie side by side, walking the tile in `order`.
    ///
    /// # Errors
    /// Where `order` does not have each dimension once.
    pub fn neighbours(&self, order: &[usize], run: u64) -> Result<u64, LayoutError> {
        let walk = self.shape().units(order)?;
        let within = run.checked_ilog2().unwrap_or(0) as usize;
        let lanes = self.bases(In::Lane);
        let beside = walk.iter().skip(within).take_while(|s| lanes.contains(s));
        Ok(1 << beside.count())
    }
}
