// Arithmetic beyond 32-bit words and single precision.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>

extern "C" __global__ void half_pairs(const __half2 *a, const __half2 *b, __half2 *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __half2 x = a[i], y = b[i];
    out[i] = __hadd2(x, y), out[n + i] = __hmul2(x, y), out[2 * n + i] = __hfma2(x, y, x), out[3 * n + i] = __hmax2(x, y), out[4 * n + i] = __hmin2(__habs2(x), y);
    out[5 * n + i] = __hadd2_sat(x, y), out[6 * n + i] = __hneg2(__lowhigh2highlow(x)), out[7 * n + i] = __hge2(x, y), out[8 * n + i] = h2ceil(x), out[9 * n + i] = __hsub2(h2trunc(y), x);
#if __CUDA_ARCH__ >= 800
    out[10 * n + i] = __hfma2_relu(x, y, x);
#else
    out[10 * n + i] = __hmax2(__hfma2(x, y, x), __half2half2(__ushort_as_half(0)));
#endif
}

#if __CUDA_ARCH__ >= 800
extern "C" __global__ void bfloat_pairs(const __nv_bfloat162 *a, const __nv_bfloat162 *b, __nv_bfloat162 *out, float *wide, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __nv_bfloat162 x = a[i], y = b[i];
    out[i] = __hadd2(x, y), out[n + i] = __hmul2(x, y), out[2 * n + i] = __hfma2(x, y, x), out[3 * n + i] = __hmax2(x, y), out[4 * n + i] = __hfma2_relu(x, y, x);
    float2 f = __bfloat1622float2(x);
    out[5 * n + i] = __floats2bfloat162_rn(f.x * 3.1f, f.y * f.y), out[6 * n + i] = __nv_bfloat162(__float2bfloat16_rz(f.x * 3.1f), __float2bfloat16_ru(f.y * 3.1f));
    wide[i] = f.x + f.y;
}
#endif

// Dot products of bytes and shorts, bytes picked and averaged, saturating sums of packed bytes.
extern "C" __global__ void packed_bytes(const unsigned *a, const unsigned *b, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned x = a[i], y = b[i];
    out[i] = __dp4a((int)x, (int)y, 7), out[n + i] = __dp4a(x, y, 7u), out[2 * n + i] = __dp2a_lo((int)x, (int)y, -3), out[3 * n + i] = __dp2a_hi(x, y, 5u);
    out[4 * n + i] = __byte_perm(x, y, 0x2750), out[5 * n + i] = __vadd4(x, y), out[6 * n + i] = __vsubus4(x, y), out[7 * n + i] = __vmaxs2(x, y), out[8 * n + i] = __vaddus4(x, y);
    out[9 * n + i] = __sad((int)x, (int)y, 100u), out[10 * n + i] = __vcmpgtu4(x, y), out[11 * n + i] = __vavgu4(x, y);
}

// Bits: counts, reversals, fields, funnel shifts, any function of three.
extern "C" __global__ void bits(const unsigned *a, const unsigned *b, unsigned *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned x = a[i], y = b[i], field, inserted, found, select;
    unsigned long long w = (unsigned long long)x << 32 | y;
    asm("bfe.s32 %0, %1, 5, 11;" : "=r"(field) : "r"(x));
    asm("bfi.b32 %0, %1, %2, 7, 13;" : "=r"(inserted) : "r"(x), "r"(y));
    asm("bfind.u32 %0, %1;" : "=r"(found) : "r"(x & 0xfffff));
    asm("lop3.b32 %0, %1, %2, %3, 0xe8;" : "=r"(select) : "r"(x), "r"(y), "r"(i * 0x9e3779b9u));
    out[i] = __popc(x) + 100 * __clz(y), out[n + i] = __brev(x), out[2 * n + i] = field, out[3 * n + i] = inserted, out[4 * n + i] = found, out[5 * n + i] = select;
    out[6 * n + i] = __funnelshift_l(x, y, y & 63), out[7 * n + i] = __funnelshift_rc(x, y, x & 63), out[8 * n + i] = __popcll(w) + 100 * __clzll(w >> (y & 31));
    out[9 * n + i] = (unsigned)__ffsll(w & ~(w - 1)), out[10 * n + i] = __fns(x, 0, 3);
}

