"""Compares tilec with tileiras on production kernels.

    tools/bench/production record TILEGYM FOLDER    bytecode of what a checkout of TileGym launches
    tools/bench/production compare FOLDER           compile it with both, print a table and a summary
"""

import argparse
import hashlib
import json
import math
import os
import re
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

import compilers
import loops
import sass
from compilers import ROOT, Failure

HERE = Path(__file__).resolve().parent
# tilec's targets (ptxas has the same names), and tileiras' names for them.
TARGETS = {"sm_80": "sm_80", "sm_90a": "sm_90", "sm_100a": "sm_100", "sm_120a": "sm_120"}
# What a recording needs beside the toolkit's own versions of cuda-tile, numpy and ml_dtypes.
RECORDER = ["torch", "pytest", "cuda-core", "einops"]
EACH = 3  # instances of a template kept
SECONDS = 120  # for one compilation


# Recording.


def recorder_python(home: Path) -> Path:
    """The Python of an environment with torch, made on first use."""
    python = home / "bin/python"
    if not (home / "complete").exists():
        requirements = (ROOT / "tools/toolkit.requirements.txt").read_text()
        pinned = re.findall(r"^(?:cuda-tile|numpy|ml_dtypes)==\S+", requirements, re.M)
        subprocess.run([sys.executable, "-m", "venv", home], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *RECORDER, *pinned], check=True)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", home / "libcuda.so.1", HERE / "libcuda.c"], check=True)
        (home / "complete").touch()
    return python


def record(tilegym: Path, folder: Path, only: str) -> None:
    home = ROOT / (os.environ.get("CARGO_TARGET_DIR") or "target") / "recorder"
    python = recorder_python(home)
    nvcc = compilers.toolkit()["nvcc"]
    environment = os.environ | {
        "LD_LIBRARY_PATH": str(home),
        "PYTHONPATH": f"{tilegym / 'src'}{os.pathsep}{HERE}",
        "PYTHONDONTWRITEBYTECODE": "1",
        "RECORD_OUT": str(folder),
        "TILECPP_NVCC_PATH": str(nvcc),
        "TILECPP_CACHE_DIR": str(home / "tilecpp"),
    }
    tests = tilegym / "tests"
    for file in sorted([*tests.glob("ops/**/test_*.py"), *tests.glob("suites/**/test_*.py")]):
        if not re.search(only, str(file.relative_to(tests))):
            continue
        print(file.relative_to(tests), file=sys.stderr)
        # A test whose check of results fails has launched its kernels all the same.
        options = ["-q", "--tb=no", "--no-summary", "-p", "record", "-p", "no:cacheprovider"]
        subprocess.run([python, "-m", "pytest", *options, file], cwd=tilegym, env=environment)
    build_instances(folder, nvcc)


def build_instances(folder: Path, nvcc: Path) -> None:
    """Bytecode of the recorded instances of templates in CUDA Tile C++, the ones with the largest tiles."""

    def tiles(instance: str) -> int:
        return sum(int(n).bit_length() for n in re.findall(r"\b\d+\b", instance) if 16 <= int(n) <= 256)

    for key, instances in json.loads((folder / "instances.json").read_text()).items():
        source, kernel = key.split("|")
        for instance in sorted(instances, key=tiles, reverse=True)[:EACH]:
            name = f"cpp-{Path(source).stem}-{kernel}-{hashlib.sha256(instance.encode()).hexdigest()[:5]}"
            unit = folder / f"{name}.cu"
            unit.write_text(f'#include "{source}"\n{instance}\n')
            options = ["--tilebc", "-arch=sm_90", "-std=c++20", "--tile-only"]
            try:
                compilers.run([nvcc, *options, "-o", unit.with_suffix(".tilebc"), unit])
            except Failure as failure:
                print(f"{name}: {failure}", file=sys.stderr)


# Comparing.


