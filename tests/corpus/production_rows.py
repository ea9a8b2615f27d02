"""What production kernels do to rows: norms, softmax, losses, rotations, gates; by gather and by views."""

import math

import cuda.tile as ct
import ml_dtypes
import numpy as np

from corpus import Case, array
from numerics import EXACT, Buffer, Run, Scalar, Tolerance, array_args, padded

F32 = ct.compilation.ScalarConstraint(ct.float32)
I32 = ct.compilation.ScalarConstraint(ct.int32)
ZERO = ct.PaddingMode.ZERO
HALF = Tolerance(absolute=1e-3, relative=2e-3)
SINGLE = Tolerance(absolute=1e-4, relative=1e-4)


@ct.kernel
def rms_gather(x, w, y, inverse, eps: ct.float32, block: ct.Constant[int]):
    """One row a block, read twice by gather: the sum of squares, then the product."""
    row = ct.bid(0)
    width = x.shape[1]
    squares = ct.zeros((block,), dtype=ct.float32)
    for j in range(ct.cdiv(width, block)):
        column = j * block + ct.arange(block, dtype=ct.int32)
        t = ct.gather(x, (row, column), padding_value=0.0, latency=1).astype(ct.float32)
        squares += t * t
    factor = ct.rsqrt(ct.sum(squares) / width + eps)
    ct.scatter(inverse, row, factor)
    for j in range(ct.cdiv(width, block)):
        column = j * block + ct.arange(block, dtype=ct.int32)
        t = ct.gather(x, (row, column), padding_value=0.0, latency=1).astype(ct.float32)
        scale = ct.gather(w, column, padding_value=0.0, latency=1).astype(ct.float32)
        ct.scatter(y, (row, column), (t * factor * scale).astype(y.dtype), latency=1)


@ct.kernel
def rms_views(x, w, y, eps: ct.float32, rows: ct.Constant[int], block: ct.Constant[int]):
    """Several whole rows a tile, persistent; the weights are read once."""
    scale = ct.load(w, (0,), (block,), padding_mode=ZERO).astype(ct.float32)[None, :]
    for step in range(ct.bid(0), ct.cdiv(x.shape[0], rows), ct.num_blocks(0)):
        t = ct.load(x, (step, 0), (rows, block), padding_mode=ZERO, latency=4).astype(ct.float32)
        mean = ct.sum(t * t, axis=1, keepdims=True) / x.shape[1]
        ct.store(y, (step, 0), (t * ct.rsqrt(mean + eps) * scale).astype(y.dtype), latency=3)


@ct.kernel
def add_rms(x, residual, w, both, y, eps: ct.float32, offset: ct.float32, block: ct.Constant[int]):
    """The sum of x and a residual, and its norm times (offset + w); a row in one tile, by gather."""
    row = ct.bid(0)
    column = ct.arange(block, dtype=ct.int32)
    t = ct.gather(x, (row, column), padding_value=0.0).astype(ct.float32)
    t += ct.gather(residual, (row, column), padding_value=0.0).astype(ct.float32)
    ct.scatter(both, (row, column), t.astype(both.dtype))
    factor = ct.rsqrt(ct.sum(t * t) / x.shape[1] + eps)
    scale = offset + ct.gather(w, column, padding_value=0.0).astype(ct.float32)
    ct.scatter(y, (row, column), (t * factor * scale).astype(y.dtype))


@ct.kernel
def rms_backward(x, w, grad, inverse, dx, dw, rows: ct.Constant[int], block: ct.Constant[int]):
    """Rows of dx, and for each block of rows a partial dw: (blocks, width)."""
    part = ct.bid(0)
    scale = ct.load(w, (0,), (block,), padding_mode=ZERO).astype(ct.float32)[None, :]
    t = ct.load(x, (part, 0), (rows, block), padding_mode=ZERO).astype(ct.float32)
    g = ct.load(grad, (part, 0), (rows, block), padding_mode=ZERO).astype(ct.float32)
    factor = ct.load(inverse, (part,), (rows,), padding_mode=ZERO)[:, None]
    normal = t * factor
    product = g * scale
    mean = ct.sum(product * normal, axis=1, keepdims=True) / x.shape[1]
    ct.store(dx, (part, 0), ((product - normal * mean) * factor).astype(dx.dtype))
    ct.store(dw, (part, 0), ct.sum(g * normal, axis=0, keepdims=True))


@ct.kernel
def rms_backward_persistent(x, w, grad, inverse, dx, dw, rows: ct.Constant[int], block: ct.Constant[int]):
    """The same for several parts of the rows one after the other, with one partial dw of each block."""
    scale = ct.load(w, (0,), (block,), padding_mode=ZERO).astype(ct.float32)[None, :]
    total = ct.zeros((1, block), dtype=ct.float32)
    for part in range(ct.bid(0), ct.cdiv(x.shape[0], rows), ct.num_blocks(0)):
        t = ct.load(x, (part, 0), (rows, block), padding_mode=ZERO).astype(ct.float32)
        g = ct.load(grad, (part, 0), (rows, block), padding_mode=ZERO).astype(ct.float32)
        normal = t * ct.load(inverse, (part,), (rows,), padding_mode=ZERO)[:, None]
        factor = ct.load(inverse, (part,), (rows,), padding_mode=ZERO)[:, None]
        product = g * scale
        mean = ct.sum(product * normal, axis=1, keepdims=True) / x.shape[1]
        ct.store(dx, (part, 0), ((product - normal * mean) * factor).astype(dx.dtype))
        total += ct.sum(g * normal, axis=0, keepdims=True)
    ct.store(dw, (ct.bid(0), 0), total)


