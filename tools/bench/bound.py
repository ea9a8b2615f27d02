"""What binds the hottest loop of a kernel: the cycles that each unit of a multiprocessor needs for an iteration.

A bound is what remains when everything overlaps: the busiest unit's cycles. It says which schedules cannot be
faster, not how fast one is; `ptxsim --time` estimates that.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import compilers
import gpus
import loops
import sass
import units
from compilers import Failure
from gpus import Gpu
from sass import Instruction

ASYNCHRONOUS = loops.WGMMA | loops.TENSOR_MEMORY_MMA | {"SYNCS", "UTMALDG"}


@dataclass
class Bound:
    """An iteration of one warp. Cycles are the multiprocessor's: all warps that run the loop add up."""

    gpu: Gpu
    instructions: int
    work: int  # multiply-adds
    cycles: Counter
    counts: Counter  # instructions by unit, the one they need longest
    unknown: Counter  # opcodes that only issue, or that nothing here knows
    bytes_copied: float | None  # between the multiprocessor and L2; None where the code does not say
    notes: list[str] = field(default_factory=list)
    ring: int | None = None  # bytes of shared memory that copies of a block may be on their way to

    @property
    def unit(self) -> str:
        return max(units.UNITS, key=lambda u: (self.cycles[u], u == "tensor"))

    @property
    def limit(self) -> float:
        return self.cycles[self.unit]

    @property
    def per_step(self) -> float | None:
        """Cycles for 16×16×16 multiply-adds."""
        return self.limit * loops.STEP / self.work if self.work else None

    @property
    def tensor_share(self) -> float | None:
        """Of the tensor peak, as far as the other units allow it."""
        return self.cycles["tensor at peak"] / self.limit if self.cycles["tensor at peak"] else None

    def in_flight(self, latency: str) -> float | None:
        """Bytes that must be on their way to a multiprocessor so that the bound is reached."""
        return self.bytes_copied and self.bytes_copied / self.limit * self.gpu[latency]


def analyse(body: list[Instruction], gpu: Gpu, stats: dict | None = None) -> Bound:
    """`stats` is what `ptxsim --stats=json` counted in a run of the same kernel."""
    cycles, counts, unknown, notes = Counter(), Counter(), Counter(), []
    # Where the loop that issues matmuls reads tensor memory, too, the four warps of a group run it, and one of them issues.
    reads = any(i.base == "LDTM" for i in body)
    share = 1 / 4 if reads else 1
    own = {i: share if i.base in loops.TENSOR_MEMORY_MMA else 1 for i in body}
    work, copied = int(sum(loops.work(i) * own[i] for i in body)), float(sum(map(units.global_bytes, body)))
    for instruction in body:
        spent = Counter({u: c * own[instruction] for u, c in units.cycles(instruction, gpu).items()})
        cycles += spent
        others = {u: c for u, c in spent.items() if u != "issue"}
        counts[max(others, key=others.get) if others else "issue"] += 1
        if not others:
            unknown[instruction.base] += 1
        if instruction.base in loops.MATRIX:
            rate = gpu.multiply_adds(units.tensor_kind(instruction))
            cycles["tensor at peak"] += own[instruction] * loops.work(instruction) / rate if rate else 0
    if any(i.base in loops.TENSOR_MEMORY_MMA and i.shape is None for i in body):
        notes.append("the size of a tcgen05.mma is in a register: its cycles are not counted")
    # A loop that waits for copies of another warp, or that issues tensor copies: their size is not in its code.
    asynchronous = not copied and any(i.base in ASYNCHRONOUS for i in body)
    if stats:
        accesses = sum(1 for i in body if i.base in units.SHARED)
        if stats["shared_accesses"]:
            cycles["shared"] += accesses * stats["bank_conflicts"] / stats["shared_accesses"]
        if work and stats["matrix_multiply_adds"]:
            copied = stats["async_bytes"] / stats["matrix_multiply_adds"] * work
            cycles["shared"] += 0 if any(i.base == "LDGSTS" for i in body) else copied / gpu["shared_bytes_per_clock"]
            cycles["L2"] = copied / gpu.l2_share
        asynchronous = False
    if asynchronous:
        notes.append("what TMA copies is not counted; --stats has it")
    known = None if asynchronous else copied
    return Bound(gpu, len(body), work, cycles, counts, unknown, known or None, notes)


def hottest(code: sass.Code) -> list[Instruction]:
    """The loop with most matrix work; without any, the innermost loop with most instructions; else everything."""
    if (body := loops.hot_body(code)) is not None:
        return body
    return max(loops.bodies(code), key=len, default=[i for i in code.instructions if i.base != "NOP"])


def table(columns: dict[str, Bound]) -> str:
    """One column for each kernel."""

    def number(value: float | None, form: str = "{:.1f}") -> str:
        return "–" if value is None else form.format(value)

    rows = [
        ["", *columns],
        ["instructions a warp issues", *(str(b.instructions) for b in columns.values())],
        ["multiply-adds of a warp", *(str(b.work) for b in columns.values())],
    ]
    for unit in units.UNITS:
        if any(b.cycles[unit] for b in columns.values()):
            rows.append([f"cycles: {unit}", *(f"{b.cycles[unit]:.1f} ({b.counts[unit]})" for b in columns.values())])
    rows += [
        ["bound by", *(b.unit for b in columns.values())],
        ["cycles for 16×16×16", *(number(b.per_step, "{:.2f}") for b in columns.values())],
        ["share of the tensor peak", *(number(b.tensor_share, "{:.0%}") for b in columns.values())],
        ["bytes in flight for L2", *(number(b.in_flight("l2_latency"), "{:.0f}") for b in columns.values())],
        ["bytes in flight for memory", *(number(b.in_flight("dram_latency"), "{:.0f}") for b in columns.values())],
    ]
    if any(b.ring for b in columns.values()):
        rows.append(["room for them in a block", *(number(b.ring, "{}") for b in columns.values())])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(r, widths))) for r in rows]
    lines += [f"{name}: {note}" for name, b in columns.items() for note in b.notes]
    return "\n".join(lines)


