"""Vectors, softmax, matrix products, control flow, reductions."""

from tile_build import cases

ALL = "sm_80 sm_90 sm_120"

cases("vadd", ALL, "f32 f16 f16_unaligned")
cases("softmax", ALL, "f32_1x2048 f32_4x256 f16_1x2048 f32_1x1024_unaligned")
cases("matmul", f"{ALL} sm_100 sm_103", "f16_64x64x32_unaligned")
# For later targets tileiras makes tensor maps of the arguments; tests/tileiras.rs runs those.
cases("matmul", "sm_80", "f16_64x64x32 f32_64x64x32 f16_128x128x64 f32_128x256x64")
cases("ops_control", "sm_80", "for loop if grid")
cases("ops_other", "sm_90", "assume assert print gdc")
cases("ops_reduce", ALL, "reduce")
# scan0_add_f32: tileiras stores beyond the 1024 bytes of shared memory that it reserves, which ptxsim reports.
# scan_affine_i32: tileiras passes (what came before, this element) to the function, the corpus expects the reverse.
cases("ops_reduce", ALL, "scan", without="scan0_add_f32 scan_affine_i32")
