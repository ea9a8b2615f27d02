//! Numbered tables without duplicates.

use std::hash::Hash;

use rustc_hash::FxHashMap;

pub struct Table<T> {
    items: Vec<T>,
    ids: FxHashMap<T, u64>,
}

impl<T: Clone + Eq + Hash> Table<T> {
    pub fn starting_with(items: &[T]) -> Self {
        let mut table = Self {
            items: items.to_vec(),
            ids: FxHashMap::default(),
        };
        for (item, id) in items.iter().zip(0..) {
            table.ids.entry(item.clone()).or_insert(id);
        }
        table
    }

    /// The number of `item`, which is added if it is new.
    pub fn id(&mut self, item: &T) -> u64 {
        if let Some(&id) = self.ids.get(item) {
            return id;
        }
        let id = self.items.len() as u64;
        self.items.push(item.clone());
        self.ids.insert(item.clone(), id);
        id
    }

    pub fn items(&self) -> &[T] {
        &self.items
    }
}
