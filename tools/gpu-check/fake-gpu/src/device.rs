//! The device: memory as ptxsim lays out buffers, modules as text.

use ptxsim::exec::env::Checks;
use ptxsim::tensormap::{
    Atomicity, Element, Fill, Im2col, Im2colMode, Interleave, MapBase, Swizzle,
};
use ptxsim::{Arg, Buffer, LaunchError, Module, TensorMap};

/// `CUDA_ERROR_INVALID_VALUE`
pub const INVALID_VALUE: i32 = 1;
const INVALID_PTX: i32 = 218;
const LAUNCH_FAILED: i32 = 719;

/// Memory and modules.
pub struct Device {
    /// what was taken since all of it was free, in order: ptxsim lays out buffers in order too
    memory: Vec<Buffer>,
    addresses: Vec<u64>,
    live: usize,
    modules: Vec<String>,
}

/// A launch in the driver's words.
pub struct Launch<'a> {
    pub module: i32,
    pub entry: &'a str,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub cluster: [u32; 3],
    pub shared: u32,
    pub cooperative: bool,
    /// the bytes of a parameter, by index and size
    pub bytes: &'a dyn Fn(usize, u32) -> Vec<u8>,
}

impl Device {
    pub const fn new() -> Device {
        Device {
            memory: Vec::new(),
            addresses: Vec::new(),
            live: 0,
            modules: Vec::new(),
        }
    }

    pub fn alloc(&mut self, size: usize) -> u64 {
        let bytes = vec![0; size];
        self.memory.push(Buffer {
            name: format!("memory {}", self.memory.len()),
            bytes,
        });
        self.live += 1;
        // Where a launch would put it.
        let program = Module::new(EMPTY).and_then(|m| m.entry(None));
        if let Ok(program) = &program {
            let mut launch = ptxsim::Launch::new(program);
            std::mem::swap(&mut launch.buffers, &mut self.memory);
            self.addresses = launch.addresses();
            std::mem::swap(&mut launch.buffers, &mut self.memory);
        }
        self.addresses.last().copied().unwrap_or(0)
    }

    fn place(&mut self, address: u64) -> Option<&mut Buffer> {
        let index = self.addresses.iter().position(|&a| a == address)?;
        self.memory.get_mut(index)
    }

    pub fn free(&mut self, address: u64) -> i32 {
        if self.place(address).is_none() {
            return INVALID_VALUE;
        }
        self.live -= 1;
        if self.live == 0 {
            self.memory.clear();
            self.addresses.clear();
        }
        0
    }

    pub fn write(&mut self, address: u64, bytes: &[u8]) -> i32 {
        let to = self
            .place(address)
            .and_then(|b| b.bytes.get_mut(..bytes.len()));
        to.map_or(INVALID_VALUE, |to| {
            to.copy_from_slice(bytes);
            0
        })
    }

    pub fn read(&mut self, address: u64, size: usize) -> Result<Vec<u8>, i32> {
        let from = self.place(address).and_then(|b| b.bytes.get(..size));
        from.map(<[u8]>::to_vec).ok_or(INVALID_VALUE)
    }

    pub fn flip(&mut self) {
        let last = self.memory.last_mut();
        if let Some(word) = last.and_then(|b| b.bytes.rchunks_exact_mut(4).next()) {
            word[0] ^= 1;
        }
    }

    pub fn load(&mut self, text: &str) -> Result<i32, i32> {
        Module::new(text).map_err(|_| INVALID_PTX)?;
        self.modules.push(text.to_owned());
        Ok(self.modules.len() as i32 - 1)
    }

    fn module(&self, number: i32) -> Option<Module> {
        let text = self.modules.get(usize::try_from(number).ok()?)?;
        Module::new(&**text).ok()
    }

    pub fn has(&self, number: i32, entry: &str) -> bool {
        self.module(number)
            .is_some_and(|m| m.entries().iter().any(|e| e == entry))
    }

    pub fn launch(&mut self, wanted: &Launch<'_>) -> Result<String, i32> {
        let module = self.module(wanted.module).ok_or(INVALID_VALUE)?;
        let program = module.entry(Some(wanted.entry)).map_err(|e| {
            eprintln!("fake driver: {e}");
            INVALID_PTX
        })?;
        let mut launch = ptxsim::Launch::new(&program);
        (launch.grid, launch.block, launch.cluster) = (wanted.grid, wanted.block, wanted.cluster);
        launch.dynamic_shared = wanted.shared;
        launch.cooperative = wanted.cooperative;
        // Hardware complains of nothing but faults.
        launch.checks = Checks::NONE;
        let sizes = program.params.iter().map(|p| p.size).enumerate();
        launch.args = sizes
            .map(|(i, size)| Arg::Scalar((wanted.bytes)(i, size)))
            .collect();
        std::mem::swap(&mut launch.buffers, &mut self.memory);
        let result = launch.run();
        std::mem::swap(&mut launch.buffers, &mut self.memory);
        result.map(|r| r.output).map_err(|e| {
            eprintln!("fake driver: {e}");
            match e {
                LaunchError::Fault(_) => LAUNCH_FAILED,
                _ => INVALID_VALUE,
            }
        })
    }
}

/// A kernel that does nothing, to ask ptxsim for addresses.
const EMPTY: &str =
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry nothing() { ret; }\n";

/// A tensor map in words: element, interleave, swizzle, fill.
pub struct Map<'a> {
    pub words: &'a [&'a str],
    pub address: u64,
    pub dims: &'a [u64],
    pub strides: &'a [u64],
    /// the box; im2col maps have corners instead
    pub extents: &'a [u32],
    pub steps: &'a [u32],
    /// lower, then upper
    pub corner: Option<&'a [i32]>,
    pub channels: u32,
    pub pixels: u32,
}

impl Map<'_> {
    pub fn encode(&self) -> Result<[u8; 128], i32> {
        let &[element, interleave, swizzle, fill] = self.words else {
            return Err(INVALID_VALUE);
        };
        let base = MapBase::Address(self.address);
        let element = Element::parse(element).ok_or(INVALID_VALUE)?;
        let mut map = TensorMap::tiled(base, element, self.dims, self.strides, self.extents);
        map.interleave = match interleave {
            "none" => Interleave::None,
            "16B" => Interleave::B16,
            _ => Interleave::B32,
        };
        let (swizzle, atom) = swizzle.split_once("_ATOM_").unwrap_or((swizzle, "16B"));
        map.swizzle = Swizzle::parse(swizzle).ok_or(INVALID_VALUE)?;
        map.atomicity = match atom {
            "16B" => Atomicity::B16,
            "32B" => Atomicity::B32,
            "32B_FLIP_8B" => Atomicity::B32Flip8,
            _ => Atomicity::B64,
        };
        map.fill = if fill == "nan" { Fill::Nan } else { Fill::Zero };
        map.element_strides[..self.steps.len()].copy_from_slice(self.steps);
        map.im2col = self.corner.map(|corners| {
            let (lower, upper) = corners.split_at(corners.len() / 2);
            let three = |c: &[i32]| std::array::from_fn(|i| c.get(i).copied().unwrap_or(0) as i16);
            Im2col {
                lower: three(lower),
                upper: three(upper),
                channels: self.channels,
                pixels: self.pixels,
                mode: Im2colMode::Spatial,
            }
        });
        map.check().map_err(|e| {
            eprintln!("fake driver: {e}");
            INVALID_VALUE
        })?;
        Ok(map.to_bytes())
    }
}
