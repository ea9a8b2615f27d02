"""Whole kernels: normalisations, matrix products, attention, data movement, control flow."""

from tile_build import cases

ALL = "sm_80 sm_90 sm_120"

cases("programs_norm", "sm_80", "layer_norm_f32 layer_norm_f16 rms_norm_f32")
cases("programs_norm", ALL, "activations_f32 functions_f32 functions_f64 functions_f16")
cases("programs_gemm", "sm_80", "batched_tf32 integer_i8 integer_u8_i8 split_k_f16 fused_bf16")
cases("programs_attention", "sm_80", "f16 f16_causal")
cases("programs_memory", ALL, "transpose_f16 transpose_f32 lookup_f32 masked_gather_i32 histogram_i32 atomics_i32 moving_sum_f32 picked_rows_f32 sliced_f32 shuffled_i32 raw_bytes_f16")
cases("programs_control", ALL, "collatz_i32 sieve_i32 integers_i8 integers_i16 integers_i32 integers_i64 prefixes_i32 prefixes_f32")
cases("programs_control", "sm_80", "statistics_f32 statistics_i32 statistics_f64 welford_f32 talk_i32")
cases("programs_control", "sm_90 sm_120", "casts_f32")
