//! Images: what `cuModuleLoadData` and its relatives are given.
//!
//! Tile IR bytecode is compiled here, for the emulated target; PTX text is taken as it is; a cubin or a fatbin must carry
//! one of the two. PTX of tilec carries its launch manifest as a variable.

mod bytes;
mod container;
mod fatbin;
mod keep;
mod manifest;
mod measure;

pub use container::{Opened, Tile, manifest_of_cubin, open, packed, tile};
pub use measure::measure;

use crate::call::refuse;
use crate::settings::{say, settings};
use crate::status::{Result, Status};
use ptxsim::manifest::Manifest;
use ptxsim::program::Program;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::hash::{BuildHasher, Hasher};
use std::sync::{Arc, Mutex};
use tilec::compile::{Options, to_ptx};

/// What is in an image.
#[derive(Debug, PartialEq, Eq)]
pub enum Source {
    /// PTX text
    Ptx(String),
    /// Tile IR bytecode
    Tile(Vec<u8>),
}

/// An image, ready to launch kernels of.
pub struct Compiled {
    /// the parsed text
    pub ptx: ptxsim::Module,
    /// the text, for messages
    pub text: Arc<str>,
    /// how tilec's own kernels are launched
    pub manifest: Option<Manifest>,
    /// the Tile IR that it was compiled from
    pub tile: Option<Vec<u8>>,
    /// decoded entries, where no variable has a place of its own in each loaded module
    pub programs: Mutex<FxHashMap<String, Arc<Program>>>,
}

/// Why an image cannot be used, in words, and the driver's number for it.
pub type Refusal = (Status, String);

/// Compiles an image, or finds that it has been compiled before.
pub fn compile(image: &[u8]) -> Result<Arc<Compiled>> {
    let key = digest(image);
    if let Some(found) = CACHE.lock().unwrap_or_else(|p| p.into_inner()).get(key) {
        return Ok(found);
    }
    let Opened { source, packed } =
        container::open(image).or_else(|(status, why)| refuse(status, why))?;
    if !settings().manifests && (packed || matches!(source, Source::Tile(_))) {
        return refuse(
            Status::INVALID_IMAGE,
            "Tile IR, and what tilec packs for the emulated driver, is no image here",
        );
    }
    if let (Source::Tile(bytes), Some(folder)) = (&source, &settings().keep)
        && let Err(e) = keep::write(folder, key, bytes)
    {
        say(format_args!("cannot keep a module: {e}"));
    }
    let compiled = build(source).or_else(|(status, why)| refuse(status, why))?;
    let compiled = Arc::new(compiled);
    let mut cache = CACHE.lock().unwrap_or_else(|p| p.into_inner());
    cache.add(key, &compiled);
    Ok(compiled)
}

fn build(source: Source) -> std::result::Result<Compiled, Refusal> {
    let (text, manifest, tile) = match source {
        Source::Tile(bytes) => {
            let (text, json) = from_tile(&bytes, settings().target)?;
            let manifest = read_manifest(&json)?;
            (text, Some(manifest), Some(bytes))
        }
        Source::Ptx(text) => match manifest::split(&text) {
            Some((rest, json)) => (rest, Some(read_manifest(&json)?), None),
            None => (text, None, None),
        },
    };
    let ptx = ptxsim::Module::new(text.as_str()).map_err(|e| {
        let line = line(&text, e.line);
        (
            Status::INVALID_PTX,
            format!("the PTX cannot be read: {e}{line}"),
        )
    })?;
    Ok(Compiled {
        ptx,
        text: text.into(),
        manifest,
        tile,
        programs: Mutex::default(),
    })
}

/// The manifest of a module.
pub fn read_manifest(json: &str) -> std::result::Result<Manifest, Refusal> {
    Manifest::parse(json).map_err(|e| {
        let why = format!("the launch manifest in the image cannot be read: {e}");
        (Status::INVALID_IMAGE, why)
    })
}

/// PTX and manifest of Tile IR bytecode.
pub fn from_tile(
    bytes: &[u8],
    target: tilec::target::Target,
) -> std::result::Result<(String, String), Refusal> {
    let module = tilec::input::bytecode(bytes)
        .map_err(|e| (Status::INVALID_IMAGE, format!("the Tile IR bytecode: {e}")))?;
    let kernel = to_ptx(module, &Options::new(target))
        .map_err(|e| (Status::INVALID_IMAGE, format!("tilec for {target}: {e}")))?;
    let json = kernel.manifest.to_json();
    let json = json.map_err(|e| (Status::INVALID_IMAGE, e.to_string()))?;
    Ok((kernel.ptx, json))
}

/// The JSON of the manifest in a PTX text.
pub fn manifest_in(text: &str) -> Option<String> {
    Some(manifest::split(text)?.1)
}

/// A line of a text, to stand behind a message that names its number.
pub fn line(text: &str, number: u32) -> String {
    let found = (number as usize)
        .checked_sub(1)
        .and_then(|i| text.lines().nth(i));
    found.map_or(String::new(), |l| format!("\n  {number} | {}", l.trim()))
}

/// Two hashes of the bytes: 128 bits, so that no two images of a process meet.
fn digest(bytes: &[u8]) -> (u64, u64) {
    let mut second = rustc_hash::FxBuildHasher.build_hasher();
    second.write(bytes);
    second.write_usize(bytes.len());
    let mut first = std::hash::DefaultHasher::new();
    first.write(bytes);
    (first.finish(), second.finish())
}

/// The images compiled last.
struct Cache {
    entries: VecDeque<((u64, u64), Arc<Compiled>)>,
    bytes: usize,
}

/// Bytes of PTX text that the cache may hold.
const CACHE_BYTES: usize = 32 << 20;

static CACHE: Mutex<Cache> = Mutex::new(Cache {
    entries: VecDeque::new(),
    bytes: 0,
});

impl Cache {
    fn get(&mut self, key: (u64, u64)) -> Option<Arc<Compiled>> {
        let at = self.entries.iter().position(|e| e.0 == key)?;
        // Used last, forgotten last.
        let entry = self.entries.remove(at)?;
        let found = Arc::clone(&entry.1);
        self.entries.push_back(entry);
        Some(found)
    }

    fn add(&mut self, key: (u64, u64), image: &Arc<Compiled>) {
        self.bytes += image.text.len();
        self.entries.push_back((key, Arc::clone(image)));
        while self.bytes > CACHE_BYTES
            && self.entries.len() > 1
            && let Some((_, old)) = self.entries.pop_front()
        {
            self.bytes -= old.text.len();
        }
    }
}
