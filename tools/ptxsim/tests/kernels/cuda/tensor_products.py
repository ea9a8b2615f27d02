"""tcgen05.mma of one block: kinds without scales."""

from foreign import kernel
from tensor_build import Product

TARGET = "sm_100a"


def one(entry, covers, *products):
    """A form with a launch for each product."""

    @kernel(TARGET, f"tcgen05.mma: {covers}", "exact" if "i8" in entry else "absolute 1e-3, relative 1e-5", name=entry)
    def launches(rng):
        for i, product in enumerate(products):
            yield product.launch(rng, entry, f"product {i}")


def P(kind, a, b, m, n, **more):
    return Product(kind, a, b, m, n, **more)


F16 = ("f16", "f16", "f16")
one(
    "f16_ss",
    "f16 and bf16, M of 64 and 128, all swizzles, both majors, negation, D in f16",
    P(*F16, 128, 64, spans=(128, 128), steps=4),
    P(*F16, 128, 256, spans=(64, 64)),
    P(*F16, 64, 8, spans=(32, 0), steps=1),
    P(*F16, 64, 40, lane=16),
    P("f16", "bf16", "bf16", 128, 32, negate=(True, False)),
    P("f16", "bf16", "f16", 128, 16, negate=(False, True), accumulate=True),
    P(*F16, 128, 64, d="f16", tolerance=2e-2),
    P(*F16, 128, 64, transposed=(True, True), spans=(128, 128)),
    P(*F16, 128, 128, transposed=(True, False), spans=(64, 128), steps=4),
    P(*F16, 64, 64, transposed=(False, True), spans=(0, 32)),
    P(*F16, 128, 24, transposed=(True, True)),
)
one(
    "f16_ts",
    "A in tensor memory, M of 64 and 128",
    P(*F16, 128, 64, tensor_a=True, spans=(0, 128), steps=4),
    P(*F16, 64, 32, tensor_a=True, lane=16),
)
one("f16_masked", "disable-output-lane", P(*F16, 128, 16, disabled=(0, 5, 31, 32, 100, 127), accumulate=True))
one("f16_eighth", "scale-input-d", P(*F16, 128, 16, steps=1, accumulate=True, scale_d=3))
one("f16_shifted", ".ashift", P(*F16, 128, 16, tensor_a=True, shift_a=True))
TF32 = ("tf32", "tf32", "tf32")
one(
    "tf32_ss",
    "tf32, both majors (transposed with 32-byte atoms)",
    P(*TF32, 128, 64, spans=(128, 128), steps=4),
    P(*TF32, 64, 32),
    P(*TF32, 128, 32, transposed=(True, True), spans=(128, 128)),
)
one("tf32_ts", "tf32, A in tensor memory", P(*TF32, 128, 16, tensor_a=True))
one(
    "f8f6f4_ss",
    "mixtures of fp8, fp6 and fp4, D in f32 and f16, transposed bytes",
    P("f8f6f4", "e4m3", "e5m2", 128, 32, spans=(128, 128), steps=4),
    P("f8f6f4", "e2m3", "e3m2", 128, 16),
    P("f8f6f4", "e2m1", "e4m3", 64, 48, spans=(64, 64)),
    P("f8f6f4", "e5m2", "e2m1", 128, 8, d="f16", tolerance=0.3),
    P("f8f6f4", "e4m3", "e4m3", 128, 32, transposed=(True, True), spans=(64, 32)),
    P("f8f6f4", "e4m3", "e4m3", 128, 128, transposed=(True, True), spans=(0, 128)),
)
one(
    "f8f6f4_ts",
    "fp8, fp6 and fp4 in bytes of tensor memory",
    P("f8f6f4", "e4m3", "e4m3", 128, 32, tensor_a=True),
    P("f8f6f4", "e2m1", "e3m2", 128, 16, tensor_a=True),
    P("f8f6f4", "e3m2", "e5m2", 64, 16, tensor_a=True),
)
one(
    "i8_ss",
    "8-bit integers of both signs, transposed",
    P("i8", "s8", "s8", 128, 48, d="s32", spans=(128, 128), steps=4),
    P("i8", "u8", "s8", 64, 24, d="s32", accumulate=True),
    P("i8", "s8", "u8", 128, 32, d="s32", saturate=True, transposed=(True, True)),
)
one("i8_ts", "8-bit integers, A in tensor memory", P("i8", "u8", "u8", 128, 16, d="s32", tensor_a=True))

WS = {"stationary": True}
one("ws_f16_ss", ".ws with M of 32, 64 and 128", *(P(*F16, m, n, **WS) for m, n in ((32, 64), (64, 128), (128, 64), (32, 256))))
one("ws_f16_ts", ".ws, A in tensor memory", *(P(*F16, m, 64, tensor_a=True, **WS) for m in (32, 64, 128)))
# Two columns are used, three are zero, from the second of the period on; columns begin at the second of B.
one(
    "ws_f16_zero",
    ".ws with a zero-column mask and a shift",
    P(*F16, 128, 64, mask=1 | 1 << 39 | 2 << 40 | 1 << 48 | 2 << 56, zero=tuple((i + 1) % 5 >= 2 for i in range(64)), shift=2, **WS),
)
one("ws_tf32_ss", ".ws of tf32", *(P(*TF32, m, 64, **WS) for m in (32, 64, 128)))
one("ws_f8f6f4_ss", ".ws of fp8 and fp4", *(P("f8f6f4", "e4m3", "e2m1", m, 64, **WS) for m in (32, 64, 128)))
one("ws_i8_ss", ".ws of 8-bit integers", *(P("i8", "s8", "u8", m, 128, d="s32", **WS) for m in (32, 64, 128)))


@kernel(TARGET, "tcgen05.mma: A kept in the collector buffer for a second product", "absolute 1e-3", name="f16_collected")
def _(rng):
    # Twice the product: as if B were twice as large.
    launch = P(*F16, 128, 16, steps=1).launch(rng, "f16_collected")
    out = launch.args[2]
    out.expected[:] *= 2
    return launch


SPARSE = {"sparse": True}
one(
    "sp_f16_ss",
    "sparse f16, M of 64 and 128",
    P(*F16, 128, 32, spans=(64, 128), **SPARSE),
    P(*F16, 64, 16, lane=16, **SPARSE),
    P(*F16, 128, 32, transposed=(True, True), **SPARSE),
)
one("sp_f16_ts", "sparse f16, A in tensor memory", P(*F16, 128, 32, tensor_a=True, **SPARSE))
one("sp_tf32_ss", "sparse tf32", P(*TF32, 128, 32, **SPARSE), P(*TF32, 64, 16, **SPARSE))
one("sp_f8f6f4_ss", "sparse fp8 and fp6", P("f8f6f4", "e4m3", "e5m2", 128, 32, **SPARSE), P("f8f6f4", "e3m2", "e2m1", 64, 16, **SPARSE))
one("sp_i8_ss", "sparse 8-bit integers", P("i8", "s8", "u8", 128, 32, d="s32", **SPARSE))
one("ws_sp_f16_ss", ".ws.sp of f16", *(P(*F16, m, 64, **SPARSE, **WS) for m in (32, 64, 128)))
one("ws_sp_i8_ss", ".ws.sp of 8-bit integers", *(P("i8", "s8", "s8", m, 64, d="s32", **SPARSE, **WS) for m in (32, 64, 128)))
