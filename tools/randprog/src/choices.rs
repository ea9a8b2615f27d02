//! The decisions that make a program: a stream of numbers, drawn at random or replayed. Shrinking edits the
//! recorded stream, so that whatever it yields is again a program of the generator, with its promises.

/// A recorded or growing stream of decisions.
pub struct Choices {
    /// What was drawn so far, each below the bound it was drawn with.
    pub taken: Vec<u32>,
    replay: Vec<u32>,
    /// State of the generator behind the replayed part; `None`: zeros follow.
    state: Option<u64>,
}

impl Choices {
    /// Decisions that `seed` makes.
    pub fn random(seed: u64) -> Self {
        // Neighbouring seeds must not begin alike.
        let mut state = seed ^ 0x9e37_79b9_7f4a_7c15;
        for _ in 0..4 {
            step(&mut state);
        }
        Self {
            taken: Vec::new(),
            replay: Vec::new(),
            state: Some(state),
        }
    }

    /// Decisions made before, then zeros: the simplest of each.
    pub fn replay(taken: Vec<u32>) -> Self {
        Self {
            taken: Vec::new(),
            replay: taken,
            state: None,
        }
    }

    /// Decisions that bytes make, two each, as a fuzzer has them.
    pub fn bytes(data: &[u8]) -> Self {
        let pair = |c: &[u8]| u32::from(c[0]) | c.get(1).map_or(0, |&b| u32::from(b) << 8);
        Self::replay(data.chunks(2).map(pair).collect())
    }

    /// A number below `n`; the smaller, the simpler.
    pub fn below(&mut self, n: usize) -> usize {
        let n = n.max(1) as u64;
        let drawn = match self.replay.get(self.taken.len()) {
            Some(&value) => u64::from(value) % n,
            None => match &mut self.state {
                Some(state) => (step(state) >> 33) % n,
                None => 0,
            },
        };
        self.taken.push(drawn as u32);
        drawn as usize
    }

    /// Whether something happens that does in `percent` of all cases; "no" is the simpler.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) >= 100 - percent
    }

    /// One of a list, the first the simplest.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        let at = self.below(from.len());
        from[at]
    }

    /// One of a list by weights.
    pub fn weighted<T: Copy>(&mut self, from: &[(T, usize)]) -> T {
        let total: usize = from.iter().map(|f| f.1).sum();
        let mut at = self.below(total);
        for &(value, weight) in from {
            if at < weight {
                return value;
            }
            at -= weight;
        }
        from[0].0
    }
}

/// One step of a 64-bit linear congruential generator with a mixed output (Steele, Lea and Flood, "Fast
/// splittable pseudorandom number generators", 2014: SplitMix64).
pub fn step(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
