//! Vector clocks.

/// A vector clock; missing components are 0.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Clock(Vec<u32>);

impl Clock {
    /// A component.
    #[inline]
    pub fn get(&self, component: usize) -> u32 {
        self.0.get(component).copied().unwrap_or(0)
    }

    /// Sets a component.
    pub fn set(&mut self, component: usize, value: u32) {
        if self.0.len() <= component {
            self.0.resize(component + 1, 0);
        }
        self.0[component] = value;
    }

    /// Raises a component to at least `value`.
    pub fn raise(&mut self, component: usize, value: u32) {
        if self.get(component) < value {
            self.set(component, value);
        }
    }

    /// One more step of a component.
    pub fn bump(&mut self, component: usize) {
        self.set(component, self.get(component) + 1);
    }

    /// The least clock that is no earlier than either.
    pub fn join(&mut self, other: &Clock) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (a, &b) in self.0.iter_mut().zip(&other.0) {
            *a = (*a).max(b);
        }
    }
}
