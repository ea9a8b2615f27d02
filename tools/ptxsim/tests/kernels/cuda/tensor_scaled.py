"""tcgen05.mma of one block with block scaling."""

from foreign import kernel
from tensor_build import Product

TARGET = "sm_100a"


def one(entry, covers, *products):
    """A form with a launch for each product."""

    @kernel(TARGET, f"tcgen05.mma: {covers}", "absolute 1e-2, relative 1e-5", name=entry)
    def launches(rng):
        for i, product in enumerate(products):
            yield product.launch(rng, entry, f"product {i}")


def P(kind, a, b, n, scales, **more):
    return Product(kind, a, b, 128, n, scales=scales, tolerance=1e-2, **more)


MX, FOUR = "mxf8f6f4", ("e2m1", "e2m1")
one(
    "mxf8f6f4_ss",
    "mxf8f6f4, mixtures of fp8, fp6 and fp4, each byte of the words of scales",
    P(MX, "e4m3", "e4m3", 64, 1, spans=(128, 128), steps=4),
    P(MX, "e5m2", "e2m1", 256, 1, ids=(1, 2)),
    P(MX, "e2m3", "e3m2", 8, 1, ids=(3, 0), negate=(True, False)),
    P(MX, "e4m3", "e5m2", 160, 1, transposed=(True, True), spans=(128, 0)),
)
one("mxf8f6f4_ts", "mxf8f6f4, A in tensor memory", P(MX, "e4m3", "e2m3", 32, 1, tensor_a=True), P(MX, "e2m1", "e4m3", 64, 1, tensor_a=True))
one("mxf4_ss", "mxf4", P("mxf4", *FOUR, 64, 2, spans=(128, 128), steps=4), P("mxf4", *FOUR, 136, 2, ids=(2, 2), negate=(True, True)))
one("mxf4_ts", "mxf4, A in tensor memory", P("mxf4", *FOUR, 32, 2, tensor_a=True, ids=(0, 2)))
one("nvf4_ss", "mxf4nvf4, 16 elements to a scale, ue4m3 and ue8m0", *(P("mxf4nvf4", *FOUR, n, 4, powers=p, spans=(64, 64)) for n, p in ((64, False), (256, True))))
one("nvf4_pairs_ss", "mxf4nvf4, 32 elements to a scale", P("mxf4nvf4", *FOUR, 64, 2, ids=(2, 0)))

one("sp_mxf8f6f4_ss", "sparse mxf8f6f4", P(MX, "e4m3", "e3m2", 64, 1, sparse=True, ids=(2, 1)))
one("sp_mxf4_ss", "sparse mxf4, pairs of elements", P("mxf4", *FOUR, 64, 2, sparse=True))
one("sp_nvf4_ss", "sparse mxf4nvf4", P("mxf4nvf4", *FOUR, 32, 4, powers=False, sparse=True))