@ct.kernel
def layer_norm(x, w, b, y, mean, inverse, eps: ct.float32, block: ct.Constant[int]):
    """Two passes over a row for mean and variance, a third that writes; views of one row."""
    row = ct.bid(0)
    width = x.shape[1]
    steps = ct.cdiv(width, block)
    total = ct.zeros((1, block), dtype=ct.float32)
    for j in range(steps):
        total += ct.load(x, (row, j), (1, block), padding_mode=ZERO).astype(ct.float32)
    middle = ct.sum(total, axis=1, keepdims=True) / width
    squares = ct.zeros((1, block), dtype=ct.float32)
    for j in range(steps):
        t = ct.load(x, (row, j), (1, block), padding_mode=ZERO).astype(ct.float32)
        inside = (j * block + ct.arange(block, dtype=ct.int32))[None, :] < width
        away = ct.where(inside, t - middle, 0.0)
        squares += away * away
    factor = ct.rsqrt(ct.sum(squares, axis=1, keepdims=True) / width + eps)
    ct.store(mean, (row,), middle.reshape((1,)))
    ct.store(inverse, (row,), factor.reshape((1,)))
    for j in range(steps):
        t = ct.load(x, (row, j), (1, block), padding_mode=ZERO).astype(ct.float32)
        scale = ct.load(w, (j,), (block,), padding_mode=ZERO).astype(ct.float32)[None, :]
        shift = ct.load(b, (j,), (block,), padding_mode=ZERO).astype(ct.float32)[None, :]
        ct.store(y, (row, j), ((t - middle) * factor * scale + shift).astype(y.dtype))


@ct.kernel
def softmax_online(x, y, block: ct.Constant[int]):
    """One pass for peak and sum, another that writes; by gather."""
    row = ct.bid(0)
    steps = ct.cdiv(x.shape[1], block)
    peak = ct.full((1,), -math.inf, dtype=ct.float32)
    total = ct.zeros((1,), dtype=ct.float32)
    for j in range(steps):
        column = j * block + ct.arange(block, dtype=ct.int32)
        t = ct.gather(x, (row, column), padding_value=-math.inf).astype(ct.float32)
        new_peak = ct.maximum(peak, ct.max(t, axis=0, keepdims=True))
        total = total * ct.exp(peak - new_peak) + ct.sum(ct.exp(t - new_peak), axis=0, keepdims=True)
        peak = new_peak
    for j in range(steps):
        column = j * block + ct.arange(block, dtype=ct.int32)
        t = ct.gather(x, (row, column), padding_value=-math.inf).astype(ct.float32)
        ct.scatter(y, (row, column), (ct.exp(t - peak) / total).astype(y.dtype))


@ct.kernel(occupancy=4)
def softmax_views(x, y, block: ct.Constant[int]):
    """Whole rows as views, persistent."""
    for row in range(ct.bid(0), x.shape[0], ct.num_blocks(0)):
        t = ct.load(x, (row, 0), (1, block), padding_mode=ct.PaddingMode.NEG_INF).astype(ct.float32)
        e = ct.exp(t - ct.max(t, axis=1, keepdims=True))
        ct.store(y, (row, 0), (e / ct.sum(e, axis=1, keepdims=True)).astype(y.dtype))


@ct.kernel
def cross_entropy(x, label, loss, smoothing: ct.float32, ignored: ct.int32, count: ct.float32, block: ct.Constant[int]):
    """The loss of a row of logits, and its gradient in place of them: online sums, then a pass that overwrites."""
    row = ct.bid(0)
    width = x.shape[1]
    steps = ct.cdiv(width, block)
    right = ct.gather(label, row)
    if right == ignored:
        for j in range(steps):
            ct.scatter(x, (row, j * block + ct.arange(block, dtype=ct.int32)), ct.zeros((block,), dtype=x.dtype))
        ct.scatter(loss, row, 0.0)
    else:
        peak = ct.full((1,), -math.inf, dtype=ct.float32)
        total = ct.zeros((1,), dtype=ct.float32)
        plain = ct.zeros((block,), dtype=ct.float32)
        for j in range(steps):
            column = j * block + ct.arange(block, dtype=ct.int32)
            t = ct.gather(x, (row, column), padding_value=-math.inf).astype(ct.float32)
            plain += ct.where(column < width, t, 0.0)
            new_peak = ct.maximum(peak, ct.max(t, axis=0, keepdims=True))
            total = total * ct.exp(peak - new_peak) + ct.sum(ct.exp(t - new_peak), axis=0, keepdims=True)
            peak = new_peak
        chosen = ct.gather(x, (row, right)).astype(ct.float32)
        log_sum = ct.reshape(peak + ct.log(total), ())
        even = smoothing / width
        smooth = smoothing * log_sum - even * ct.sum(plain)
        ct.scatter(loss, row, ((1.0 - smoothing) * (log_sum - chosen) + smooth) / count)
        for j in range(steps):
            column = j * block + ct.arange(block, dtype=ct.int32)
            t = ct.gather(x, (row, column), padding_value=-math.inf).astype(ct.float32)
            share = ct.exp(t - peak) / total - even - ct.where(column == right, 1.0 - smoothing, 0.0)
            ct.scatter(x, (row, column), (share / count).astype(x.dtype))


