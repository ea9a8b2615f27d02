//! Compiles the kernels with the pinned toolkit and runs them.
#![allow(dead_code)]

#[path = "../../../../tests/common/toolkit.rs"]
pub mod toolkit;

use ptxsim::{Launch, Module};
use std::path::{Path, PathBuf};
use std::process::Command;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// PTX of `tests/kernels/NAME.cu` for `arch`, compiled once per change of the source.
pub fn nvcc(name: &str, arch: &str) -> String {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/kernels/{name}.cu"));
    let folder = repository().join("target/ptxsim-kernels");
    std::fs::create_dir_all(&folder).unwrap();
    let text = std::fs::read_to_string(&source).unwrap();
    let tag = text.bytes().fold(0xcbf2_9ce4_8422_2325u64, |h, b| {
        (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3)
    });
    let output = folder.join(format!("{name}-{arch}-{tag:016x}.ptx"));
    // Tests of one process compile a file once.
    static COMPILING: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _guard = COMPILING.lock().unwrap_or_else(|p| p.into_inner());
    if !output.exists() {
        let temporary = folder.join(format!("{name}-{arch}-{}.tmp", std::process::id()));
        let status = Command::new(toolkit::nvcc())
            .args(["-ptx", "-std=c++17", &format!("-arch={arch}"), "-o"])
            .arg(&temporary)
            .arg(&source)
            .output()
            .unwrap();
        assert!(
            status.status.success(),
            "nvcc: {}",
            String::from_utf8_lossy(&status.stderr)
        );
        std::fs::rename(&temporary, &output).unwrap();
    }
    std::fs::read_to_string(output).unwrap()
}

/// Values as little-endian bytes and back.
pub trait Plain: Copy {
    const SIZE: usize;
    fn put(self, out: &mut Vec<u8>);
    fn get(bytes: &[u8]) -> Self;
}

macro_rules! plain {
    ($($t:ty),*) => { $(impl Plain for $t {
        const SIZE: usize = size_of::<$t>();
        fn put(self, out: &mut Vec<u8>) { out.extend_from_slice(&self.to_le_bytes()) }
        fn get(bytes: &[u8]) -> Self { <$t>::from_le_bytes(bytes.try_into().unwrap()) }
    })* };
}
plain!(u8, u16, u32, u64, i8, i16, i32, i64, f32, f64);

pub fn bytes<T: Plain>(values: &[T]) -> Vec<u8> {
    let mut out = Vec::new();
    values.iter().for_each(|v| v.put(&mut out));
    out
}

pub fn values<T: Plain>(bytes: &[u8]) -> Vec<T> {
    bytes.chunks_exact(T::SIZE).map(T::get).collect()
}

/// A deterministic stream for test data.
pub struct Stream(pub u64);

impl Stream {
    pub fn bits(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        self.0 ^ self.0 >> 29
    }
    /// uniform in [-1, 1)
    pub fn real(&mut self) -> f32 {
        (self.bits() >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    }
    pub fn reals(&mut self, n: usize) -> Vec<f32> {
        (0..n).map(|_| self.real()).collect()
    }
}

/// Loads `entry` of a kernel file.
pub fn program(name: &str, arch: &str, entry: &str) -> ptxsim::program::Program {
    let module = Module::new(nvcc(name, arch)).unwrap_or_else(|e| panic!("{name}: {e}"));
    module
        .entry(Some(entry))
        .unwrap_or_else(|e| panic!("{name}.{entry}: {e}"))
}

/// Runs and panics with the fault.
pub fn run(launch: &mut Launch<'_>) -> ptxsim::Report {
    launch.run().unwrap_or_else(|e| panic!("{e}"))
}
