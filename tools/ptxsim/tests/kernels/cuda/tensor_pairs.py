"""tcgen05.mma of a pair of blocks."""

from foreign import kernel
from tensor_build import Product


def pair(entry, covers, *products, targets="sm_100a sm_103a"):
    """A form with a launch for each product."""

    @kernel(targets, f"tcgen05.mma.cta_group::2: {covers}", "absolute 1e-2, relative 1e-5", name=entry)
    def launches(rng):
        for i, product in enumerate(products):
            yield product.launch(rng, entry, f"product {i}")


def P(kind, a, b, m, n, **more):
    return Product(kind, a, b, m, n, pair=True, tolerance=1e-2, **more)


F16, FOUR = ("f16", "f16", "f16"), ("e2m1", "e2m1")
pair(
    "pair_f16_ss",
    "f16, M of 128 and 256",
    P(*F16, 256, 64, spans=(128, 128), steps=4),
    P(*F16, 128, 96, transposed=(False, True)),
    P(*F16, 256, 256, d="f16", steps=1),
)
pair("pair_f16_ts", "A in tensor memory", P(*F16, 256, 32, tensor_a=True), P(*F16, 128, 64, tensor_a=True))
pair("pair_f16_masked", "disable-output-lane of both blocks", P(*F16, 256, 32, disabled=(3, 64, 130, 255)))
pair("pair_tf32_ss", "tf32", P("tf32", "tf32", "tf32", 128, 32), P("tf32", "tf32", "tf32", 256, 32))
pair("pair_f8f6f4_ss", "fp8 and fp4", P("f8f6f4", "e4m3", "e2m1", 256, 64), P("f8f6f4", "e5m2", "e3m2", 128, 48))
pair(
    "pair_mxf8f6f4_ss",
    "mxf8f6f4",
    P("mxf8f6f4", "e4m3", "e4m3", 256, 96, scales=1),
    P("mxf8f6f4", "e2m1", "e5m2", 128, 128, scales=1, ids=(1, 3)),
)
pair(
    "pair_nvf4_ss",
    "mxf4nvf4, K of 64 and 96",
    P("mxf4nvf4", *FOUR, 256, 64, scales=4, powers=False),
    P("mxf4nvf4", *FOUR, 128, 64, scales=4),
    targets="sm_103a",
)
pair("pair_sp_f16_ss", "sparse f16, M of 128 in half of the lanes", P(*F16, 256, 32, sparse=True), P(*F16, 128, 32, sparse=True, lane=16))
pair("pair_sp_f8f6f4_ss", "sparse fp8", P("f8f6f4", "e4m3", "e4m3", 256, 64, sparse=True), P("f8f6f4", "e4m3", "e5m2", 128, 32, sparse=True))


@kernel("sm_103a", "tcgen05.mma.cta_group::2: mxf4nvf4 with K = 96", "absolute 1e-2, relative 1e-5", name="pair_nvf4_k96")
def _(rng):
    for first in (0, 2):
        product = P("mxf4nvf4", *FOUR, 256, 64, scales=6, powers=False, depth=96, steps=1, ids=(first, first))
        yield product.launch(rng, "pair_nvf4_ss", f"scales from byte {first}")
