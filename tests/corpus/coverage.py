"""What the corpus covers: operations, element types, bytecode versions.

    $(tools/toolkit python) tests/corpus/coverage.py    write COVERAGE.md, fail on a gap

Which operations there are is asked of the cuda-tile package: every encoder it
has must have been called while the corpus was built. Types and versions are
read from what tileirdisasm prints of the committed files.
"""

import functools
import os
import re
import subprocess
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import cuda.tile._bytecode as bytecode
from cuda.tile._bytecode import encodings

from build import HERE, OUT, ROOT, build

REPORT = HERE / "COVERAGE.md"

# Encoders that nothing can call, and why.
UNREACHABLE = {
    "encode_EntryOp": "the package's writer encodes entries in the function section itself",
    "encode_GlobalOp": "the package's writer encodes globals in the global section itself",
    "encode_ModuleOp": "a module is the file",
    "encode_PreviewCallOp": "a preview operation, outside every released version",
}

TYPES = [
    *("i1", "i4", "i8", "i16", "i32", "i64"),
    *("f16", "bf16", "f32", "tf32", "f64"),
    *("f8E4M3FN", "f8E5M2", "f8E8M0FNU", "fnv8E5M3FNU", "f4E2M1FN"),
]
# An element type stands after the extents of a shape, or alone in brackets.
_ELEMENT = re.compile(r"(?:x|<)(" + "|".join(TYPES) + r")\b")
_OPERATION = re.compile(r"^\s+(?:%[^=]*= )?([a-z][a-z_0-9]*)\b")


def called_encoders() -> set[str]:
    """Builds the corpus and notes which encoders that used."""
    called = set()

    def noting(name, function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            called.add(name)
            return function(*args, **kwargs)

        return wrapper

    for name in [n for n in dir(encodings) if n.startswith("encode_") and n.endswith("Op")]:
        wrapper = noting(name, getattr(encodings, name))
        setattr(encodings, name, wrapper)
        # The front end takes them from the package, we from the module.
        if hasattr(bytecode, name):
            setattr(bytecode, name, wrapper)
    os.chdir(ROOT)
    build()
    return called


def encoders() -> set[str]:
    return {n for n in dir(encodings) if n.startswith("encode_") and n.endswith("Op")}


def version_of(file: Path) -> str:
    """The version in the file's header."""
    header = file.read_bytes()[8:10]
    return f"{header[0]}.{header[1]}"


def printed() -> dict[str, tuple[set[str], set[str]]]:
    """Operation → element types on its lines, versions of its files."""
    tool = subprocess.run([ROOT / "tools/toolkit", "tileirdisasm"], check=True, capture_output=True, text=True)
    files = sorted(OUT.rglob("*.tilebc"))

    def disassemble(file):
        return subprocess.run([tool.stdout.strip(), file], check=True, capture_output=True, text=True).stdout

    found = defaultdict(lambda: (set(), set()))
    with ThreadPoolExecutor() as pool:
        for file, text in zip(files, pool.map(disassemble, files), strict=True):
            for line in text.splitlines():
                if match := _OPERATION.match(line):
                    types, versions = found[match[1]]
                    types.update(_ELEMENT.findall(line))
                    versions.add(version_of(file))
    return found


def report(found) -> str:
    lines = [
        "# What the corpus covers",
        "",
        "Made by `coverage.py`; do not edit.",
        "Element types are all those on an operation's line: operands, results, indices.",
        "",
        "| operation | first file | element types |",
        "|---|---|---|",
    ]
    for name, (types, versions) in sorted(found.items()):
        lines.append(f"| `{name}` | {min(versions)} | {' '.join(t for t in TYPES if t in types)} |")
    lines += ["", f"{len(found)} operations. Encoders of the package that nothing can call:", ""]
    lines += [f"- `{name}`: {why}" for name, why in UNREACHABLE.items()]
    return "\n".join(lines) + "\n"


def main() -> int:
    missing = encoders() - called_encoders() - UNREACHABLE.keys()
    for name in sorted(missing):
        print(f"no file of the corpus uses {name}", file=sys.stderr)
    REPORT.write_text(report(printed()))
    print(f"wrote {REPORT}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
