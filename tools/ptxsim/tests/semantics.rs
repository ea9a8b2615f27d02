//! Single instructions on chosen operands, with results worked out from the PTX ISA's definitions and IEEE 754.

use ptxsim::{Arg, Launch, Module};

/// Section, instruction with `d` for the result and `a`, `b`, `c` for the operands, operands, result.
type Row = (&'static str, &'static str, [u64; 3], u64);

const F: fn(f32) -> u64 = |x| x.to_bits() as u64;
const D: fn(f64) -> u64 = |x| x.to_bits();
const NAN: u64 = 0x7fff_ffff;

/// Runs all rows in one thread; operands and results are registers of `bits` bits.
fn run(bits: u32, rows: &[Row]) {
    let mut body = String::new();
    for (i, (_, text, operands, _)) in rows.iter().enumerate() {
        let number = |n: usize| format!("{:#x}", operands[n]);
        let mut line = String::new();
        // Operands are whole words of the pattern.
        for word in text.split_inclusive([' ', ',', '|', '{', '}']) {
            let (name, tail) =
                word.split_at(word.trim_end_matches([' ', ',', '|', '{', '}']).len());
            line += match name {
                "d" => "%d",
                "a" => "%a",
                "b" => "%b",
                "c" => "%c",
                other => other,
            };
            line += tail;
        }
        body += &format!(
            "mov.b{bits} %a, {};\nmov.b{bits} %b, {};\nmov.b{bits} %c, {};\nmov.b{bits} %d, 0;\n{line};\nst.global.b{bits} [%o+{}], %d;\n",
            number(0),
            number(1),
            number(2),
            i * 8
        );
    }
    let text = format!(
        ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p)\n{{\n.reg .b{bits} %a, %b, %c, %d;\n\
         .reg .b64 %o;\n.reg .b16 %h, %g;\n.reg .b32 %w;\n.reg .b64 %x;\n.reg .pred %p;\nld.param.u64 %o, [p];\n{body}ret;\n}}\n"
    );
    let program = Module::new(text.clone())
        .and_then(|m| m.entry(None))
        .unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut launch = Launch::new(&program);
    let out = launch.add_buffer("out", vec![0; rows.len() * 8]);
    launch.args = vec![Arg::buffer(out)];
    launch.run().unwrap();
    for (row, bytes) in rows.iter().zip(launch.buffers[out].bytes.chunks_exact(8)) {
        let got = u64::from_le_bytes(bytes.try_into().unwrap());
        assert_eq!(
            got, row.3,
            "PTX ISA {}: {} of {:x?}: {got:#x}, want {:#x}",
            row.0, row.1, row.2, row.3
        );
    }
}

#[test]
fn words() {
    let max = u64::from(u32::MAX);
    run(
        32,
        &[
            (
                "9.7.1.1",
                "add.sat.s32 d, a, b",
                [0x7fff_ffff, 1, 0],
                0x7fff_ffff,
            ),
            (
                "9.7.1.1",
                "add.s32 d, a, b",
                [0x7fff_ffff, 1, 0],
                0x8000_0000,
            ),
            ("9.7.1.3", "mul.hi.s32 d, a, b", [max, 2, 0], max),
            ("9.7.1.3", "mul.hi.u32 d, a, b", [max, 2, 0], 1),
            ("9.7.1.4", "mad.lo.s32 d, a, b, c", [3, 0xffff_fffe, 10], 4),
            ("9.7.1.7", "sad.s32 d, a, b, c", [0xffff_fffe, 3, 10], 15),
            (
                "9.7.1.8",
                "div.s32 d, a, b",
                [0xffff_fff9, 2, 0],
                0xffff_fffd,
            ),
            ("9.7.1.9", "rem.s32 d, a, b", [0xffff_fff9, 2, 0], max),
            ("9.7.1.10", "abs.s32 d, a", [0x8000_0000, 0, 0], 0x8000_0000),
            ("9.7.1.12", "min.u32 d, a, b", [max, 1, 0], 1),
            ("9.7.1.12", "min.s32 d, a, b", [max, 1, 0], max),
            ("9.7.1.14", "popc.b32 d, a", [0xf0f0, 0, 0], 8),
            ("9.7.1.15", "clz.b32 d, a", [1, 0, 0], 31),
            ("9.7.1.16", "bfind.u32 d, a", [0x100, 0, 0], 8),
            ("9.7.1.16", "bfind.shiftamt.u32 d, a", [0x100, 0, 0], 23),
            ("9.7.1.18", "brev.b32 d, a", [1, 0, 0], 0x8000_0000),
            ("9.7.1.19", "bfe.s32 d, a, 4, 4", [0xf0, 0, 0], max),
            (
                "9.7.1.23",
                "dp4a.s32.u32 d, a, b, c",
                [0xff01_02fe, 0x0102_0304, 100],
                100 - 1 + 2 + 6 - 8,
            ),
            ("9.7.8.7", "shl.b32 d, a, 32", [1, 0, 0], 0),
            ("9.7.8.8", "shr.s32 d, a, 99", [0x8000_0000, 0, 0], max),
            ("9.7.8.8", "shr.u32 d, a, 31", [0x8000_0000, 0, 0], 1),
            ("9.7.8.4", "not.b32 d, a", [0, 0, 0], max),
            ("9.7.8.5", "cnot.b32 d, a", [0, 0, 0], 1),
            (
                "9.7.9.7",
                "prmt.b32 d, a, b, 0x3210",
                [0x1122_3344, 5, 0],
                0x1122_3344,
            ),
        ],
    );
}