@dataclass
class Result:
    """One kernel by one compiler; `error` where it did not compile."""

    error: str = ""
    seconds: float = 0.0
    wgmma: int = 0
    mma: int = 0
    tensor_memory: int = 0
    tma: int = 0
    cp_async: int = 0
    loads: dict = field(default_factory=dict)  # global loads by width in bits
    stores: dict = field(default_factory=dict)
    loop_per_step: float | None = None
    registers: int = 0
    spills: int = 0
    sass: int = 0
    f64: int = 0

    @property
    def has_matrix(self) -> bool:
        return self.wgmma + self.mma + self.tensor_memory > 0

    @property
    def is_asynchronous(self) -> bool:
        return self.tma + self.cp_async > 0

    def mean_width(self, of: str) -> float | None:
        """Mean bits of an access to global memory; a copy by the TMA or cp.async counts as 128."""
        counts = {int(width): count for width, count in getattr(self, of).items()}
        wide = self.tma + self.cp_async if of == "loads" else 0
        total = sum(counts.values()) + wide
        return (sum(w * c for w, c in counts.items()) + 128 * wide) / total if total else None


def width(opcode: str) -> int:
    for part in opcode.split("."):
        if part in ("64", "128", "256"):
            return int(part)
        if part in ("U8", "S8", "U16", "S16"):
            return int(part[1:])
    return 32


def examined(cubin: Path, tools: compilers.Tools, seconds: float) -> Result:
    text = subprocess.run([tools.nvdisasm, "-c", cubin], check=True, capture_output=True, text=True).stdout
    code = sass.parse(text)
    usage = subprocess.run([tools.cuobjdump, "-res-usage", cubin], check=True, capture_output=True, text=True).stdout
    counts = code.counts()

    def widths(base: str) -> dict:
        found: dict[int, int] = {}
        for instruction in code.instructions:
            if instruction.base == base:
                found[width(instruction.opcode)] = found.get(width(instruction.opcode), 0) + 1
        return found

    def count(names) -> int:
        return sum(counts[name] for name in names)

    loop = loops.hot_loop(code)
    return Result(
        seconds=seconds,
        wgmma=count(loops.WGMMA),
        mma=count(loops.WARP_MMA),
        tensor_memory=count(loops.TENSOR_MEMORY_MMA),
        tma=count(["UTMALDG", "UBLKCP"]),
        cp_async=counts["LDGSTS"],
        loads=widths("LDG"),
        stores=widths("STG"),
        loop_per_step=loop and loop.per_step,
        registers=max(int(n) for n in re.findall(r"REG:(\d+)", usage)),
        spills=count(["LDL", "STL"]),
        sass=sum(counts.values()) - counts["NOP"],
        f64=count(["DADD", "DMUL", "DFMA", "DSETP"]),
    )


def timed(command: list) -> float:
    start = time.perf_counter()
    compilers.run(command, SECONDS)
    return time.perf_counter() - start


def by_tilec(tools, module: Path, target: str, scratch: Path) -> Result:
    ptx, cubin = scratch / f"{module.stem}.ptx", scratch / f"{module.stem}.cubin"
    try:
        seconds = timed([tools.tilec, "compile", module, "-o", ptx, "--gpu-name", target])
        compilers.run([tools.ptxas, f"-arch={target}", "-O3", ptx, "-o", cubin], SECONDS)
    except Failure as failure:
        return Result(error=str(failure))
    return examined(cubin, tools, seconds)


def by_tileiras(tools, module: Path, target: str, scratch: Path) -> Result:
    """Kept in `scratch` under the hash of the module: tileiras is slow, and does not change."""
    kept = scratch / f"{module.stem}-{hashlib.sha256(module.read_bytes()).hexdigest()[:16]}.json"
    if kept.exists():
        return Result(**json.loads(kept.read_text()))
    cubin = scratch / f"{module.stem}.tileiras.cubin"
    try:
        seconds = timed([tools.tileiras, "--gpu-name", TARGETS[target], module, "-o", cubin])
        result = examined(cubin, tools, seconds)
    except Failure as failure:
        result = Result(error=str(failure))
    kept.write_text(json.dumps(asdict(result)))
    return result


def narrower(a: Result, b: Result, of: str) -> bool:
    mine, other = a.mean_width(of), b.mean_width(of)
    more = sum(getattr(a, of).values()) > sum(getattr(b, of).values()) + 2
    return bool(mine and other and 2 * mine <= other and more)


def geomean(ratios: list[float]) -> str:
    kept = [r for r in ratios if r > 0]
    return f"{math.exp(sum(map(math.log, kept)) / len(kept)):.2f}" if kept else "–"


