//! What `tilec emulate` and `tilec launch` preload, so that programs which start `tileiras` start tilec.
//!
//! The functions of the C library that start programs are here under their names, which come first. Where the last part
//! of the program's path is that of an assembler's, the program in the folder that `TILEC_ASSEMBLER` names is started
//! instead; the variable counts that the started program will see, so that one can start another assembler on purpose.
//! Between `vfork` and `execve` nothing may be allocated or locked, and nothing is.
//!
//! `unsafe` is here because these are C's functions; each use says why it is sound.
#![warn(missing_docs)]

/// The programs that are exchanged.
const PROGRAMS: [&[u8]; 2] = [b"tileiras", b"tileirdisasm"];
/// The variable with the folder of those that are started.
const FOLDER: &[u8] = b"TILEC_ASSEMBLER=";
/// Bytes of the longest path, `PATH_MAX`.
const LONGEST: usize = 4096;

/// A path, built without allocating; it ends with a zero byte.
struct Path([u8; LONGEST]);

impl Path {
    /// The program to start instead of `program`, with a folder for assemblers; none if it is no assembler, or too long.
    fn instead(program: &[u8], folder: &[u8]) -> Option<Self> {
        let name = program.rsplit(|&b| b == b'/').next()?;
        if !PROGRAMS.contains(&name) || folder.is_empty() {
            return None;
        }
        let mut path = [0; LONGEST];
        let parts = folder.iter().chain(b"/").chain(name);
        let mut room = path.split_last_mut()?.1.iter_mut();
        for &byte in parts {
            *room.next()? = byte;
        }
        Some(Self(path))
    }
}