@ct.kernel
def rotate_halves(x, cos, sin, rows: ct.Constant[int], half: ct.Constant[int]):
    """Rotary embedding in place: (batch, head, time, depth), the halves of a row turn against each other."""
    batch, time = ct.bid(0), ct.bid(1)
    head = ct.arange(rows, dtype=ct.int32)[:, None]
    place = ct.arange(half, dtype=ct.int32)[None, :]
    c = ct.gather(cos, (time, place)).astype(ct.float32)
    s = ct.gather(sin, (time, place)).astype(ct.float32)
    low = ct.gather(x, (batch, head, time, place), padding_value=0.0).astype(ct.float32)
    high = ct.gather(x, (batch, head, time, place + half), padding_value=0.0).astype(ct.float32)
    ct.scatter(x, (batch, head, time, place), (low * c - high * s).astype(x.dtype))
    ct.scatter(x, (batch, head, time, place + half), (high * c + low * s).astype(x.dtype))


@ct.kernel
def rotate_pairs(x, angle, y, rows: ct.Constant[int], half: ct.Constant[int]):
    """Neighbours turn against each other; the angles' cosines and sines are computed here."""
    block = ct.bid(0)
    t = ct.load(x, (block, 0, 0), (rows, half, 2), padding_mode=ZERO).astype(ct.float32)
    even = ct.extract(t, (0, 0, 0), (rows, half, 1))
    odd = ct.extract(t, (0, 0, 1), (rows, half, 1))
    turn = ct.load(angle, (block, 0), (rows, half), padding_mode=ZERO).reshape((rows, half, 1))
    c, s = ct.cos(turn), ct.sin(turn)
    ct.store(y, (block, 0, 0), ct.cat((even * c - odd * s, odd * c + even * s), 2).astype(y.dtype))


@ct.kernel
def silu_and_multiply(x, y, block: ct.Constant[int]):
    """The halves of a row: silu of the first times the second."""
    row = ct.bid(0)
    column = ct.bid(1) * block + ct.arange(block, dtype=ct.int32)
    inside = column < y.shape[1]
    gate = ct.gather(x, (row, column), mask=inside, padding_value=0.0).astype(ct.float32)
    up = ct.gather(x, (row, column + y.shape[1]), mask=inside, padding_value=0.0).astype(ct.float32)
    ct.scatter(y, (row, column), (gate / (1.0 + ct.exp(-gate)) * up).astype(y.dtype), mask=inside)


@ct.kernel
def swiglu_backward(gate, up, grad, rows: ct.Constant[int], block: ct.Constant[int]):
    """The gradients take the places of gate and up."""
    m, n = ct.bid(0), ct.bid(1)
    a = ct.load(gate, (m, n), (rows, block), padding_mode=ZERO).astype(ct.float32)
    b = ct.load(up, (m, n), (rows, block), padding_mode=ZERO).astype(ct.float32)
    g = ct.load(grad, (m, n), (rows, block), padding_mode=ZERO).astype(ct.float32)
    share = 1.0 / (1.0 + ct.exp(-a))
    silu = a * share
    ct.store(gate, (m, n), (g * b * (silu * (1.0 - share) + share)).astype(gate.dtype))
    ct.store(up, (m, n), (g * silu).astype(up.dtype))


@ct.kernel
def gelu_gate(gate, up, y, block: ct.Constant[int]):
    """gelu (by tanh) of one row times another."""
    row, n = ct.bid(0), ct.bid(1)
    a = ct.load(gate, (row, n), (1, block), padding_mode=ZERO).astype(ct.float32)
    b = ct.load(up, (row, n), (1, block), padding_mode=ZERO).astype(ct.float32)
    inner = 0.7978845608028654 * (a + 0.044715 * a * a * a)
    ct.store(y, (row, n), (0.5 * a * (1.0 + ct.tanh(inner)) * b).astype(y.dtype))


