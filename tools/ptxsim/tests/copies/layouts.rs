//! Layouts of tensors and of boxes: interleaved tensors (PTX ISA 5.5.6), pixels along W (5.5.5), swizzles that keep
//! more than 16 bytes together (5.5.7). What is expected follows from the sections' statements of where elements lie.

use crate::{INPUT, load, try_load};
use ptxsim::tensormap::{
    Atomicity, Element, Fill, Im2col, Im2colMode, Interleave, Swizzle, TensorMap,
};
use ptxsim::{Arg, Launch, Module};

const SHARED_FROM_GLOBAL: &str = "cp.async.bulk.tensor.4d.shared::cluster.global";
const COMPLETES: &str = "mbarrier::complete_tx::bytes";

/// A batch of images in slices of `slice` two-byte channels: every element holds its own number.
struct Images {
    batch: i64,
    channels: i64,
    height: i64,
    width: i64,
    slice: i64,
}

impl Images {
    fn value(&self, n: i64, c: i64, h: i64, w: i64) -> Option<u16> {
        let inside = (0..self.batch).contains(&n)
            && (0..self.channels).contains(&c)
            && (0..self.height).contains(&h)
            && (0..self.width).contains(&w);
        let number = ((n * self.channels + c) * self.height + h) * self.width + w;
        inside.then_some(number as u16 ^ 0x5a00)
    }

    /// `N C/slice H W C(slice)` in memory.
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for n in 0..self.batch {
            for s in 0..self.channels / self.slice {
                for h in 0..self.height {
                    for w in 0..self.width {
                        for c in 0..self.slice {
                            let value = self.value(n, s * self.slice + c, h, w).unwrap();
                            bytes.extend_from_slice(&value.to_le_bytes());
                        }
                    }
                }
            }
        }
        bytes
    }

    /// A map with a box of `width` × `height` slices.
    fn map(&self, width: u32, height: u32) -> TensorMap {
        let slices = (self.channels / self.slice) as u64;
        let (w, h, n) = (self.width as u64, self.height as u64, self.batch as u64);
        let row = 2 * self.slice as u64 * w;
        let mut map = TensorMap::tiled(
            INPUT,
            Element::U16,
            &[w, h, slices, n],
            &[row, row * h, row * h * slices],
            &[width, height, 1, 1],
        );
        map.interleave = if self.slice == 8 {
            Interleave::B16
        } else {
            Interleave::B32
        };
        map
    }
}

/// Where byte `at` of a box lies by the table of the 32-byte swizzle: 16-byte elements 0 1 2 3 4 5 6 7 in one
/// 128-byte row, 1 0 3 2 5 4 7 6 in the next.
fn swizzled_32(at: usize) -> usize {
    const ROWS: [[usize; 8]; 2] = [[0, 1, 2, 3, 4, 5, 6, 7], [1, 0, 3, 2, 5, 4, 7, 6]];
    let (row, chunk) = (at / 128, at / 16 % 8);
    row * 128 + ROWS[row % 2][chunk] * 16 + at % 16
}

fn word(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(bytes[at..at + 2].try_into().unwrap())
}

/// The example of section 5.5.7: a tensor of 1 × 2 × 10 × 10 × C16, its two fragments one after the other, in a 32-byte
/// swizzle; and a fragment that hangs over the edges.
#[test]
fn the_isas_example_of_an_interleaved_tensor() {
    let images = Images {
        batch: 1,
        channels: 32,
        height: 10,
        width: 10,
        slice: 16,
    };
    let mut map = images.map(10, 10);
    map.swizzle = Swizzle::B32;
    for (w0, h0, fragment) in [(0i64, 0i64, 0i64), (0, 0, 1), (-3, 4, 1), (5, -2, 0)] {
        let copy = format!(
            "{SHARED_FROM_GLOBAL}.tile.{COMPLETES} [tile], [%map, {{{w0}, {h0}, {fragment}, 0}}], [bar];"
        );
        let got = load("sm_90a", &copy, 3200, map.clone(), images.bytes());
        for pixel in 0..100i64 {
            let (h, w) = (h0 + pixel / 10, w0 + pixel % 10);
            for c in 0..16i64 {
                let at = swizzled_32((pixel * 32 + c * 2) as usize);
                let want = images.value(0, fragment * 16 + c, h, w).unwrap_or(0);
                assert_eq!(word(&got, at), want, "fragment {fragment}, {h} {w} {c}");
            }
        }
    }
}