def summary(pairs: list[tuple[Result, Result]], target: str) -> str:
    """The table of RESULTS.md for one target."""
    both = [(a, b) for a, b in pairs if not a.error and not b.error]
    matrix = [(a, b) for a, b in both if b.has_matrix]
    others = [(a, b) for a, b in both if not b.has_matrix]
    in_loop = [(a.loop_per_step, b.loop_per_step) for a, b in matrix if a.loop_per_step and b.loop_per_step]
    rows = [("accepted", *(sum(not pair[side].error for pair in pairs) for side in (0, 1)))]

    def count(what: str, of: list, holds) -> None:
        rows.append((what, sum(holds(a, b) for a, b in of), sum(holds(b, a) for a, b in of)))

    wide_mma = lambda a, _: a.wgmma + a.tensor_memory > 0  # noqa: E731
    narrow_loads = lambda a, b: narrower(a, b, "loads")  # noqa: E731
    count(f"of {len(matrix)} with matrix products: WGMMA or tcgen05", matrix, wide_mma)
    count("… asynchronous copies", matrix, lambda a, _: a.is_asynchronous)
    count("… narrow loads where the other's are wide", matrix, narrow_loads)
    per_step = geomean([a / b for a, b in in_loop])
    rows.append((f"… loop instructions per matrix work, geomean of {len(in_loop)}", per_step, 1))
    count(f"of {len(others)} others: narrow loads where the other's are wide", others, narrow_loads)
    count("narrow stores where the other's are wide", both, lambda a, b: narrower(a, b, "stores"))
    count("kernels that spill", both, lambda a, _: a.spills > 0)
    count("kernels with f64 arithmetic", both, lambda a, _: a.f64 > 0)
    for what, name in (("SASS instructions", "sass"), ("registers", "registers"), ("compile time", "seconds")):
        rows.append((f"{what}, geomean", geomean([getattr(a, name) / getattr(b, name) for a, b in both]), 1))
    lines = [f"| {len(pairs)} kernels for {target} | tilec | tileiras |", "| --- | --- | --- |"]
    return "\n".join([*lines, *(f"| {what} | {ours} | {theirs} |" for what, ours, theirs in rows)]) + "\n"


def compare(folder: Path, target: str, tilec: Path | None, only: str) -> None:
    tools = compilers.locate(tilec and tilec.resolve())
    scratch = folder / target
    scratch.mkdir(exist_ok=True)
    names = [f.name for f in fields(Result)]
    lines, pairs = ["\t".join(["kernel", *names, *(f"tileiras {n}" for n in names)])], []
    for module in sorted(folder.glob("*.tilebc")):
        if not re.search(only, module.stem):
            continue
        pair = by_tilec(tools, module, target, scratch), by_tileiras(tools, module, target, scratch)
        cells = [str(value).replace("\t", " ") for result in pair for value in asdict(result).values()]
        lines.append("\t".join([module.stem, *cells]))
        pairs.append(pair)
        print(module.stem, *(result.error for result in pair), file=sys.stderr)
    if not pairs:
        raise SystemExit(f"no bytecode in {folder} has a name that matches {only!r}")
    (scratch / "results.tsv").write_text("\n".join(lines) + "\n")
    print(summary(pairs, target), end="")


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="tools/bench/production", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record", help="make the bytecode")
    recording.add_argument("tilegym", type=Path, help="a checkout of NVIDIA/TileGym")
    comparing = commands.add_parser("compare", help="compile it with both")
    comparing.add_argument("--gpu-name", default="sm_90a", choices=TARGETS)
    comparing.add_argument("--tilec", type=Path, help="use this binary instead of building one")
    for command in (recording, comparing):
        command.add_argument("folder", type=Path, help="where the bytecode is")
        command.add_argument("--only", default="", metavar="REGEX", help="test files, or names of kernels")
    args = parser.parse_args()
    if args.command == "record":
        record(args.tilegym.resolve(), args.folder.resolve(), args.only)
    else:
        compare(args.folder.resolve(), args.gpu_name, args.tilec, args.only)
    return 0


if __name__ == "__main__":
    sys.exit(main())
