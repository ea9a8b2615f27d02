//! Matrix instructions that no compiler here emits, in PTX of our own: fragments are filled and read back by the ISA's
//! formulas, and the products compared with plain sums. All values are small integers, so that every order of additions
//! gives the same result.

use ptxsim::{Arg, Launch, Module};

/// A deterministic stream of small numbers.
struct Stream(u64);

impl Stream {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }
    fn small(&mut self) -> i32 {
        self.below(9) as i32 - 4
    }
}

/// Element encodings of small integers.
fn f16(x: i32) -> u64 {
    if x == 0 {
        return 0;
    }
    let exponent = 31 - x.unsigned_abs().leading_zeros();
    let fraction = (u64::from(x.unsigned_abs()) << (10 - exponent)) & 0x3ff;
    u64::from(x < 0) << 15 | u64::from(exponent + 15) << 10 | fraction
}
fn f32(x: i32) -> u64 {
    u64::from((x as f32).to_bits())
}
fn s8(x: i32) -> u64 {
    u64::from(x as u8)
}
/// e4m3: 1, 4 and 3 bits, bias 7.
fn e4m3(x: i32) -> u64 {
    (f16(x) >> 7 & 7)
        | if x == 0 {
            0
        } else {
            (f16(x) >> 10 & 31) - 15 + 7
        } << 3
        | u64::from(x < 0) << 7
}
fn s4(x: i32) -> u64 {
    (x & 15) as u64
}

/// Runs one warp (or `threads`) of `instruction`. Lane `l` has word `w` of input `i` in `%r{i}_{w}`; results are words
/// `%d0…`. `shared` is the start of shared memory `tile`.
struct Kernel {
    target: &'static str,
    threads: usize,
    inputs: Vec<Vec<Vec<u32>>>,
    shared: Vec<u8>,
    results: usize,
    result_type: &'static str,
    body: String,
}

impl Kernel {
    fn run(&self) -> Vec<Vec<u32>> {
        let (threads, results) = (self.threads, self.results);
        let words: usize = self.inputs.iter().map(Vec::len).sum();
        let mut text = format!(
            ".version 8.8\n.target {}\n.address_size 64\n.shared .align 1024 .b8 tile[{}];\n.visible .entry k(.param .u64 in, .param .u64 sh, .param .u64 out)\n\
             .reqntid {threads}\n{{\n.reg .b64 %in, %sh, %out, %x, %desc<4>;\n.reg .b32 %tid, %i, %t, %addr;\n.reg .pred %p;\n",
            self.target,
            self.shared.len().max(16)
        );
        for (i, input) in self.inputs.iter().enumerate() {
            text += &format!(".reg .b32 %r{i}_<{}>;\n", input.len());
        }
        text += &format!(
            ".reg .{} %d<{results}>;\nld.param.u64 %in, [in];\nld.param.u64 %sh, [sh];\nld.param.u64 %out, [out];\nmov.u32 %tid, %tid.x;\n\
             mul.wide.u32 %x, %tid, {};\nadd.u64 %in, %in, %x;\nmul.wide.u32 %x, %tid, {};\nadd.u64 %out, %out, %x;\n",
            self.result_type,
            4 * words.max(1),
            4 * results
        );
        let mut at = 0;
        for (i, input) in self.inputs.iter().enumerate() {
            for w in 0..input.len() {
                text += &format!("ld.global.b32 %r{i}_{w}, [%in+{at}];\n");
                at += 4;
            }
        }
        text += &format!(
            "mov.u32 %i, %tid;\nFILL: shl.b32 %t, %i, 2;\nsetp.ge.u32 %p, %t, {};\n@%p bra FILLED;\ncvt.u64.u32 %x, %t;\nadd.u64 %x, %sh, %x;\n\
             mov.u32 %addr, tile;\nadd.u32 %addr, %addr, %t;\nld.global.b32 %t, [%x];\nst.shared.b32 [%addr], %t;\nadd.u32 %i, %i, {threads};\nbra FILL;\n\
             FILLED: fence.proxy.async;\nbar.sync 0;\n{}\n",
            self.shared.len(),
            self.body
        );
        for w in 0..results {
            text += &format!("st.global.b32 [%out+{}], %d{w};\n", 4 * w);
        }
        text += "ret;\n}\n";
        let program = Module::new(text.clone())
            .and_then(|m| m.entry(None))
            .unwrap_or_else(|e| panic!("{e}\n{text}"));
        let mut launch = Launch::new(&program);
        let mut bytes = Vec::new();
        for lane in 0..threads {
            for word in self.inputs.iter().flatten() {
                bytes.extend_from_slice(&word[lane].to_le_bytes());
            }
        }
        bytes.resize(bytes.len().max(16), 0);
        let input = launch.add_buffer("in", bytes);
        let mut shared = self.shared.clone();
        shared.resize(shared.len().max(16), 0);
        let shared = launch.add_buffer("shared", shared);
        let out = launch.add_buffer("out", vec![0; 4 * results * threads]);
        launch.args = vec![Arg::buffer(input), Arg::buffer(shared), Arg::buffer(out)];
        launch.run().unwrap_or_else(|e| panic!("{e}\n{text}"));
        let bytes = &launch.buffers[out].bytes;
        let word = |lane: usize, w: usize| {
            let at = 4 * (lane * results + w);
            u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
        };
        (0..results)
            .map(|w| (0..threads).map(|lane| word(lane, w)).collect())
            .collect()
    }
}

