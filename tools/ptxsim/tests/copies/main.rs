//! Asynchronous copies that no compiler here emits, in PTX of our own: im2col boxes, gathered rows, messages between
//! the blocks of a cluster. Results are worked out with plain loops.

mod layouts;

use ptxsim::tensormap::{Element, Fill, Im2col, Im2colMode, MapBase, Swizzle, TensorMap};
use ptxsim::{Arg, Launch, Module};

/// One block of 32 threads with a tensor map, a buffer for results and 16 KiB of shared memory; the body loads `bytes`
/// bytes into `tile` and everything goes to the results.
fn load(target: &str, copy: &str, bytes: usize, map: TensorMap, input: Vec<u8>) -> Vec<u8> {
    try_load(target, copy, bytes, map, input).unwrap_or_else(|e| panic!("{copy}\n{e}"))
}

fn try_load(
    target: &str,
    copy: &str,
    bytes: usize,
    map: TensorMap,
    input: Vec<u8>,
) -> Result<Vec<u8>, String> {
    let text = format!(
        ".version 8.8\n.target {target}\n.address_size 64\n\
         .visible .entry k(.param .align 64 .b8 map[128], .param .u64 out)\n.reqntid 32\n{{\n\
         .shared .align 1024 .b8 tile[16384];\n.shared .align 8 .b64 bar;\n.reg .b64 %map, %out, %x;\n\
         .reg .b32 %tid, %i, %t, %addr;\n.reg .b16 %h;\n.reg .pred %p;\nmov.b64 %map, map;\ncvta.param.u64 %map, %map;\n\
         ld.param.u64 %out, [out];\nmov.u32 %tid, %tid.x;\nsetp.ne.u32 %p, %tid, 0;\n@%p bra WAIT;\n\
         mbarrier.init.shared.b64 [bar], 1;\nfence.mbarrier_init.release.cluster;\n\
         mbarrier.arrive.expect_tx.shared.b64 _, [bar], {bytes};\n{copy}\nWAIT:\nbar.sync 0;\n\
         L: mbarrier.try_wait.parity.shared.b64 %p, [bar], 0;\n@!%p bra L;\nmov.u32 %i, %tid;\n\
         N: shl.b32 %t, %i, 2;\nsetp.ge.u32 %p, %t, {bytes};\n@%p bra END;\nmov.u32 %addr, tile;\nadd.u32 %addr, %addr, %t;\n\
         cvt.u64.u32 %x, %t;\nadd.u64 %x, %out, %x;\nld.shared.b32 %t, [%addr];\nst.global.b32 [%x], %t;\n\
         add.u32 %i, %i, 32;\nbra N;\nEND:\nret;\n}}\n"
    );
    let program = Module::new(text.clone())
        .and_then(|m| m.entry(None))
        .unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut launch = Launch::new(&program);
    launch.add_buffer("in", input);
    let out = launch.add_buffer("out", vec![0; bytes]);
    launch.args = vec![Arg::TensorMap(map), Arg::buffer(out)];
    launch.run().map_err(|e| e.to_string())?;
    Ok(launch.buffers[out].bytes.clone())
}

const INPUT: MapBase = MapBase::Buffer {
    index: 0,
    offset: 0,
};