// 64-bit products, quotients by variables, carries of 128-bit sums, saturating and signed shifts.
extern "C" __global__ void wide_integers(const long long *a, const long long *b, unsigned long long *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    long long x = a[i], y = b[i];
    unsigned __int128 p = (unsigned __int128)(unsigned long long)x * (unsigned long long)y, s = p + (((unsigned __int128)(unsigned long long)y << 64) | (unsigned long long)x);
    out[i] = x / y, out[n + i] = x % y, out[2 * n + i] = (unsigned long long)x / (unsigned long long)y, out[3 * n + i] = __mul64hi(x, y), out[4 * n + i] = (unsigned long long)p;
    out[5 * n + i] = (unsigned long long)(s >> 64), out[6 * n + i] = x >> (y & 63), out[7 * n + i] = (int)x / ((int)y | 1), out[8 * n + i] = __mulhi((int)x, (int)y);
    out[9 * n + i] = (unsigned long long)(unsigned)x * (unsigned)y + x, out[10 * n + i] = __rhadd((int)x, (int)y), out[11 * n + i] = (short)x * (short)y;
}

// Roundings of every direction, conversions that clamp, remainders, single and double.
extern "C" __global__ void roundings(const float *a, const float *b, float *out, int *ints, double *doubles, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = a[i], y = b[i];
    double d = (double)x * 1.0000001, e = y;
    out[i] = __fadd_rd(x, y), out[n + i] = __fadd_ru(x, y), out[2 * n + i] = __fmul_rz(x, y), out[3 * n + i] = __fdiv_rn(x, y), out[4 * n + i] = __fsqrt_rn(fabsf(x));
    out[5 * n + i] = __fmaf_rn(x, y, x), out[6 * n + i] = rintf(x), out[7 * n + i] = fmodf(x, y), out[8 * n + i] = __double2float_rz(d), out[9 * n + i] = fminf(x, y) + copysignf(1.f, x);
    ints[i] = __float2int_rn(x), ints[n + i] = __float2int_rd(x), ints[2 * n + i] = __float2int_rz(x * 1e8f), ints[3 * n + i] = __float2uint_ru(x), ints[4 * n + i] = __double2int_rn(d);
    doubles[i] = __dadd_rn(d, e), doubles[n + i] = __ddiv_rn(d, e), doubles[2 * n + i] = __dsqrt_rn(fabs(d)), doubles[3 * n + i] = __fma_rn(d, e, d), doubles[4 * n + i] = __longlong_as_double(__double_as_longlong(d) ^ 1);
}

// The mathematical library, single precision: what nvcc makes of it with and without fast forms.
extern "C" __global__ void mathematics(const float *a, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = a[i];
    out[i] = sinf(x * 100), out[n + i] = cosf(x), out[2 * n + i] = tanf(x), out[3 * n + i] = expf(x), out[4 * n + i] = logf(x), out[5 * n + i] = powf(x, 1.7f), out[6 * n + i] = atan2f(x, 2.f);
    out[7 * n + i] = erff(x), out[8 * n + i] = tgammaf(x), out[9 * n + i] = cbrtf(x), out[10 * n + i] = tanhf(x), out[11 * n + i] = log1pf(x), out[12 * n + i] = hypotf(x, 3.f), out[13 * n + i] = asinf(x / 10);
    out[14 * n + i] = __sinf(x), out[15 * n + i] = __expf(x), out[16 * n + i] = __log2f(x), out[17 * n + i] = rsqrtf(x), out[18 * n + i] = __fdividef(1.f, x), out[19 * n + i] = normcdff(x - 3), out[20 * n + i] = lgammaf(x);
}