/// `{%r1_0, %r1_1, …}`
fn list(prefix: &str, count: usize) -> String {
    let names: Vec<String> = (0..count).map(|w| format!("{prefix}{w}")).collect();
    format!("{{{}}}", names.join(", "))
}

/// Packs elements into registers: `at(lane, i)` is element `i` of the lane's fragment.
fn fragment(
    lanes: usize,
    registers: usize,
    bits: usize,
    at: impl Fn(usize, usize) -> u64,
) -> Vec<Vec<u32>> {
    let per = 32 / bits;
    (0..registers)
        .map(|reg| {
            (0..lanes)
                .map(|lane| {
                    (0..per).fold(0u64, |word, i| word | at(lane, reg * per + i) << (bits * i))
                        as u32
                })
                .collect()
        })
        .collect()
}

type Matrix = Vec<Vec<i32>>;

fn matrix(stream: &mut Stream, rows: usize, columns: usize) -> Matrix {
    (0..rows)
        .map(|_| (0..columns).map(|_| stream.small()).collect())
        .collect()
}

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    let columns = b[0].len();
    a.iter()
        .map(|row| {
            (0..columns)
                .map(|j| row.iter().zip(b).map(|(x, line)| x * line[j]).sum())
                .collect()
        })
        .collect()
}

/// A matrix with `kept` of every `group` neighbours (in runs of `run`) that need not be zero, the stored elements, and
/// for every stored run its position in the group.
fn sparse(
    stream: &mut Stream,
    rows: usize,
    k: usize,
    group: usize,
    run: usize,
) -> (Matrix, Matrix, Vec<Vec<usize>>) {
    let runs = group / run;
    let (mut dense, mut stored, mut positions) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rows {
        let (mut full, mut kept, mut where_) = (vec![0; k], Vec::new(), Vec::new());
        for g in 0..k / group {
            let mut chosen: Vec<usize> = (0..runs).collect();
            while chosen.len() > runs / 2 {
                chosen.remove(stream.below(chosen.len() as u64) as usize);
            }
            for c in chosen {
                where_.push(c);
                for i in 0..run {
                    let x = stream.small();
                    full[g * group + c * run + i] = x;
                    kept.push(x);
                }
            }
        }
        dense.push(full);
        stored.push(kept);
        positions.push(where_);
    }
    (dense, stored, positions)
}

/// Accumulators of m16n8: c0 c1 in row `lane / 4`, c2 c3 eight rows below.
fn accumulator(lane: usize, i: usize) -> (usize, usize) {
    (lane / 4 + 8 * (i / 2), lane % 4 * 2 + i % 2)
}

fn check_m16n8(got: &[Vec<u32>], want: &Matrix, integer: bool, what: &str) {
    for lane in 0..32 {
        for (i, words) in got.iter().enumerate() {
            let (row, column) = accumulator(lane, i);
            let x = words[lane];
            let value = if integer {
                x as i32
            } else {
                f32::from_bits(x) as i32
            };
            assert_eq!(value, want[row][column], "{what}: d[{row}][{column}]");
        }
    }
}