/// NC/8HWC8: every second slice along W, and NaN outside.
#[test]
fn interleaved_tensors_have_an_innermost_element_stride() {
    let images = Images {
        batch: 3,
        channels: 24,
        height: 4,
        width: 9,
        slice: 8,
    };
    let mut map = images.map(8, 2);
    (map.element_strides[0], map.element, map.fill) = (2, Element::F16, Fill::Nan);
    let copy =
        format!("{SHARED_FROM_GLOBAL}.tile.{COMPLETES} [tile], [%map, {{3, 3, 2, 1}}], [bar];");
    let got = load("sm_90a", &copy, 4 * 2 * 16, map, images.bytes());
    for step in 0..8i64 {
        let (h, w) = (3 + step / 4, 3 + step % 4 * 2);
        for c in 0..8i64 {
            let want = images.value(1, 16 + c, h, w).unwrap_or(0x7fff);
            assert_eq!(
                word(&got, (step * 16 + c * 2) as usize),
                want,
                "{h} {w} {c}"
            );
        }
    }
}

/// A 3 × 3 filter with padding 1 over NC/8HWC8: pixels walk W, then H, then the batch.
#[test]
fn im2col_of_an_interleaved_tensor() {
    let images = Images {
        batch: 3,
        channels: 16,
        height: 4,
        width: 5,
        slice: 8,
    };
    let mut map = images.map(1, 1);
    map.im2col = Some(Im2col {
        lower: [-1, -1, 0],
        upper: [-1, -1, 0],
        channels: 8,
        pixels: 40,
        mode: Im2colMode::Spatial,
    });
    for (r, s) in [(0i64, 0i64), (2, 1), (1, 2)] {
        let copy = format!(
            "{SHARED_FROM_GLOBAL}.im2col.{COMPLETES} [tile], [%map, {{2, 1, 1, 0}}], [bar], {{{s}, {r}}};"
        );
        let got = load("sm_90a", &copy, 40 * 16, map.clone(), images.bytes());
        // Output positions are those of the image; the first has its filter's corner at W 2, H 1.
        let first = (1 + 1) * 5 + 2 + 1;
        for pixel in 0..40i64 {
            let at = first + pixel;
            let (q, p, n) = (at % 5, at / 5 % 4, at / 20);
            for c in 0..8i64 {
                let want = images.value(n, 8 + c, p - 1 + r, q - 1 + s).unwrap_or(0);
                let found = word(&got, (pixel * 16 + c * 2) as usize);
                assert_eq!(found, want, "filter {r} {s}, pixel {pixel}, channel {c}");
            }
        }
    }
}

/// A fragment goes back to its place, and what hangs over the edge is dropped.
#[test]
fn stores_to_an_interleaved_tensor() {
    let text = ".version 8.8\n.target sm_90a\n.address_size 64\n\
         .visible .entry k(.param .align 64 .b8 map[128])\n.reqntid 32\n{\n\
         .shared .align 1024 .b8 tile[512];\n.reg .b64 %map;\n.reg .b32 %tid, %addr, %t;\n.reg .pred %p;\n\
         mov.b64 %map, map;\ncvta.param.u64 %map, %map;\nmov.u32 %tid, %tid.x;\nmov.u32 %addr, tile;\n\
         shl.b32 %t, %tid, 4;\nadd.u32 %addr, %addr, %t;\nst.shared.v4.b32 [%addr], {%tid, %tid, %tid, %tid};\n\
         fence.proxy.async.shared::cta;\nbar.sync 0;\nsetp.ne.u32 %p, %tid, 0;\n@%p bra END;\n\
         cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group [%map, {2, 1, 1, 0}], [tile];\n\
         cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nEND:\nret;\n}\n";
    let program = Module::new(text).and_then(|m| m.entry(None)).unwrap();
    let images = Images {
        batch: 2,
        channels: 16,
        height: 4,
        width: 5,
        slice: 8,
    };
    let mut launch = Launch::new(&program);
    let out = launch.add_buffer("out", vec![0xee; images.bytes().len()]);
    launch.args = vec![Arg::TensorMap(images.map(4, 4))];
    launch.run().unwrap_or_else(|e| panic!("{e}"));
    for (slice, bytes) in launch.buffers[out].bytes.chunks_exact(16).enumerate() {
        let (w, h, s, n) = (slice % 5, slice / 5 % 4, slice / 20 % 2, slice / 40);
        let want = match (w.checked_sub(2), h.checked_sub(1), s, n) {
            (Some(x), Some(y), 1, 0) => (y * 4 + x) as u32,
            _ => 0xeeee_eeee,
        };
        for part in bytes.chunks_exact(4) {
            assert_eq!(
                u32::from_le_bytes(part.try_into().unwrap()),
                want,
                "{w} {h} {s} {n}"
            );
        }
    }
}

