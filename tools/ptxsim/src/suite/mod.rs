//! Suites: launches with their inputs and right outputs, as a file describes them.
//!
//! `tests/kernels/foreign.py` and `tools/gpu-check/pack` write such files; the tests run them in the simulator,
//! `gpu-check --suite` on a GPU as well. Paths in a file count from the file's folder.

mod compare;

pub use compare::{both_nan, compare};

use crate::program::Program;
use crate::tensormap::{
    Atomicity, Element, Fill, Im2col, Im2colMode, Interleave, MapBase, Swizzle,
};
use crate::{Arg, Buffer, Launch, TensorMap};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// Name of the file that lists the cases of a suite.
pub const FILE: &str = "suite.json";

/// One launch.
#[derive(Debug, Deserialize)]
pub struct Case {
    /// kernel and target
    pub name: String,
    /// what tells launches of one kernel apart
    #[serde(default)]
    pub label: String,
    /// PTX name of the entry
    pub entry: String,
    /// PTX text
    pub ptx: PathBuf,
    /// machine code of the same text, by ptxas
    #[serde(default)]
    pub cubin: Option<PathBuf>,
    /// blocks
    pub grid: [u32; 3],
    /// threads per block; what the entry asks for by default
    pub block: Option<[u32; 3]>,
    /// blocks per cluster; what the entry asks for by default
    pub cluster: Option<[u32; 3]>,
    /// dynamic shared memory in bytes
    pub shared: u32,
    /// whether all blocks must be on the device at once
    #[serde(default)]
    pub cooperative: bool,
    /// in PTX order
    pub args: Vec<Parameter>,
    /// device memory
    pub buffers: Vec<BufferFile>,
    /// what the kernel prints, its lines in any order
    pub stdout: Option<String>,
    /// words of what the simulator must report; then there are no right answers, and no GPU should run it
    #[serde(default)]
    pub fault: Option<String>,
}

/// An argument.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Parameter {
    /// the address of a buffer, by index
    Buffer(usize),
    /// plain bytes
    Bytes(Vec<u8>),
    /// a tensor map
    Map(Box<Map>),
}

/// A tensor map over a buffer; dimensions innermost first.
#[derive(Debug, Deserialize)]
pub struct Map {
    /// index of the buffer
    pub buffer: usize,
    /// bytes between its start and the tensor's
    #[serde(default)]
    pub offset: u64,
    /// element type, as [`Element::parse`] has it
    pub element: String,
    /// extents in elements
    pub dims: Vec<u64>,
    /// strides in bytes of dimensions 1 and up
    pub strides: Vec<u64>,
    /// box in elements
    #[serde(rename = "box")]
    pub extents: Vec<u32>,
    /// `none`, `32B`, `64B` or `128B`
    pub swizzle: String,
    /// what the swizzle keeps together: `16B`, `32B`, `32B flip 8B` or `64B`
    #[serde(default = "chunk")]
    pub atomicity: String,
    /// `none`, `16B` or `32B`
    #[serde(default = "none")]
    pub interleave: String,
    /// `zero` or `nan`
    pub fill: String,
    /// steps between elements; 1 where the list ends
    pub element_strides: Vec<u32>,
    /// what makes it gather pixels
    pub im2col: Option<Gather>,
}

fn none() -> String {
    "none".into()
}

fn chunk() -> String {
    "16B".into()
}

/// Corners by spatial dimension, innermost first.
#[derive(Debug, Deserialize)]
pub struct Gather {
    /// lower corner of the pixel box
    pub lower: Vec<i16>,
    /// upper corner
    pub upper: Vec<i16>,
    /// channels per pixel
    pub channels: u32,
    /// pixels per column
    pub pixels: u32,
}

/// A buffer's bytes before and, if it is an output, after the launch.
#[derive(Debug, Deserialize)]
pub struct BufferFile {
    /// for messages
    pub name: String,
    /// contents before
    pub file: PathBuf,
    /// bytes of an element
    pub size: usize,
    /// how elements are compared: a format of floating point, or bits
    #[serde(rename = "type")]
    pub element: String,
    /// right contents after; an input, which must stay as it is, has none
    pub expected: Option<PathBuf>,
    /// may change in any way
    #[serde(default)]
    pub scratch: bool,
    /// units in the last place that an element may be off
    #[serde(default)]
    pub ulp: u64,
    /// or by this much
    #[serde(default)]
    pub absolute: f64,
    /// or by this part of the right value
    #[serde(default)]
    pub relative: f64,
}

fn read(folder: &Path, file: &Path) -> Result<Vec<u8>, String> {
    let path = folder.join(file);
    std::fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))
}