struct SparseForm {
    words: &'static str,
    k: usize,
    bits: usize,
    encode: fn(i32) -> u64,
    integer: bool,
    selectors: u32,
    target: &'static str,
}

/// PTX ISA 9.7.14.6: A and B fragments go on in runs of 32 bits along k, A's over its stored half; metadata of row
/// `lane / 4` is in the lower 16 bits of a word, that of the row eight below in the upper. For elements of 8 and 4 bits a
/// word belongs to one row, that of the row eight below is in the next lane; the manual shows this in figures only,
/// CUTLASS in its layouts of metadata (`ELayout` of `mma_traits_sm90_gmma_sparse.hpp`, `mma_traits_sm120_sparse.hpp`).
#[test]
fn sparse_mma() {
    let forms = [
        SparseForm {
            words: "m16n8k16.row.col.f32.f16.f16.f32",
            k: 16,
            bits: 16,
            encode: f16,
            integer: false,
            selectors: 4,
            target: "sm_90a",
        },
        SparseForm {
            words: "m16n8k32.row.col.f32.f16.f16.f32",
            k: 32,
            bits: 16,
            encode: f16,
            integer: false,
            selectors: 2,
            target: "sm_90a",
        },
        SparseForm {
            words: "m16n8k8.row.col.f32.tf32.tf32.f32",
            k: 8,
            bits: 32,
            encode: f32,
            integer: false,
            selectors: 4,
            target: "sm_90a",
        },
        SparseForm {
            words: "m16n8k16.row.col.f32.tf32.tf32.f32",
            k: 16,
            bits: 32,
            encode: f32,
            integer: false,
            selectors: 2,
            target: "sm_90a",
        },
        SparseForm {
            words: "m16n8k32.row.col.s32.s8.s8.s32",
            k: 32,
            bits: 8,
            encode: s8,
            integer: true,
            selectors: 2,
            target: "sm_90a",
        },
        SparseForm {
            words: "m16n8k64.row.col.s32.s8.s8.s32",
            k: 64,
            bits: 8,
            encode: s8,
            integer: true,
            selectors: 1,
            target: "sm_90a",
        },
        SparseForm {
            words: "m16n8k64.row.col.f32.e4m3.e4m3.f32",
            k: 64,
            bits: 8,
            encode: e4m3,
            integer: false,
            selectors: 1,
            target: "sm_90a",
        },
        SparseForm {
            words: "m16n8k64.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32",
            k: 64,
            bits: 8,
            encode: e4m3,
            integer: false,
            selectors: 1,
            target: "sm_120a",
        },
        SparseForm {
            words: "m16n8k64.row.col.s32.s4.s4.s32",
            k: 64,
            bits: 4,
            encode: s4,
            integer: true,
            selectors: 2,
            target: "sm_90a",
        },
        SparseForm {
            words: "m16n8k128.row.col.s32.s4.s4.s32",
            k: 128,
            bits: 4,
            encode: s4,
            integer: true,
            selectors: 1,
            target: "sm_90a",
        },
    ];
    let mut stream = Stream(3);
    for form in forms {
        for selector in 0..form.selectors {
            let (group, run) = match form.bits {
                32 => (2, 1),
                4 => (8, 2),
                _ => (4, 1),
            };
            let (dense, stored, positions) = sparse(&mut stream, 16, form.k, group, run);
            let b = matrix(&mut stream, form.k, 8);
            let per = 32 / form.bits;
            let a_registers = 16 * form.k / 2 / 32 / per;
            let a = fragment(32, a_registers, form.bits, |lane, i| {
                let (reg, inner) = (i / per, i % per);
                let row = lane / 4 + 8 * (reg % 2);
                (form.encode)(stored[row][lane % 4 * per + inner + 4 * per * (reg / 2)])
            });
            let b_registers = 8 * form.k / 32 / per;
            let b_fragment = fragment(32, b_registers, form.bits, |lane, i| {
                let (reg, inner) = (i / per, i % per);
                (form.encode)(b[lane % 4 * per + inner + 4 * per * reg][lane / 4])
            });
            let metadata = metadata_words(&positions, form.bits, form.selectors, selector);
            let name = format!("mma.sp::ordered_metadata.sync.aligned.{}", form.words);
            let float = if form.integer { "b32" } else { "f32" };
            let body = format!(
                "mov.b32 %d0, 0;\nmov.b32 %d1, 0;\nmov.b32 %d2, 0;\nmov.b32 %d3, 0;\n{name} {}, {}, {}, {}, %r2_0, {selector};",
                list("%d", 4),
                list("%r0_", a_registers),
                list("%r1_", b_registers),
                list("%d", 4)
            );
            let kernel = Kernel {
                target: form.target,
                threads: 32,
                inputs: vec![a, b_fragment, vec![metadata]],
                shared: vec![],
                results: 4,
                result_type: float,
                body,
            };
            check_m16n8(&kernel.run(), &product(&dense, &b), form.integer, &name);
        }
    }
}