@ct.kernel
def quantize_groups(x, q, scale, group: ct.Constant[int], rows: ct.Constant[int]):
    """f8E4M3FN with one factor for each `group` columns of a row."""
    m, n = ct.bid(0), ct.bid(1)
    t = ct.load(x, (m, n), (rows, group), padding_mode=ZERO).astype(ct.float32)
    factor = ct.maximum(ct.max(ct.abs(t), axis=1, keepdims=True), 1.0e-10) / 448.0
    ct.store(q, (m, n), ct.minimum(ct.maximum(t / factor, -448.0), 448.0).astype(q.dtype))
    ct.store(scale, (m, n), factor)


@ct.kernel
def dequantize_blocks(q, scale, y, rows: ct.Constant[int], cols: ct.Constant[int]):
    """f8E4M3FN weights with one factor for each tile."""
    m, n = ct.bid(0), ct.bid(1)
    t = ct.load(q, (m, n), (rows, cols), padding_mode=ZERO).astype(ct.float32)
    ct.store(y, (m, n), (t * ct.gather(scale, (m, n))).astype(y.dtype))


@ct.kernel
def dropout(x, y, seed: ct.int32, keep: ct.float32, block: ct.Constant[int]):
    """A hash of seed and position decides, in integers that wrap."""
    place = ct.bid(0) * block + ct.arange(block, dtype=ct.int32)
    h = ct.bitcast(place + seed, ct.uint32)
    h = (h ^ (h >> 16)) * 0x7FEB352D
    h = (h ^ (h >> 15)) * 0x846CA68B
    h = h ^ (h >> 16)
    share = (h >> 8).astype(ct.float32) * (1.0 / 16777216.0)
    t = ct.gather(x, place, padding_value=0.0).astype(ct.float32)
    ct.scatter(y, place, ct.where(share < keep, t / keep, 0.0).astype(y.dtype))


@ct.kernel
def group_norm(x, w, b, y, eps: ct.float32, channels: ct.Constant[int], block: ct.Constant[int]):
    """(batch, channel, place): each group of channels has a mean and a variance."""
    batch, group = ct.bid(0), ct.bid(1)
    width = x.shape[2]
    total = ct.zeros((channels, block), dtype=ct.float32)
    squares = ct.zeros((channels, block), dtype=ct.float32)
    for j in range(ct.cdiv(width, block)):
        t = ct.load(x, (batch, group, j), (1, channels, block), padding_mode=ZERO).astype(ct.float32)
        t = t.reshape((channels, block))
        total += t
        squares += t * t
    count = channels * width
    middle = ct.sum(total) / count
    factor = ct.rsqrt(ct.sum(squares) / count - middle * middle + eps)
    scale = ct.load(w, (group,), (channels,)).astype(ct.float32).reshape((1, channels, 1))
    shift = ct.load(b, (group,), (channels,)).astype(ct.float32).reshape((1, channels, 1))
    for j in range(ct.cdiv(width, block)):
        t = ct.load(x, (batch, group, j), (1, channels, block), padding_mode=ZERO).astype(ct.float32)
        ct.store(y, (batch, group, j), ((t - middle) * factor * scale + shift).astype(y.dtype))


@ct.kernel
def divergence(p, q, loss, grad, beta: ct.float32, block: ct.Constant[int]):
    """The generalised Jensen-Shannon divergence of rows of log-probabilities, and its gradient by the first."""
    row = ct.bid(0)
    total = ct.zeros((block,), dtype=ct.float32)
    for j in range(ct.cdiv(p.shape[1], block)):
        column = j * block + ct.arange(block, dtype=ct.int32)
        a = ct.gather(p, (row, column), padding_value=-math.inf)
        b = ct.gather(q, (row, column), padding_value=-math.inf)
        inside = column < p.shape[1]
        first, second = ct.exp(a), ct.exp(b)
        mixed = ct.log(ct.where(inside, beta * second + (1.0 - beta) * first, 1.0))
        part = beta * second * (b - mixed) + (1.0 - beta) * first * (a - mixed)
        total += ct.where(inside, part, 0.0)
        ct.scatter(grad, (row, column), (1.0 - beta) * first * (a - mixed))
    ct.scatter(loss, row, ct.sum(total))


@ct.kernel
def route(x, which, weight, top: ct.Constant[int], rows: ct.Constant[int], experts: ct.Constant[int]):
    """The `top` largest logits of each row, their softmax among themselves; the first of equals."""
    block = ct.bid(0)
    t = ct.load(x, (block, 0), (rows, experts), padding_mode=ct.PaddingMode.NEG_INF).astype(ct.float32)
    row = block * rows + ct.arange(rows, dtype=ct.int32)
    column = ct.arange(experts, dtype=ct.int32)[None, :]
    total = ct.zeros((rows,), dtype=ct.float32)
    peak = ct.max(t, axis=1)
    for i in range(top):
        best = ct.argmax(t, axis=1)
        e = ct.exp(ct.max(t, axis=1) - peak)
        total += e
        ct.scatter(which, (row, i), best.astype(ct.int32))
        ct.scatter(weight, (row, i), e)
        t = ct.where(column == best[:, None], -math.inf, t)
    for i in range(top):
        ct.scatter(weight, (row, i), ct.gather(weight, (row, i), padding_value=0.0) / total)


