"""Writes the inputs and right outputs of runs of the corpus.

    python reference.py OUT [PREFIX …]

Each run whose name FILE/CASE/LABEL starts with a PREFIX (all, without one)
becomes the directory OUT/FILE/CASE/LABEL. Seeds are fixed: the same call
writes the same bytes.
"""

import argparse
import os
import sys
from pathlib import Path

import numerics
from build import FILES, ROOT, load, newest


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("prefixes", nargs="*", metavar="PREFIX")
    args = parser.parse_args()
    out = args.out.resolve()
    prefixes = tuple(args.prefixes) or ("",)
    os.chdir(ROOT)

    written = 0
    for file in FILES:
        # A file none of whose runs can match is not even loaded.
        if not any(p.startswith(f"{file}/") or f"{file}/".startswith(p) for p in prefixes):
            continue
        module = load(file)
        cases = {case.name: case for case in module.CASES}
        for run in module.runs():
            name = f"{file}/{run.case}/{run.label}"
            if not name.startswith(prefixes):
                continue
            case = cases[run.case]
            numerics.write(run, newest(file, run.case), run.entry or case.entry, out / name)
            print(name)
            written += 1
    if not written:
        print(f"no run's name starts with {' or '.join(prefixes)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