/// Metadata registers: `4 / selectors` lanes of each four hold it, from lane `selector * (4 / selectors)` on. The others
/// hold nonsense.
fn metadata_words(
    positions: &[Vec<usize>],
    bits: usize,
    selectors: u32,
    selector: u32,
) -> Vec<u32> {
    let lanes = 4 / selectors as usize;
    (0..32)
        .map(|lane| {
            let (row, within) = (lane / 4, lane % 4);
            let first = selector as usize * lanes;
            if !(first..first + lanes).contains(&within) {
                return 0xdead_beef;
            }
            let nibble = |row: usize, at: usize| {
                if bits == 32 {
                    [0b0100, 0b1110][positions[row][at]]
                } else {
                    (positions[row][2 * at] | positions[row][2 * at + 1] << 2) as u32
                }
            };
            let word = |row: usize, from: usize, nibbles: usize| {
                (0..nibbles).fold(0u32, |word, n| word | nibble(row, from + n) << (4 * n))
            };
            let lane = within - first;
            if bits >= 16 {
                word(row, 4 * lane, 4) | word(row + 8, 4 * lane, 4) << 16
            } else {
                word(row + 8 * (lane % 2), lane / 2 * 8, 8)
            }
        })
        .collect()
}

/// PTX ISA 9.7.14.5.1.
#[test]
fn volta_mma() {
    let mut stream = Stream(5);
    for (a_layout, b_layout) in [
        ("row", "col"),
        ("row", "row"),
        ("col", "col"),
        ("col", "row"),
    ] {
        for half in [false, true] {
            let a: Vec<Matrix> = (0..4).map(|_| matrix(&mut stream, 8, 4)).collect();
            let b: Vec<Matrix> = (0..4).map(|_| matrix(&mut stream, 4, 8)).collect();
            let second = |lane: usize| if lane < 16 { 0 } else { 4 };
            let quad = |lane: usize| lane % 16 / 4;
            let a_fragment = fragment(32, 2, 16, |lane, i| {
                let (row, column) = if a_layout == "row" {
                    (lane % 4 + second(lane), i)
                } else {
                    (i % 4 + second(lane), lane % 4)
                };
                f16(a[quad(lane)][row][column])
            });
            let b_fragment = fragment(32, 2, 16, |lane, i| {
                let (row, column) = if b_layout == "row" {
                    (lane % 4, i + second(lane))
                } else {
                    (i, lane % 4 + second(lane))
                };
                f16(b[quad(lane)][row][column])
            });
            let (ty, count) = if half { ("f16", 4) } else { ("f32", 8) };
            let zero: String = (0..count).map(|w| format!("mov.b32 %d{w}, 0;\n")).collect();
            let name = format!("mma.sync.aligned.m8n8k4.{a_layout}.{b_layout}.{ty}.f16.f16.{ty}");
            let d = list("%d", count);
            let kernel = Kernel {
                target: "sm_90a",
                threads: 32,
                inputs: vec![a_fragment, b_fragment],
                shared: vec![],
                results: count,
                result_type: if half { "b32" } else { "f32" },
                body: format!(
                    "{zero}{name} {d}, {}, {}, {d};",
                    list("%r0_", 2),
                    list("%r1_", 2)
                ),
            };
            let got = kernel.run();
            for lane in 0..32 {
                let want = product(&a[quad(lane)], &b[quad(lane)]);
                for i in 0..8 {
                    let (row, column) = if half {
                        (lane % 4 + second(lane), i)
                    } else {
                        (
                            (lane & 1) + (i & 2) + second(lane),
                            (i & 4) + (lane & 2) + (i & 1),
                        )
                    };
                    let expected = want[row][column];
                    let found = if half {
                        u64::from(got[i / 2][lane] >> (16 * (i % 2)) & 0xffff) == f16(expected)
                    } else {
                        u64::from(got[i][lane]) == f32(expected)
                    };
                    assert!(found, "{name}: lane {lane}, {i}");
                }
            }
        }
    }
}

