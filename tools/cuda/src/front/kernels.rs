//! Which of the real driver's handles stand for kernels of tilec's.

use ptxsim::manifest::{EntryManifest, Manifest};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

/// A kernel of tilec's.
#[derive(Clone)]
pub struct Kernel {
    /// how it is launched
    pub entry: Arc<EntryManifest>,
    /// a kernel of a library, not a function of a module
    pub of_library: bool,
    /// the module or library that it is of
    pub home: u64,
}

#[derive(Default)]
struct Known {
    homes: BTreeMap<u64, Arc<Manifest>>,
    kernels: BTreeMap<u64, Kernel>,
}

static KNOWN: Mutex<Known> = Mutex::new(Known {
    homes: BTreeMap::new(),
    kernels: BTreeMap::new(),
});

fn lock() -> MutexGuard<'static, Known> {
    KNOWN.lock().unwrap_or_else(|p| p.into_inner())
}

/// Remembers a module or a library.
pub fn add_home(home: u64, manifest: Option<Arc<Manifest>>) {
    let mut known = lock();
    // The driver may use the number of one that is gone.
    known.homes.remove(&home);
    if let Some(manifest) = manifest {
        known.homes.insert(home, manifest);
    }
}

/// The manifest of a module or a library.
pub fn home(home: u64) -> Option<Arc<Manifest>> {
    lock().homes.get(&home).cloned()
}

/// Forgets a module or a library with its kernels.
pub fn remove_home(home: u64) {
    let mut known = lock();
    known.homes.remove(&home);
    known.kernels.retain(|_, k| k.home != home);
}

/// Remembers a kernel by the name of its entry.
pub fn add(handle: u64, home: u64, name: &str, of_library: bool) -> Option<Kernel> {
    let mut known = lock();
    let manifest = known.homes.get(&home)?;
    let entry = manifest.entries.iter().find(|e| e.name == name)?;
    let kernel = Kernel {
        entry: Arc::new(entry.clone()),
        of_library,
        home,
    };
    known.kernels.insert(handle, kernel.clone());
    Some(kernel)
}

/// The function of a kernel is the same kernel.
pub fn same(function: u64, kernel: u64) -> Option<Kernel> {
    let mut known = lock();
    let mut found = known.kernels.get(&kernel)?.clone();
    if function != kernel {
        found.of_library = false;
        known.kernels.insert(function, found.clone());
    }
    Some(found)
}

/// A kernel by its handle.
pub fn get(handle: u64) -> Option<Kernel> {
    lock().kernels.get(&handle).cloned()
}