#[test]
fn a_box_over_several_slices_is_refused_by_name() {
    let images = Images {
        batch: 1,
        channels: 16,
        height: 4,
        width: 4,
        slice: 8,
    };
    let mut map = images.map(4, 4);
    map.box_dims[2] = 2;
    let copy =
        format!("{SHARED_FROM_GLOBAL}.tile.{COMPLETES} [tile], [%map, {{0, 0, 0, 0}}], [bar];");
    let fault = try_load("sm_90a", &copy, 512, map, images.bytes()).unwrap_err();
    assert!(fault.contains("several channel slices"), "{fault}");
}

/// The ISA's examples of `im2col::w`: sizes, corners, strides, halos and offsets are theirs, but for 16 channels.
#[test]
fn pixels_along_w() {
    struct Example {
        width: i64,
        corners: [i16; 2],
        stride: u32,
        first: i64,
        halo: i64,
        offset: i64,
        mode: Im2colMode,
    }
    let example = |width, corners, stride, first, halo, offset, mode| Example {
        width,
        corners,
        stride,
        first,
        halo,
        offset,
        mode,
    };
    let (w, w128) = (Im2colMode::W, Im2colMode::W128);
    for e in [
        example(7, [0, 0], 1, 3, 2, 0, w),
        example(67, [-1, 0], 2, -1, 1, 0, w),
        example(67, [-1, 0], 2, -1, 0, 1, w),
        example(7, [-1, -1], 3, -1, 0, 0, w),
        example(7, [-1, -1], 3, -1, 0, 2, w),
        example(7, [0, 0], 1, 3, 0, 0, w128),
    ] {
        let (batch, height, channels) = (160i64, 3i64, 16i64);
        let number = |n: i64, h: i64, w: i64, c: i64| {
            (((n * height + h) * e.width + w) * channels + c) as u16 ^ 0x1234
        };
        let mut input = Vec::new();
        for pixel in 0..batch * height * e.width {
            let (n, h, w) = (
                pixel / e.width / height,
                pixel / e.width % height,
                pixel % e.width,
            );
            (0..channels).for_each(|c| input.extend_from_slice(&number(n, h, w, c).to_le_bytes()));
        }
        let row = 32 * e.width as u64;
        let mut map = TensorMap::tiled(
            INPUT,
            Element::U16,
            &[16, e.width as u64, height as u64, batch as u64],
            &[32, row, row * height as u64],
            &[1; 4],
        );
        (map.swizzle, map.element_strides) = (Swizzle::B32, [1, e.stride, 1, 1, 1]);
        map.im2col = Some(Im2col {
            lower: [e.corners[0], 0, 0],
            upper: [e.corners[1], 0, 0],
            channels: 16,
            // Ignored by the mode that always takes 128.
            pixels: if e.mode == w { 128 } else { 5 },
            mode: e.mode,
        });
        let word_of_mode = if e.mode == w {
            "im2col::w"
        } else {
            "im2col::w::128"
        };
        let copy = format!(
            "{SHARED_FROM_GLOBAL}.{word_of_mode}.{COMPLETES} [tile], [%map, {{0, {}, 2, 7}}], [bar], {{{}, {}}};",
            e.first, e.halo, e.offset
        );
        let count = 128 + e.halo;
        let got = load("sm_120a", &copy, count as usize * 32, map, input);
        // Positions of one image: from the lower corner in steps of the stride, up to the upper corner.
        let (low, high) = (
            i64::from(e.corners[0]),
            e.width - 1 + i64::from(e.corners[1]),
        );
        let positions: Vec<i64> = (low..=high).step_by(e.stride as usize).collect();
        let start = positions.iter().position(|&p| p == e.first).unwrap() as i64;
        for pixel in 0..count {
            let at = start + pixel;
            let n = 7 + at / positions.len() as i64;
            let x = positions[(at % positions.len() as i64) as usize] + e.offset;
            let inside = n < batch && (0..e.width).contains(&x);
            for c in 0..channels {
                let found = word(&got, swizzled_32((pixel * 32 + c * 2) as usize));
                let want = if inside { number(n, 2, x, c) } else { 0 };
                assert_eq!(found, want, "width {}, pixel {pixel}, channel {c}", e.width);
            }
        }
    }
}