#[test]
fn singles() {
    let tiny = 1u64;
    run(
        32,
        &[
            (
                "9.7.3.3",
                "add.rn.f32 d, a, b",
                [F(1.0), F(f32::EPSILON / 2.0), 0],
                F(1.0),
            ),
            (
                "9.7.3.3",
                "add.rp.f32 d, a, b",
                [F(1.0), F(1e-30), 0],
                F(1.0f32.next_up()),
            ),
            (
                "9.7.3.3",
                "add.rm.f32 d, a, b",
                [F(1.0), F(-1e-30), 0],
                F(1.0f32.next_down()),
            ),
            (
                "9.7.3.3",
                "add.rz.f32 d, a, b",
                [F(-1.0), F(1e-30), 0],
                F((-1.0f32).next_up()),
            ),
            (
                "9.7.3.3",
                "add.rm.f32 d, a, b",
                [F(1.0), F(-1.0), 0],
                F(-0.0),
            ),
            ("9.7.3.3", "add.ftz.f32 d, a, b", [tiny, tiny, 0], 0),
            (
                "9.7.3.3",
                "add.sat.f32 d, a, b",
                [F(0.75), F(0.75), 0],
                F(1.0),
            ),
            ("9.7.3.3", "add.sat.f32 d, a, b", [NAN, F(0.75), 0], 0),
            (
                "9.7.3.3",
                "add.f32 d, a, b",
                [F(f32::INFINITY), F(f32::NEG_INFINITY), 0],
                NAN,
            ),
            (
                "9.7.3.5",
                "mul.rp.f32 d, a, b",
                [F(f32::MAX), F(2.0), 0],
                F(f32::INFINITY),
            ),
            (
                "9.7.3.5",
                "mul.rz.f32 d, a, b",
                [F(f32::MAX), F(2.0), 0],
                F(f32::MAX),
            ),
            (
                "9.7.3.6",
                "fma.rn.f32 d, a, b, c",
                [F(1.0 + f32::EPSILON), F(1.0 - f32::EPSILON / 2.0), F(-1.0)],
                F((1.0 + f32::EPSILON).mul_add(1.0 - f32::EPSILON / 2.0, -1.0)),
            ),
            (
                "9.7.3.8",
                "div.rn.f32 d, a, b",
                [F(1.0), F(3.0), 0],
                F(1.0 / 3.0),
            ),
            (
                "9.7.3.8",
                "div.rp.f32 d, a, b",
                [F(1.0), F(3.0), 0],
                F(1.0 / 3.0),
            ),
            (
                "9.7.3.8",
                "div.rm.f32 d, a, b",
                [F(1.0), F(3.0), 0],
                F((1.0f32 / 3.0).next_down()),
            ),
            ("9.7.3.10", "neg.f32 d, a", [F(0.0), 0, 0], F(-0.0)),
            ("9.7.3.11", "min.f32 d, a, b", [NAN, F(2.0), 0], F(2.0)),
            ("9.7.3.11", "min.NaN.f32 d, a, b", [NAN, F(2.0), 0], NAN),
            ("9.7.3.11", "min.f32 d, a, b", [F(0.0), F(-0.0), 0], F(-0.0)),
            (
                "9.7.3.12",
                "max.xorsign.abs.f32 d, a, b",
                [F(-2.0), F(3.0), 0],
                F(-3.0),
            ),
            (
                "9.7.3.13",
                "rcp.rn.f32 d, a",
                [F(-0.0), 0, 0],
                F(f32::NEG_INFINITY),
            ),
            (
                "9.7.3.15",
                "sqrt.rn.f32 d, a",
                [F(2.0), 0, 0],
                F(2f32.sqrt()),
            ),
            ("9.7.3.15", "sqrt.rn.f32 d, a", [F(-1.0), 0, 0], NAN),
            ("9.7.3.21", "ex2.approx.f32 d, a", [F(3.0), 0, 0], F(8.0)),
            ("9.7.3.20", "lg2.approx.f32 d, a", [F(8.0), 0, 0], F(3.0)),
            ("9.7.9.22", "cvt.rni.s32.f32 d, a", [F(2.5), 0, 0], 2),
            (
                "9.7.9.22",
                "cvt.rzi.s32.f32 d, a",
                [F(-2.9), 0, 0],
                0xffff_fffe,
            ),
            ("9.7.9.22", "cvt.rzi.u32.f32 d, a", [F(-5.0), 0, 0], 0),
            (
                "9.7.9.22",
                "cvt.rzi.s32.f32 d, a",
                [F(1e20), 0, 0],
                0x7fff_ffff,
            ),
            ("9.7.9.22", "cvt.rzi.s32.f32 d, a", [NAN, 0, 0], 0),
            (
                "9.7.9.22",
                "cvt.rn.f32.s32 d, a",
                [0x0100_0001, 0, 0],
                F(16_777_216.0),
            ),
            (
                "9.7.9.22",
                "cvt.rp.f32.s32 d, a",
                [0x0100_0001, 0, 0],
                F(16_777_218.0),
            ),
            ("9.7.9.22", "cvt.sat.f32.f32 d, a", [F(-3.0), 0, 0], F(0.0)),
            (
                "9.7.9.22",
                "cvt.rn.f16x2.f32 d, a, b",
                [F(1.0), F(-2.0), 0],
                0x3c00_c000,
            ),
            (
                "9.7.9.22",
                "cvt.rn.bf16x2.f32 d, a, b",
                [F(1.0), F(-2.0), 0],
                0x3f80_c000,
            ),
            (
                "9.7.9.22",
                "cvt.rn.relu.f16x2.f32 d, a, b",
                [F(1.0), F(-2.0), 0],
                0x3c00_0000,
            ),
            (
                "9.7.9.22",
                "cvt.rna.tf32.f32 d, a",
                [0x3f80_1000, 0, 0],
                0x3f80_2000,
            ),
            (
                "9.7.9.23",
                "cvt.pack.sat.s8.s32.b32 d, a, b, c",
                [300, 0xffff_ff00, 0xabcd],
                0xabcd_7f80,
            ),
            (
                "9.7.4.1",
                "add.rn.f16x2 d, a, b",
                [0x3c00_4000, 0x3c00_3c00, 0],
                0x4000_4200,
            ),
            (
                "9.7.4.4",
                "fma.rn.relu.f16x2 d, a, b, c",
                [0x3c00_3c00, 0xc000_4000, 0],
                0x0000_4000,
            ),
            (
                "9.7.6.2",
                "set.lt.u32.f32 d, a, b",
                [F(1.0), F(2.0), 0],
                0xffff_ffff,
            ),
            (
                "9.7.6.2",
                "set.ltu.f32.f32 d, a, b",
                [NAN, F(2.0), 0],
                F(1.0),
            ),
        ],
    );
}

