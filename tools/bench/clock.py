"""The clock of ptxsim beside published measurements: writes the table of docs/clock.md.

No kernel here is the one that was measured: those of libraries are not at hand. Each is of the same kind, size and tile
where that is known, compiled by tilec or by Triton; the table says which.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import compilers
import triton_kernels
from compilers import ROOT, Failure

PAGE = ROOT / "docs/clock.md"
BEGIN, END = "<!-- validation: written by tools/bench/clock.py -->", "<!-- validation: end -->"
CORPUS = ROOT / "tests/corpus/bytecode"


@dataclass(frozen=True)
class Case:
    what: str
    compiler: str  # tilec or triton
    kernel: str  # a file of the corpus, or a kernel of triton_kernels
    target: str
    gpu: str
    grid: str
    args: list[str]
    published: float  # 10^12 operations a second, or GB/s
    source: str
    bytes: float = 0  # that the published bandwidth counts; otherwise it is operations
    constants: dict | None = None
    flops: float = 0  # operations that the published rate counts, where the kernel's own differ


FAST = "github.com/pranjalssh/fast.cu"
FA3 = "FlashAttention-3, arXiv 2407.08608"
LUO = "arXiv 2402.13499"


def matrix(rows: int, columns: int, size: int = 2) -> list[str]:
    """An array of cuTile Python: base, shape, strides."""
    return [f"zeros:{rows * columns * size}", f"i32:{rows}", f"i32:{columns}", f"i32:{columns}", "i32:1"]


def product(n: int) -> list[str]:
    return matrix(n, n) * 3


def pointers(n: int) -> list[str]:
    return [f"zeros:{2 * n * n}"] * 3 + [f"i32:{n}"] * 3


def heads(count: int, length: int, d: int) -> list[str]:
    return [f"zeros:{2 * count * length * d}"] * 4 + [f"i32:{length}", "f32:0.088"]


CASES = [
    Case("f16 matmul 8192³, cuBLAS; here 128×256×64 of tilec", "tilec", "matmul/f16_128x256x64", "sm_90a", "H100-SXM",
         str(64 * 32), product(8192), 795, FAST),
    Case("f16 matmul 4096³, cuBLAS; here 128×256×64 of tilec", "tilec", "matmul/f16_128x256x64", "sm_90a", "H100-SXM",
         str(32 * 16), product(4096), 716, FAST),
    Case("f16 matmul 4096³, cuBLAS; here Triton's persistent 128×256×64", "triton", "matmul", "sm_90a", "H100-SXM",
         "132", pointers(4096), 716, FAST),
    Case("attention forward, D 128, 4 × 16 heads, length 8448, FlashAttention-3 without warp specialisation; here Triton's",
         "triton", "attention", "sm_90a", "H100-SXM", "66,64", heads(64, 8448, 128), 570, f"{FA3}, table 2"),
    Case("the same; FlashAttention-2 in Triton, which FlashAttention-3 with 661 is up to 1.5 times as fast as; here Triton's",
         "triton", "attention", "sm_90a", "H100-SXM", "66,64", heads(64, 8448, 128), 661 / 1.5, f"{FA3}, section 4"),
    Case("sum of 2^30 single-precision numbers, cub; here Triton's copy of 2^27 bytes", "triton", "copy", "sm_90a",
         "H100-SXM", str(1 << 14), ["zeros:134217728", "zeros:134217728", "i32:33554432"], 3193, FAST, bytes=2 * (1 << 27)),
    Case("loads, 40 GB's 1407 of 1555 GB/s taken for 80 GB; here Triton's copy of 2^27 bytes", "triton", "copy", "sm_80", "A100", str(1 << 14),
         ["zeros:134217728", "zeros:134217728", "i32:33554432"], 1845, LUO, bytes=2 * (1 << 27)),
]  # fmt: skip


def registers(paths: dict, ptx: Path, target: str) -> int:
    done = subprocess.run([paths["ptxas"], f"-arch={target}", "-O3", "-v", ptx, "-o", "/dev/null"], capture_output=True, text=True)
    found = re.search(r"Used (\d+) registers", done.stderr)
    if not found:
        raise Failure(f"ptxas: {done.stderr.strip()}")
    return int(found[1])


def estimate(case: Case, tools: dict, scratch: Path) -> dict:
    ptx, command = scratch / "kernel.ptx", []
    if case.compiler == "tilec":
        module, manifest = CORPUS / f"{case.kernel}.tilebc", scratch / "kernel.json"
        compile_ = [tools["tilec"], "compile", module, "--gpu-name", case.target]
        compilers.run([*compile_, "-o", ptx])
        compilers.run([*compile_, "--emit", "manifest", "-o", manifest])
        command, args = ["--manifest", manifest], case.args
    else:
        made = triton_kernels.compiled(case.kernel, case.target, scratch, case.constants)
        ptx.write_text(made.asm["ptx"])
        command = ["--block", str(32 * made.metadata.num_warps), "--shared", str(made.metadata.shared)]
        # Two parameters of Triton's own: memory for all blocks, and memory of its profiler.
        blocks = 1
        for extent in case.grid.split(","):
            blocks *= int(extent)
        args = [*case.args, f"zeros:{max(made.metadata.global_scratch_size * blocks, 16)}", "zeros:16"]
    command += [word for arg in args for word in ("--arg", arg)]
    count = registers(tools, ptx, case.target)
    done = subprocess.run(
        [tools["ptxsim"], ptx, "--grid", case.grid, "--time=json", "--sampled", "--gpu", case.gpu, "--registers", str(count), *command],
        capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode:
        raise Failure(done.stderr.strip())
    return json.loads(done.stdout)


def row(case: Case, found: dict) -> tuple[str, float]:
    if case.bytes:
        value, unit = case.bytes / found["microseconds"] / 1e3, "GB/s"
    else:
        value, unit = found["tflops"], "TFLOP/s"
    error = value / case.published - 1
    busiest = max(("tensor", "l2", "dram", "shared", "issue"), key=lambda k: found[k])
    cells = [case.what, case.gpu, f"{case.published:.0f} {unit}", case.source, f"{value:.0f} {unit}", f"{error:+.0%}",
             f"{busiest} {found[busiest]:.0f} %"]  # fmt: skip
    return f"| {' | '.join(cells)} |", error


def main() -> int:
    parser = argparse.ArgumentParser(prog="clock", description=__doc__)
    parser.add_argument("--tilec", type=Path, help="a tilec that is built already")
    parser.add_argument("--ptxsim", type=Path, required=True, help="a ptxsim that is built already")
    parser.add_argument("--only", default="", help="only cases whose description has this in it")
    parser.add_argument("--write", action="store_true", help="replace the table of docs/clock.md")
    options = parser.parse_args()
    tools = {**compilers.toolkit(), "ptxsim": options.ptxsim, "tilec": options.tilec or compilers.build_tilec()}
    lines, errors = [], []
    for case in (c for c in CASES if options.only in c.what):
        with tempfile.TemporaryDirectory() as scratch:
            try:
                line, error = row(case, estimate(case, tools, Path(scratch)))
            except Failure as failure:
                print(f"clock: {case.what}: {failure}", file=sys.stderr)
                return 1
        lines.append(line)
        errors.append(abs(error))
    head = ["| what was measured; what is estimated | GPU | published | source | estimate | error | busiest |", "|---|---|---|---|---|---|---|"]
    text = "\n".join([*head, *lines, "", f"Mean error: {sum(errors) / len(errors):.0%}, worst {max(errors):.0%}."])
    print(text)
    if options.write:
        page = PAGE.read_text()
        before, rest = page.split(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{rest.split(END)[1]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
