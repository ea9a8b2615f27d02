"""Compares tilec with tileiras on the corpus and writes RESULTS.md."""

import argparse
import dataclasses
import json
import os
import platform
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import compilers
import sass
from compilers import ROOT, Failure, Timing, Tools

CORPUS = ROOT / "tests/corpus/bytecode"
# The kernels whose code is compared; the operation corpus is for other tests.
FOLDERS = ["matmul", "softmax", "vadd"]
# And of whole programs one file each: a case is there in many versions.
PROGRAMS = [
    f"programs_{name}-13.1"
    for name in (
        "attention/f16_causal_large",
        "gemm/batched_f16",
        "gemm/counted_f16",
        "gemm/fused_bf16",
        "gemm/integer_i8",
        "layers/cross_entropy_f16",
        "layers/grouped_attention_bf16",
        "layers/linear_gelu_f16",
    )
]
# What the whole-process time is measured on.
TIMED = ["matmul/f16_128x128x64", "matmul/f16_128x256x64", "softmax/f32_1x2048", "vadd/f32"]


@dataclass(frozen=True)
class Row:
    name: str
    tilec: sass.Report | Failure
    tileiras: sass.Report | Failure


def modules(prefix: str) -> list[tuple[str, Path]]:
    files = [file for folder in FOLDERS for file in sorted((CORPUS / folder).glob("*.tilebc"))]
    files += [CORPUS / f"{name}.tilebc" for name in PROGRAMS]
    named = [(str(file.relative_to(CORPUS).with_suffix("")), file) for file in files]
    return [(name, file) for name, file in named if name.startswith(prefix)]


def by_tilec(tools: Tools, module: Path, scratch: Path) -> sass.Report | Failure:
    ptx, cubin, manifest = (scratch / f"tilec.{kind}" for kind in ("ptx", "cubin", "json"))
    try:
        compilers.run(tools.tilec_ptx(module, ptx))
        compilers.run(tools.tilec_manifest(module, manifest))
        compilers.run(tools.ptxas_cubin(ptx, cubin))
    except Failure as failure:
        return failure
    report = sass.report(cubin, tools.nvdisasm, tools.cuobjdump)
    # Shared memory given at launch is in no cubin; the manifest knows all of it.
    (entry,) = json.loads(manifest.read_text())["entries"]
    return dataclasses.replace(report, shared=max(report.shared, entry["shared_bytes"]))


def by_tileiras(tools: Tools, module: Path, scratch: Path) -> sass.Report | Failure:
    cubin = scratch / "tileiras.cubin"
    try:
        compilers.run(tools.tileiras_cubin(module, cubin))
    except Failure as failure:
        return failure
    return sass.report(cubin, tools.nvdisasm, tools.cuobjdump)


def table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "".join("| " + " | ".join(cells) + " |\n" for cells in lines)


def both(row: Row, cell) -> str:
    """`tilec / tileiras`; a compiler that failed has no number."""
    sides = (row.tilec, row.tileiras)
    return " / ".join("–" if isinstance(side, Failure) else cell(side) for side in sides)


def compared(rows: list[Row], columns: dict) -> str:
    cells = [[row.name, *(both(row, cell) for cell in columns.values())] for row in rows]
    return table(["module", *columns], cells)


def in_loop(cell):
    return lambda report: cell(report.loop) if report.loop else "no loop"


def counted(opcode: str):
    return lambda report: str(report.counts[opcode])


RESOURCES = {
    "registers": lambda r: str(r.registers),
    "spills": lambda r: str(r.spills),
    "shared memory": lambda r: str(r.shared),
    "instructions": lambda r: str(r.total),
}
LOOP = {
    "matrix instructions": in_loop(lambda l: f"{l.mma} × {'+'.join(l.shapes)}"),
    "instructions per matrix instruction": in_loop(lambda l: f"{l.instructions / l.mma:.1f}"),
    "groups in flight": in_loop(lambda l: str(l.groups_in_flight or "–")),
}
WHOLE_KERNEL = {op: counted(op) for op in ("HGMMA", "HMMA", "UTMALDG", "UTMASTG", "LDGSTS", "LDG", "STG")}


