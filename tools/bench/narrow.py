#!/usr/bin/env python3
"""Which loops access memory in bytes or halves, spill to local memory as PTX says it, or multiply matrices by threads.

    tools/bench/narrow.py --gpu-name sm_89 --gpu-name sm_80 tests/corpus/bytecode FOLDER…

compiles every `.tilebc` and `.mlir` of the folders and prints, per target and module, the instructions of its loops that are
narrower than they may have to be. A line is a question, not a fault: a tensor whose rows are not aligned is loaded so.
"""

import argparse
import pathlib
import re
import subprocess
import sys

# What is counted in loops, and from how many on it is worth a line.
KINDS = {
    "ld.shared.b8": (r"\bld\.shared\.[bu]8\b", 16),
    "ld.shared.b16": (r"\bld\.shared\.b16\b", 16),
    "st.shared.b8": (r"\bst\.shared\.b8\b", 16),
    "st.shared.b16": (r"\bst\.shared\.b16\b", 16),
    "ld.global.b8": (r"\bld\.global\S*\.b8\b", 8),
    "ld.global.b16": (r"\bld\.global\S*\.b16\b", 8),
    "st.global.b8": (r"\bst\.global\S*\.b8\b", 16),
    "st.global.b16": (r"\bst\.global\S*\.b16\b", 16),
    "local memory": (r"\b(ld|st)\.local\b", 1),
}
MATRIX = re.compile(r"\b(mma\.sync|wgmma\.mma_async|tcgen05\.mma)\b")
MULTIPLY_ADD = re.compile(r"\b(fma\.rn|mad\.lo)\b")
# So many multiply-adds in a loop, without a matrix instruction in the module, are a matmul by threads.
BY_THREADS = 64


def in_loops(ptx: str) -> str:
    """The lines between a label and a branch back to it."""
    lines = ptx.split("\n")
    labels: dict[str, int] = {}
    inside = [False] * len(lines)
    for number, line in enumerate(lines):
        if label := re.match(r"(\$\w+):", line):
            labels[label.group(1)] = number
        branch = re.search(r"\bbra\S*\s+(\$\w+);", line)
        if branch and branch.group(1) in labels:
            start = labels[branch.group(1)]
            inside[start:number] = [True] * (number - start)
    return "\n".join(line for line, within in zip(lines, inside) if within)


def found(ptx: str) -> dict[str, int]:
    """The narrow instructions of a module's loops, by kind."""
    loops = in_loops(ptx)
    counts = {kind: len(re.findall(pattern, loops)) for kind, (pattern, _) in KINDS.items()}
    counts = {kind: n for kind, n in counts.items() if n >= KINDS[kind][1]}
    multiplied = len(MULTIPLY_ADD.findall(loops))
    if multiplied >= BY_THREADS and not MATRIX.search(ptx):
        counts["multiply-adds of threads"] = multiplied
    return counts


def modules(paths: list[pathlib.Path]) -> list[pathlib.Path]:
    """The files among `paths` and below them, in order."""
    files: list[pathlib.Path] = []
    for path in paths:
        below = [f for f in path.rglob("*") if f.suffix in (".tilebc", ".mlir")]
        files.extend(sorted(below) if path.is_dir() else [path])
    return files


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tilec", default="target/release/tilec", help="the compiler")
    parser.add_argument("--gpu-name", action="append", help="a target; may be repeated (sm_90a)")
    parser.add_argument("paths", nargs="+", type=pathlib.Path, help="modules, or folders of them")
    options = parser.parse_args()
    for target in options.gpu_name or ["sm_90a"]:
        for module in modules(options.paths):
            command = [options.tilec, "compile", "--gpu-name", target, str(module), "-o", "-"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                reason = done.stderr.strip().split("\n")[0]
                print(f"{target} {module}: refused: {reason}")
                continue
            counts = found(done.stdout)
            if counts:
                listed = ", ".join(f"{n} {kind}" for kind, n in counts.items())
                print(f"{target} {module}: {listed}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
