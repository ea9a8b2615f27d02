//! Loaded images: kernels, and variables, which every loaded module has for itself. A library of `cuda.h` is the same
//! thing as a module here, and a kernel of a library the same as a function.

use crate::call::refuse;
use crate::handles::{Handle, Handles, fresh};
use crate::image::{Compiled, compile, line};
use crate::memory::{self, Block, Kind};
use crate::settings::settings;
use crate::status::{Result, Status};
use ptxsim::decode::{Places, Wanted};
use ptxsim::manifest::EntryManifest;
use ptxsim::program::{Program, window};
use std::ffi::CString;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, Weak};

/// A loaded image.
pub struct Module {
    /// its handle, as a module and as a library
    pub handle: Handle,
    /// what was loaded
    pub image: Arc<Compiled>,
    /// its kernels, in the order of the text
    pub kernels: Vec<Arc<Kernel>>,
    context: Handle,
    variables: Mutex<Vec<Variable>>,
}

struct Variable {
    name: String,
    line: u32,
    block: Arc<Block>,
    filled: bool,
}

/// A kernel of a loaded image.
pub struct Kernel {
    /// its handle, as a kernel and as a function
    pub handle: Handle,
    /// its name
    pub name: CString,
    /// how it is launched, if it was Tile IR
    pub manifest: Option<EntryManifest>,
    /// `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`
    pub max_dynamic_shared: AtomicI32,
    /// attributes that are remembered and have no effect, by number
    pub noted: Mutex<Vec<(i32, i32)>>,
    /// the image that it is of, as long as that is loaded
    pub module: Weak<Module>,
    program: OnceLock<Result<Arc<Program>>>,
}

/// All modules and libraries.
pub static MODULES: Handles<Module> = Handles::new();
/// All kernels and functions.
pub static KERNELS: Handles<Kernel> = Handles::new();

/// Loads an image.
pub fn load(bytes: &[u8], context: Handle) -> Result<Arc<Module>> {
    let image = compile(bytes)?;
    let module = Arc::new_cyclic(|weak: &Weak<Module>| {
        let entries = image.ptx.entries().into_iter();
        let kernels = entries.map(|name| {
            let mut manifests = image.manifest.iter().flat_map(|m| &m.entries);
            Arc::new(Kernel {
                handle: fresh(),
                manifest: manifests
                    .find(|e| e.name == name && settings().manifests)
                    .cloned(),
                name: CString::new(name).unwrap_or_default(),
                max_dynamic_shared: AtomicI32::new(0),
                noted: Mutex::default(),
                module: Weak::clone(weak),
                program: OnceLock::new(),
            })
        });
        Module {
            handle: fresh(),
            kernels: kernels.collect(),
            image: Arc::clone(&image),
            context,
            variables: Mutex::default(),
        }
    });
    for kernel in &module.kernels {
        KERNELS.add(kernel.handle, Arc::clone(kernel));
    }
    MODULES.add(module.handle, Arc::clone(&module));
    Ok(module)
}

/// Unloads a module: its kernels and variables are gone.
pub fn unload(handle: Handle) -> Result {
    let module = MODULES.remove(handle)?;
    for kernel in &module.kernels {
        KERNELS.remove(kernel.handle)?;
    }
    Ok(())
}

impl Drop for Module {
    fn drop(&mut self) {
        let variables = self.variables.get_mut().unwrap_or_else(|p| p.into_inner());
        for variable in variables.drain(..) {
            // The last launch is over: nothing else holds the module.
            let kinds = [Kind::Variable, Kind::ManagedVariable];
            let _ = memory::release(variable.block.base, &kinds, Status::NOT_FOUND);
        }
    }
}

/// Gives variables of a module their places.
struct Placer<'a> {
    text: &'a str,
    variables: &'a mut Vec<Variable>,
    context: Handle,
    failed: bool,
}

impl Places for Placer<'_> {
    fn place(&mut self, wanted: &Wanted<'_>) -> u64 {
        let known = self.variables.iter();
        let mut known = known.filter(|v| v.name == wanted.name && v.line == wanted.line);
        if let Some(variable) = known.next_back() {
            return variable.block.base;
        }
        let (bytes, align) = (u64::from(wanted.size.max(1)), wanted.align.max(16) as usize);
        let name = format!("variable {}", wanted.name);
        let managed = line(self.text, wanted.line).contains(".attribute(.managed)");
        let place = memory::named(
            bytes,
            align,
            if managed {
                Kind::ManagedVariable
            } else {
                Kind::Variable
            },
            self.context,
            &name,
            wanted.is_const,
        );
        let Ok(block) = place else {
            self.failed = true;
            return 0;
        };
        let base = block.base;
        self.variables.push(Variable {
            name: wanted.name.to_owned(),
            line: wanted.line,
            block,
            filled: false,
        });
        base
    }
}

impl Module {
    /// A kernel by name.
    pub fn kernel(&self, name: &str) -> Result<&Arc<Kernel>> {
        let named = |k: &&Arc<Kernel>| k.name.to_bytes() == name.as_bytes();
        self.kernels.iter().find(named).ok_or(Status::NOT_FOUND)
    }

    /// Address and size of a variable.
    pub fn variable(&self, name: &str) -> Result<(u64, u64)> {
        // Decoding a kernel places what the module declares.
        for kernel in &self.kernels {
            let _ = kernel.program_in(self);
        }
        let variables = self.variables.lock().unwrap_or_else(|p| p.into_inner());
        let found = variables.iter().find(|v| v.name == name);
        let found = found.ok_or(Status::NOT_FOUND)?;
        Ok((found.block.base, found.block.len))
    }

