"""Cases of tests/corpus through tileiras: their runs, and the PTX that tileiras leaves in its cubin."""

import functools
import os
import sys
from pathlib import Path

import foreign
from elftools.elf.elffile import ELFFile
from numerics import SUFFIX

# Cases name their files by paths from the repository's root.
os.chdir(foreign.ROOT)
sys.path[:0] = [str(foreign.ROOT / "tests/corpus")]

import build  # noqa: E402


def embedded_ptx(cubin: Path) -> str:
    """Section `.nv_debug_ptx_txt`: lines that end in NUL."""
    with open(cubin, "rb") as file:
        section = ELFFile(file).get_section_by_name(".nv_debug_ptx_txt")
        return section.data().decode().replace("\0", "\n")


def tileiras(bytecode: Path, target: str) -> Path:
    def make(path: Path) -> None:
        cubin = path.with_suffix(".cubin")
        foreign.run_tool([foreign.BIN / "tileiras", "--lineinfo", "--gpu-name", target, "-o", cubin, bytecode])
        path.write_text(embedded_ptx(cubin))
        cubin.unlink()

    return foreign.cached(f"tileiras {target} {bytecode.read_bytes().hex()}", ".ptx", make)


def arguments(run) -> list:
    """The run's arguments; element types by the names that the comparison knows."""
    return [
        foreign.Buffer(a.name, a.data, a.expected, a.tolerance, SUFFIX.get(a.type)) if isinstance(a, foreign.Buffer) else a
        for a in run.args
    ]


def cases(file: str, targets: str, names: str, without: str = "") -> None:
    """Registers cases of a corpus file, but for the entries `without`."""
    module = build.load(file)
    found = {case.name: case for case in module.CASES}
    for name in names.split():
        register(module, file, found[name], targets, without.split())


@functools.cache
def runs(module) -> list:
    """The runs of a corpus file: numpy computes them, which only launches need."""
    return [r for r in module.runs() if r.error is None]


def register(module, file: str, case, targets: str, without: list[str]) -> None:
    @foreign.kernel(targets, f"entries of a case of `tests/corpus/{file}.py`", "as in tests/corpus", name=f"{file}.{case.name}")
    def launches(rng, target):
        ptx = str(tileiras(build.newest(file, case.name), target))
        for run in runs(module):
            if run.case != case.name or run.entry in without:
                continue
            entry = run.entry or case.entry
            yield foreign.Launch(
                arguments(run), run.grid, block=None, entry=entry, ptx=ptx, label=f"{entry} {run.label}", stdout=run.stdout
            )
