//! Which clusters of a launch are recorded.

/// Clusters that are recorded of a large grid.
const SAMPLES: u64 = 5;

/// Clusters whose reading is compared.
const NEIGHBOURS: u64 = 16;

/// Which clusters are recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sampling {
    /// their numbers, ascending
    pub clusters: Vec<u64>,
    /// clusters that follow one another, of which only the memory that they read is kept: what they share tells how much
    /// of a wave's reading L2 answers
    pub neighbours: std::ops::Range<u64>,
    /// The others do not run, and matrix products are not computed: results mean nothing then, and kernels whose
    /// control flow depends on them, or on other clusters, cannot be timed so.
    pub only: bool,
}

impl Sampling {
    /// A few clusters of a grid of so many along each axis, spread evenly along each: not all of one column, since
    /// clusters of a column often do as much.
    pub fn spread(shape: [u32; 3], only: bool) -> Sampling {
        let [x, y, z] = shape.map(u64::from);
        let total = x * y * z;
        let last = SAMPLES - 1;
        let at = |extent: u64, i: u64| extent.saturating_sub(1) * i / last;
        // Along other axes in other orders, so that what differs along one is told from what differs along another.
        let serial = |i: u64| at(x, i) + x * (at(y, 2 * i % SAMPLES) + y * at(z, 3 * i % SAMPLES));
        let mut clusters: Vec<u64> = (0..SAMPLES.min(total)).map(serial).collect();
        clusters.sort_unstable();
        clusters.dedup();
        let from = (total / 2).min(total.saturating_sub(NEIGHBOURS));
        Sampling {
            clusters,
            neighbours: from..total.min(from + NEIGHBOURS),
            only,
        }
    }

    /// These and one more.
    pub fn with(mut self, cluster: u64) -> Sampling {
        if let Err(at) = self.clusters.binary_search(&cluster) {
            self.clusters.insert(at, cluster);
        }
        self
    }

    /// All clusters that must run.
    pub fn all(&self) -> Vec<u64> {
        let mut all: Vec<u64> = self
            .clusters
            .iter()
            .copied()
            .chain(self.neighbours.clone())
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}
