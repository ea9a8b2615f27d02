//! A value for each class, as a vector over class numbers.

use egg::Id;

use super::analysis::Graph;

/// A value of type `T` for each class of a graph that gets no further ones; at first the default.
pub struct ByClass<T>(Vec<T>);

impl<T: Default> ByClass<T> {
    pub fn new(graph: &Graph) -> Self {
        // Classes are numbered as their first nodes are; merged ones keep a number of theirs.
        let mut values = Vec::new();
        values.resize_with(graph.nodes().len(), T::default);
        ByClass(values)
    }
}

impl<T> ByClass<T> {
    /// The value of a class made since is `None`.
    pub fn get(&self, id: Id) -> Option<&T> {
        self.0.get(usize::from(id))
    }

    pub fn get_mut(&mut self, id: Id) -> Option<&mut T> {
        self.0.get_mut(usize::from(id))
    }

    /// Does nothing for a class made since.
    pub fn set(&mut self, id: Id, value: T) {
        if let Some(slot) = self.get_mut(id) {
            *slot = value;
        }
    }
}