/// The value of [`FOLDER`] in an entry of an environment.
fn folder(entry: &[u8]) -> Option<&[u8]> {
    entry.strip_prefix(FOLDER)
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod preloaded {
    use super::{Path, folder};
    use core::ffi::{CStr, c_char, c_int, c_void};
    use core::sync::atomic::{AtomicPtr, Ordering::Relaxed};

    type Text = *const c_char;
    type Strings = *const Text;
    /// What `posix_spawn` is told besides, which is only passed on.
    type Rest = *const c_void;

    unsafe extern "C" {
        static environ: Strings;
        fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    }

    /// `RTLD_NEXT`
    const NEXT: *mut c_void = core::ptr::without_provenance_mut(usize::MAX);

    /// What the program is to be started as, if it is an assembler.
    ///
    /// # Safety
    /// A string, and null or a list of strings that ends with null.
    unsafe fn instead(program: *const c_char, environment: Strings) -> Option<Path> {
        if program.is_null() || environment.is_null() {
            return None;
        }
        // SAFETY: the caller's promise.
        unsafe {
            let program = CStr::from_ptr(program).to_bytes();
            let mut at = environment;
            while !(*at).is_null() {
                if let Some(folder) = folder(CStr::from_ptr(*at).to_bytes()) {
                    return Path::instead(program, folder);
                }
                at = at.add(1);
            }
        }
        None
    }

    /// The functions of the C library, found before the program starts: later it may not be allowed.
    macro_rules! real {
        ($($slot:ident = $name:literal;)*) => {
            $(static $slot: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());)*

            #[used]
            #[unsafe(link_section = ".init_array")]
            static START: extern "C" fn() = start;

            extern "C" fn start() {
                // SAFETY: strings.
                unsafe { $($slot.store(dlsym(NEXT, $name.as_ptr()), Relaxed);)* }
            }
        };
    }
    real! {
        EXECVE = c"execve";
        EXECVPE = c"execvpe";
        SPAWN = c"posix_spawn";
        SPAWNP = c"posix_spawnp";
    }

    type Exec = unsafe extern "C" fn(*const c_char, Strings, Strings) -> c_int;
    type Spawn = unsafe extern "C" fn(
        *mut c_int,
        *const c_char,
        *const c_void,
        *const c_void,
        Strings,
        Strings,
    ) -> c_int;

    /// # Safety
    /// As `execve`; the slot has a function with its arguments.
    unsafe fn exec(
        slot: &AtomicPtr<c_void>,
        path: *const c_char,
        arguments: Strings,
        environment: Strings,
    ) -> c_int {
        // SAFETY: the caller's promise. What stands in for the path lives until the program is replaced.
        unsafe {
            let other = instead(path, environment);
            let path = other.as_ref().map_or(path, |p| p.0.as_ptr().cast());
            let real = core::mem::transmute::<*mut c_void, Exec>(slot.load(Relaxed));
            real(path, arguments, environment)
        }
    }

    /// # Safety
    /// As `posix_spawn`; the slot has a function with its arguments.
    unsafe fn spawn(
        slot: &AtomicPtr<c_void>,
        process: *mut c_int,
        path: *const c_char,
        actions: *const c_void,
        attributes: *const c_void,
        arguments: Strings,
        environment: Strings,
    ) -> c_int {
        // SAFETY: the caller's promise. What stands in for the path lives until the program has started.
        unsafe {
            let other = instead(path, environment);
            let path = other.as_ref().map_or(path, |p| p.0.as_ptr().cast());
            let real = core::mem::transmute::<*mut c_void, Spawn>(slot.load(Relaxed));
            real(process, path, actions, attributes, arguments, environment)
        }
    }

    /// The functions that programs call, each with what it does, the real one, and its parameters; those without an
    /// environment start programs with their own.
    macro_rules! instead_of {
        ($($name:ident = $start:ident $real:ident($($parameter:ident: $type:ty),*) $(with $own:ident)?;)*) => {$(
            #[doc = concat!("`", stringify!($name), "`, with tilec's assemblers\n\n# Safety\nAs the C library's.")]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($parameter: $type),*) -> c_int {
                // SAFETY: the caller's promise; the C library's variable.
                unsafe { $start(&$real, $($parameter,)* $($own)?) }
            }
        )*};
    }
    instead_of! {
        execve = exec EXECVE(path: Text, arguments: Strings, environment: Strings);
        execv = exec EXECVE(path: Text, arguments: Strings) with environ;
        execvpe = exec EXECVPE(path: Text, arguments: Strings, environment: Strings);
        execvp = exec EXECVPE(path: Text, arguments: Strings) with environ;
        posix_spawn = spawn SPAWN(process: *mut c_int, path: Text, actions: Rest, attributes: Rest, arguments: Strings, environment: Strings);
        posix_spawnp = spawn SPAWNP(process: *mut c_int, path: Text, actions: Rest, attributes: Rest, arguments: Strings, environment: Strings);
    }
}

#[cfg(test)]
mod tests {
    use super::{Path, folder};

    fn instead(program: &str, folder: &str) -> Option<String> {
        let path = Path::instead(program.as_bytes(), folder.as_bytes())?;
        let end = path.0.iter().position(|&b| b == 0)?;
        String::from_utf8(path.0[..end].to_vec()).ok()
    }

    #[test]
    fn an_assembler_is_exchanged_wherever_it_is() {
        let pip = "/usr/lib/python3/site-packages/nvidia/cu13/bin/tileiras";
        assert_eq!(instead(pip, "/t/bin").as_deref(), Some("/t/bin/tileiras"));
        assert_eq!(
            instead("tileirdisasm", "/t/bin").as_deref(),
            Some("/t/bin/tileirdisasm")
        );
        assert_eq!(instead("/usr/bin/ptxas", "/t/bin"), None);
        assert_eq!(instead("/usr/bin/tileiras.sh", "/t/bin"), None);
        assert_eq!(instead("tileiras", ""), None);
        assert_eq!(instead("tileiras", &"x".repeat(5000)), None);
    }

    #[test]
    fn the_folder_is_a_variable() {
        assert_eq!(folder(b"TILEC_ASSEMBLER=/t/bin"), Some(&b"/t/bin"[..]));
        assert_eq!(folder(b"PATH=/bin"), None);
    }
}
