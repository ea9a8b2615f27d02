"""Checks of the package `tilec`; run by package.rs. Expectations are numpy's and Python's own."""

import pathlib

import cuda.tile as ct
import ml_dtypes
import numpy as np
import tilec

CORPUS = pathlib.Path(__file__).resolve().parents[3] / "tests/corpus/bytecode"


@ct.kernel
def add(a, b, c, tile: ct.Constant[int]):
    at = (ct.bid(0),)
    ct.store(c, index=at, tile=ct.load(a, index=at, shape=(tile,)) + ct.load(b, index=at, shape=(tile,)))


@ct.kernel
def scale(x, by, tile: ct.Constant[int]):
    at = (ct.bid(0),)
    ct.store(x, index=at, tile=ct.load(x, index=at, shape=(tile,)) * by)


def raises(kind, part, do):
    try:
        do()
    except kind as error:
        assert part in str(error), error
        return error
    raise AssertionError(f"no {kind.__name__}")


def element_types():
    for dtype in (np.int8, np.int16, np.int64, np.uint8, np.float16, np.float32, np.float64, ml_dtypes.bfloat16):
        a = np.arange(64).astype(dtype)
        b = a[::-1].copy()
        for engine in ("sim", "eval"):
            c = np.zeros_like(a)
            tilec.run(add, 2, (a, b, c, 32), engine=engine)
            np.testing.assert_array_equal(c, a + b, err_msg=f"{dtype} {engine}")


def overlapping_and_strided():
    x = np.arange(100, dtype=np.int32)
    expected = x.copy()
    expected[32:64] = expected[0:32] + expected[64:96]
    tilec.run(add, 1, (x[0:32], x[64:96], x[32:64], 32))
    np.testing.assert_array_equal(x, expected)
    y = np.arange(64, dtype=np.float32)
    tilec.run(scale, 1, (y[::2], 2.0, 32))
    np.testing.assert_array_equal(y, np.where(np.arange(64) % 2, 1, 2) * np.arange(64, dtype=np.float32))
    z = np.arange(65, dtype=np.float32)
    tilec.run(scale, 2, (z[1:], 2.0, 32))
    np.testing.assert_array_equal(z[1:], 2 * np.arange(1, 65, dtype=np.float32))


def kernels_of_modules():
    data = (CORPUS / "vadd/f32.tilebc").read_bytes()
    kernel = tilec.compile(data, "sm_80")
    assert kernel.entries == ["vadd"] and ".visible .entry vadd" in kernel.ptx
    assert kernel.manifest["entries"][0]["params"][0] == {"kind": "ptr", "type": "f32"}
    assert "entry @vadd" in kernel.text and "nv_tileas" in kernel.stage("nv_tileas")
    a, b = np.arange(2048, dtype=np.float32), np.ones(2048, np.float32)
    for engine in ("sim", "eval"):
        c = np.zeros_like(a)
        result = tilec.run(kernel, 2, (a, 2048, 1, b, 2048, 1, c, 2048, 1), engine=engine)
        np.testing.assert_array_equal(c, a + b)
    result = tilec.run(kernel, (2, 1), (a, 2048, 1, b, 2048, 1, c, 2048, 1))
    assert result.stats.warp_instructions > 0
    assert result.stats.data["global"]["store_bytes"] == 2048 * 4
    assert "<table>" in result._repr_html_()
    cubin = kernel.cubin(pathlib.Path(ct.__file__).parents[2] / "nvidia/cu13/bin/ptxas")
    assert cubin.startswith(b"\x7fELF")


def what_is_wrong():
    x = np.zeros(64, np.float32)
    raises(TypeError, "3 parameters, 2 arguments", lambda: tilec.run(scale, 1, (x, 2.0)))
    raises(ValueError, "no engine `gpu`", lambda: tilec.run(scale, 1, (x, 2.0, 64), engine="gpu"))
    raises(ValueError, "a grid has", lambda: tilec.run(scale, 0, (x, 2.0, 64)))
    raises(TypeError, "compiled for arguments", lambda: tilec.compile(scale))
    raises(TypeError, "no GPU has", lambda: tilec.run(scale, 1, (np.array([None, 1]), 2.0, 64)))
    raises(tilec.CompileError, "unknown target `sm_12`", lambda: tilec.compile(CORPUS / "vadd/f32.tilebc", "sm_12"))
    raises(tilec.CompileError, "unsupported Tile version", lambda: tilec.compile(b"\x7fTileIR\0\x0d\x09\0\0"))
    bad = raises(tilec.CompileError, "expects", lambda: tilec.compile("entry @f() {\n  yield\n}\n"))
    assert bad.line is not None, bad
    read_only = np.zeros(64, np.float32)
    read_only[:] = 1
    read_only.flags.writeable = False
    raises(ValueError, "read-only", lambda: tilec.run(scale, 1, (read_only, 2.0, 64)))
    assert read_only.sum() == 64


for check in (element_types, overlapping_and_strided, kernels_of_modules, what_is_wrong):
    check()
