"""Runs: a launch of one case with its inputs and the right outputs.

Right answers come from numpy and ml_dtypes, computed wide and rounded once.
A run is written as a directory: the argument files, the expected outputs and
`manifest.json`, in the form that `tilec run` takes (see README.md).
"""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

# Element types whose files hold raw bits: the suffix that `tilec run` takes.
SUFFIX = {
    "bf16": "bf16",
    "tf32": "tf32",
    "f8E4M3FN": "f8e4m3fn",
    "f8E5M2": "f8e5m2",
    "f8E8M0FNU": "f8e8m0fnu",
    "fnv8E5M3FNU": "fnv8e5m3fnu",
    "f4E2M1FN": "f4e2m1fn",
}


@dataclass(frozen=True)
class Tolerance:
    """How far an output may be from the expected one.

    An element agrees when both are NaN, or it is within `ulp` units in the
    last place of its type, or |got - want| <= absolute + relative * |want|.
    All zero means equal, the sign of zero included.
    """

    ulp: int = 0
    absolute: float = 0.0
    relative: float = 0.0


EXACT = Tolerance()


@dataclass(frozen=True)
class Scalar:
    type: str  # i8 … i64, f16, f32, f64
    value: int | float


@dataclass(frozen=True)
class Buffer:
    """A device buffer: what it holds before, and (for an output) after.

    `type` names the element type where the arrays hold its raw bits."""

    name: str
    data: np.ndarray
    expected: np.ndarray | None = None
    tolerance: Tolerance = EXACT
    type: str | None = None


@dataclass(frozen=True)
class Run:
    case: str
    label: str
    grid: tuple[int, ...]
    args: list[Scalar | Buffer]
    entry: str | None = None  # where the module has several
    stdout: str | None = None  # what the kernel prints, when it prints
    error: str | None = None  # what the launch must fail with, when it must


def array_args(buffer: Buffer, shape, strides) -> list[Scalar | Buffer]:
    """The entry parameters of one array: base, extents, strides (elements)."""
    return [buffer, *(Scalar("i32", n) for n in (*shape, *strides))]


def vector_args(buffer: Buffer, length: int | None = None):
    return array_args(buffer, [len(buffer.data) if length is None else length], [1])


def matrix_args(buffer: Buffer, shape):
    """A row-major matrix whose rows are as far apart as the buffer's."""
    return array_args(buffer, shape, [buffer.data.shape[1], 1])


def padded(matrix: np.ndarray, fill, align: int) -> np.ndarray:
    """The matrix in a buffer whose rows are longer: at least one element more,
    a multiple of `align`, the rest holding `fill`. A kernel that reads past a
    row's end gets wrong numbers, and one that writes there is caught."""
    rows, cols = matrix.shape
    pitch = (cols // align + 1) * align
    buffer = np.full((rows, pitch), fill, matrix.dtype)
    buffer[:, :cols] = matrix
    return buffer


def write(run: Run, module: Path, entry: str, directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    args, outputs = [], []
    for index, arg in enumerate(run.args):
        if isinstance(arg, Scalar):
            args.append(f"{arg.type}:{arg.value}")
            continue
        file = f"{arg.name}.npy"
        np.save(directory / file, np.ascontiguousarray(arg.data))
        suffix = f":{SUFFIX[arg.type]}" if arg.type in SUFFIX else ""
        mode = "in" if arg.expected is None else "inout"
        args.append(f"{mode}:{file}{suffix}")
        if arg.expected is None:
            continue
        assert arg.expected.shape == arg.data.shape and arg.expected.dtype == arg.data.dtype, (
            f"{run.case}/{run.label}: {arg.name} expects {arg.expected.dtype}{arg.expected.shape},"
            f" holds {arg.data.dtype}{arg.data.shape}"
        )
        np.save(directory / f"{arg.name}.expected.npy", np.ascontiguousarray(arg.expected))
        outputs.append(
            {
                "arg": index,
                "file": file,
                "expected": f"{arg.name}.expected.npy",
                "type": suffix.removeprefix(":") or None,
                "ulp": arg.tolerance.ulp,
                "absolute": arg.tolerance.absolute,
                "relative": arg.tolerance.relative,
            }
        )
    manifest = {
        "module": str(module),
        "entry": entry,
        "grid": list(run.grid),
        "args": args,
        "outputs": outputs,
        "stdout": run.stdout,
        "error": run.error,
    }
    (directory / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")