/// The cases of the suite in `folder`.
pub fn load(folder: &Path) -> Result<Vec<Case>, String> {
    let path = folder.join(FILE);
    serde_json::from_slice(&read(folder, Path::new(FILE))?)
        .map_err(|e| format!("{}: {e}", path.display()))
}

impl Case {
    /// The PTX text.
    pub fn text(&self, folder: &Path) -> Result<String, String> {
        String::from_utf8(read(folder, &self.ptx)?)
            .map_err(|e| format!("{}: {e}", self.ptx.display()))
    }

    /// The machine code, if there is any.
    pub fn code(&self, folder: &Path) -> Result<Option<Vec<u8>>, String> {
        self.cubin.as_ref().map(|f| read(folder, f)).transpose()
    }

    /// The launch of a program, ready to run.
    pub fn launch<'p>(&self, folder: &Path, program: &'p Program) -> Result<Launch<'p>, String> {
        let mut launch = Launch::new(program);
        for buffer in &self.buffers {
            launch.add_buffer(&buffer.name, read(folder, &buffer.file)?);
        }
        launch.args = self
            .args
            .iter()
            .map(Parameter::argument)
            .collect::<Result<_, _>>()?;
        launch.grid = self.grid;
        launch.block = self.block.unwrap_or(launch.block);
        launch.cluster = self.cluster.unwrap_or(launch.cluster);
        launch.dynamic_shared = self.shared;
        launch.cooperative |= self.cooperative;
        Ok(launch)
    }

    /// What is wrong with the buffers that a launch left.
    pub fn check_buffers(&self, folder: &Path, after: &[Buffer]) -> Result<(), String> {
        for (file, buffer) in self.buffers.iter().zip(after) {
            if let Some(expected) = &file.expected {
                compare(file, &buffer.bytes, &read(folder, expected)?)?;
            } else if !file.scratch && read(folder, &file.file)? != buffer.bytes {
                return Err(format!("input {} was changed", file.name));
            }
        }
        Ok(())
    }

    /// What is wrong with what a launch printed.
    pub fn check_output(&self, printed: &str) -> Result<(), String> {
        match &self.stdout {
            Some(expected) if lines(expected) != lines(printed) => {
                Err(format!("printed {printed:?}, not {expected:?}"))
            }
            _ => Ok(()),
        }
    }
}

/// Blocks and warps print in any order.
fn lines(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

impl Parameter {
    fn argument(&self) -> Result<Arg, String> {
        Ok(match self {
            Parameter::Buffer(index) => Arg::buffer(*index),
            Parameter::Bytes(bytes) => Arg::Scalar(bytes.clone()),
            Parameter::Map(map) => Arg::TensorMap(map.tensor_map()?),
        })
    }
}

impl Map {
    fn tensor_map(&self) -> Result<TensorMap, String> {
        let unknown = |what: &str, name: &str| format!("tensor map {what} `{name}` is unknown");
        let base = MapBase::Buffer {
            index: self.buffer,
            offset: self.offset,
        };
        let element =
            Element::parse(&self.element).ok_or_else(|| unknown("element", &self.element))?;
        let mut map = TensorMap::tiled(base, element, &self.dims, &self.strides, &self.extents);
        map.swizzle =
            Swizzle::parse(&self.swizzle).ok_or_else(|| unknown("swizzle", &self.swizzle))?;
        map.atomicity = match self.atomicity.as_str() {
            "16B" => Atomicity::B16,
            "32B" => Atomicity::B32,
            "32B flip 8B" => Atomicity::B32Flip8,
            "64B" => Atomicity::B64,
            other => return Err(unknown("atomicity", other)),
        };
        map.interleave = match self.interleave.as_str() {
            "none" => Interleave::None,
            "16B" => Interleave::B16,
            "32B" => Interleave::B32,
            other => return Err(unknown("interleave", other)),
        };
        map.fill = match self.fill.as_str() {
            "zero" => Fill::Zero,
            "nan" => Fill::Nan,
            other => return Err(unknown("fill", other)),
        };
        for (to, &from) in map.element_strides.iter_mut().zip(&self.element_strides) {
            *to = from;
        }
        map.im2col = self.im2col.as_ref().map(|gather| {
            let corner =
                |given: &[i16]| std::array::from_fn(|i| given.get(i).copied().unwrap_or(0));
            Im2col {
                lower: corner(&gather.lower),
                upper: corner(&gather.upper),
                channels: gather.channels,
                pixels: gather.pixels,
                mode: Im2colMode::Spatial,
            }
        });
        Ok(map)
    }
}