def code_tables(rows: list[Row]) -> str:
    matmul = [row for row in rows if row.name.startswith("matmul/")]
    text = "## Resources: tilec / tileiras\n\n" + compared(rows, RESOURCES)
    text += (
        "\nRegisters are ptxas' figure for a thread. Spills are instructions that touch "
        "local memory (LDL, STL). Shared memory is in bytes for a block, given at launch or static.\n"
    )
    if matmul:
        text += "\n## Main loop of the matmul: tilec / tileiras\n\n" + compared(matmul, LOOP)
        text += "\nInstructions in the whole kernel:\n\n" + compared(matmul, WHOLE_KERNEL)
    failures = [
        f"- {row.name}, {who}: {side}\n"
        for row in rows
        for who, side in (("tilec", row.tilec), ("tileiras", row.tileiras))
        if isinstance(side, Failure)
    ]
    if failures:
        text += "\n## Not compiled\n\n" + "".join(failures)
    return text


def milliseconds(timing: Timing | None) -> str:
    return f"{timing.median * 1e3:.1f} ({timing.fastest * 1e3:.1f})" if timing else "–"


def time_table(tools: Tools, named: list[tuple[str, Path]], scratch: Path, repeat: int) -> str:
    lines = []
    for name, module in named:
        if name not in TIMED:
            continue
        print(f"timing {name}", file=sys.stderr)
        ptx = scratch / "timed.ptx"
        try:
            ours = compilers.timed(tools.tilec_ptx(module, ptx), 10 * repeat)
            assembler = compilers.timed(tools.ptxas_cubin(ptx, scratch / "timed.cubin"), repeat)
        except Failure:
            ours = assembler = None
        theirs = compilers.timed(tools.tileiras_cubin(module, scratch / "timed.cubin"), repeat)
        ratio = f"{theirs.median / ours.median:.0f} ×" if ours else "–"
        lines.append([name, *map(milliseconds, (ours, theirs)), ratio, milliseconds(assembler)])
    text = "## Whole-process time, milliseconds: median (fastest)\n\n"
    text += table(
        ["module", "tilec, to PTX", "tileiras, to a cubin", "ratio of medians", "ptxas of tilec's PTX"], lines
    )
    return text + (
        f"\n{10 * repeat} runs of tilec and {repeat} of the others. "
        "tileiras includes its own ptxas run; the last column is what that costs for tilec's PTX.\n"
    )


def setting() -> str:
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--exclude=*"], cwd=ROOT, capture_output=True, text=True
    ).stdout.strip()
    cpu = next(
        (
            l.split(":", 1)[1].strip()
            for l in Path("/proc/cpuinfo").read_text().splitlines()
            if l.startswith("model name")
        ),
        platform.machine(),
    )
    return (
        "# tilec beside tileiras\n\n"
        "Made by `tools/bench/run`; do not edit. Target sm_90a, tileiras and ptxas 13.5.37.\n\n"
        f"Commit {commit or 'unknown'}, {cpu}, {os.cpu_count()} cores, "
        f"load average {os.getloadavg()[0]:.1f} when it started.\n\n"
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools/bench/run", description=__doc__)
    parser.add_argument("--only", default="", metavar="PREFIX", help="take only modules whose name starts so")
    parser.add_argument("--tilec", type=Path, help="use this binary instead of building one")
    parser.add_argument("--repeat", type=int, default=5, help="timed runs of the slow programs (default 5)")
    parser.add_argument("-o", "--out", type=Path, default=ROOT / "tools/bench/RESULTS.md")
    args = parser.parse_args()

    text = setting()
    tools = compilers.locate(args.tilec and args.tilec.resolve())
    named = modules(args.only)
    if not named:
        print(f"no module's name starts with {args.only}", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as directory:
        scratch = Path(directory)
        rows = []
        for name, module in named:
            print(f"compiling {name}", file=sys.stderr)
            rows.append(Row(name, by_tilec(tools, module, scratch), by_tileiras(tools, module, scratch)))
        text += code_tables(rows) + "\n" + time_table(tools, named, scratch, args.repeat)
    args.out.write_text(text)
    print(f"wrote {args.out}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