/// PTX ISA 9.7.14.3 and 9.7.14.5: scales of A's rows are in lanes `4 g + 2 thread` (rows g) and the next (rows g + 8),
/// those of B's columns in lanes `4 column + thread`; a byte for every part of k.
#[test]
fn block_scaled_mma() {
    // kind, k, bits, parts of k, e4m3 scales
    let forms = [
        (
            "kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0",
            32,
            8,
            1,
            false,
        ),
        (
            "kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0",
            64,
            4,
            2,
            false,
        ),
        (
            "kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3",
            64,
            4,
            4,
            true,
        ),
    ];
    let mut stream = Stream(9);
    for (words, k, bits, parts, wide_scale) in forms {
        for (byte, thread, b_thread) in [(0, 0, 0), ([3, 2, 0][parts / 2], 1, 2)] {
            // e2m1 holds 0, 1, 2, 3, 4 and 6.
            let (a, b) = (matrix(&mut stream, 16, k), matrix(&mut stream, k, 8));
            let e2m1 = |x: i32| u64::from(x < 0) << 3 | [0, 2, 4, 5, 6][x.unsigned_abs() as usize];
            let encode = |x: i32| if bits == 4 { e2m1(x) } else { e4m3(x) };
            let per = 32 / bits;
            let a_fragment = fragment(32, 4, bits, |lane, i| {
                let (reg, inner) = (i / per, i % per);
                encode(a[lane / 4 + 8 * (reg % 2)][lane % 4 * per + inner + 4 * per * (reg / 2)])
            });
            let b_fragment = fragment(32, 2, bits, |lane, i| {
                let (reg, inner) = (i / per, i % per);
                encode(b[lane % 4 * per + inner + 4 * per * reg][lane / 4])
            });
            // Powers of two up to 4, as exponents.
            let scales_a: Vec<Vec<u64>> = (0..16)
                .map(|_| (0..parts).map(|_| stream.below(3)).collect())
                .collect();
            let scales_b: Vec<Vec<u64>> = (0..8)
                .map(|_| (0..parts).map(|_| stream.below(3)).collect())
                .collect();
            let scale_bits = |e: u64| if wide_scale { (e + 7) << 3 } else { e + 127 };
            let word = |scales: &[u64]| {
                scales
                    .iter()
                    .enumerate()
                    .fold(0xffff_ffffu64, |w, (i, &e)| {
                        let shift = 8 * (byte + i);
                        w & !(0xff << shift) | scale_bits(e) << shift
                    }) as u32
            };
            let a_scale: Vec<u32> = (0..32)
                .map(|lane| match (lane % 4usize).wrapping_sub(2 * thread) {
                    0 => word(&scales_a[lane / 4]),
                    1 => word(&scales_a[lane / 4 + 8]),
                    _ => 0x7f7f_7f7f,
                })
                .collect();
            let b_scale: Vec<u32> = (0..32)
                .map(|lane| {
                    if lane % 4 == b_thread {
                        word(&scales_b[lane / 4])
                    } else {
                        0
                    }
                })
                .collect();
            let name = format!("mma.sync.aligned.m16n8k{k}.row.col.{words}");
            let d = list("%d", 4);
            let body = format!(
                "mov.b32 %d0, 0;\nmov.b32 %d1, 0;\nmov.b32 %d2, 0;\nmov.b32 %d3, 0;\n{name} {d}, {}, {}, {d}, %r2_0, {{{byte}, {thread}}}, %r3_0, {{{byte}, {b_thread}}};",
                list("%r0_", 4),
                list("%r1_", 2)
            );
            let kernel = Kernel {
                target: "sm_120a",
                threads: 32,
                inputs: vec![a_fragment, b_fragment, vec![a_scale], vec![b_scale]],
                shared: vec![],
                results: 4,
                result_type: "f32",
                body,
            };
            let scaled = |m: &Matrix, scale: &dyn Fn(usize, usize) -> u64| -> Matrix {
                m.iter()
                    .enumerate()
                    .map(|(i, row)| {
                        row.iter()
                            .enumerate()
                            .map(|(j, x)| x << scale(i, j))
                            .collect()
                    })
                    .collect()
            };
            let part = k / parts;
            let want = product(
                &scaled(&a, &|i, j| scales_a[i][j / part]),
                &scaled(&b, &|i, j| scales_b[j][i / part]),
            );
            check_m16n8(&kernel.run(), &want, false, &name);
        }
    }
}

