"""Matrix products at every operand type, batched, scaled, and of integers.

Operands are small whole numbers (and scales powers of two or close to one), so
that every sum is exact in any order and at any intermediate width; one case of
each common type takes normally distributed numbers, within a tolerance.
"""

import numpy as np
from cuda.tile._bytecode.encodings import Signedness

import kernel
from emit import Tile
from formats import FLOATS
from kernel import Kernel, given, pointer, wanted
from numerics import EXACT, Tolerance
from ops_convert import since
from values import to_array

M, N, K = 16, 32, 64

# Operand type → accumulator types.
PAIRS = {
    "f16": ["f16", "f32"],
    "bf16": ["f32"],
    "f32": ["f32"],
    "tf32": ["f32"],
    "f64": ["f64"],
    "f8E4M3FN": ["f16", "f32"],
    "f8E5M2": ["f16", "f32"],
}


def floats(t, numbers):
    """Numbers as a buffer of the type, and what they became."""
    f = FLOATS[t]
    # Each number once, by its bits: rational arithmetic is slow, and the zeros differ.
    distinct, places = np.unique(numbers.astype(np.float64).ravel().view(np.uint64), return_inverse=True)
    codes = [f.encode(float(x)) for x in distinct.view(np.float64)]
    kept = np.array([float(f.decode(b)) for b in codes])[places].reshape(numbers.shape)
    array = to_array(t, [codes[i] for i in places])
    return (array if t == "f4E2M1FN" else array.reshape(numbers.shape)), kept


def draw(shape, normal, rng):
    return rng.standard_normal(shape) if normal else rng.integers(-3, 4, shape)


def product(name, t, out, batch=(), normal=False, fast=False):
    a_shape, b_shape, c_shape = ((*batch, *s) for s in ((M, K), (K, N), (M, N)))

    def fill(b, x, y, z, r):
        result = b.op(
            "MmaF",
            Tile(out, c_shape),
            lhs=b.load(x, a_shape),
            rhs=b.load(y, b_shape),
            acc=b.load(z, c_shape),
            fast_acc=fast,
        )
        b.store(r, result)

    def arguments(rng):
        x, wide_x = floats(t, draw(a_shape, normal, rng))
        y, wide_y = floats(t, draw(b_shape, normal, rng))
        z, wide_z = floats(out, draw(c_shape, normal, rng))
        answer, _ = floats(out, wide_x @ wide_y + wide_z)
        # Each of K products may be off by half a unit of the running sum.
        tolerance = EXACT
        if normal:
            tolerance = Tolerance(absolute=K * 8 * 2.0 ** -(FLOATS[out].mantissa + 1))
        return [given("x", t, x), given("y", t, y), given("z", out, z), wanted("r", out, answer, tolerance)]

    parameters = (pointer(t), pointer(t), pointer(out), pointer(out))
    return Kernel(name, parameters, fill, arguments, since(t, out, at_least="13.3" if fast else "13.1"))


def products():
    for t, outs in PAIRS.items():
        for out in outs:
            yield product(f"mmaf_{t}_{out}", t, out)
            yield product(f"mmaf_batched_{t}_{out}", t, out, batch=(2,))
    for t in ("f16", "bf16"):
        yield product(f"mmaf_normal_{t}_f32", t, "f32", normal=True)
    yield product("mmaf_normal_f64_f64", "f64", "f64", normal=True)
    for t in ("f8E4M3FN", "f8E5M2"):
        yield product(f"mmaf_fast_{t}_f32", t, "f32", fast=True)