/// PTX ISA 5.5.4: an image batch in NHWC, a 3 × 3 filter with padding 1, strides 1 and 2, one filter position at a time.
#[test]
fn im2col() {
    let (n, h, w, c) = (2usize, 5usize, 6usize, 16usize);
    let input: Vec<u8> = (0..n * h * w * c * 2)
        .map(|i| (i * 7 + i / 256) as u8)
        .collect();
    let pixels = 32usize;
    for stride in [1u32, 2] {
        for fill in [Fill::Zero, Fill::Nan] {
            let mut map = TensorMap::tiled(
                INPUT,
                Element::F16,
                &[c as u64, w as u64, h as u64, n as u64],
                &[2 * c as u64, (2 * c * w) as u64, (2 * c * w * h) as u64],
                &[1, 1, 1, 1],
            );
            map.element_strides = [1, stride, stride, 1, 1];
            map.fill = fill;
            map.im2col = Some(Im2col {
                lower: [-1, -1, 0],
                upper: [-1, -1, 0],
                channels: 8,
                pixels: pixels as u32,
                mode: Im2colMode::Spatial,
            });
            for (r, s) in [(0u64, 0u64), (1, 1), (2, 0), (0, 2)] {
                let (first_q, first_p) = (1i64, 1i64);
                let (w0, h0) = (
                    first_q * i64::from(stride) - 1,
                    first_p * i64::from(stride) - 1,
                );
                let copy = format!(
                    "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [tile], \
                     [%map, {{8, {w0}, {h0}, 0}}], [bar], {{{s}, {r}}};"
                );
                let got = load("sm_90a", &copy, pixels * 16, map.clone(), input.clone());
                // Output positions of the convolution, row by row and image by image.
                let (out_w, out_h) = (
                    (w as i64 - 1) / i64::from(stride) + 1,
                    (h as i64 - 1) / i64::from(stride) + 1,
                );
                let start = first_p * out_w + first_q;
                for pixel in 0..pixels as i64 {
                    let at = start + pixel;
                    let (q, p, image) = (at % out_w, at / out_w % out_h, at / (out_w * out_h));
                    let x = q * i64::from(stride) - 1 + s as i64;
                    let y = p * i64::from(stride) - 1 + r as i64;
                    let inside = (0..w as i64).contains(&x)
                        && (0..h as i64).contains(&y)
                        && image < n as i64;
                    for i in 0..8 {
                        let found = &got[pixel as usize * 16 + 2 * i..][..2];
                        let want = if inside {
                            let index =
                                ((image * h as i64 + y) * w as i64 + x) as usize * c + 8 + i;
                            input[2 * index..2 * index + 2].to_vec()
                        } else if fill == Fill::Nan {
                            vec![0xff, 0x7f]
                        } else {
                            vec![0, 0]
                        };
                        assert_eq!(
                            found, want,
                            "stride {stride}, filter {r} {s}, pixel {pixel}, channel {i}"
                        );
                    }
                }
            }
        }
    }
}

/// PTX ISA 5.5.3.1: four rows that need not be neighbours, one of them outside, in a 128-byte swizzle.
#[test]
fn gathered_rows() {
    let (rows, columns) = (40usize, 64usize);
    let input: Vec<u8> = (0..rows * columns * 2)
        .map(|i| (i * 13 + i / 128) as u8)
        .collect();
    let mut map = TensorMap::tiled(INPUT, Element::BF16, &[64, 40], &[128], &[64, 1]);
    map.swizzle = Swizzle::B128;
    let copy = "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [tile], \
                [%map, {0, 31, 2, 40, 7}], [bar];";
    let got = load("sm_100a", copy, 512, map, input.clone());
    for (line, row) in [31usize, 2, 40, 7].into_iter().enumerate() {
        for chunk in 0..8 {
            let found = &got[line * 128 + (chunk ^ line) * 16..][..16];
            let want = if row < rows {
                input[row * 128 + chunk * 16..][..16].to_vec()
            } else {
                vec![0; 16]
            };
            assert_eq!(found, want, "row {row}, chunk {chunk}");
        }
    }
}

/// Rows back to their places; what lies outside is dropped.
#[test]
fn scattered_rows() {
    let text = ".version 8.8\n.target sm_100a\n.address_size 64\n\
         .visible .entry k(.param .align 64 .b8 map[128])\n.reqntid 32\n{\n\
         .shared .align 1024 .b8 tile[512];\n.reg .b64 %map;\n.reg .b32 %tid, %addr, %t;\n.reg .pred %p;\n\
         mov.b64 %map, map;\ncvta.param.u64 %map, %map;\nmov.u32 %tid, %tid.x;\nmov.u32 %addr, tile;\n\
         shl.b32 %t, %tid, 4;\nadd.u32 %addr, %addr, %t;\nst.shared.v4.b32 [%addr], {%tid, %tid, %tid, %tid};\n\
         fence.proxy.async.shared::cta;\nbar.sync 0;\nsetp.ne.u32 %p, %tid, 0;\n@%p bra END;\n\
         cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%map, {0, 3, 0, 9, -1}], [tile];\n\
         cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nEND:\nret;\n}\n";
    let program = Module::new(text).and_then(|m| m.entry(None)).unwrap();
    let mut launch = Launch::new(&program);
    let out = launch.add_buffer("out", vec![0xee; 128 * 10]);
    launch.args = vec![Arg::TensorMap(TensorMap::tiled(
        MapBase::Buffer {
            index: out,
            offset: 0,
        },
        Element::U32,
        &[32, 10],
        &[128],
        &[32, 1],
    ))];
    launch.run().unwrap_or_else(|e| panic!("{e}"));
    for (row, line) in launch.buffers[out].bytes.chunks_exact(128).enumerate() {
        let first = [3, 0, 9]
            .iter()
            .position(|&r| r == row)
            .map(|i| 8 * i as u32);
        for (chunk, words) in line.chunks_exact(16).enumerate() {
            let want = first.map_or(0xeeee_eeee, |f| f + chunk as u32);
            for word in words.chunks_exact(4) {
                assert_eq!(
                    u32::from_le_bytes(word.try_into().unwrap()),
                    want,
                    "row {row}"
                );
            }
        }
    }
}

