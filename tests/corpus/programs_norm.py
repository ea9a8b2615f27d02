"""Normalisations and activations: reductions, broadcasts, and every
elementwise function of the front end."""

import cuda.tile as ct
import numpy as np

from corpus import Program, array
from numerics import Buffer, Run, Scalar, Tolerance, matrix_args, padded, vector_args


@ct.kernel
def layer_norm(x, weight, bias, y, eps: ct.float32, cols: ct.Constant[int]):
    row = ct.bid(0)
    n = x.shape[1]
    tile = ct.astype(ct.load(x, (row, 0), (1, cols), padding_mode=ct.PaddingMode.ZERO), ct.float32)
    inside = ct.arange(cols, dtype=ct.int32)[None, :] < n
    mean = ct.sum(tile, axis=1, keepdims=True) / n
    centred = ct.where(inside, tile - mean, 0.0)
    variance = ct.sum(centred * centred, axis=1, keepdims=True) / n
    scaled = centred * ct.rsqrt(variance + eps)
    w = ct.load(weight, (0,), (cols,), padding_mode=ct.PaddingMode.ZERO)
    b = ct.load(bias, (0,), (cols,), padding_mode=ct.PaddingMode.ZERO)
    ct.store(y, (row, 0), ct.astype(scaled * w[None, :] + b[None, :], y.dtype))


@ct.kernel
def rms_norm(x, y, rows: ct.Constant[int], cols: ct.Constant[int]):
    """Persistent: each block takes every so many rows."""
    for block in range(ct.bid(0), ct.cdiv(x.shape[0], rows), ct.num_blocks(0)):
        tile = ct.load(x, (block, 0), (rows, cols), padding_mode=ct.PaddingMode.ZERO)
        squares = ct.sum(tile * tile, axis=1, keepdims=True)
        ct.store(y, (block, 0), tile * ct.rsqrt(squares / x.shape[1] + 1e-5))


@ct.function
def gelu(x):
    return 0.5 * x * (1.0 + ct.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


@ct.function
def silu(x):
    return x / (1.0 + ct.exp(-x))


@ct.kernel
def activations(x, y, n: ct.Constant[int]):
    """One row of y for each function."""
    t = ct.load(x, (0,), (n,))
    ct.store(y, (0, 0), gelu(t)[None, :])
    ct.store(y, (1, 0), silu(t)[None, :])
    ct.store(y, (2, 0), ct.maximum(t, 0.0)[None, :])
    ct.store(y, (3, 0), ct.where(t > 0, t, 0.1 * t)[None, :])
    ct.store(y, (4, 0), ct.log(1.0 + ct.exp(t))[None, :])
    ct.store(y, (5, 0), ct.minimum(ct.maximum(t, -1.0), 1.0)[None, :])


FUNCTIONS = [
    (ct.exp, np.exp),
    (ct.exp2, np.exp2),
    (ct.log, np.log),
    (ct.log2, np.log2),
    (ct.sqrt, np.sqrt),
    (ct.rsqrt, lambda x: 1 / np.sqrt(x)),
    (ct.sin, np.sin),
    (ct.cos, np.cos),
    (ct.tan, np.tan),
    (ct.sinh, np.sinh),
    (ct.cosh, np.cosh),
    (ct.tanh, np.tanh),
    (ct.floor, np.floor),
    (ct.ceil, np.ceil),
    (ct.abs, np.abs),
    (ct.negative, np.negative),
]


@ct.kernel
def functions(x, y, n: ct.Constant[int]):
    """Every unary function, one row each; the operand is positive."""
    t = ct.load(x, (0,), (n,))
    results = (
        ct.exp(t),
        ct.exp2(t),
        ct.log(t),
        ct.log2(t),
        ct.sqrt(t),
        ct.rsqrt(t),
        ct.sin(t),
        ct.cos(t),
        ct.tan(t),
        ct.sinh(t),
        ct.cosh(t),
        ct.tanh(t),
        ct.floor(t),
        ct.ceil(t),
        ct.abs(t),
        -t,
    )
    for row in ct.static_iter(range(16)):
        ct.store(y, (row, 0), results[row][None, :])


MATRIX = {t: array(t, 2) for t in (ct.float16, ct.bfloat16, ct.float32, ct.float64)}
VECTOR = {t: array(t, 1) for t in (ct.float16, ct.float32, ct.float64)}
F32 = ct.compilation.ScalarConstraint(ct.float32)

CASES = [
    Program(
        "layer_norm_f32",
        layer_norm,
        [MATRIX[ct.float32], VECTOR[ct.float32], VECTOR[ct.float32], MATRIX[ct.float32], F32, 1024],
        "13.1",
    ),
    Program(
        "layer_norm_f16",
        layer_norm,
        [MATRIX[ct.float16], VECTOR[ct.float32], VECTOR[ct.float32], MATRIX[ct.float16], F32, 512],
        "13.1",
    ),
    Program("rms_norm_f32", rms_norm, [MATRIX[ct.float32], MATRIX[ct.float32], 4, 256], "13.1"),
    Program("activations_f32", activations, [VECTOR[ct.float32], MATRIX[ct.float32], 256], "13.1"),
    Program("functions_f32", functions, [VECTOR[ct.float32], MATRIX[ct.float32], 128], "13.1"),
    Program("functions_f64", functions, [VECTOR[ct.float64], MATRIX[ct.float64], 128], "13.1"),
    Program("functions_f16", functions, [VECTOR[ct.float16], MATRIX[ct.float16], 128], "13.1"),
]


def layer_norm_run(case, dtype, shape, tolerance):
    rng = np.random.default_rng(shape)
    x = (2 * rng.standard_normal(shape) + 1).astype(dtype)
    weight, bias = rng.standard_normal((2, shape[1])).astype(np.float32)
    wide = x.astype(np.float64)
    centred = wide - wide.mean(axis=1, keepdims=True)
    y = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + np.float64(np.float32(1e-5))) * weight + bias
    align = 16 // x.itemsize
    source = padded(x, 77, align)
    before = padded(np.zeros_like(x), -7, align)
    args = [
        *matrix_args(Buffer("x", source), shape),
        *vector_args(Buffer("weight", weight)),
        *vector_args(Buffer("bias", bias)),
        *matrix_args(Buffer("y", before, padded(y.astype(dtype), -7, align), tolerance), shape),
        Scalar("f32", 1e-5),
    ]
    return Run(case, "x".join(map(str, shape)), (shape[0],), args)