def integer_products():
    for left in Signedness:
        for right in Signedness:

            def fill(b, x, y, z, r, left=left, right=right):
                result = b.op(
                    "MmaI",
                    Tile("i32", (M, N)),
                    lhs=b.load(x, (M, K)),
                    rhs=b.load(y, (K, N)),
                    acc=b.load(z, (M, N)),
                    signedness_lhs=left,
                    signedness_rhs=right,
                )
                b.store(r, result)

            def arguments(rng, left=left, right=right):
                x, y = (rng.integers(-128, 128, s).astype(np.int8) for s in ((M, K), (K, N)))
                # The accumulator wraps.
                z = rng.integers(-(2**31), 2**31, (M, N))
                as_read = [
                    v.astype(np.int64) if s is Signedness.Signed else v.view(np.uint8).astype(np.int64)
                    for v, s in ((x, left), (y, right))
                ]
                answer = (as_read[0] @ as_read[1] + z).astype(np.int32)
                return [
                    given("x", "i8", x),
                    given("y", "i8", y),
                    given("z", "i32", z.astype(np.int32)),
                    wanted("r", "i32", answer),
                ]

            name = f"mmai_{left.name.lower()}_{right.name.lower()}"
            yield Kernel(name, (pointer("i8"), pointer("i8"), pointer("i32"), pointer("i32")), fill, arguments)


# (operand, scale, elements that share one scale)
SCALED = [
    ("f8E4M3FN", "f8E8M0FNU", 32),
    ("f8E5M2", "f8E8M0FNU", 32),
    ("f4E2M1FN", "f8E4M3FN", 16),
    ("f4E2M1FN", "f8E8M0FNU", 16),
    ("f4E2M1FN", "f8E8M0FNU", 32),
    ("f4E2M1FN", "fnv8E5M3FNU", 16),
    ("f4E2M1FN", "fnv8E5M3FNU", 32),
]


def scaled_products():
    for t, scale, block in SCALED:
        for batch in ((), (2,)):
            yield scaled_product(t, scale, block, batch)


def scaled_product(t, scale, block, batch):
    shapes = {
        "x": (*batch, M, K),
        "xs": (*batch, M, K // block),
        "y": (*batch, K, N),
        "ys": (*batch, K // block, N),
        "z": (*batch, M, N),
    }
    four_bits = t == "f4E2M1FN"
    memory = "i8" if four_bits else t

    def load(b, p, shape):
        if not four_bits:
            return b.load(p, shape)
        count = int(np.prod(shape))
        flat = b.op("Unpack", Tile(t, (count,)), source=b.load(p, (count // 2,)))
        return b.op("Reshape", Tile(t, shape), source=flat)

    def fill(b, x, xs, y, ys, z, r):
        result = b.op(
            "MmaFScaled",
            Tile("f32", shapes["z"]),
            lhs=load(b, x, shapes["x"]),
            rhs=load(b, y, shapes["y"]),
            acc=b.load(z, shapes["z"]),
            lhs_scale=b.load(xs, shapes["xs"]),
            rhs_scale=b.load(ys, shapes["ys"]),
        )
        b.store(r, result)

    def arguments(rng):
        x, wide_x = floats(t, rng.integers(-4, 5, shapes["x"]))
        y, wide_y = floats(t, rng.integers(-4, 5, shapes["y"]))
        xs, wide_xs = floats(scale, 2.0 ** rng.integers(-2, 3, shapes["xs"]))
        ys, wide_ys = floats(scale, 2.0 ** rng.integers(-2, 3, shapes["ys"]))
        z, wide_z = floats("f32", rng.integers(-9, 10, shapes["z"]))
        left = wide_x * np.repeat(wide_xs, block, axis=-1)
        right = wide_y * np.repeat(wide_ys, block, axis=-2)
        answer, _ = floats("f32", left @ right + wide_z)
        return [
            given("x", memory, x),
            given("xs", scale, xs),
            given("y", memory, y),
            given("ys", scale, ys),
            given("z", "f32", z),
            wanted("r", "f32", answer),
        ]

    name = f"mmaf_scaled_{t}_{scale}_{block}{'_batched' if batch else ''}"
    parameters = tuple(pointer(p) for p in (memory, scale, memory, scale, "f32", "f32"))
    return Kernel(name, parameters, fill, arguments, since(t, scale, at_least="13.3"))


GROUPS = {
    "mmaf": list(products()),
    "mmai": list(integer_products()),
    "mmaf_scaled": list(scaled_products()),
}

CASES = [kernel.module(name, kernels) for name, kernels in GROUPS.items()]


def runs():
    return kernel.runs(GROUPS)
