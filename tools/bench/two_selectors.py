"""Compiles the corpus with tilec's instruction selection and with LLVM's (libNVVM) from the same nvvm stage, compares
what both compute in the simulator and what ptxas makes of them, and writes SELECTORS.md."""

import argparse
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import compilers
import loops
import numpy as np
import sass
from compilers import ROOT, Failure, Tools

CORPUS = ROOT / "tests/corpus/bytecode"
SELECTOR = ROOT / "tools/libnvvm"
TARGETS = ["sm_80", "sm_90a", "sm_100a"]
# Beyond this part LLVM's code counts as better.
BETTER = 0.02
_VERSION = re.compile(r"-13\.\d+$")
_USAGE = re.compile(r"REG:(\d+)")


@dataclass(frozen=True)
class Code:
    """What a cubin's kernels are, together."""

    registers: int  # of the kernel with the most
    instructions: int
    spills: int
    loop: float | None  # of the loop that does the matrix work, for 16x16x16 of a warp's multiply-adds


@dataclass
class Row:
    name: str
    target: str
    ours: Code | Failure
    llvms: Code | Failure
    runs: int = 0
    differing: list[str] = field(default_factory=list)

    @property
    def compared(self) -> bool:
        return isinstance(self.ours, Code) and isinstance(self.llvms, Code)


def modules(prefixes: list[str]) -> list[tuple[str, Path]]:
    """Each program of the corpus in the latest version that it is there in."""
    latest: dict[str, Path] = {}
    for file in sorted(CORPUS.rglob("*.tilebc")):
        name = _VERSION.sub("", str(file.relative_to(CORPUS).with_suffix("")))
        if not name.endswith("_v13_1"):
            latest[name] = file
    return [(n, f) for n, f in latest.items() if not prefixes or n.startswith(tuple(prefixes))]


def by_tilec(tools: Tools, module: Path, target: str, scratch: Path) -> Path:
    ptx = scratch / "tilec.ptx"
    compilers.run([tools.tilec, "compile", module, "-o", ptx, "--gpu-name", target])
    return ptx


def by_llvm(tools: Tools, module: Path, target: str, scratch: Path) -> Path:
    text, ptx = scratch / "llvm.ll", scratch / "llvm.ptx"
    compilers.run([tools.tilec, "compile", module, "-o", text, "--gpu-name", target, "--emit", "nvvm-ir"])
    compilers.run([SELECTOR, text, "-o", ptx, "--gpu-name", target])
    return ptx


def code(tools: Tools, ptx: Path, target: str) -> Code:
    cubin = ptx.with_suffix(".cubin")
    compilers.run([tools.ptxas, f"-arch={target}", "-O3", ptx, "-o", cubin])

    def output(*command) -> str:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    usage = output(tools.cuobjdump, "-res-usage", cubin)
    parts = [sass.parse(part) for part in output(tools.nvdisasm, "-c", cubin).split(".section\t.text.")[1:]]
    # Behind the end of a kernel there is padding only.
    counts = [p.counts() for p in parts]
    if not any(sum(c.values()) for c in counts):
        raise Failure("a module without kernels")
    hot = [loops.hot_loop(p) for p in parts]
    hot = [h for h in hot if h and h.work]
    return Code(
        registers=max((int(n) for n in _USAGE.findall(usage)), default=0),
        instructions=sum(sum(c.values()) - c["NOP"] for c in counts),
        spills=sum(c["LDL"] + c["STL"] for c in counts),
        loop=max(hot, key=lambda h: h.work).per_step if hot else None,
    )


def compiled(tools: Tools, how, module: Path, target: str, scratch: Path) -> Code | Failure:
    try:
        return code(tools, how(tools, module, target, scratch), target)
    except Failure as failure:
        return failure


# ---- results ----------------------------------------------------------------------------------


def references(prefixes: list[str], out: Path) -> dict[str, list[tuple[str, Path]]]:
    """The runs of the corpus: by program, names and directories."""
    command = [sys.executable, "-B", ROOT / "tests/corpus/reference.py", out, *prefixes]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    runs: dict[str, list[tuple[str, Path]]] = {}
    for name in listed.splitlines():
        manifest = json.loads((out / name / "manifest.json").read_text())
        module = Path(manifest["module"])
        module = module if module.is_absolute() else (out / name / module).resolve()
        program = _VERSION.sub("", str(module.relative_to(CORPUS).with_suffix("")))
        runs.setdefault(program, []).append((name, out / name))
    return runs