/// PTX ISA 9.7.14.5.15: rows of 16 elements, and for m16n16 the transposed fragment in two registers per matrix.
#[test]
fn ldmatrix_of_bytes_and_less() {
    let mut stream = Stream(11);
    for (words, trans, format, matrices) in [
        ("m16n16.x1.trans.shared.b8", true, 8, 1),
        ("m16n16.x2.trans.shared.b8", true, 8, 2),
        ("m16n16.x2.trans.shared.b8x16.b6x16_p32", true, 6, 2),
        ("m16n16.x1.trans.shared.b8x16.b4x16_p64", true, 4, 1),
        ("m8n16.x1.shared.b8x16.b6x16_p32", false, 6, 1),
        ("m8n16.x2.shared.b8x16.b4x16_p64", false, 4, 2),
        ("m8n16.x4.shared.b8x16.b6x16_p32", false, 6, 4),
    ] {
        let rows = if trans { 16 } else { 8 };
        let cells: Vec<Vec<Vec<u64>>> = (0..matrices)
            .map(|_| {
                (0..rows)
                    .map(|_| (0..16).map(|_| stream.below(1 << format)).collect())
                    .collect()
            })
            .collect();
        let mut shared = vec![0u8; matrices * rows * 16];
        for (m, cell) in cells.iter().enumerate() {
            for (r, row) in cell.iter().enumerate() {
                let packed = row
                    .iter()
                    .enumerate()
                    .fold(0u128, |w, (i, &x)| w | u128::from(x) << (i * format));
                shared[(m * rows + r) * 16..][..16].copy_from_slice(&packed.to_le_bytes());
            }
        }
        let count = if trans { 2 * matrices } else { matrices };
        let name = format!("ldmatrix.sync.aligned.{words}");
        let kernel = Kernel {
            target: "sm_120a",
            threads: 32,
            inputs: vec![],
            shared,
            results: count,
            result_type: "b32",
            body: format!(
                "mov.u32 %addr, tile;\nshl.b32 %t, %tid, 4;\nadd.u32 %addr, %addr, %t;\n{name} {}, [%addr];",
                list("%d", count)
            ),
        };
        let got = kernel.run();
        // 6-bit elements lie in the low bits of their byte, 4-bit ones in bits 2 to 5 (9.7.14.5.15, "decompression").
        let byte = |x: u64| if format == 4 { x << 2 } else { x };
        for (reg, words) in got.iter().enumerate() {
            for lane in 0..32 {
                let want = (0..4).fold(0, |w, i| {
                    let x = if trans {
                        cells[reg / 2][lane % 4 * 4 + i][lane / 4 + 8 * (reg % 2)]
                    } else {
                        cells[reg][lane / 4][lane % 4 * 4 + i]
                    };
                    w | byte(x) << (8 * i)
                }) as u32;
                assert_eq!(words[lane], want, "{name}: register {reg} of lane {lane}");
            }
        }
    }
}

