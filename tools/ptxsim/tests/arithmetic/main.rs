//! Instructions on thousands of operands against arithmetic that is not the simulator's: rustc's port of LLVM's softfloat
//! for the operations that round, big integers for square roots, 128-bit integers for integer instructions, and double
//! precision with the ISA's error bounds for the approximate ones. Every row names its section of the PTX ISA.

mod approximate;
mod convert;
mod float;
mod integer;
mod video;

use ptxsim::{Arg, Launch, Module};

/// One instruction: its section, its text with `d`, `a`, `b` and `c` for the registers, and its result from elsewhere.
pub struct Row {
    pub section: &'static str,
    pub text: String,
    pub want: Box<dyn Fn(u64, u64, u64) -> Want>,
}

/// What a result must be.
#[derive(Debug)]
pub enum Want {
    Exactly(u64),
    /// a predicate on the bits, and what it asks for
    Such(Box<dyn Judge>),
    Anything,
}

/// A predicate on result bits.
pub trait Judge: std::fmt::Debug {
    fn holds(&self, bits: u64) -> bool;
}

impl Row {
    pub fn new(
        section: &'static str,
        text: impl Into<String>,
        want: impl Fn(u64, u64, u64) -> u64 + 'static,
    ) -> Row {
        Row {
            section,
            text: text.into(),
            want: Box::new(move |a, b, c| Want::Exactly(want(a, b, c))),
        }
    }
}

/// Types of the registers `d`, `a`, `b` and `c`; operands are the low bits of 64-bit words.
#[derive(Clone, Copy)]
pub struct Registers {
    pub d: &'static str,
    pub a: &'static str,
    pub b: &'static str,
    pub c: &'static str,
}

/// All of one width.
pub const fn all(ty: &'static str) -> Registers {
    Registers {
        d: ty,
        a: ty,
        b: ty,
        c: ty,
    }
}

pub fn bits_of(ty: &str) -> u32 {
    ty.trim_start_matches(|c: char| c.is_alphabetic())
        .parse()
        .unwrap()
}

/// Replaces the words `d`, `a`, `b` and `c`.
fn with_registers(text: &str) -> String {
    let mut out = String::new();
    for word in text.split_inclusive([' ', ',', ';', '|', '{', '}']) {
        let (name, tail) =
            word.split_at(word.trim_end_matches([' ', ',', ';', '|', '{', '}']).len());
        out += match name {
            "d" => "%d",
            "a" => "%a",
            "b" => "%b",
            "c" => "%c",
            other => other,
        };
        out += tail;
    }
    out
}

