//! The nvvm stage in LLVM's language, for NVPTX: what libNVVM compiles to PTX.
//!
//! ```text
//! nvvm.func ─ walk ─► computations by isel/llvm/*.sel ─► instructions and intrinsics
//!                     weak loads and stores, control flow ─► LLVM's own, with phis
//!                     the rest ─ isel, one operation alone ─► inline assembly by the rows of ptx.insn
//! ```
//! Values are typed by register ([`types::Ty`]): packed registers are `i32`. `docs/nvvm-ir.md` describes the
//! text.

mod assembly;
mod body;
mod compute;
mod control;
mod debug;
mod intrinsics;
mod kernel;
mod memory;
mod print;
mod rows;
mod types;
mod values;

pub use rows::Rows;
pub use types::Flavor;

use std::fmt::Write;

use crate::dialect::nvvm::Op as N;
use crate::dialect::nvvm::view;
use crate::ir::{Diagnostic, Diagnostics, Module, OpId};
use crate::isel::Tables;
use crate::ptx;
use crate::target::Target;

/// What the module is called. Source: the notes on the shipped assembler, which hands its modules to
/// libNVVM under this name.
pub const MODULE_NAME: &str = "mlir-input";

/// Sizes and alignments of NVPTX with 32-bit pointers to shared memory. Source: as [`MODULE_NAME`].
const DATA_LAYOUT: &str = "e-p:64:64:64-p3:32:32:32-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64";

/// A written module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Text {
    pub text: String,
    /// Bytes of dynamic shared memory of each kernel, in order.
    pub dynamic_shared: Vec<u32>,
}

/// Writes a module of the nvvm stage.
///
/// # Errors
/// Operations that have neither a row nor an instruction, by name.
pub fn write(
    module: &Module,
    target: Target,
    tables: &Tables,
    rows: &Rows,
    lines: ptx::Debug,
) -> Result<Text, Diagnostics> {
    let mut collected = body::Module::default();
    let mut debug = debug::Debug::new(module, lines);
    let (mut globals, mut kernels, mut written) = (String::new(), String::new(), Vec::new());
    let mut errors = Vec::new();
    for &id in &module.block(module.body).ops {
        let op = module.op(id);
        match N::of(op.kind) {
            Some(N::Global) => match global(module, id) {
                Some(text) => globals.push_str(&text),
                None => {
                    errors.push(Diagnostic::error("a global without bytes").on(op.kind.to_string()))
                }
            },
            Some(N::Func) => {
                let kernel =
                    kernel::Kernel::new(module, tables, rows, target, &mut collected, &mut debug);
                match kernel.write(id) {
                    Ok(mut kernel) => {
                        kernels.push('\n');
                        kernels.push_str(&std::mem::take(&mut kernel.text));
                        written.push(kernel);
                    }
                    Err(error) => errors.push(*error),
                }
            }
            _ => {
                let error = Diagnostic::error("only kernels and globals may stand at module level");
                errors.push(error.on(op.kind.to_string()));
            }
        }
    }
    if !errors.is_empty() {
        return Err(Diagnostics(errors));
    }
    let mut text = format!(
        "; ModuleID = '{MODULE_NAME}'\nsource_filename = \"{MODULE_NAME}\"\n\
         target datalayout = \"{DATA_LAYOUT}\"\ntarget triple = \"nvptx64-nvidia-cuda\"\n"
    );
    text.push('\n');
    for kernel in written.iter().filter(|k| k.bytes > 0 && !k.dynamic) {
        text.push_str(&shared_memory(&kernel.shared, kernel.bytes));
    }
    if written.iter().any(|k| k.dynamic) {
        text.push_str(&shared_memory(DYNAMIC, 0));
    }
    text.push_str(&globals);
    for (name, content) in &collected.texts {
        let bytes = [content.as_bytes(), &[0]].concat();
        text.push_str(&bytes_global(name, &bytes, 1, "constant"));
    }
    text.push_str(&kernels);
    text.push('\n');
    for declaration in collected.declared.values() {
        let _ = writeln!(text, "{declaration}");
    }
    text.push_str(
        "\nattributes #0 = { convergent nounwind }\nattributes #1 = { nounwind readnone }\n\n",
    );
    let lines = debug.text();
    text.push_str(&metadata(&written, !lines.is_empty()));
    text.push_str(&lines);
    let dynamic = |k: &kernel::Written| if k.dynamic { k.bytes } else { 0 };
    Ok(Text {
        text,
        dynamic_shared: written.iter().map(dynamic).collect(),
    })
}

/// Shared memory that is as large as the launch says.
const DYNAMIC: &str = "global_smem";

/// Shared memory, aligned for 128-byte swizzles of tensor copies and `wgmma`.
fn shared_memory(name: &str, bytes: u32) -> String {
    let (linkage, value) = match bytes {
        0 => ("external", ""),
        _ => ("internal", " undef"),
    };
    format!("@{name} = {linkage} addrspace(3) global [{bytes} x i8]{value}, align 1024\n")
}

/// `!nvvm.annotations`, and the versions of NVVM IR and, where there is any, of its debug information.
fn metadata(kernels: &[kernel::Written], has_lines: bool) -> String {
    let debug = if has_lines { ", i32 3, i32 2" } else { "" };
    let mut nodes = String::new();
    let mut next = 2;
    let mut entries = Vec::new();
    for kernel in kernels {
        let mut parts = kernel.annotations.clone();
        let own = next;
        next += 1;
        if !kernel.maps.is_empty() {
            let maps: Vec<String> = kernel.maps.iter().map(|n| format!("i32 {n}")).collect();
            let _ = writeln!(nodes, "!{next} = !{{{}}}", maps.join(", "));
            parts.push(format!("!\"grid_constant\", !{next}"));
            next += 1;
        }
        let _ = writeln!(nodes, "!{own} = !{{{}}}", parts.join(", "));
        entries.push(format!("!{own}"));
    }
    // 0 marks loads of what nothing writes.
    format!(
        "!nvvm.annotations = !{{{}}}\n!nvvmir.version = !{{!1}}\n!0 = !{{}}\n!1 = !{{i32 2, i32 0{debug}}}\n{nodes}",
        entries.join(", ")
    )
}

/// The bytes of a global.
fn global(module: &Module, op: OpId) -> Option<String> {
    let v = view::Global::of(module.op(op))?;
    let align = (v.alignment() as u64).next_power_of_two();
    Some(bytes_global(
        module.str(v.sym_name()),
        &module.bytes(op)?,
        align,
        "global",
    ))
}

fn bytes_global(name: &str, bytes: &[u8], align: u64, kind: &str) -> String {
    let size = bytes.len().max(1);
    let value = match bytes.iter().all(|&b| b == 0) {
        true => "zeroinitializer".to_owned(),
        false => format!("c\"{}\"", string(bytes)),
    };
    format!("@{name} = addrspace(1) {kind} [{size} x i8] {value}, align {align}\n")
}

/// Bytes as a string of LLVM's language.
fn string(bytes: &[u8]) -> String {
    let mut text = String::new();
    for &byte in bytes {
        match byte {
            b' '..=b'~' if byte != b'"' && byte != b'\\' => text.push(byte as char),
            _ => {
                let _ = write!(text, "\\{byte:02X}");
            }
        }
    }
    text
}