def as_json(bound: Bound) -> dict:
    return {
        "gpu": bound.gpu.name,
        "instructions": bound.instructions,
        "multiply_adds": bound.work,
        "cycles": {u: bound.cycles[u] for u in units.UNITS},
        "counts": dict(bound.counts),
        "bound_by": bound.unit,
        "cycles_per_16x16x16": bound.per_step,
        "tensor_share": bound.tensor_share,
        "bytes_in_flight_l2": bound.in_flight("l2_latency"),
        "bytes_in_flight_memory": bound.in_flight("dram_latency"),
        "ring_bytes": bound.ring,
        "only_issue": dict(bound.unknown),
        "notes": bound.notes,
    }


class Inputs:
    """Kernels as they are given on the command line, as SASS."""

    def __init__(self, target: str, tilec: Path | None, scratch: Path):
        self.target, self.scratch, self.tilec = target, scratch, tilec
        self.paths = compilers.toolkit()
        self.rings: dict[str, int] = {}  # what tilec's manifests say of pipelines, by column

    def code(self, spec: str) -> dict[str, sass.Code]:
        path = Path(spec)
        if spec.startswith("triton:"):
            return {spec: self.of_ptx(self.triton(spec.removeprefix("triton:")))}
        if path.suffix == ".sass":
            return {path.stem: sass.parse(path.read_text())}
        if path.suffix == ".cubin":
            return {path.stem: self.of_cubin(path)}
        if path.suffix == ".ptx":
            return {path.stem: self.of_ptx(path)}
        if path.suffix == ".tilebc":
            return {f"tilec:{path.stem}": self.by_tilec(path), f"tileiras:{path.stem}": self.by_tileiras(path)}
        raise Failure(f"{spec}: neither .cubin, .sass, .ptx, .tilebc nor triton:KERNEL")

    def of_cubin(self, cubin: Path) -> sass.Code:
        done = subprocess.run([self.paths["nvdisasm"], "-c", cubin], capture_output=True, text=True)
        if done.returncode:
            raise Failure(f"nvdisasm: {done.stderr.strip()}")
        return sass.parse(done.stdout)

    def of_ptx(self, ptx: Path) -> sass.Code:
        cubin = self.scratch / "kernel.cubin"
        compilers.run([self.paths["ptxas"], f"-arch={self.target}", "-O3", ptx, "-o", cubin])
        return self.of_cubin(cubin)

    def by_tilec(self, module: Path) -> sass.Code:
        self.tilec = self.tilec or compilers.build_tilec()
        ptx = self.scratch / "tilec.ptx"
        manifest = self.scratch / "tilec.json"
        command = [self.tilec, "compile", module, "--gpu-name", self.target]
        compilers.run([*command, "-o", ptx])
        compilers.run([*command, "--emit", "manifest", "-o", manifest])
        shared = [part for entry in json.loads(manifest.read_text())["entries"] for part in entry["shared_map"]]
        self.rings[f"tilec:{module.stem}"] = sum(p["bytes"] for p in shared if p["what"].startswith("ring"))
        return self.of_ptx(ptx)

    def by_tileiras(self, module: Path) -> sass.Code:
        cubin, name = self.scratch / "tileiras.cubin", self.target.rstrip("a")
        compilers.run([self.paths["tileiras"], "--gpu-name", name, module, "-o", cubin], limit=300)
        return self.of_cubin(cubin)

    def triton(self, kernel: str) -> Path:
        import triton_kernels  # needs Triton

        ptx = self.scratch / "triton.ptx"
        ptx.write_text(triton_kernels.ptx(kernel, self.target, self.scratch))
        return ptx


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bound", description=__doc__)
    parser.add_argument("kernels", nargs="+", metavar="KERNEL[@STATS.json]",
                        help="a .cubin, .sass (of nvdisasm -c) or .ptx; a .tilebc, by tilec and by tileiras; triton:NAME")
    parser.add_argument("--gpu-name", default="sm_90a", metavar="TARGET", help="what to compile for (sm_90a)")
    parser.add_argument("--gpu", choices=sorted(gpus.table()), help="whose figures; by default one of the target's")
    parser.add_argument("--tilec", type=Path, help="a tilec that is built already")
    parser.add_argument("--json", action="store_true", help="numbers for programs")
    return parser.parse_args()  # fmt: skip


def main() -> int:
    options = arguments()
    sm = int("".join(filter(str.isdigit, options.gpu_name)))
    gpu = gpus.table()[options.gpu] if options.gpu else gpus.of_target(sm)
    columns, failed = {}, False
    with tempfile.TemporaryDirectory() as scratch:
        inputs = Inputs(options.gpu_name, options.tilec, Path(scratch))
        for spec in options.kernels:
            spec, _, stats = spec.partition("@")
            try:
                counted = json.loads(Path(stats).read_text()) if stats else None
                for name, code in inputs.code(spec).items():
                    columns[name] = analyse(hottest(code), gpu, counted)
                    columns[name].ring = inputs.rings.get(name)
            except (Failure, ValueError, OSError) as failure:
                print(f"bound: {spec}: {failure}", file=sys.stderr)
                failed = True
    if options.json:
        print(json.dumps({name: as_json(bound) for name, bound in columns.items()}, indent=1))
    elif columns:
        print(f"{gpu.name}: cycles of a multiprocessor for one warp's iteration (instructions of that unit)\n")
        print(table(columns))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
