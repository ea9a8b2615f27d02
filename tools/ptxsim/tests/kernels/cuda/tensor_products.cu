// tcgen05.mma of one block: kinds without scales, A in shared and in tensor memory, .ws.
#include "tcgen05.cuh"

#define ONE "tcgen05.mma.cta_group::1.kind::"
FORM(f16_ss, 1, ONE "f16 [%0], %1, %2, %3, p;")
FORM(f16_ts, 1, ONE "f16 [%0], [%5], %2, %3, p;")
FORM(f16_masked, 1, ONE "f16 [%0], %1, %2, %3, {%10, %11, %12, %13}, p;")
FORM(f16_eighth, 1, ONE "f16 [%0], %1, %2, %3, p, 3;")
FORM(f16_shifted, 1, ONE "f16.ashift [%0], [%5], %2, %3, p;")
FORM(tf32_ss, 1, ONE "tf32 [%0], %1, %2, %3, p;")
FORM(tf32_ts, 1, ONE "tf32 [%0], [%5], %2, %3, p;")
FORM(f8f6f4_ss, 1, ONE "f8f6f4 [%0], %1, %2, %3, p;")
FORM(f8f6f4_ts, 1, ONE "f8f6f4 [%0], [%5], %2, %3, p;")
FORM(i8_ss, 1, ONE "i8 [%0], %1, %2, %3, p;")
FORM(i8_ts, 1, ONE "i8 [%0], [%5], %2, %3, p;")

#define WS "tcgen05.mma.ws.cta_group::1.kind::"
FORM(ws_f16_ss, 1, WS "f16 [%0], %1, %2, %3, p;")
FORM(ws_f16_ts, 1, WS "f16 [%0], [%5], %2, %3, p;")
FORM(ws_f16_zero, 1, WS "f16 [%0], %1, %2, %3, p, %9;")
FORM(ws_tf32_ss, 1, WS "tf32.collector::b1::discard [%0], %1, %2, %3, p;")
FORM(ws_f8f6f4_ss, 1, WS "f8f6f4 [%0], %1, %2, %3, p;")
FORM(ws_i8_ss, 1, WS "i8 [%0], %1, %2, %3, p;")

// The same products twice, A kept in the collector buffer.
FORM(f16_collected, 1, ONE "f16.collector::a::fill [%0], %1, %2, %3, p;\n" ONE "f16.collector::a::lastuse [%0], %1, %2, %3, 1;")

#define SP "tcgen05.mma.sp.cta_group::1.kind::"
FORM(sp_f16_ss, 1, SP "f16 [%0], %1, %2, [%8], %3, p;")
FORM(sp_f16_ts, 1, SP "f16 [%0], [%5], %2, [%8], %3, p;")
FORM(sp_tf32_ss, 1, SP "tf32 [%0], %1, %2, [%8], %3, p;")
FORM(sp_f8f6f4_ss, 1, SP "f8f6f4 [%0], %1, %2, [%8], %3, p;")
FORM(sp_i8_ss, 1, SP "i8 [%0], %1, %2, [%8], %3, p;")
FORM(ws_sp_f16_ss, 1, "tcgen05.mma.ws.sp.cta_group::1.kind::f16 [%0], %1, %2, [%8], %3, p;")
FORM(ws_sp_i8_ss, 1, "tcgen05.mma.ws.sp.cta_group::1.kind::i8 [%0], %1, %2, [%8], %3, p;")
