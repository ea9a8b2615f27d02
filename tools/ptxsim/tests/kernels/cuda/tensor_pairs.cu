// tcgen05.mma of a pair of blocks.
#include "tcgen05.cuh"

#define TWO "tcgen05.mma.cta_group::2.kind::"
FORM(pair_f16_ss, 2, TWO "f16 [%0], %1, %2, %3, p;")
FORM(pair_f16_ts, 2, TWO "f16 [%0], [%5], %2, %3, p;")
FORM(pair_f16_masked, 2, TWO "f16 [%0], %1, %2, %3, {%10, %11, %12, %13, %14, %15, %16, %17}, p;")
FORM(pair_tf32_ss, 2, TWO "tf32 [%0], %1, %2, %3, p;")
FORM(pair_f8f6f4_ss, 2, TWO "f8f6f4 [%0], %1, %2, %3, p;")
FORM(pair_mxf8f6f4_ss, 2, TWO "mxf8f6f4.block_scale [%0], %1, %2, %3, [%6], [%7], p;")
FORM(pair_nvf4_ss, 2, TWO "mxf4nvf4.block_scale.block16 [%0], %1, %2, %3, [%6], [%7], p;")
FORM(pair_sp_f16_ss, 2, "tcgen05.mma.sp.cta_group::2.kind::f16 [%0], %1, %2, [%8], %3, p;")
FORM(pair_sp_f8f6f4_ss, 2, "tcgen05.mma.sp.cta_group::2.kind::f8f6f4 [%0], %1, %2, [%8], %3, p;")
