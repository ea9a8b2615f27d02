"""What binds kernels that matter, by `bound`, beside tileiras' and Triton's: writes BOUNDS.md."""

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import bound
import compilers
import gpus
from clock import CORPUS, matrix
from compilers import ROOT, Failure

PAGE = Path(__file__).resolve().parent / "BOUNDS.md"


def tensors(count: int, heads: int, length: int, depth: int) -> list[str]:
    """Arrays of four dimensions of cuTile Python, in f16: base, shape, strides."""
    shape = f"i32:1 i32:{heads} i32:{length} i32:{depth}".split()
    strides = f"i32:{heads * length * depth} i32:{length * depth} i32:{depth} i32:1".split()
    return [f"zeros:{2 * heads * length * depth}", *shape, *strides] * count


@dataclass(frozen=True)
class Case:
    what: str
    target: str
    module: str  # of the corpus
    grid: str = ""
    args: tuple[str, ...] = ()  # of a run that counts what TMA copies; without, these bytes are left out
    triton: str | None = None


def matmul(size: int = 2, transposed: bool = False) -> tuple[str, ...]:
    """1024 × 1024 of K = 8192, so that the result's bytes are few beside the operands'."""
    left, right = matrix(1024, 8192, size), matrix(8192, 1024, size)
    return (*left, *(left if transposed else right), *matrix(1024, 1024))


ATTENTION = ("production_attention/forward_f16_deep", "1,1", (*tensors(4, 1, 8192, 128), "f32:0.088"))
CASES = [
    Case("matmul f16, 128×256×64", "sm_90a", "matmul/f16_128x256x64", "1", matmul(), "matmul"),
    Case("matmul f16, 128×128×64", "sm_90a", "matmul/f16_128x128x64", "1", matmul(), "matmul_pointers"),
    Case("attention forward f16, 128×128, D 128", "sm_90a", *ATTENTION, "attention"),
    Case("matmul f16, 128×128×64", "sm_80", "matmul/f16_128x128x64", triton="matmul_pointers"),
    Case("attention forward f16, 128×128, D 128", "sm_80", "production_attention/forward_f16_deep", triton="attention"),
    Case("matmul f16 by a pair, 256×256×64", "sm_100a", "production_cluster/plain_f16_256x256", "1", matmul()),
    Case("matmul f16, 128×256×64", "sm_100a", "matmul/f16_128x256x64", "1", matmul()),
    Case("persistent matmul e4m3 by a pair, 256×256×128", "sm_100a", "production_cluster/persistent_e4m3_256x256", "1", matmul(1, True)),
    Case("attention forward f16, 128×128, D 128", "sm_100a", *ATTENTION),
    Case("persistent matmul nvf4", "sm_100a", "programs_gemm/nvf4_persistent-13.5"),
]  # fmt: skip


def module(case: Case) -> Path:
    return CORPUS / f"{case.module}.tilebc"


def counted(case: Case, tools: dict, scratch: Path) -> dict | None:
    """What a run of tilec's code counts."""
    if not case.grid:
        return None
    ptx, manifest = scratch / "run.ptx", scratch / "run.json"
    compile_ = [tools["tilec"], "compile", module(case), "--gpu-name", case.target]
    compilers.run([*compile_, "-o", ptx])
    compilers.run([*compile_, "--emit", "manifest", "-o", manifest])
    args = [word for arg in case.args for word in ("--arg", arg)]
    command = [tools["ptxsim"], ptx, "--manifest", manifest, "--grid", case.grid, "--stats=json", *args]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise Failure(f"ptxsim: {case.module}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def rows(case: Case, tools: dict, scratch: Path) -> list[str]:
    gpu = gpus.of_target(int("".join(filter(str.isdigit, case.target))))
    inputs = bound.Inputs(case.target, tools["tilec"], scratch)
    codes = {name.split(":")[0]: code for name, code in inputs.code(str(module(case))).items()}
    if case.triton:
        codes["Triton"] = inputs.of_ptx(inputs.triton(case.triton))
    stats = counted(case, tools, scratch)
    lines = []
    for compiler, code in codes.items():
        # Tiles of the same size are copied by whoever copies them; bank conflicts are tilec's own.
        known = stats if compiler == "tilec" else stats and {**stats, "shared_accesses": 0}
        found = bound.analyse(bound.hottest(code), gpu, known)
        share = "–" if found.tensor_share is None else f"{found.tensor_share:.0%}"
        step = "–" if found.per_step is None else f"{found.per_step:.2f}"
        notes = "; ".join(found.notes)
        cells = [case.what, gpu.name, compiler, str(found.instructions), found.unit, step, share, notes]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(prog="bounds", description=__doc__)
    parser.add_argument("--tilec", type=Path, help="a tilec that is built already")
    parser.add_argument("--ptxsim", type=Path, required=True, help="a ptxsim that is built already")
    parser.add_argument("--write", action="store_true", help="replace BOUNDS.md")
    options = parser.parse_args()
    tools = {"ptxsim": options.ptxsim, "tilec": options.tilec or compilers.build_tilec()}
    lines = []
    for case in CASES:
        with tempfile.TemporaryDirectory() as scratch:
            try:
                lines += rows(case, tools, Path(scratch))
            except (Failure, ValueError) as failure:
                print(f"bounds: {case.what}, {case.target}: {failure}", file=sys.stderr)
                return 1
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True)
    text = f"""# What binds the loops of matmuls and attention

Made by `tools/bench/bounds --write`; do not edit. Commit {commit.stdout.strip()}, tileiras and ptxas 13.5.37.

The share of the tensor peak is what the busiest unit of the multiprocessor leaves, if everything overlaps and no latency
shows ([README.md](README.md#what-binds-a-loop)). Of a kernel with roles it is the loop that multiplies. What tensor copies
bring was counted in a run of tilec's code by the simulator, and is taken to be the same for the others, whose tiles are.

| kernel | GPU | compiler | instructions of a warp | bound by | cycles for 16×16×16 | share of the tensor peak | left out |
|---|---|---|---|---|---|---|---|
""" + "\n".join(lines) + "\n"  # fmt: skip
    print(text)
    if options.write:
        PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
