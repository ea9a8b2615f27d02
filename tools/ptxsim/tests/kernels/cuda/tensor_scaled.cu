// tcgen05.mma with scale factors from tensor memory.
#include "tcgen05.cuh"

#define ONE "tcgen05.mma.cta_group::1.kind::"
FORM(mxf8f6f4_ss, 1, ONE "mxf8f6f4.block_scale [%0], %1, %2, %3, [%6], [%7], p;")
FORM(mxf8f6f4_ts, 1, ONE "mxf8f6f4.block_scale.scale_vec::1X [%0], [%5], %2, %3, [%6], [%7], p;")
FORM(mxf4_ss, 1, ONE "mxf4.block_scale.scale_vec::2X [%0], %1, %2, %3, [%6], [%7], p;")
FORM(mxf4_ts, 1, ONE "mxf4.block_scale [%0], [%5], %2, %3, [%6], [%7], p;")
FORM(nvf4_ss, 1, ONE "mxf4nvf4.block_scale.scale_vec::4X [%0], %1, %2, %3, [%6], [%7], p;")
FORM(nvf4_pairs_ss, 1, ONE "mxf4nvf4.block_scale.scale_vec::2X [%0], %1, %2, %3, [%6], [%7], p;")

#define SP "tcgen05.mma.sp.cta_group::1.kind::"
FORM(sp_mxf8f6f4_ss, 1, SP "mxf8f6f4.block_scale [%0], %1, %2, [%8], %3, [%6], [%7], p;")
FORM(sp_mxf4_ss, 1, SP "mxf4.block_scale [%0], %1, %2, [%8], %3, [%6], [%7], p;")
FORM(sp_nvf4_ss, 1, SP "mxf4nvf4.block_scale.scale_vec::4X [%0], %1, %2, [%8], %3, [%6], [%7], p;")