#[test]
fn double_words() {
    let epsilon = f64::EPSILON;
    run(
        64,
        &[
            ("9.7.1.3", "mul.hi.s64 d, a, b", [u64::MAX, 2, 0], u64::MAX),
            ("9.7.1.14", "popc.b64 %w, a", [3, 0, 0], 0),
            ("9.7.8.8", "shr.s64 d, a, 64", [1 << 63, 0, 0], u64::MAX),
            (
                "9.7.3.3",
                "add.rp.f64 d, a, b",
                [D(1.0), D(1e-300), 0],
                D(1.0 + epsilon),
            ),
            (
                "9.7.3.6",
                "fma.rm.f64 d, a, b, c",
                [D(1.0), D(1.0), D(-1e-300)],
                D(1.0f64.next_down()),
            ),
            (
                "9.7.3.5",
                "mul.rz.f64 d, a, b",
                [D(f64::MAX), D(2.0), 0],
                D(f64::MAX),
            ),
            (
                "9.7.3.5",
                "mul.rp.f64 d, a, b",
                [D(f64::MIN_POSITIVE), D(1e-300), 0],
                1,
            ),
            (
                "9.7.3.8",
                "div.rm.f64 d, a, b",
                [D(1.0), D(3.0), 0],
                D(1.0 / 3.0),
            ),
            (
                "9.7.3.8",
                "div.rp.f64 d, a, b",
                [D(1.0), D(3.0), 0],
                D((1.0f64 / 3.0).next_up()),
            ),
            (
                "9.7.3.15",
                "sqrt.rm.f64 d, a",
                [D(4.0f64.next_down()), 0, 0],
                D(2.0f64.next_down()),
            ),
            (
                "9.7.9.22",
                "cvt.rzi.u64.f64 d, a",
                [D(1e30), 0, 0],
                u64::MAX,
            ),
            (
                "9.7.9.22",
                "cvt.rni.s64.f64 d, a",
                [D(-2.5), 0, 0],
                (-2i64) as u64,
            ),
        ],
    );
}