def rms_norm_run(shape, blocks):
    rng = np.random.default_rng(shape)
    x = rng.standard_normal(shape).astype(np.float32)
    wide = x.astype(np.float64)
    y = wide / np.sqrt((wide**2).mean(axis=1, keepdims=True) + 1e-5)
    result = Buffer(
        "y",
        padded(np.zeros_like(x), -7, 4),
        padded(y.astype(np.float32), -7, 4),
        Tolerance(absolute=1e-5, relative=1e-5),
    )
    args = [*matrix_args(Buffer("x", padded(x, 77, 4)), shape), *matrix_args(result, shape)]
    return Run("rms_norm_f32", f"{shape[0]}x{shape[1]}_{blocks}", (blocks,), args)


def activations_run():
    x = np.linspace(-6, 6, 256).astype(np.float32)
    t = x.astype(np.float64)
    rows = [
        0.5 * t * (1 + np.tanh(0.7978845608 * (t + 0.044715 * t**3))),
        t / (1 + np.exp(-t)),
        np.maximum(t, 0),
        np.where(t > 0, t, 0.1 * t),
        np.log(1 + np.exp(t)),
        np.clip(t, -1, 1),
    ]
    y = np.stack(rows).astype(np.float32)
    result = Buffer("y", np.zeros_like(y), y, Tolerance(absolute=2e-6, relative=2e-6))
    return Run("activations_f32", "ramp", (1,), [*vector_args(Buffer("x", x)), *matrix_args(result, y.shape)])


def functions_run(case, dtype, tolerance):
    rng = np.random.default_rng(5)
    x = rng.uniform(0.1, 5, 128).astype(dtype)
    y = np.stack([function(x.astype(np.float64)) for _, function in FUNCTIONS]).astype(dtype)
    result = Buffer("y", np.zeros_like(y), y, tolerance)
    return Run(case, "positive", (1,), [*vector_args(Buffer("x", x)), *matrix_args(result, y.shape)])


def runs():
    close = Tolerance(absolute=1e-5, relative=1e-5)
    yield layer_norm_run("layer_norm_f32", np.float32, (3, 1000), close)
    yield layer_norm_run("layer_norm_f32", np.float32, (2, 1024), close)
    yield layer_norm_run("layer_norm_f16", np.float16, (3, 300), Tolerance(ulp=1, absolute=1e-4))
    yield rms_norm_run((11, 200), 2)
    yield rms_norm_run((4, 256), 3)
    yield activations_run()
    yield functions_run("functions_f32", np.float32, Tolerance(ulp=2))
    yield functions_run("functions_f64", np.float64, Tolerance(ulp=2))
    yield functions_run("functions_f16", np.float16, Tolerance(ulp=1))
