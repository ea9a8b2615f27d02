// tcgen05.cp and tcgen05.shift: what they leave in tensor memory.
#include "tcgen05.cuh"

#define CP "tcgen05.cp.cta_group::1."
FORM(cp_128x256b, 1, CP "128x256b [%0], %1;")
FORM(cp_128x128b, 1, CP "128x128b [%0], %1;")
FORM(cp_4x256b, 1, CP "4x256b [%0], %1;")
FORM(cp_64x128b_02_13, 1, CP "64x128b.warpx2::02_13 [%0], %1;")
FORM(cp_64x128b_01_23, 1, CP "64x128b.warpx2::01_23 [%0], %1;")
FORM(cp_32x128b, 1, CP "32x128b.warpx4 [%0], %1;")
FORM(cp_six, 1, CP "128x128b.b8x16.b6x16_p32 [%0], %1;")
FORM(cp_four, 1, CP "128x256b.b8x16.b4x16_p64 [%0], %1;")
FORM(cp_pair, 2, "tcgen05.cp.cta_group::2.32x128b.warpx4 [%0], %1;")
FORM(shift, 1, "tcgen05.shift.cta_group::1.down [%0];\ntcgen05.cp.cta_group::1.4x256b [%5], %1;")
FORM(shift_pair, 2, "tcgen05.shift.cta_group::2.down [%0];")