/// Shapes and types of wmma with its registers for A, B and C; loads, products and stores need only agree.
#[test]
fn wmma_round_trips() {
    let mut stream = Stream(13);
    for (m, n, k, ty, bits, a_regs, b_regs, float) in [
        (16, 16, 16, "f16", 16, 8, 8, true),
        (8, 32, 16, "f16", 16, 8, 8, true),
        (32, 8, 16, "s8", 8, 4, 1, false),
        (16, 16, 16, "s8", 8, 2, 2, false),
        (16, 16, 8, "tf32", 32, 4, 4, true),
        (8, 8, 32, "s4", 4, 1, 1, false),
    ] {
        for (a_layout, b_layout) in [("row", "col"), ("col", "row")] {
            if bits == 4 && a_layout == "col" {
                continue;
            }
            let (a, b) = (matrix(&mut stream, m, k), matrix(&mut stream, k, n));
            let encode = |x: i32| match bits {
                16 => f16(x),
                32 => f32(x),
                8 => s8(x),
                _ => s4(x),
            };
            let mut shared = vec![0u8; 8192];
            let mut put = |base: usize, index: usize, x: i32| {
                let (bit, value) = (index * bits, encode(x));
                for i in 0..bits {
                    let at = bit + i;
                    shared[base + at / 8] |= ((value >> i & 1) as u8) << (at % 8);
                }
            };
            let mut lay = |base: usize, matrix: &[Vec<i32>], row_major: bool| {
                let (rows, columns) = (matrix.len(), matrix[0].len());
                for (i, row) in matrix.iter().enumerate() {
                    for (j, &x) in row.iter().enumerate() {
                        let index = if row_major {
                            i * columns + j
                        } else {
                            j * rows + i
                        };
                        put(base, index, x);
                    }
                }
            };
            lay(0, &a, a_layout == "row");
            lay(4096, &b, b_layout == "row");
            let c_regs = m * n / 32;
            let (c_ty, types) = if float {
                (
                    "f32",
                    if ty == "f16" {
                        "f32.f32".into()
                    } else {
                        format!("f32.{ty}.{ty}.f32")
                    },
                )
            } else {
                ("s32", format!("s32.{ty}.{ty}.s32"))
            };
            let shape = format!("m{m}n{n}k{k}");
            let zero: String = (0..c_regs)
                .map(|w| format!("mov.b32 %d{w}, 0;\n"))
                .collect();
            let (al, bl, d) = (list("%a", a_regs), list("%b", b_regs), list("%d", c_regs));
            let reg = if float { "f32" } else { "b32" };
            let body = format!(
                ".reg .b32 %a<{a_regs}>, %b<{b_regs}>;\n.reg .{reg} %e<{c_regs}>;\nmov.u32 %addr, tile;\n\
                 wmma.load.a.sync.aligned.{a_layout}.{shape}.shared.{ty} {al}, [%addr];\n\
                 wmma.load.b.sync.aligned.{b_layout}.{shape}.shared.{ty} {bl}, [%addr+4096];\n{zero}\
                 wmma.mma.sync.aligned.{a_layout}.{b_layout}.{shape}.{types} {d}, {al}, {bl}, {d};\n\
                 bar.sync 0;\nwmma.store.d.sync.aligned.row.{shape}.shared.{c_ty} [%addr], {d};\nbar.sync 0;\n\
                 mul.lo.u32 %t, %tid, {};\nadd.u32 %addr, %addr, %t;\n{}",
                4 * c_regs,
                (0..c_regs)
                    .map(|w| format!("ld.shared.b32 %d{w}, [%addr+{}];\n", 4 * w))
                    .collect::<String>()
            );
            let kernel = Kernel {
                target: "sm_90a",
                threads: 32,
                inputs: vec![],
                shared,
                results: c_regs,
                result_type: reg,
                body,
            };
            let (got, want) = (kernel.run(), product(&a, &b));
            for index in 0..m * n {
                let x = got[index % c_regs][index / c_regs];
                let value = if float {
                    f32::from_bits(x) as i32
                } else {
                    x as i32
                };
                assert_eq!(
                    value,
                    want[index / n][index % n],
                    "wmma {shape} {ty} {a_layout}: {index}"
                );
            }
        }
    }
}

/// A row-major 64 × k matrix (or a column-major k × n one) without swizzle: 8-row blocks of 16-byte rows, the next 16
/// bytes of k `leading` bytes on, the next 8 rows `stride` bytes on (PTX ISA 9.7.15.5.1).
fn core_matrices(
    rows: &Matrix,
    bits: usize,
    leading: usize,
    stride: usize,
    encode: fn(i32) -> u64,
) -> Vec<u8> {
    let mut out = vec![0u8; stride * rows.len() / 8];
    for (r, row) in rows.iter().enumerate() {
        for (j, &x) in row.iter().enumerate() {
            let (byte, bit) = (j * bits / 8, j * bits % 8);
            let at = r / 8 * stride + r % 8 * 16 + byte / 16 * leading + byte % 16;
            for (i, b) in encode(x)
                .to_le_bytes()
                .iter()
                .enumerate()
                .take(bits.div_ceil(8))
            {
                out[at + i] |= b << bit;
            }
        }
    }
    out
}