@ct.kernel
def causal_conv(x, w, y, taps: ct.Constant[int], block: ct.Constant[int]):
    """Depthwise, along time, then silu: (channel, time)."""
    channel = ct.bid(0)
    time = ct.bid(1) * block + ct.arange(block, dtype=ct.int32)
    acc = ct.zeros((block,), dtype=ct.float32)
    for tap in range(taps):
        at = time + (tap - taps + 1)
        t = ct.gather(x, (channel, at), mask=at >= 0, padding_value=0.0).astype(ct.float32)
        acc += t * ct.gather(w, (channel, tap)).astype(ct.float32)
    ct.scatter(y, (channel, time), (acc / (1.0 + ct.exp(-acc))).astype(y.dtype))


@ct.kernel
def rms_backward_rows(x, w, grad, inverse, dx, dw, each: ct.Constant[int], block: ct.Constant[int]):
    """Rows of dx one by one, by gather: a block has `each` rows, the last one those that are left; its part of dw."""
    column = ct.arange(block, dtype=ct.int32)
    scale = ct.gather(w, column, padding_value=0.0).astype(ct.float32)
    part = ct.zeros((block,), dtype=ct.float32)
    for i in range(each):
        row = ct.bid(0) * each + i
        if row < x.shape[0]:
            factor = ct.load(inverse, row, shape=())
            t = ct.gather(x, (row, column), padding_value=0.0).astype(ct.float32)
            g = ct.gather(grad, (row, column), padding_value=0.0).astype(ct.float32)
            normal = t * factor
            product = g * scale
            mean = ct.sum(product * normal) / x.shape[1]
            ct.scatter(dx, (row, column), ((product - normal * mean) * factor).astype(dx.dtype))
            part += g * normal
    ct.scatter(dw, (ct.bid(0), column), part)


@ct.kernel
def largest_rows(x, y, each: ct.Constant[int], rows: ct.Constant[int], block: ct.Constant[int]):
    """Rows divided by their largest magnitude, a few tiles a block where there are as many."""
    for i in range(each):
        tile = ct.bid(0) * each + i
        if tile * rows < x.shape[0]:
            if tile >= 0:
                t = ct.load(x, (tile, 0), (rows, block), padding_mode=ZERO).astype(ct.float32)
                largest = ct.max(ct.maximum(t, -t), axis=1, keepdims=True)
                ct.store(y, (tile, 0), (t / largest).astype(y.dtype))


H1, H2, H3, H4 = (array(ct.float16, n) for n in range(1, 5))
B1, B2 = array(ct.bfloat16, 1), array(ct.bfloat16, 2)
S1, S2 = array(ct.float32, 1), array(ct.float32, 2)
E2, N1 = array(ct.float8_e4m3fn, 2), array(ct.int32, 1)
# Rows of a few numbers: nothing is known of where they begin.
U2, M2, G2 = (array(t, 2, aligned=False) for t in (ct.float32, ct.int32, ct.float16))


def case(name, kernel, *parameters) -> Case:
    return Case(name, kernel, list(parameters), "13.3")


CASES = [
    case("rms_gather_f16", rms_gather, H2, H1, H2, S1, F32, 256),
    case("rms_views_bf16", rms_views, B2, B1, B2, F32, 4, 256),
    case("rms_views_large_bf16", rms_views, B2, B1, B2, F32, 16, 4096),
    case("add_rms_f16", add_rms, H2, H2, H1, H2, H2, F32, F32, 512),
    case("rms_backward_f16", rms_backward, H2, H1, H2, S1, H2, S2, 8, 256),
    # More registers of a thread than it has, unless it reads both tiles again.
    case("rms_backward_persistent_f16", rms_backward_persistent, H2, H1, H2, S1, H2, S2, 4, 4096),
    case("rms_backward_rows_f16", rms_backward_rows, H2, H1, H2, S1, H2, S2, 3, 256),
    case("largest_rows_f16", largest_rows, H2, H2, 3, 4, 256),
    case("layer_norm_f16", layer_norm, H2, H1, H1, H2, S1, S1, F32, 128),
    case("softmax_online_f16", softmax_online, H2, H2, 128),
    case("softmax_views_f16", softmax_views, H2, H2, 512),
    case("cross_entropy_f32", cross_entropy, S2, N1, S1, F32, I32, F32, 128),
    case("rotate_halves_f16", rotate_halves, H4, H2, H2, 8, 32),
    case("rotate_pairs_f16", rotate_pairs, array(ct.float16, 3, aligned=False), S2, array(ct.float16, 3, aligned=False), 8, 32),
    case("silu_and_multiply_f16", silu_and_multiply, H2, H2, 256),
    case("swiglu_backward_f16", swiglu_backward, H2, H2, H2, 8, 128),
    case("swiglu_backward_large_f16", swiglu_backward, H2, H2, H2, 64, 128),
    case("gelu_gate_f16", gelu_gate, H2, H2, H2, 256),
    case("quantize_groups_e4m3", quantize_groups, H2, E2, U2, 128, 8),
    case("dequantize_blocks_f16", dequantize_blocks, E2, U2, H2, 32, 64),
    case("dropout_f16", dropout, H1, H1, I32, F32, 256),
    case("group_norm_f16", group_norm, H3, H1, H1, H3, F32, 4, 64),
    case("divergence_f32", divergence, S2, S2, S1, S2, F32, 128),
    case("route_f32", route, S2, M2, U2, 2, 16, 16),
    case("causal_conv_f16", causal_conv, H2, G2, H2, 4, 128),
]  # fmt: skip


