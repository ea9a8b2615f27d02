"""Kernels that tilec did not write: compiles them with the pinned tools and writes their launches.

    python foreign.py prepare OUT PRODUCER/FILE    compile, write OUT/suite.json and the arrays beside it
    python foreign.py table [--write]              check, or write, the table of README.md

A file `PRODUCER/FILE.py` describes kernels with the decorators below: for each launch the inputs, from a fixed seed, and
the right outputs, computed by numpy and with no part of the simulator.
"""

import argparse
import hashlib
import importlib.util
import inspect
import json
import os
import subprocess
import sys
import sysconfig
import zlib
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[3]
sys.path[:0] = [str(HERE), str(ROOT / "tests/corpus")]

from numerics import EXACT, Buffer, Scalar, Tolerance  # noqa: E402

PRODUCERS = ["cuda", "triton", "tile"]
BIN = Path(sysconfig.get_paths()["purelib"]) / "nvidia/cu13/bin"
# A relative folder counts from the root, as for tools/toolkit.
CACHE = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "ptxsim-kernels"


@dataclass(frozen=True)
class Im2col:
    """What makes a tensor map gather pixels; corners of the box by spatial dimension, innermost first."""

    lower: list[int]
    upper: list[int]
    channels: int
    pixels: int


@dataclass(frozen=True)
class Map:
    """A tensor map over a buffer of the launch; dimensions innermost first, strides of dimensions 1.. in bytes."""

    buffer: str
    element: str
    dims: list[int]
    strides: list[int]
    box: list[int]
    swizzle: str = "none"
    atomicity: str = "16B"
    interleave: str = "none"
    # Bytes between the buffer's start and the tensor's.
    offset: int = 0
    fill: str = "zero"
    element_strides: list[int] = field(default_factory=list)
    im2col: Im2col | None = None


def matrix_map(buffer: str, element: str, array: np.ndarray, box: list[int], swizzle: str = "none", **more) -> Map:
    """The map of a C-ordered array; the box innermost first."""
    return Map(buffer, element, list(array.shape[::-1]), list(array.strides[-2::-1]), box, swizzle, **more)


@dataclass(frozen=True)
class Bytes:
    """A parameter that is a struct."""

    data: bytes


@dataclass(frozen=True)
class Scratch:
    """A parameter that points to memory of this many bytes, or to none; what is left there is of no interest."""

    size: int


@dataclass
class Launch:
    """One launch: parameters in PTX order; buffers that only tensor maps name go to `buffers`."""

    args: list
    grid: tuple = (1,)
    # None: what the entry asks for
    block: tuple | None = (32,)
    cluster: tuple | None = None
    shared: int = 0
    cooperative: bool = False
    label: str = ""
    stdout: str | None = None
    # Words of what the simulator must report: the kernel has a mistake.
    fault: str | None = None
    buffers: list = field(default_factory=list)
    # Where the producer is no file of its own.
    ptx: str | None = None
    entry: str | None = None


@dataclass(frozen=True)
class Kernel:
    name: str
    covers: str
    targets: tuple
    launches: object
    tolerance: str = "exact"


REGISTRY: list[Kernel] = []


def i32(value) -> Scalar:
    return Scalar("i32", int(value))


def f32(value) -> Scalar:
    return Scalar("f32", float(value))


def into(name: str, expected: np.ndarray, before=None, tolerance: Tolerance = EXACT, type: str | None = None) -> Buffer:
    """An output, filled with a mark that the kernel must overwrite."""
    if before is None:
        before = np.frombuffer(b"\xa5" * expected.nbytes, expected.dtype).reshape(expected.shape)
    return Buffer(name, before, expected, tolerance, type)


def within(absolute: float = 0.0, relative: float = 0.0, ulp: int = 0) -> Tolerance:
    return Tolerance(ulp, absolute, relative)


def kernel(targets: str, covers: str, tolerance: str = "exact", name: str | None = None):
    """Registers the entry named like the function; the function yields or returns launches, given a generator."""

    def register(function):
        REGISTRY.append(Kernel(name or function.__name__, covers, tuple(targets.split()), function, tolerance))
        return function

    return register


def rng(name: str) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(name.encode()))


# Formats that numpy lacks, as raw bits.


def bf16_bits(values) -> np.ndarray:
    import ml_dtypes

    return np.asarray(values, np.float32).astype(ml_dtypes.bfloat16).view(np.uint16)


