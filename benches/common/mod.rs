//! Modules of any size for the benchmarks.

use std::fmt::Write;

/// The text of a module with one entry of about `ops` operations: the mix of a real kernel, with
/// loads, arithmetic, conversions, a reduction and a loop in every forty, each group using what the one before
/// it yielded.
pub fn text(ops: usize) -> String {
    let mut out = String::from(
        "cuda_tile.module @bench {\n  entry @kernel(%p: tile<ptr<f32>>, %n: tile<i32>) {\n",
    );
    out.push_str(HEAD);
    for group in 0..ops.div_ceil(GROUP) {
        let before = if group == 0 {
            "s".to_owned()
        } else {
            format!("g{}", group - 1)
        };
        for line in BODY.lines() {
            let line = line
                .replace('@', &format!("g{group}"))
                .replace('#', &before);
            let _ = writeln!(out, "    {line}");
        }
    }
    out.push_str("    return\n  }\n}\n");
    out
}

const HEAD: &str = "    %one = constant <i32: 1> : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %s = constant <f32: 0.0> : tile<16x32xf32>
    %at = iota : tile<512xi32>
    %r = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>
    %b = broadcast %r : tile<1xptr<f32>> -> tile<512xptr<f32>>
    %all = offset %b, %at : tile<512xptr<f32>>, tile<512xi32> -> tile<512xptr<f32>>
    %ptrs = reshape %all : tile<512xptr<f32>> -> tile<16x32xptr<f32>>
    %t = make_token : token
";

/// Operations of [`BODY`].
const GROUP: usize = 40;

const BODY: &str = "%@_l, %@_t = load_ptr_tko weak %ptrs token = %t : tile<16x32xptr<f32>> -> tile<16x32xf32>, token
%@_1 = addf %@_l, %# : tile<16x32xf32>
%@_2 = mulf %@_1, %@_l : tile<16x32xf32>
%@_3 = fma %@_1, %@_2, %@_l : tile<16x32xf32>
%@_c = constant <f32: 1.5> : tile<16x32xf32>
%@_4 = maxf %@_3, %@_c : tile<16x32xf32>
%@_5 = exp2 %@_4 : tile<16x32xf32>
%@_6 = cmpf greater_than ordered %@_5, %@_c : tile<16x32xf32> -> tile<16x32xi1>
%@_7 = select %@_6, %@_5, %@_c : tile<16x32xi1>, tile<16x32xf32>
%@_8 = ftof %@_7 : tile<16x32xf32> -> tile<16x32xf16>
%@_9 = ftof %@_8 : tile<16x32xf16> -> tile<16x32xf32>
%@_i = iota : tile<32xi32>
%@_j = addi %@_i, %@_i : tile<32xi32>
%@_k = muli %@_j, %@_i : tile<32xi32>
%@_m = reshape %@_k : tile<32xi32> -> tile<1x32xi32>
%@_n = broadcast %@_m : tile<1x32xi32> -> tile<16x32xi32>
%@_o = itof %@_n signed : tile<16x32xi32> -> tile<16x32xf32>
%@_p = subf %@_9, %@_o : tile<16x32xf32>
%@_q = negf %@_p : tile<16x32xf32>
%@_r = absf %@_q : tile<16x32xf32>
%@_s = sqrt %@_r : tile<16x32xf32>
%@_u = reduce %@_s dim=1 identities=[0.0 : f32] : tile<16x32xf32> -> tile<16xf32> (%@_ra: tile<f32>, %@_rb: tile<f32>) {
  %@_rc = addf %@_ra, %@_rb : tile<f32>
  yield %@_rc : tile<f32>
}
%@_v = reshape %@_u : tile<16xf32> -> tile<16x1xf32>
%@_w = broadcast %@_v : tile<16x1xf32> -> tile<16x32xf32>
%@_x = divf %@_s, %@_w : tile<16x32xf32>
%@_y = for %@_fi in (%zero to %n, step %one) : tile<i32> iter_values(%@_fa = %@_x) -> (tile<16x32xf32>) {
  %@_fb = addf %@_fa, %@_w : tile<16x32xf32>
  %@_fc = mulf %@_fb, %@_x : tile<16x32xf32>
  continue %@_fc : tile<16x32xf32>
}
%@_z = permute %@_y [1, 0] : tile<16x32xf32> -> tile<32x16xf32>
%@_A = reshape %@_z : tile<32x16xf32> -> tile<16x32xf32>
%@_B = minf %@_A, %@_y : tile<16x32xf32>
%@_C = floor %@_B : tile<16x32xf32>
%@_D = subf %@_B, %@_C : tile<16x32xf32>
%@_E = store_ptr_tko weak %ptrs, %@_D token = %@_t : tile<16x32xptr<f32>>, tile<16x32xf32> -> token
%@_F = join_tokens %@_E, %@_t : token
%@_G = addf %@_D, %@_x : tile<16x32xf32>
%@ = mulf %@_G, %@_D : tile<16x32xf32>
";
