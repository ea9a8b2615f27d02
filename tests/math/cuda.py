"""Writes `cuda/NAME.bits`: what the CUDA functions of f32 give, to the last bit.

    $(tools/toolkit python) tests/math/cuda.py        (after cargo build --profile ci -p ptxsim)

Calls of the functions are compiled by the pinned nvcc without any option of fast mathematics, and its PTX runs in ptxsim. A file
holds little-endian 32-bit patterns: the inputs (all first ones, then all second ones), then the results.
"""

import subprocess
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
COUNT = 4096
UNARY = "exp exp2 log log2 sin cos tan sinh cosh tanh rsqrt sqrt".split()
BINARY = {"pow": "powf", "atan2": "atan2f", "rem": "fmodf", "div": "quotient"}

SPECIAL = [0.0, 1.0, 2.0, 3.0, 5.0, 0.5, 1.5, 0.25, np.inf, np.nan, 1e10, 1e30, 3e38, 1e-30, 1e-38, 1e-40, 1.4e-45, 16777216.0, 8388609.0, 105615.0]
EDGES = [88.72284, 87.33655, 103.97, 128.0, 126.0, 149.0, 9.0109, 0.55, 0.6, 89.4159, np.pi, np.pi / 2, np.pi / 4]


def around(values: np.ndarray) -> np.ndarray:
    """The values, and their neighbours, with both signs, as patterns."""
    bits = np.asarray(values, np.float32).view(np.uint32)
    near = np.concatenate([bits, bits[bits > 1] + 1, bits[bits > 1] - 1])
    return np.concatenate([near, near | 0x80000000]).astype(np.uint32)


def inputs(rng: np.random.Generator) -> np.ndarray:
    """Special values, dense ranges that functions are used on, all magnitudes, and any patterns."""
    few = around(np.array(SPECIAL + EDGES))
    rest = COUNT - len(few)
    dense = [rng.uniform(-limit, limit, rest // 8) for limit in (1, 4, 30, 110, 2000)]
    wide = rng.choice([-1, 1], rest // 8) * np.exp2(rng.uniform(-140, 127, rest // 8))
    near_one = np.float32(1).view(np.uint32) + rng.integers(-3000, 3000, rest // 8)
    made = np.concatenate([*dense, wide]).astype(np.float32).view(np.uint32)
    made = np.concatenate([few, made, near_one.astype(np.uint32)])
    return np.concatenate([made, rng.integers(0, 1 << 32, COUNT - len(made), dtype=np.uint64).astype(np.uint32)])


def source() -> str:
    text = "__device__ float quotient(float x, float y) { return x / y; }\n"
    for name in UNARY:
        text += f'extern "C" __global__ void f_{name}(const float *x, float *r) {{ int i = blockIdx.x * 128 + threadIdx.x; r[i] = {name}f(x[i]); }}\n'
    for name, function in BINARY.items():
        text += f'extern "C" __global__ void f_{name}(const float *x, const float *y, float *r) {{ int i = blockIdx.x * 128 + threadIdx.x; r[i] = {function}(x[i], y[i]); }}\n'
    return text


def main() -> None:
    nvcc = subprocess.run([ROOT / "tools/toolkit", "nvcc"], check=True, capture_output=True, text=True).stdout.strip()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        (work / "f.cu").write_text(source())
        subprocess.run([nvcc, "-ptx", "-arch=sm_90", work / "f.cu", "-o", work / "f.ptx"], check=True)
        for number, name in enumerate([*UNARY, *BINARY]):
            rng = np.random.default_rng(number)
            columns = [inputs(rng)]
            if name in BINARY:
                second = rng.permutation(inputs(rng))
                # The remainder of like magnitudes, and powers that stay finite.
                second[: COUNT // 8] = rng.permutation(columns[0][: COUNT // 8])
                columns.append(second)
            command = [ROOT / "target/ci/ptxsim", work / "f.ptx", "--entry", f"f_{name}", "--fast"]
            command += ["--grid", f"{COUNT // 128},1,1", "--block", "128,1,1"]
            for i, column in enumerate(columns):
                np.save(work / f"{i}.npy", column)
                command += ["--arg", f"in:{work / f'{i}.npy'}"]
            np.save(work / "r.npy", np.zeros(COUNT, np.uint32))
            subprocess.run([*command, "--arg", f"inout:{work / 'r.npy'}"], check=True)
            np.concatenate([*columns, np.load(work / "r.npy")]).astype("<u4").tofile(HERE / "cuda" / f"{name}.bits")


main()