def outputs(tools: Tools, directory: Path, target: str, how: list) -> dict[str, np.ndarray] | str:
    """What a run leaves in its buffers; what went wrong, if it fails."""
    manifest = json.loads((directory / "manifest.json").read_text())
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for file in directory.iterdir():
            if file.is_file():
                shutil.copy(file, copy)
        command = [tools.tilec, "run", manifest["module"], "--engine", "sim", "--gpu-name", target, *how]
        command += ["--entry", manifest["entry"], "--grid", ",".join(map(str, manifest["grid"]))]
        command += [part for arg in manifest["args"] for part in ("--arg", arg)]
        done = subprocess.run(command, cwd=copy, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode != 0:
            lines = done.stderr.strip().splitlines()
            return lines[0] if lines else "failed"
        return {o["file"]: np.load(copy / o["file"]) for o in manifest["outputs"]}


def difference(ours, llvms) -> str | None:
    """How two outcomes of a run differ."""
    if isinstance(ours, str) or isinstance(llvms, str):
        # A run that fails on purpose fails for both.
        return None if isinstance(ours, str) == isinstance(llvms, str) else f"{ours} / {llvms}"[:300]
    for name, mine in ours.items():
        theirs = llvms[name]
        differ = mine.view(f"u{mine.dtype.itemsize}") != theirs.view(f"u{mine.dtype.itemsize}")
        if mine.dtype.kind == "f":
            # Which NaN an operation yields is not defined.
            differ &= ~(np.isnan(mine) & np.isnan(theirs))
        if count := int(differ.sum()):
            text = f"{name}: {count} of {mine.size} elements"
            if mine.dtype.kind == "f":
                with np.errstate(all="ignore"):
                    off = np.abs(mine.astype("f8") - theirs.astype("f8")) / np.abs(mine.astype("f8"))
                text += f", by {np.nanmax(off[differ]):.1e}"
            return text
    return None


# ---- the table --------------------------------------------------------------------------------


def geomean(ratios: list[float]) -> str:
    return f"{math.exp(sum(map(math.log, ratios)) / len(ratios)):.3f}" if ratios else "–"


def pair(row: Row, cell) -> str:
    return " / ".join("–" if isinstance(side, Failure) else cell(side) for side in (row.ours, row.llvms))


def is_better(row: Row) -> bool:
    """Whether LLVM's code is better by more than is ignored, in what is measured of a kernel."""
    if not row.compared:
        return False
    ours, llvms = row.ours, row.llvms
    loop = bool(ours.loop and llvms.loop) and ours.loop > llvms.loop * (1 + BETTER)
    return loop or ours.instructions > llvms.instructions * (1 + BETTER)


def table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "".join("| " + " | ".join(cells) + " |\n" for cells in lines)


def summary(rows: list[Row]) -> str:
    cells = []
    for target in TARGETS:
        here = [r for r in rows if r.target == target and r.compared]
        if not here:
            continue
        hot = [r.ours.loop / r.llvms.loop for r in here if r.ours.loop and r.llvms.loop]
        same = sum(r.runs - len(r.differing) for r in here)
        cells.append([
            target,
            str(len(here)),
            geomean([r.ours.instructions / r.llvms.instructions for r in here]),
            geomean([r.ours.registers / r.llvms.registers for r in here]),
            geomean(hot),
            f"{sum(r.ours.spills > r.llvms.spills for r in here)} / {sum(r.ours.spills < r.llvms.spills for r in here)}",
            str(sum(map(is_better, here))),
            f"{same} of {sum(r.runs for r in here)}",
        ])  # fmt: skip
    header = ["target", "modules", "instructions", "registers", "hot loops", "more spills: ours / LLVM's"]
    return table([*header, f"LLVM's better by {BETTER:.0%}", "runs with the same results"], cells)


def details(rows: list[Row]) -> str:
    cells = []
    for row in rows:
        if row.compared:
            cells.append([
                row.name,
                row.target,
                pair(row, lambda c: str(c.instructions)),
                f"{row.ours.instructions / row.llvms.instructions:.3f}",
                pair(row, lambda c: str(c.registers)),
                pair(row, lambda c: str(c.spills)),
                pair(row, lambda c: f"{c.loop:.2f}" if c.loop else "–"),
            ])  # fmt: skip
    return table(["module", "target", "instructions", "ratio", "registers", "spills", "hot loop"], cells)


def time_table(tools: Tools, named: list[tuple[str, Path]], scratch: Path) -> str:
    """Whole process of tilec beside libNVVM's compilation alone."""
    cells = []
    for name, module in named:
        if name not in ("matmul/f16_128x128x64", "softmax/f32_1x2048", "vadd/f32"):
            continue
        for target in ("sm_80", "sm_90a", "sm_100a"):
            try:
                ptx = scratch / "timed.ptx"
                ours = compilers.timed(
                    [tools.tilec, "compile", module, "-o", ptx, "--gpu-name", target], 11
                )
                by_llvm(tools, module, target, scratch)
            except Failure:
                continue
            command = [SELECTOR, scratch / "llvm.ll", "-o", ptx, "--gpu-name", target, "--seconds"]
            seconds = [
                float(subprocess.run(command, check=True, capture_output=True, text=True).stdout) for _ in range(5)
            ]
            llvms = sorted(seconds)[2]
            cells.append([name, target, f"{ours.median * 1e3:.1f}", f"{llvms * 1e3:.1f}"])
    return table(["module", "target", "tilec, bytecode to PTX, ms", "libNVVM, its text to PTX, ms"], cells)


def provenance(tools: Tools) -> str:
    def said(*command) -> str:
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout.strip()

    commit = said("git", "describe", "--always", "--dirty")
    return f"tilec {commit}, libNVVM and ptxas of the pinned toolkit, {time.strftime('%Y-%m-%d')}.\n"


def write(out: Path, tools: Tools, rows: list[Row], times: str) -> None:
    failures = [
        f"- {r.name}, {r.target}, {who}: {side}\n"
        for r in rows
        for who, side in (("tilec", r.ours), ("LLVM", r.llvms))
        if isinstance(side, Failure)
    ]
    differing = [f"- {r.name}, {r.target}: {text}\n" for r in rows for text in r.differing]
    better = [r for r in rows if is_better(r)]
    text = "# Two selectors\n\nWritten by `tools/bench/selectors`. " + provenance(tools)
    text += (
        "\nThe same nvvm stage as PTX by tilec's instruction selection and by LLVM's (`--emit nvvm-ir`, libNVVM with "
        "`-opt=3 -fma=0`), then both by `ptxas -O3`. Ratios are geometric means of ours / LLVM's: below 1 ours is "
        "smaller. A hot loop's number is its instructions for 16×16×16 of a warp's multiply-adds.\n\n"
    )
    text += summary(rows)
    if times:
        text += "\n## Time\n\n" + times
    notes = ROOT / "tools/bench/selectors.md"
    if notes.exists():
        text += "\n" + notes.read_text()
    if better:
        text += f"\n## Where LLVM's code is better by more than {BETTER:.0%}\n\nOurs / LLVM's.\n\n"
        text += details(better)
    if differing:
        text += "\n## Different results\n\n" + "".join(differing)
    if failures:
        text += "\n## Not compiled\n\n" + "".join(failures)
    text += "\n## All modules\n\nOurs / LLVM's.\n\n" + details(rows)
    out.write_text(text)


def one(tools: Tools, job: tuple[str, Path, str], runs: list, scratch: Path, no_code: bool) -> Row:
    """A module for a target: both selectors' code, and what its runs leave by each."""
    name, module, target = job
    skipped = Failure("not asked for")
    row = Row(name, target, skipped, skipped)
    if not no_code:
        row.ours = compiled(tools, by_tilec, module, target, scratch)
        row.llvms = compiled(tools, by_llvm, module, target, scratch)
    for run, directory in runs:
        ours = outputs(tools, directory, target, [])
        llvms = outputs(tools, directory, target, ["--selector", str(SELECTOR)])
        row.runs += 1
        if said := difference(ours, llvms):
            row.differing.append(f"{run}: {said}")
    return row


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools/bench/selectors", description=__doc__)
    parser.add_argument("--only", action="append", default=[], metavar="PREFIX", help="only these modules")
    parser.add_argument("--gpu-name", action="append", default=[], choices=TARGETS)
    parser.add_argument("--tilec", type=Path, help="a binary that is there already")
    parser.add_argument("--no-runs", action="store_true", help="compare no results")
    parser.add_argument("--runs", action="append", default=[], metavar="PREFIX", help="compare results of these only")
    parser.add_argument("--no-code", action="store_true", help="compare results only")
    parser.add_argument("--out", type=Path, default=ROOT / "tools/bench/SELECTORS.md")
    args = parser.parse_args()
    tools = compilers.locate(args.tilec.resolve() if args.tilec else None)
    os.environ.setdefault("LIBNVVM", str(compilers.toolkit()["libnvvm"]))
    named = modules(args.only)
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        chosen = args.runs or ([n for n, _ in named] if args.only else [])
        runs = {} if args.no_runs else references(chosen, scratch / "runs")
        jobs = [(name, module, target) for name, module in named for target in args.gpu_name or TARGETS]

        def compare(number: int) -> Row:
            name, module, target = jobs[number]
            own = scratch / str(number)
            own.mkdir()
            row = one(tools, jobs[number], [] if args.no_runs else runs.get(name, []), own, args.no_code)
            shutil.rmtree(own)
            for said in row.differing:
                print(f"  {target} {said}", file=sys.stderr)
            print(f"[{number + 1}/{len(jobs)}] {name}, {target}", file=sys.stderr)
            return row

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            rows = list(pool.map(compare, range(len(jobs))))
        times = "" if args.no_code or args.only else time_table(tools, named, scratch)
    write(args.out, tools, rows, times)
    return 0


if __name__ == "__main__":
    sys.exit(main())
