//! Layouts that types refer to, interned.

use rustc_hash::FxHashMap;

use crate::layout::Layout;

/// The interner of the layouts of one module.
#[derive(Default, Clone, Debug)]
pub struct LayoutTable {
    list: Vec<Layout>,
    ids: FxHashMap<Layout, u32>,
}

impl LayoutTable {
    /// The number of `layout`, the same for equal layouts.
    pub fn intern(&mut self, layout: Layout) -> u32 {
        if let Some(&id) = self.ids.get(&layout) {
            return id;
        }
        let id = self.list.len() as u32;
        self.list.push(layout.clone());
        self.ids.insert(layout, id);
        id
    }

    /// The layout behind a number of this table.
    pub fn get(&self, id: u32) -> &Layout {
        &self.list[id as usize]
    }

    pub fn iter(&self) -> impl Iterator<Item = (u32, &Layout)> {
        self.list.iter().enumerate().map(|(i, l)| (i as u32, l))
    }
}