/// `st.async` and `red.async` (PTX ISA 9.7.9.12, 9.7.13.15): each block of a cluster of four sends its rank to the next
/// and adds it into the one after that.
#[test]
fn messages_between_blocks() {
    let text = ".version 8.8\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 out)\n.reqntid 32\n.reqnctapercluster 4\n{\n\
         .shared .align 16 .b32 slot[4];\n.shared .align 8 .b64 bar;\n.reg .b64 %out, %x;\n.reg .b32 %tid, %rank, %to, %a, %b, %v, %w;\n.reg .pred %p;\n\
         ld.param.u64 %out, [out];\nmov.u32 %tid, %tid.x;\nmov.u32 %rank, %cluster_ctarank;\nsetp.ne.u32 %p, %tid, 0;\n\
         @%p bra READY;\nmbarrier.init.shared.b64 [bar], 1;\nfence.mbarrier_init.release.cluster;\nst.shared.b32 [slot+8], 100;\n\
         mbarrier.arrive.expect_tx.shared.b64 _, [bar], 12;\nREADY:\nbarrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n\
         @%p bra WAIT;\nadd.u32 %to, %rank, 1;\nand.b32 %to, %to, 3;\nmapa.shared::cluster.u32 %a, slot, %to;\nmapa.shared::cluster.u32 %b, bar, %to;\n\
         add.u32 %v, %rank, 10;\nst.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%a], {%v, %rank}, [%b];\n\
         add.u32 %to, %rank, 2;\nand.b32 %to, %to, 3;\nmapa.shared::cluster.u32 %a, slot+8, %to;\nmapa.shared::cluster.u32 %b, bar, %to;\n\
         red.async.relaxed.cluster.mbarrier::complete_tx::bytes.shared::cluster.add.u32 [%a], %v, [%b];\n\
         WAIT:\nmbarrier.try_wait.parity.shared.b64 %p, [bar], 0;\n@!%p bra WAIT;\n\
         ld.shared.v2.b32 {%v, %w}, [slot];\nld.shared.b32 %a, [slot+8];\n\
         mul.wide.u32 %x, %rank, 16;\nadd.u64 %out, %out, %x;\nst.global.v4.b32 [%out], {%v, %w, %a, %rank};\n\
         barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\nret;\n}\n";
    let program = Module::new(text).and_then(|m| m.entry(None)).unwrap();
    for seed in 1..6 {
        let mut launch = Launch::new(&program);
        let out = launch.add_buffer("out", vec![0; 64]);
        (launch.grid, launch.args, launch.seed) = ([4, 1, 1], vec![Arg::buffer(out)], seed);
        launch.run().unwrap_or_else(|e| panic!("{e}"));
        for (rank, words) in launch.buffers[out].bytes.chunks_exact(16).enumerate() {
            let words: Vec<u32> = words
                .chunks_exact(4)
                .map(|w| u32::from_le_bytes(w.try_into().unwrap()))
                .collect();
            let (left, across) = ((rank as u32 + 3) % 4, (rank as u32 + 2) % 4);
            assert_eq!(
                words,
                [left + 10, left, 110 + across, rank as u32],
                "seed {seed}"
            );
        }
    }
}