/// Runs every row on every triple of operands.
pub fn check(registers: Registers, rows: &[Row], operands: &[[u64; 3]]) {
    let count = operands.len();
    let mut text = format!(
        ".version 8.8\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n{{\n\
         .reg .{} %d;\n.reg .{} %a;\n.reg .{} %b;\n.reg .{} %c;\n.reg .b64 %in, %out, %x;\n.reg .b32 %i, %n;\n.reg .pred %p;\n\
         ld.param.u64 %in, [in];\nld.param.u64 %out, [out];\nmov.u32 %i, %ctaid.x;\nmov.u32 %n, %ntid.x;\n\
         mul.lo.u32 %i, %i, %n;\nmov.u32 %n, %tid.x;\nadd.u32 %i, %i, %n;\nsetp.ge.u32 %p, %i, {count};\n@%p ret;\n\
         mul.wide.u32 %x, %i, 24;\nadd.u64 %in, %in, %x;\nmul.wide.u32 %x, %i, 8;\nadd.u64 %out, %out, %x;\n",
        registers.d, registers.a, registers.b, registers.c
    );
    for (name, ty, at) in [
        ("a", registers.a, 0),
        ("b", registers.b, 8),
        ("c", registers.c, 16),
    ] {
        text += &format!("ld.global.b{} %{name}, [%in+{at}];\n", bits_of(ty));
    }
    for (i, row) in rows.iter().enumerate() {
        text += &format!(
            "{};\nst.global.b{} [%out+{}], %d;\n",
            with_registers(&row.text),
            bits_of(registers.d),
            i * 8 * count
        );
    }
    text += "ret;\n}\n";
    let program = Module::new(text.clone())
        .and_then(|m| m.entry(None))
        .unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut launch = Launch::new(&program);
    let bytes = operands
        .iter()
        .flatten()
        .flat_map(|x| x.to_le_bytes())
        .collect();
    let input = launch.add_buffer("in", bytes);
    let out = launch.add_buffer("out", vec![0; rows.len() * count * 8]);
    launch.args = vec![Arg::buffer(input), Arg::buffer(out)];
    (launch.grid, launch.block) = ([count.div_ceil(256) as u32, 1, 1], [256, 1, 1]);
    launch.run().unwrap_or_else(|e| panic!("{e}"));
    let mut results = launch.buffers[out].bytes.chunks_exact(8);
    for row in rows {
        for &[a, b, c] in operands {
            let got = u64::from_le_bytes(results.next().unwrap().try_into().unwrap());
            let want = (row.want)(a, b, c);
            let right = match &want {
                Want::Exactly(bits) => got == *bits,
                Want::Such(judge) => judge.holds(got),
                Want::Anything => true,
            };
            assert!(
                right,
                "PTX ISA {}: {} of {a:#x}, {b:#x}, {c:#x} is {got:#x}, not {want:x?}",
                row.section, row.text
            );
        }
    }
}

/// A deterministic stream of bits.
pub struct Stream(pub u64);

impl Stream {
    pub fn bits(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        self.0 ^ self.0 >> 29
    }
}

/// Triples of floating-point operands: all pairs of special values, random bits, and random values of near exponents.
pub fn float_operands(
    exponent_bits: u32,
    fraction_bits: u32,
    count: usize,
    seed: u64,
) -> Vec<[u64; 3]> {
    let width = 1 + exponent_bits + fraction_bits;
    let (all, sign) = (u64::MAX >> (64 - width), 1u64 << (width - 1));
    let one = ((1u64 << (exponent_bits - 1)) - 1) << fraction_bits;
    let infinity = ((1u64 << exponent_bits) - 1) << fraction_bits;
    let least = 1u64 << fraction_bits;
    let magnitudes = [
        0,
        1,
        least - 1,
        least,
        least + 1,
        one - 1,
        one,
        one + 1,
        one + least,
        infinity - 1,
        infinity,
        infinity + 1,
    ];
    let special: Vec<u64> = magnitudes.iter().flat_map(|&m| [m, m | sign]).collect();
    let mut stream = Stream(seed);
    let mut out = Vec::new();
    for &a in &special {
        for &b in &special {
            out.push([a, b, special[stream.bits() as usize % special.len()]]);
            out.push([a, b, stream.bits() & all]);
        }
    }
    while out.len() < count {
        let random = [
            stream.bits() & all,
            stream.bits() & all,
            stream.bits() & all,
        ];
        // The same exponent, give or take a few: sums cancel and quotients fill their last bits.
        let exponent = random[0] & infinity;
        let near = |x: u64, shift: u64| {
            let moved = exponent.wrapping_add(shift << fraction_bits) & infinity;
            x & !infinity | moved
        };
        out.push(random);
        out.push([
            random[0],
            near(random[1], stream.bits() % 3),
            near(random[2], stream.bits() % 5),
        ]);
        // Exponents around one's: products and quotients stay in range.
        let bias = |x: u64, s: u64| {
            x & !infinity
                | (one & infinity).wrapping_add((s % 24).wrapping_sub(12) << fraction_bits)
                    & infinity
        };
        out.push([
            bias(random[0], stream.bits()),
            bias(random[1], stream.bits()),
            bias(random[2], stream.bits()),
        ]);
    }
    out
}
