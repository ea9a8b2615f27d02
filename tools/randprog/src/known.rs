//! Runs that agreed before. A run depends on its code, launch, memory, interleaving and the simulator alone: where none of
//! these has changed, it need not be done again, and a new compiler is tried on the programs of an older one at the price
//! of compiling them.

use std::collections::HashSet;
use std::fs::File;
use std::hash::Hash;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use siphasher::sip128::{Hasher128, SipHasher13};

/// The simulator's source, from `build.rs`.
const SIMULATOR: &str = env!("SIMULATOR");

/// What a run is known by: a hash of all that it depends on.
pub type Key = u128;

const WIDTH: usize = size_of::<Key>();

pub fn key(run: impl Hash) -> Key {
    let mut hasher = SipHasher13::new();
    (SIMULATOR, run).hash(&mut hasher);
    hasher.finish128().as_u128()
}

/// A file of keys, which grows as runs agree. One process at a time may have it open.
pub struct Known {
    inner: Mutex<Inner>,
}

struct Inner {
    keys: HashSet<Key>,
    file: File,
}

impl Known {
    /// Opens the file, or makes an empty one. A key that was cut off at its end is dropped.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut options = File::options();
        let mut file = options.read(true).append(true).create(true).open(path)?;
        file.try_lock()?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let (keys, rest) = bytes.as_chunks::<WIDTH>();
        if !rest.is_empty() {
            file.set_len((bytes.len() - rest.len()) as u64)?;
        }
        let keys = keys.iter().copied().map(Key::from_le_bytes).collect();
        let inner = Mutex::new(Inner { keys, file });
        Ok(Self { inner })
    }

    pub fn contains(&self, key: Key) -> bool {
        self.lock().keys.contains(&key)
    }

    /// Notes a run that agreed. Where the file cannot be written, the run is done again another time.
    pub fn add(&self, key: Key) {
        let mut inner = self.lock();
        if inner.keys.insert(key) {
            let _ = inner.file.write_all(&key.to_le_bytes());
        }
    }

    pub fn len(&self) -> usize {
        self.lock().keys.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