    fn decode(&self, name: &str) -> Result<Arc<Program>> {
        let shared = &self.image.programs;
        let lock = || shared.lock().unwrap_or_else(|p| p.into_inner());
        if let Some(program) = lock().get(name) {
            return Ok(Arc::clone(program));
        }
        let mut variables = self.variables.lock().unwrap_or_else(|p| p.into_inner());
        let mut placer = Placer {
            text: &self.image.text,
            variables: &mut variables,
            context: self.context,
            failed: false,
        };
        let decoded = self.image.ptx.entry_placed(Some(name), &mut placer);
        if placer.failed {
            return Err(Status::OUT_OF_MEMORY);
        }
        let program = match decoded {
            Ok(program) => Arc::new(program),
            Err(e) => {
                let line = line(&self.image.text, e.line);
                return refuse(
                    Status::INVALID_PTX,
                    format_args!("kernel `{name}` cannot be decoded: {e}{line}"),
                );
            }
        };
        for variable in variables.iter_mut().filter(|v| !v.filled) {
            let found = program.variables.iter();
            for initial in found.filter(|v| v.address == variable.block.base) {
                let bytes = (initial.bytes.len() as u64).min(variable.block.len);
                let from = initial.bytes.as_ptr().expose_provenance() as u64;
                // SAFETY: the block is new, and no kernel has run on it.
                unsafe { memory::copy(variable.block.base, from, bytes) };
                variable.filled = true;
            }
        }
        if program.variables.is_empty() {
            lock().insert(name.to_owned(), Arc::clone(&program));
        }
        Ok(program)
    }
}

impl Kernel {
    /// The decoded entry.
    pub fn program(&self) -> Result<Arc<Program>> {
        let module = self.module.upgrade().ok_or(Status::INVALID_HANDLE)?;
        self.program_in(&module)
    }

    fn program_in(&self, module: &Module) -> Result<Arc<Program>> {
        let name = self.name.to_string_lossy();
        self.program.get_or_init(|| module.decode(&name)).clone()
    }

    /// How many parameters the caller passes: all but the hidden tensor maps.
    pub fn own_params(&self, program: &Program) -> usize {
        let hidden = self.manifest.as_ref().map_or(0, |m| m.tensor_maps.len());
        program.params.len().saturating_sub(hidden)
    }

    /// Threads of a block: what the kernel demands, else the most that it allows.
    pub fn max_threads(&self, program: &Program) -> i32 {
        let bounds = program.attributes.reqntid.or(program.attributes.maxntid);
        bounds.map_or(1024, |b| b.iter().product::<u32>() as i32)
    }

    /// Bytes of shared memory that it declares.
    pub fn static_shared(&self, program: &Program) -> u64 {
        u64::from(program.shared_end).saturating_sub(window::SHARED_BASE)
    }

    /// The value of a `CUfunction_attribute`.
    pub fn attribute(&self, number: i32) -> Result<i32> {
        let program = self.program()?;
        let cluster = |i: usize| program.attributes.cluster.map_or(0, |c| c[i] as i32);
        let entry = program.functions.first();
        Ok(match number {
            0 => self.max_threads(&program),
            1 => self.static_shared(&program) as i32,
            2 => 0,
            3 => entry.map_or(0, |f| f.local_bytes as i32),
            4 => {
                let rows = entry.map_or(0, |f| f.rows.min(255));
                program.attributes.maxnreg.unwrap_or(rows) as i32
            }
            // Libraries choose by it what they expect of the code, which may be for an older or newer GPU.
            5 => program.target.0 as i32,
            6 => i32::from(settings().target.sm),
            7 => 0,
            8 => self.max_dynamic_shared.load(Relaxed),
            10 => i32::from(program.attributes.cluster.is_some()),
            11..=13 => cluster(number as usize - 11),
            9 | 14..=17 => {
                let noted = self.noted.lock().unwrap_or_else(|p| p.into_inner());
                let value = noted.iter().find(|n| n.0 == number).map(|n| n.1);
                value.unwrap_or(if number == 9 { -1 } else { 0 })
            }
            _ => return Err(Status::INVALID_VALUE),
        })
    }

    /// Sets a `CUfunction_attribute`.
    pub fn set_attribute(&self, number: i32, value: i32) -> Result {
        match number {
            8 => {
                let program = self.program()?;
                let limit = u64::from(settings().target.shared_per_block());
                let wanted = u64::try_from(value).map_err(|_| Status::INVALID_VALUE)?;
                if wanted + self.static_shared(&program) > limit {
                    return Err(Status::INVALID_VALUE);
                }
                self.max_dynamic_shared.store(value, Relaxed);
            }
            9..=17 => {
                let mut noted = self.noted.lock().unwrap_or_else(|p| p.into_inner());
                noted.retain(|n| n.0 != number);
                noted.push((number, value));
            }
            _ => return Err(Status::INVALID_VALUE),
        }
        Ok(())
    }
}

impl Kernel {
    /// Bytes of dynamic shared memory that a launch may ask for: what has been set, or what every device gives.
    pub fn dynamic_limit(&self) -> Result<u64> {
        const DEFAULT: u64 = 48 << 10;
        let program = self.program()?;
        let set = u64::try_from(self.max_dynamic_shared.load(Relaxed)).unwrap_or(0);
        Ok(set.max(DEFAULT.saturating_sub(self.static_shared(&program))))
    }
}