#[test]
fn sparse_and_one_bit_wgmma() {
    let mut stream = Stream(17);
    let bit = |x: i32| (x & 1) as u64;
    type Form = (&'static str, usize, usize, fn(i32) -> u64, bool, bool, u32);
    let forms: [Form; 6] = [
        (
            "sp.sync.aligned.m64n8k32.f32.f16.f16",
            32,
            16,
            f16,
            false,
            true,
            2,
        ),
        (
            "sp.sync.aligned.m64n8k16.f32.tf32.tf32",
            16,
            32,
            f32,
            false,
            true,
            2,
        ),
        (
            "sp.sync.aligned.m64n8k64.s32.s8.s8",
            64,
            8,
            s8,
            true,
            true,
            1,
        ),
        (
            "sp.sync.aligned.m64n8k64.f32.e4m3.e4m3",
            64,
            8,
            e4m3,
            false,
            true,
            1,
        ),
        (
            "sync.aligned.m64n8k256.s32.b1.b1.and.popc",
            256,
            1,
            bit,
            true,
            false,
            1,
        ),
        ("sync.aligned.m64n8k32.s32.s8.s8", 32, 8, s8, true, false, 1),
    ];
    for (words, k, bits, encode, integer, is_sparse, selectors) in forms {
        for selector in 0..selectors {
            let (group, run) = if bits == 32 { (2, 1) } else { (4, 1) };
            let (mut dense, stored, positions) = if is_sparse {
                sparse(&mut stream, 64, k, group, run)
            } else {
                let a = matrix(&mut stream, 64, k);
                (a.clone(), a, vec![])
            };
            let mut b = matrix(&mut stream, k, 8);
            if bits == 1 {
                dense
                    .iter_mut()
                    .chain(&mut b)
                    .flatten()
                    .for_each(|x| *x &= 1);
            }
            let transposed: Matrix = (0..8)
                .map(|j| b.iter().map(|row| row[j]).collect())
                .collect();
            let b_bytes = k * bits / 8;
            let mut shared = core_matrices(&stored, bits, 128, 256, encode);
            assert_eq!(shared.len(), 2048);
            shared.extend(core_matrices(
                &transposed,
                bits,
                128,
                b_bytes / 16 * 128,
                encode,
            ));
            let metadata: Vec<u32> = if is_sparse {
                (0..4)
                    .flat_map(|w| {
                        metadata_words(&positions[16 * w..16 * w + 16], bits, selectors, selector)
                    })
                    .collect()
            } else {
                vec![0; 128]
            };
            let tail = match (is_sparse, integer) {
                (true, true) => format!("%r0_0, {selector}, 0"),
                (true, false) if bits == 16 => format!("%r0_0, {selector}, 0, 1, 1, 0, 0"),
                (true, false) => format!("%r0_0, {selector}, 0, 1, 1"),
                (false, _) => "0".into(),
            };
            let name = format!("wgmma.mma_async.{words}");
            let body = format!(
                "mov.u32 %addr, tile;\nshr.u32 %t, %addr, 4;\ncvt.u64.u32 %x, %t;\nor.b64 %desc0, %x, {:#x};\n\
                 add.u64 %x, %x, 128;\nor.b64 %desc1, %x, {:#x};\nwgmma.fence.sync.aligned;\n\
                 {name} {}, %desc0, %desc1, {tail};\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;",
                8u64 << 16 | 16 << 32,
                8u64 << 16 | (b_bytes as u64 / 16 * 8) << 32,
                list("%d", 4)
            );
            let kernel = Kernel {
                target: "sm_90a",
                threads: 128,
                inputs: vec![vec![metadata]],
                shared,
                results: 4,
                result_type: if integer { "b32" } else { "f32" },
                body,
            };
            let (got, want) = (kernel.run(), product(&dense, &b));
            for thread in 0..128 {
                for (i, words) in got.iter().enumerate() {
                    let (row, column) = accumulator(thread % 32, i);
                    let x = words[thread];
                    let value = if integer {
                        x as i32
                    } else {
                        f32::from_bits(x) as i32
                    };
                    assert_eq!(value, want[16 * (thread / 32) + row][column], "{name}");
                }
            }
        }
    }
}
