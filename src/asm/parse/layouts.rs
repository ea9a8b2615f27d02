//! `#layout3 = 16x16: reg [(0,1)] lane […] warp […]`, and `layout=3` in types.

use super::cursor::Result;
use super::state::Parser;
use crate::layout::{In, Layout, Shape};

impl Parser<'_> {
    /// What stands behind the `=` of a definition that begins `at`.
    pub fn layout_definition(&mut self, number: u32, at: usize) -> Result<()> {
        let layout = self.layout()?;
        let id = self.module.layouts.intern(layout);
        match self.layouts.insert(number, id) {
            None => Ok(()),
            Some(_) => {
                let message = format!("layout {number} is defined twice");
                Err(self.c.error_at(at, message))
            }
        }
    }

    /// `, layout=n`: the layout that was defined with this number.
    pub fn layout_parameter(&mut self) -> Result<u32> {
        let number = self.parameter("layout")?;
        self.layouts.get(&number).copied().ok_or_else(|| {
            self.c.error(format!(
                "layout {number} is not defined: a line '#layout{number} = …' before the module says what it is"
            ))
        })
    }

    /// What [`Layout`]'s `Display` writes.
    fn layout(&mut self) -> Result<Layout> {
        let at = self.c.offset();
        let wrong = |p: &Self, message: String| p.c.error_at(at, message);
        let mut extents = Vec::new();
        if !self.c.eat("scalar") {
            extents.push(self.c.integer()? as u64);
            while self.c.eat_char(b'x') {
                extents.push(self.c.integer()? as u64);
            }
        }
        self.c.expect(":")?;
        let shape = Shape::new(&extents).map_err(|e| wrong(self, e.to_string()))?;
        let mut bases: [Vec<u64>; In::ALL.len()] = Default::default();
        while let Some(input) = In::ALL.iter().position(|&i| self.c.eat(i.name())) {
            self.c.expect("[")?;
            while !self.c.eat("]") {
                let vector = self.coordinates(&shape)?;
                bases[input].push(vector);
                self.c.eat(",");
            }
        }
        Layout::new(shape, bases).map_err(|e| wrong(self, e.to_string()))
    }

    /// `(1,0)`: the element that a bit of a layout's input leads to.
    fn coordinates(&mut self, shape: &Shape) -> Result<u64> {
        let at = self.c.offset();
        self.c.expect("(")?;
        let mut all = Vec::new();
        while !self.c.eat(")") {
            all.push(self.c.integer()? as u64);
            self.c.eat(",");
        }
        let inside = all.len() == shape.rank()
            && all
                .iter()
                .zip(shape.extents())
                .all(|(&c, extent)| c < extent);
        match inside {
            true => Ok(shape.flatten(&all)),
            false => {
                let message = format!("{all:?} is no element of a {shape} tile");
                Err(self.c.error_at(at, message))
            }
        }
    }
}
