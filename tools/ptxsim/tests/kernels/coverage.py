"""Which forms of isa.txt the PTX of these kernels has, opcode for opcode.

    python coverage.py            list the forms that no kernel has, by section
    python coverage.py --write    and write the table of README.md

All kernels are compiled for it, so that it takes minutes where they have not been.
"""

import re
import sys
from pathlib import Path

import foreign

BEGIN, END = "<!-- coverage: written by coverage.py -->\n", "\n<!-- coverage: end -->"


def forms() -> list[tuple[str, str]]:
    """Section and text of every form that ptxsim runs."""
    section, found = "", []
    for line in (foreign.HERE.parent / "isa.txt").read_text().splitlines():
        line = line.strip()
        if line.startswith("# "):
            section = line[2:]
        elif line and not line.startswith(("//", "@ ", "! ")):
            found.append((section, line.rsplit("@%p1 ")[-1]))
    return found


def opcodes(text: str) -> set[str]:
    """First words of the statements of a PTX text."""
    text = re.sub(r"//[^\n]*", "", text)
    statements = re.split(r"[;{}]", text)
    words = (re.sub(r"^\s*([$\w]+:\s*)*(@!?[%\w]+\s+)?", "", s).split() for s in statements)
    return {w[0] for w in words if w}


def compiled() -> set[Path]:
    """PTX of every kernel for every target."""
    paths = set()
    for producer in foreign.PRODUCERS:
        for file in sorted((foreign.HERE / producer).glob("*.py")):
            source = file.with_suffix(".cu")
            for entry in foreign.load(producer, file.stem):
                for target in entry.targets:
                    if source.exists():
                        paths.add(foreign.nvcc(source, target))
                    else:
                        paths |= {Path(launch.ptx) for launch in foreign.launches(entry, target)}
    return paths


def main() -> int:
    seen = set().union(*(opcodes(path.read_text(errors="replace")) for path in compiled()))
    sections: dict[str, list[tuple[str, bool]]] = {}
    for section, text in forms():
        opcode = re.split(r"[ ;]", text)[0]
        sections.setdefault(section, []).append((opcode, opcode in seen))
    lines = ["| PTX ISA | forms of `isa.txt` that occur | that do not |", "|---|---|---|"]
    for section, rows in sections.items():
        missing = [f"`{opcode}`" for opcode, found in rows if not found]
        lines.append(f"| {section} | {len(rows) - len(missing)} of {len(rows)} | {', '.join(missing)} |")
    table = "\n".join(lines)
    print(table)
    if sys.argv[1:] == ["--write"]:
        path = foreign.HERE / "README.md"
        head, rest = path.read_text().split(BEGIN)
        path.write_text(head + BEGIN + table + END + rest.split(END)[1])
    return 0


if __name__ == "__main__":
    sys.exit(main())
