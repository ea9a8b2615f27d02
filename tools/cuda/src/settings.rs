//! What the environment asks for. `tilec emulate` turns its options into these variables.

use std::fs::File;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};
use tilec::target::Target;

/// `--gpu-name`
pub const GPU: &str = "TILEC_EMULATE_GPU";
/// how many devices there are
pub const DEVICES: &str = "TILEC_EMULATE_DEVICES";
/// `--engine`
pub const ENGINE: &str = "TILEC_EMULATE_ENGINE";
/// `--keep`
pub const KEEP: &str = "TILEC_EMULATE_KEEP";
/// `--checks`
pub const CHECKS: &str = "TILEC_EMULATE_CHECKS";
/// `--log`
pub const LOG: &str = "TILEC_EMULATE_LOG";
/// `--max-steps`
pub const STEPS: &str = "TILEC_EMULATE_MAX_STEPS";

/// `0`: as a driver that knows nothing of tilec. Manifests are passed over, and Tile IR is no image.
pub const MANIFESTS: &str = "TILEC_EMULATE_MANIFESTS";

/// What runs Tile IR kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// compiled by tilec, run by ptxsim
    Sim,
    /// the reference interpreter of Tile IR
    Eval,
    /// nothing: images are compiled, launches leave memory as it is
    None,
}

/// The emulation's options.
#[derive(Debug)]
pub struct Settings {
    /// what every device is
    pub target: Target,
    /// how many devices
    pub devices: i32,
    /// what runs Tile IR
    pub engine: Engine,
    /// where the bytecode of loaded modules is written to
    pub keep: Option<PathBuf>,
    /// whether ptxsim looks for races and uninitialised reads
    pub checks: bool,
    /// warp instructions after which a cluster is taken to hang
    pub max_steps: u64,
    /// whether the emulated driver knows images of tilec's
    pub manifests: bool,
    log: Option<Mutex<File>>,
}

/// The target when nothing names another.
const DEFAULT_TARGET: Target = Target {
    sm: 90,
    suffix: tilec::target::Suffix::Arch,
};

fn read() -> Settings {
    let get = |name| std::env::var(name).ok().filter(|v| !v.is_empty());
    let complain = |name: &str, value: &str, why: &str| {
        eprintln!("tilec emulate: {name}={value}: {why}");
    };
    let target = get(GPU).and_then(|name| match name.parse() {
        Ok(target) => Some(target),
        Err(e) => {
            complain(GPU, &name, &format!("{e}"));
            None
        }
    });
    let engine = match get(ENGINE).as_deref() {
        None | Some("sim") => Engine::Sim,
        Some("eval") => Engine::Eval,
        Some("none") => Engine::None,
        Some(other) => {
            complain(ENGINE, other, "none of sim, eval, none; it is sim");
            Engine::Sim
        }
    };
    let log = get(LOG).and_then(|path| {
        let opened = File::options().append(true).create(true).open(&path);
        opened
            .map_err(|e| complain(LOG, &path, &e.to_string()))
            .ok()
    });
    Settings {
        target: target.unwrap_or(DEFAULT_TARGET),
        devices: get(DEVICES).and_then(|n| n.parse().ok()).unwrap_or(1),
        engine,
        keep: get(KEEP).map(PathBuf::from),
        checks: get(CHECKS).is_some_and(|v| v != "0"),
        max_steps: get(STEPS).and_then(|n| n.parse().ok()).unwrap_or(1 << 36),
        manifests: get(MANIFESTS).is_none_or(|v| v != "0"),
        log: log.map(Mutex::new),
    }
}

/// The settings of this process.
pub fn settings() -> &'static Settings {
    static SETTINGS: OnceLock<Settings> = OnceLock::new();
    SETTINGS.get_or_init(read)
}

impl Settings {
    /// Whether anyone reads the log of calls.
    pub fn logs(&self) -> bool {
        self.log.is_some()
    }

    /// Adds a line to the log of calls.
    pub fn log(&self, line: std::fmt::Arguments<'_>) {
        use std::io::Write;
        if let Some(file) = &self.log {
            let mut file = file.lock().unwrap_or_else(|p| p.into_inner());
            // A log that cannot be written is no reason to stop a program.
            let _ = file.write_all(format!("{line}\n").as_bytes());
        }
    }
}

/// Whether there is a real driver behind this library.
static FRONT: AtomicBool = AtomicBool::new(false);

/// From now on there is a real driver behind this library.
pub fn stands_in_front() {
    FRONT.store(true, Ordering::Relaxed);
}

/// Tells the user something that no result of a function can say: on standard error, and in the log.
pub fn say(line: std::fmt::Arguments<'_>) {
    let command = match FRONT.load(Ordering::Relaxed) {
        true => "launch",
        false => "emulate",
    };
    eprintln!("tilec {command}: {line}");
    settings().log(format_args!("! {line}"));
}