def drawn(rng, *shape, dtype=np.float16):
    return rng.standard_normal(shape).astype(dtype)


def wide(x):
    return np.asarray(x, np.float64)


def raw(x):
    names = {"bfloat16": ("bf16", np.uint16), "float8_e4m3fn": ("f8E4M3FN", np.uint8)}
    if x.dtype.name not in names:
        return x, None
    name, bits = names[x.dtype.name]
    return x.view(bits), name


def matrix(name, x, fill=77):
    """The arguments of a matrix whose rows are longer: what lies behind them would be noticed."""
    buffer = padded(x, x.dtype.type(fill), 16)
    bits, type_ = raw(buffer)
    return array_args(Buffer(name, bits, type=type_), x.shape, (buffer.shape[1], 1))


def result(name, right, dtype, tolerance, before=None):
    """An output matrix, or, given what it holds before, one that is changed in place."""
    right = right.astype(dtype)
    want = padded(right, dtype(77), 16)
    start = padded(np.zeros_like(right) if before is None else before, dtype(77), 16)
    (want, type_), (start, _) = raw(want), raw(start)
    return array_args(Buffer(name, start, want, tolerance, type_), right.shape, (start.shape[1], 1))


def packed(name, x, right=None, tolerance=EXACT):
    strides = [int(np.prod(x.shape[i + 1 :])) for i in range(x.ndim)]
    bits, type_ = raw(x)
    right = None if right is None else raw(right.astype(x.dtype))[0]
    return array_args(Buffer(name, bits, right, tolerance, type_), x.shape, strides)


def empty(name, right, dtype, tolerance):
    return packed(name, np.zeros(right.shape, dtype), right, tolerance)


def f32(x):
    return Scalar("f32", x)


def rms(x, eps=1e-3):
    return 1 / np.sqrt((x * x).mean(axis=-1, keepdims=True) + eps)