def bf16_values(bits) -> np.ndarray:
    return (np.asarray(bits, np.uint32) << 16).view(np.float32)


def small_bits(values, name: str) -> np.ndarray:
    import ml_dtypes

    return np.asarray(values, np.float32).astype(getattr(ml_dtypes, name)).view(np.uint8)


def small_values(bits, name: str) -> np.ndarray:
    import ml_dtypes

    return np.asarray(bits, np.uint8).view(getattr(ml_dtypes, name)).astype(np.float32)


def tf32(values) -> np.ndarray:
    """Single-precision values whose last 13 bits are zero."""
    return (np.asarray(values, np.float32).view(np.uint32) & ~np.uint32(0x1FFF)).view(np.float32)


# Compilers.


def run_tool(command: list) -> None:
    done = subprocess.run([str(c) for c in command], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")


def cached(key: str, suffix: str, make) -> Path:
    """The file that `make(path)` writes, made once per key, atomically."""
    CACHE.mkdir(parents=True, exist_ok=True)
    requirements = b"".join((ROOT / "tools" / f"toolkit.{n}.txt").read_bytes() for n in ("requirements", "triton"))
    tag = hashlib.sha256(key.encode() + requirements).hexdigest()[:20]
    path = CACHE / f"{tag}{suffix}"
    if not path.exists():
        temporary = path.with_suffix(f".{os.getpid()}{suffix}")
        make(temporary)
        temporary.rename(path)
    return path


def nvcc(source: Path, target: str) -> Path:
    headers = "".join(p.read_text() for p in sorted((HERE / "cuda").glob("*.cuh")))
    key = f"nvcc {target} {headers} {source.read_text()}"
    flags = ["-ptx", "-std=c++17", "-O3", f"-arch={target}", "-diag-suppress=20054,177,550"]
    return cached(key, ".ptx", lambda path: run_tool([BIN / "nvcc", *flags, "-o", path, source]))


# Writing.


def scalar_bytes(arg: Scalar) -> bytes:
    dtype = {"i": np.int64, "f": np.float64}[arg.type[0]]
    name = arg.type.replace("i", "int").replace("f", "float")
    return np.asarray(arg.value, dtype).astype(name).tobytes()


def element_type(buffer: Buffer) -> str:
    """What the comparison decodes: a format of floating point, or plain bits."""
    if buffer.type:
        return buffer.type
    return {"f": "f"}.get(buffer.data.dtype.kind, "u") + str(8 * buffer.data.dtype.itemsize)


def store(out: Path, data: bytes, kind: str = "data") -> str:
    """Writes bytes into a file named after them; its path below `out`."""
    name = f"{kind}/{hashlib.sha256(data).hexdigest()[:20]}"
    path = out / name
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return name


def write_launch(launch: Launch, out: Path) -> dict:
    buffers, index, args = [], {}, []

    def buffer(b: Buffer) -> None:
        if b.name in index:
            return
        before = store(out, np.ascontiguousarray(b.data).tobytes())
        entry = {"name": b.name, "file": before, "size": b.data.dtype.itemsize, "type": element_type(b)}
        if b.expected is not None:
            assert b.expected.shape == b.data.shape and b.expected.dtype == b.data.dtype, (
                f"{b.name}: expects {b.expected.dtype}{b.expected.shape}, holds {b.data.dtype}{b.data.shape}"
            )
            t = b.tolerance
            entry |= {"expected": store(out, np.ascontiguousarray(b.expected).tobytes())}
            entry |= {"ulp": t.ulp, "absolute": t.absolute, "relative": t.relative}
        index[b.name] = len(buffers)
        buffers.append(entry)

    for b in launch.buffers:
        buffer(b)
    # Maps may name buffers that come later among the arguments.
    for arg in launch.args:
        if isinstance(arg, Buffer):
            buffer(arg)
    for arg in launch.args:
        match arg:
            case Buffer():
                args.append({"buffer": index[arg.name]})
            case Scalar():
                args.append({"bytes": list(scalar_bytes(arg))})
            case Scratch(size=0):
                args.append({"bytes": [0] * 8})
            case Scratch():
                zeros = store(out, bytes(arg.size))
                buffers.append({"name": "scratch", "file": zeros, "size": 1, "type": "u8", "scratch": True})
                args.append({"buffer": len(buffers) - 1})
            case Bytes():
                args.append({"bytes": list(arg.data)})
            case Map():
                fields = {k: v for k, v in asdict(arg).items() if k != "buffer"}
                args.append({"map": fields | {"buffer": index[arg.buffer]}})
            case _:
                raise TypeError(f"argument {arg!r}")
    three = lambda extents: [*extents, 1, 1][:3]  # noqa: E731
    return {
        "label": launch.label,
        "grid": three(launch.grid),
        "block": three(launch.block) if launch.block else None,
        "cluster": three(launch.cluster) if launch.cluster else None,
        "shared": launch.shared,
        "cooperative": launch.cooperative,
        "args": args,
        "buffers": buffers,
        "stdout": launch.stdout,
        "fault": launch.fault,
    }


def load(producer: str, file: str):
    """Imports a file of kernels; returns its registry."""
    REGISTRY.clear()
    # The file's `import foreign` must find this module and not a second copy.
    sys.modules["foreign"] = sys.modules[__name__]
    path = HERE / producer / f"{file}.py"
    spec = importlib.util.spec_from_file_location(f"kernels_{producer}_{file}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return list(REGISTRY)


def launches(entry: Kernel, target: str) -> list[Launch]:
    """The launches of one kernel; the function may ask for the target."""
    arguments = [rng(entry.name)]
    if len(inspect.signature(entry.launches).parameters) > 1:
        arguments.append(target)
    made = entry.launches(*arguments)
    return [made] if isinstance(made, Launch) else list(made)


def prepare(out: Path, producer: str, file: str, chosen=lambda kernel, target: True) -> list[dict]:
    """Compiles the kernels of a file for the chosen targets and writes their launches."""
    result = []
    for entry in load(producer, file):
        for target in (t for t in entry.targets if chosen(entry.name, t)):
            name = f"{entry.name} ({target})"
            runs = launches(entry, target)
            source = HERE / producer / f"{file}.cu"
            ptx = nvcc(source, target) if source.exists() else None
            for launch in runs:
                head = {"name": name, "entry": launch.entry or entry.name, "ptx": str(launch.ptx or ptx)}
                result.append(head | write_launch(launch, out))
    return result


def table() -> str:
    """How many kernels there are by producer and target, and each of them."""
    rows, counts, totals = [], {}, {}
    for producer in PRODUCERS:
        for path in sorted((HERE / producer).glob("*.py")):
            for k in load(producer, path.stem):
                rows.append(f"| `{producer}/{path.stem}` {k.name} | {k.covers} | {' '.join(k.targets)} | {k.tolerance} |")
                totals[producer] = totals.get(producer, 0) + 1
                for target in k.targets:
                    counts[producer, target] = counts.get((producer, target), 0) + 1
    targets = sorted({t for _, t in counts}, key=lambda t: (int("".join(filter(str.isdigit, t))), t))
    lines = [f"| producer | kernels | {' | '.join(targets)} |", "|---" * (len(targets) + 2) + "|"]
    for producer in PRODUCERS:
        here = " | ".join(str(counts.get((producer, t), "")) for t in targets)
        lines.append(f"| `{producer}` | {totals[producer]} | {here} |")
    return "\n".join([*lines, "", "| kernel | covers | targets | tolerance |", "|---|---|---|---|", *rows])


BEGIN, END = "<!-- kernels: written by foreign.py -->\n", "\n<!-- kernels: end -->"


def check_readme(write: bool) -> None:
    """Compares the table in README.md with the kernels, or writes it."""
    path = HERE / "README.md"
    text = path.read_text()
    head, rest = text.split(BEGIN)
    old, tail = rest.split(END)
    new = table()
    if write:
        path.write_text(head + BEGIN + new + END + tail)
    elif old != new:
        raise SystemExit(f"{path} does not list the kernels as they are: run foreign.py table --write")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sub = parser.add_subparsers(dest="command", required=True)
    one = sub.add_parser("prepare")
    one.add_argument("out", type=Path)
    one.add_argument("file")
    sub.add_parser("table").add_argument("--write", action="store_true")
    args = parser.parse_args()
    if args.command == "table":
        check_readme(args.write)
        return 0
    producer, file = args.file.split("/")
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "suite.json").write_text(json.dumps(prepare(args.out, producer, file)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
