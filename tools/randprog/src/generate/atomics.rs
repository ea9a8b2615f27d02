//! Atomic updates whose order does not matter, and those of which only one meets each element.

use super::Gen;
use crate::program::Fill;
use crate::types::{Elem, Fact, Tile, anything};

/// Iterations that a loop of the generator has, at most.
const MOST_ITERATIONS: f64 = 8.0;

/// How memory is updated.
pub(super) struct Update<'a> {
    /// The memory ordering and its scope.
    pub scope: &'a str,
    pub mode: &'a str,
    pub mask: Option<&'a Tile>,
    /// The token that it follows.
    pub after: Option<&'a str>,
}

impl Gen {
    pub(super) fn atomic(&mut self) {
        let shape = self.shape();
        let elem = self.c.weighted(&[
            (Elem::I32, 5),
            (Elem::I(64), 2),
            (Elem::F32, 3),
            (Elem::F64, 1),
        ]);
        let argument = if elem.is_float() {
            let blocks: f64 = self.grid.iter().map(|&g| f64::from(g)).product();
            let times = blocks
                * MOST_ITERATIONS.powi(self.around.len() as i32)
                * shape.iter().product::<u64>() as f64;
            let fits = |t: &Tile| {
                let x = t.float();
                let sums_exactly = |q: i32| x.max() * times <= 2f64.powi(elem.precision() + q);
                x.is_exact() && x.is_finite() && x.quantum.is_some_and(sums_exactly)
            };
            self.operand_where(elem, &shape, &fits)
        } else {
            self.operand(elem, &shape)
        };
        let mode = if elem.is_float() {
            "addf"
        } else {
            self.c
                .pick(&["add", "max", "min", "umax", "umin", "and", "or", "xor"])
        };
        let scope = self.c.pick(&[
            "relaxed device",
            "acq_rel device",
            "relaxed sys",
            "release device",
        ]);
        if self.c.chance(30)
            && let Some((number, total)) = self.exclusive()
        {
            return self.alone(&argument, (&number, total), scope, mode);
        }
        let size = 1 << self.c.below(6);
        let x = self.operand(Elem::I32, &shape);
        let mask = self.int_constant(Elem::I32, &shape, size - 1);
        let offsets = self.int_op("andi", &x, &mask);
        let fill = if elem.is_float() {
            Fill::Zero
        } else {
            Fill::Whole(-5, 5)
        };
        let base = self.buffer(elem, size as usize, fill, 0.0);
        self.update(&base, &offsets, &argument, scope, mode);
    }

    fn update(
        &mut self,
        base: &str,
        offsets: &Tile,
        argument: &Tile,
        scope: &str,
        mode: &str,
    ) -> String {
        let mask = if self.c.chance(30) {
            Some(self.condition(&argument.shape))
        } else {
            None
        };
        let pointers = self.pointers(base, argument.elem, offsets);
        let how = Update {
            scope,
            mode,
            mask: mask.as_ref(),
            after: None,
        };
        let (name, _) = self.atomic_rmw(&pointers, argument, &how);
        if mask.is_some() { String::new() } else { name }
    }

    /// An update through pointers of this type: its result and its token.
    pub(super) fn atomic_rmw(
        &mut self,
        (pointers, ty): &(String, String),
        argument: &Tile,
        how: &Update,
    ) -> (String, String) {
        let (name, token) = (self.fresh(), self.fresh());
        let mask = how
            .mask
            .map(|m| (format!(", {}", m.name), format!(", {}", m.ty())));
        let (mask, mask_type) = mask.unwrap_or_default();
        let after = how.after.map(|t| format!(" token={t}")).unwrap_or_default();
        let own = argument.ty();
        self.line(&format!(
            "{name}, {token} = atomic_rmw_tko {} {pointers}, {}, {}{mask}{after} : {ty}, {own}{mask_type} -> {own}, token",
            how.scope, how.mode, argument.name
        ));
        (name, token)
    }

    /// Each element by one update, whose result is then known.
    fn alone(&mut self, argument: &Tile, (number, total): (&Tile, u64), scope: &str, mode: &str) {
        let count: u64 = argument.shape.iter().product();
        let fill = if argument.elem.is_float() {
            Fill::Zero
        } else {
            Fill::Whole(-9, 9)
        };
        let base = self.buffer(argument.elem, (total * count) as usize, fill, 0.0);
        let offsets = self.linear(&argument.shape, Some(number));
        let name = self.update(&base, &offsets, argument, scope, mode);
        if !name.is_empty() {
            let fact = match fill.fact(argument.elem) {
                Fact::Int { .. } => anything(argument.elem),
                known => known,
            };
            self.env.push(Tile {
                name,
                fact,
                ..argument.clone()
            });
        }
    }
}