/// The tables of section 5.5.7 for a 128-byte swizzle that keeps 32 or 64 bytes together: which 16-byte element of a
/// row lies at each place.
#[test]
fn swizzles_that_keep_more_together() {
    let tables: [(Atomicity, &[[usize; 8]]); 3] = [
        (
            Atomicity::B32,
            &[
                [0, 1, 2, 3, 4, 5, 6, 7],
                [2, 3, 0, 1, 6, 7, 4, 5],
                [4, 5, 6, 7, 0, 1, 2, 3],
                [6, 7, 4, 5, 2, 3, 0, 1],
            ],
        ),
        (
            Atomicity::B32Flip8,
            &[
                [0, 1, 2, 3, 4, 5, 6, 7],
                [2, 3, 0, 1, 6, 7, 4, 5],
                [4, 5, 6, 7, 0, 1, 2, 3],
                [6, 7, 4, 5, 2, 3, 0, 1],
            ],
        ),
        (
            Atomicity::B64,
            &[[0, 1, 2, 3, 4, 5, 6, 7], [4, 5, 6, 7, 0, 1, 2, 3]],
        ),
    ];
    let input: Vec<u8> = (0..8 * 128).map(|i| (i * 7 + i / 128) as u8).collect();
    for (atomicity, table) in tables {
        let mut map = TensorMap::tiled(INPUT, Element::U8, &[128, 8], &[128], &[128, 8]);
        (map.swizzle, map.atomicity) = (Swizzle::B128, atomicity);
        let copy = format!(
            "cp.async.bulk.tensor.2d.shared::cluster.global.tile.{COMPLETES} [tile], [%map, {{0, 0}}], [bar];"
        );
        let got = load("sm_120a", &copy, 1024, map, input.clone());
        for row in 0..8 {
            for (place, element) in table[row % table.len()].into_iter().enumerate() {
                let mut want = input[row * 128 + element * 16..][..16].to_vec();
                if atomicity == Atomicity::B32Flip8 && row % 2 == 1 {
                    want.rotate_left(8);
                }
                let found = &got[row * 128 + place * 16..][..16];
                assert_eq!(found, want, "{atomicity:?}, row {row}, place {place}");
            }
        }
    }
}

/// A swizzle may move the bytes of a narrow box anywhere in their 128-byte rows; those must exist.
#[test]
fn swizzled_bytes_must_lie_in_shared_memory() {
    let mut map = TensorMap::tiled(INPUT, Element::U8, &[64, 8], &[64], &[64, 1]);
    map.swizzle = Swizzle::B128;
    // The last row of 128 bytes is cut in half.
    let text = format!(
        ".version 8.8\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .align 64 .b8 map[128])\n\
         .reqntid 1\n{{\n.shared .align 8 .b64 bar;\n.shared .align 1024 .b8 tile[576];\n.reg .b64 %map;\n\
         mov.b64 %map, map;\ncvta.param.u64 %map, %map;\nmbarrier.init.shared.b64 [bar], 1;\n\
         mbarrier.arrive.expect_tx.shared.b64 _, [bar], 64;\n\
         cp.async.bulk.tensor.2d.shared::cluster.global.tile.{COMPLETES} [tile+512], [%map, {{0, 0}}], [bar];\nret;\n}}\n"
    );
    let program = Module::new(text).and_then(|m| m.entry(None)).unwrap();
    let mut launch = Launch::new(&program);
    launch.add_buffer("in", vec![0; 512]);
    launch.args = vec![Arg::TensorMap(map)];
    let fault = launch.run().unwrap_err().to_string();
    assert!(fault.contains("shared memory"), "{fault}");
}
