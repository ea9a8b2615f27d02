//! What `tools/gpu-check/pack` makes of tilec's own kernels: launches with the hidden tensor maps that the launch
//! manifest describes. They are run in the simulator here, as `gpu-check --suite` runs them beside a GPU.

use crate::toolkit;
use ptxsim::{Arg, Module, suite};
use std::path::Path;
use std::process::Command;

#[test]
fn packed_kernels_run() {
    let root = toolkit::repository_root();
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pack");
    let only = [
        "tilec/vadd f32 (sm_90a)",
        "tilec/matmul f16_64x64x32 (sm_90a)",
    ];
    let output = Command::new(toolkit::python())
        .arg(root.join("tools/gpu-check/pack.py"))
        .arg(&out)
        .args(["--arch", "sm_90a", "--tilec", env!("CARGO_BIN_EXE_tilec")])
        .arg("--ptxas")
        .arg(toolkit::ptxas())
        .arg("--only")
        .args(only)
        .output()
        .expect("python runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let cases = suite::load(&out).expect("a suite");
    for name in only {
        assert!(cases.iter().any(|c| c.name == name), "no {name}");
    }
    let mut maps = 0;
    for case in &cases {
        let text = case.text(&out).expect("PTX");
        let code = case.code(&out).expect("machine code").unwrap_or_default();
        assert!(code.starts_with(b"\x7fELF"), "{}", case.name);
        let program = Module::new(text).and_then(|m| m.entry(Some(&case.entry)));
        let program = program.expect("an entry");
        let mut launch = case.launch(&out, &program).expect("a launch");
        let is_map = |a: &&Arg| matches!(a, Arg::TensorMap(_));
        maps += launch.args.iter().filter(is_map).count();
        let report = launch.run().expect("it runs");
        let result = case
            .check_output(&report.output)
            .and_then(|()| case.check_buffers(&out, &launch.buffers));
        result.unwrap_or_else(|e| panic!("{} {}: {e}", case.name, case.label));
    }
    assert!(maps > 0, "no kernel has a hidden tensor map");
}