def norm_runs():
    rng = np.random.default_rng(1)
    x, w = drawn(rng, 3, 600), drawn(rng, 600)
    factor = rms(wide(x))
    args = [*matrix("x", x), *packed("w", w), *result("y", wide(x) * factor * wide(w), np.float16, HALF)]
    yield Run("rms_gather_f16", "3x600", (3,), [*args, *empty("inverse", factor[:, 0], np.float32, SINGLE), f32(1e-3)])
    x, w = drawn(rng, 10, 200, dtype=ml_dtypes.bfloat16), drawn(rng, 200, dtype=ml_dtypes.bfloat16)
    right = wide(x) * rms(wide(x)) * wide(w)
    loose = Tolerance(absolute=1e-2, relative=1e-2)
    args = [*matrix("x", x), *packed("w", w), *result("y", right, ml_dtypes.bfloat16, loose), f32(1e-3)]
    yield Run("rms_views_bf16", "10x200", (2,), args)
    yield Run("rms_views_large_bf16", "10x200", (1,), args)
    x, residual, w = drawn(rng, 3, 400), drawn(rng, 3, 400), drawn(rng, 400)
    both = wide(x) + wide(residual)
    args = [*matrix("x", x), *matrix("residual", residual), *packed("w", w), *result("both", both, np.float16, HALF)]
    args += [*result("y", both * rms(both) * (1 + wide(w)), np.float16, HALF), f32(1e-3), f32(1.0)]
    yield Run("add_rms_f16", "3x400", (3,), args)
    x, grad, w = drawn(rng, 20, 200), drawn(rng, 20, 200), drawn(rng, 200)
    factor = rms(wide(x)).astype(np.float32)
    normal, product = wide(x) * factor, wide(grad) * wide(w)
    dx = (product - normal * (product * normal).mean(axis=1, keepdims=True)) * factor
    dw = np.stack([(wide(grad) * normal)[i : i + 8].sum(axis=0) for i in (0, 8, 16)])
    args = [*matrix("x", x), *packed("w", w), *matrix("grad", grad), *packed("inverse", factor[:, 0])]
    args += [*result("dx", dx, np.float16, HALF), *result("dw", dw, np.float32, SINGLE)]
    yield Run("rms_backward_f16", "20x200", (3,), args)
    parts = [[i for i in range(20) if i // 4 % 2 == block] for block in range(2)]
    dw = np.stack([(wide(grad) * normal)[rows].sum(axis=0) for rows in parts])
    args = [*args[: -len(result("dw", dw, np.float32, SINGLE))], *result("dw", dw, np.float32, SINGLE)]
    yield Run("rms_backward_persistent_f16", "20x200", (2,), args)
    x, w, b = drawn(rng, 3, 300), drawn(rng, 300), drawn(rng, 300)
    mean = wide(x).mean(axis=1, keepdims=True)
    factor = 1 / np.sqrt(wide(x).var(axis=1, keepdims=True) + 1e-3)
    right = (wide(x) - mean) * factor * wide(w) + wide(b)
    args = [*matrix("x", x), *packed("w", w), *packed("b", b), *result("y", right, np.float16, HALF)]
    args += [*empty("mean", mean[:, 0], np.float32, SINGLE), *empty("inverse", factor[:, 0], np.float32, SINGLE)]
    yield Run("layer_norm_f16", "3x300", (3,), [*args, f32(1e-3)])
    x, w, b = drawn(rng, 2, 8, 104), drawn(rng, 8), drawn(rng, 8)
    groups = wide(x).reshape(2, 2, -1)
    normal = (groups - groups.mean(axis=2, keepdims=True)) / np.sqrt(groups.var(axis=2, keepdims=True) + 1e-3)
    right = normal.reshape(x.shape) * wide(w)[:, None] + wide(b)[:, None]
    args = [*packed("x", x), *packed("w", w), *packed("b", b), *empty("y", right, np.float16, HALF), f32(1e-3)]
    yield Run("group_norm_f16", "2x8x104", (2, 2), args)
    x, grad, w = drawn(rng, 7, 200), drawn(rng, 7, 200), drawn(rng, 200)
    factor = rms(wide(x)).astype(np.float32)
    normal, product = wide(x) * factor, wide(grad) * wide(w)
    dx = (product - normal * (product * normal).mean(axis=1, keepdims=True)) * factor
    dw = np.stack([(wide(grad) * normal)[i : i + 3].sum(axis=0) for i in (0, 3, 6)])
    args = [*matrix("x", x), *packed("w", w), *matrix("grad", grad), *packed("inverse", factor[:, 0])]
    args += [*result("dx", dx, np.float16, HALF), *result("dw", dw, np.float32, SINGLE)]
    yield Run("rms_backward_rows_f16", "7x200", (3,), args)
    x = drawn(rng, 18, 200)
    right = wide(x) / np.abs(wide(x)).max(axis=1, keepdims=True)
    yield Run("largest_rows_f16", "18x200", (2,), [*matrix("x", x), *result("y", right, np.float16, HALF)])


def softmax(x):
    e = np.exp(wide(x) - wide(x).max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def loss_runs():
    rng = np.random.default_rng(2)
    x = drawn(rng, 3, 500)
    yield Run("softmax_online_f16", "3x500", (3,), [*matrix("x", x), *result("y", softmax(x), np.float16, HALF)])
    yield Run("softmax_views_f16", "3x500", (2,), [*matrix("x", x), *result("y", softmax(x), np.float16, HALF)])
    x = drawn(rng, 4, 300, dtype=np.float32)
    label = np.array([5, 299, -100, 0], np.int32)
    log_sum = np.log(np.exp(wide(x)).sum(axis=1))
    kept = label >= 0
    chosen = wide(x)[np.arange(4), np.where(kept, label, 0)]
    loss = 0.9 * (log_sum - chosen) + 0.1 * (log_sum - wide(x).mean(axis=1))
    grad = softmax(x) - 0.1 / 300 - 0.9 * (np.arange(300) == label[:, None])
    args = [*result("x", grad * kept[:, None] / 3, np.float32, SINGLE, before=x), *packed("label", label)]
    args += [*empty("loss", loss * kept / 3, np.float32, SINGLE), f32(0.1), Scalar("i32", -100), f32(3.0)]
    yield Run("cross_entropy_f32", "4x300", (4,), args)
    p, q = (np.log(softmax(drawn(rng, 3, 200))).astype(np.float32) for _ in range(2))
    first, second = np.exp(wide(p)), np.exp(wide(q))
    mixed = np.log(0.3 * second + 0.7 * first)
    grad = 0.7 * first * (wide(p) - mixed)
    loss = (0.3 * second * (wide(q) - mixed) + grad).sum(axis=1)
    args = [*matrix("p", p), *matrix("q", q), *empty("loss", loss, np.float32, SINGLE)]
    yield Run("divergence_f32", "3x200", (3,), [*args, *result("grad", grad, np.float32, SINGLE), f32(0.3)])


def rotation_runs():
    rng = np.random.default_rng(3)
    x = drawn(rng, 2, 6, 3, 64)
    angle = rng.uniform(0, 6, (3, 32))
    cos, sin = np.cos(angle).astype(np.float16), np.sin(angle).astype(np.float16)
    low, high = wide(x[..., :32]), wide(x[..., 32:])
    right = np.concatenate([low * wide(cos) - high * wide(sin), high * wide(cos) + low * wide(sin)], axis=3)
    args = [*packed("x", x, right, HALF), *matrix("cos", cos), *matrix("sin", sin)]
    yield Run("rotate_halves_f16", "2x6x3x64", (2, 3), args)
    x, angle = drawn(rng, 20, 32, 2), rng.uniform(-6, 6, (20, 32)).astype(np.float32)
    even, odd, c, s = wide(x[..., 0]), wide(x[..., 1]), np.cos(wide(angle)), np.sin(wide(angle))
    right = np.stack([even * c - odd * s, odd * c + even * s], axis=2)
    args = [*packed("x", x), *matrix("angle", angle), *empty("y", right, np.float16, HALF)]
    yield Run("rotate_pairs_f16", "20x64", (3,), args)


def gate_runs():
    rng = np.random.default_rng(4)
    x = drawn(rng, 3, 600)
    gate, up = wide(x[:, :300]), wide(x[:, 300:])
    right = gate / (1 + np.exp(-gate)) * up
    args = [*matrix("x", x), *result("y", right, np.float16, HALF)]
    yield Run("silu_and_multiply_f16", "3x300", (3, 2), args)
    gate, up, grad = (drawn(rng, 12, 200) for _ in range(3))
    a, b, g = wide(gate), wide(up), wide(grad)
    share = 1 / (1 + np.exp(-a))
    by_gate, by_up = g * b * (a * share * (1 - share) + share), g * a * share
    args = [*result("gate", by_gate, np.float16, HALF, before=gate), *result("up", by_up, np.float16, HALF, before=up)]
    yield Run("swiglu_backward_f16", "12x200", (2, 2), [*args, *matrix("grad", grad)])
    yield Run("swiglu_backward_large_f16", "12x200", (1, 2), [*args, *matrix("grad", grad)])
    right = 0.5 * a * (1 + np.tanh(0.7978845608028654 * (a + 0.044715 * a**3))) * b
    args = [*matrix("gate", gate), *matrix("up", up), *result("y", right, np.float16, HALF)]
    yield Run("gelu_gate_f16", "12x200", (12, 1), args)
    x, w = drawn(rng, 3, 200), drawn(rng, 3, 4)
    late = np.concatenate([np.zeros((3, 3)), wide(x)], axis=1)
    acc = sum(late[:, tap : tap + 200] * wide(w)[:, tap : tap + 1] for tap in range(4))
    args = [*matrix("x", x), *packed("w", w), *result("y", acc / (1 + np.exp(-acc)), np.float16, HALF)]
    yield Run("causal_conv_f16", "3x200x4", (3, 2), args)


def quantized_runs():
    rng = np.random.default_rng(5)
    fp8 = ml_dtypes.float8_e4m3fn
    # Powers of two make every quotient exact, so that no tie is rounded another way.
    x = (rng.integers(-16, 17, (20, 250)) / 16).astype(np.float16)
    x[:, ::50] = 1.75
    groups = np.pad(wide(x), ((0, 0), (0, 6))).reshape(20, 2, 128)
    factor = np.abs(groups).max(axis=2) / 448
    right = (groups / factor[:, :, None]).reshape(20, 256)[:, :250]
    args = [*matrix("x", x), *result("q", right, fp8, EXACT), *empty("scale", factor, np.float32, Tolerance(ulp=1))]
    yield Run("quantize_groups_e4m3", "20x250", (3, 2), args)
    q = drawn(rng, 40, 100, dtype=fp8)
    factor = rng.uniform(0.5, 2, (2, 2)).astype(np.float32)
    right = wide(q) * np.repeat(np.repeat(wide(factor), 32, axis=0), 64, axis=1)[:40, :100]
    args = [*matrix("q", q), *packed("scale", factor), *result("y", right, np.float16, Tolerance(ulp=1))]
    yield Run("dequantize_blocks_f16", "40x100", (2, 2), args)
    x, seed, keep = drawn(rng, 500), 1234567, 0.75
    h = (np.arange(500) + seed).astype(np.uint32)
    h = (h ^ (h >> np.uint32(16))) * np.uint32(0x7FEB352D)
    h = (h ^ (h >> np.uint32(15))) * np.uint32(0x846CA68B)
    h = h ^ (h >> np.uint32(16))
    kept = (h >> np.uint32(8)) / 16777216.0 < keep
    args = [*packed("x", x), *empty("y", np.where(kept, wide(x) / keep, 0.0), np.float16, HALF)]
    yield Run("dropout_f16", "500", (2,), [*args, Scalar("i32", seed), f32(keep)])
    x = rng.permuted(np.tile(np.arange(12) / 4, (30, 1)), axis=1).astype(np.float32)
    which = np.argsort(-x, axis=1, kind="stable")[:, :2].astype(np.int32)
    e = np.exp(wide(np.take_along_axis(x, which, axis=1)))
    args = [*matrix("x", x), *empty("which", which, np.int32, EXACT)]
    args += empty("weight", e / e.sum(axis=1, keepdims=True), np.float32, SINGLE)
    yield Run("route_f32", "30x12", (2,), args)


def runs():
    yield from norm_runs()
    yield from loss_runs()
    yield from rotation_runs()
    yield from gate_runs()
    yield from quantized_runs()
