"""Packs a suite for `gpu-check --suite`: PTX, machine code, inputs and right answers of launches, in one folder.

    tools/gpu-check/pack DIR [--arch sm_90a] [--only PREFIX …]

Kernels are those of tools/ptxsim/tests/kernels and what tilec compiles of tests/corpus. With --arch only those that
this GPU can run are packed, each with machine code of ptxas, which older drivers of the same major version load too.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools/ptxsim/tests/kernels")]
sys.path.append(str(ROOT / "tools/bench/gpu"))

import foreign  # noqa: E402
from manifest import extents  # noqa: E402

# An entry with more PTX is left out, and that said: machine code of it takes minutes, and the folder must fit into 64 MiB.
LARGEST = 1 << 20

# What tilec compiles for: the targets with the most different strategies.
TILEC_TARGETS = ["sm_80", "sm_90a", "sm_120a"]


def number(target: str) -> int:
    return int("".join(filter(str.isdigit, target)))


def runs_on(target: str, arch: str | None) -> bool:
    """Whether a GPU runs code of a target: `a` runs on that GPU alone."""
    if arch is None:
        return True
    return number(target) == number(arch) if target.endswith("a") else number(target) <= number(arch)


class Folder:
    """The folder of a suite; files in it are named after their contents."""

    def __init__(self, out: Path, options: argparse.Namespace):
        self.out, self.options, self.cases = out, options, []

    def wants(self, name: str) -> bool:
        return name.startswith(tuple(self.options.only))

    def may_want(self, file: str) -> bool:
        """Whether a file has kernels to pack: one that has none is not even loaded."""
        return any(prefix.startswith(f"{file} ") or file.startswith(prefix) for prefix in self.options.only)

    def add(self, case: dict) -> None:
        # What the simulator must refuse is no business of a GPU's.
        if case.get("fault"):
            return
        # tileiras names files that its PTX does not declare, which ptxas and the driver refuse: in line numbers, and
        # in a section at the end.
        text = re.sub(rb"^[ \t]*\.loc\b.*$", b"", Path(case["ptx"]).read_bytes(), flags=re.MULTILINE)
        text = text.split(b"\n.nv_intermediate_source_section")[0] + b"\n"
        self.cases.append(case | {"ptx": foreign.store(self.out, text, "ptx")})

    def assemble(self) -> None:
        """Adds machine code to every case; those that ptxas refuses are left out, and that said."""
        texts = sorted({case["ptx"] for case in self.cases})

        def code(text: str) -> str | None:
            source = self.out / text
            command = [self.options.ptxas, f"-arch={self.options.arch}", source, "-o"]
            key = f"ptxas {self.options.arch} {source.read_text()}"
            try:
                made = foreign.cached(key, ".cubin", lambda path: foreign.run_tool([*command, path]))
            except SystemExit as refused:
                print(f"left out: {refused}")
                return None
            return foreign.store(self.out, made.read_bytes(), "cubin")

        with ThreadPoolExecutor() as pool:
            made = dict(zip(texts, pool.map(code, texts), strict=True))
        self.cases = [case | {"cubin": made[case["ptx"]]} for case in self.cases if made[case["ptx"]]]

    def write(self) -> None:
        (self.out / "suite.json").write_text(json.dumps(self.cases, indent=1))
        size = sum(f.stat().st_size for f in self.out.rglob("*") if f.is_file())
        print(f"{len(self.cases)} cases, {size / 2**20:.1f} MiB in {self.out}")


def add_foreign(folder: Folder) -> None:
    """Kernels that tilec did not write."""
    for producer in foreign.PRODUCERS:
        for path in sorted((foreign.HERE / producer).glob("*.py")):
            name = f"{producer}/{path.stem}"
            if not folder.may_want(name):
                continue

            def chosen(kernel: str, target: str, name: str = name) -> bool:
                return folder.wants(f"{name} {kernel} ({target})") and runs_on(target, folder.options.arch)

            for case in foreign.prepare(folder.out, producer, path.stem, chosen):
                folder.add(case | {"name": f"{name} {case['name']}"})


def tensor_map(recipe: dict, args: list) -> foreign.Map:
    """A recipe of the launch manifest with the arguments put in."""
    dims, strides, offset = extents(recipe, [getattr(arg, "value", None) for arg in args])
    return foreign.Map(
        args[recipe["base"]].name,
        recipe["element"],
        dims,
        strides,
        recipe["box"],
        recipe["swizzle"],
        fill=recipe["oob_fill"],
        element_strides=recipe["element_strides"],
        interleave=recipe["interleave"],
        offset=offset,
    )


def compiled(folder: Folder, bytecode: Path, target: str) -> tuple[str, dict] | None:
    """PTX of a module by tilec, and its entries by name; nothing, and that said, if tilec refuses the module."""
    texts = []
    for emit in ("ptx", "manifest"):
        command = [folder.options.tilec, "compile", "--gpu-name", target, "--emit", emit, "-o", "-", bytecode]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode != 0:
            print(f"left out: {bytecode.parent.name}/{bytecode.stem} ({target}): {done.stderr.strip()}")
            return None
        texts.append(done.stdout)
    return texts[0], {entry["name"]: entry for entry in json.loads(texts[1])["entries"]}


def alone(ptx: str, entry: str) -> str:
    """A module with only one of its entries: modules of many are too large for ptxas to be quick."""
    head, *entries = re.split(r"^(?=\.visible \.entry )", ptx, flags=re.MULTILINE)
    # What follows the last entry's closing brace belongs to the module.
    bodies = [re.match(r"(.*?^\}\n)(.*)", text, re.DOTALL | re.MULTILINE).groups() for text in entries]
    mine = [body for body, _ in bodies if re.match(rf"\.visible \.entry {re.escape(entry)}\b", body)]
    return "".join([head, *mine, *(rest for _, rest in bodies)])


def add_tilec(folder: Folder) -> None:
    """What tilec compiles: every run of the corpus that must succeed."""
    # The corpus is imported from the repository's root, as tile_build has it.
    import tile_build

    arch = folder.options.arch
    targets = [t for t in TILEC_TARGETS if runs_on(t, arch)]
    # One target is enough for a GPU: its own, or the newest before it.
    targets = targets[-1:] if arch else targets
    for file in filter(lambda f: folder.may_want(f"tilec/{f}"), tile_build.build.FILES):
        module = tile_build.build.load(file)
        cases = {case.name: case for case in module.CASES}
        for target in targets:
            title = {name: f"tilec/{file} {name} ({target})" for name in cases}
            made = {}
            for run in module.runs():
                if run.error is not None or not folder.wants(title[run.case]):
                    continue
                case = cases[run.case]
                if run.case not in made:
                    bytecode = tile_build.build.newest(file, run.case)
                    made[run.case] = compiled(folder, bytecode, target)
                if made[run.case] is None:
                    continue
                text, entries = made[run.case]
                entry = entries[run.entry or case.entry]
                text = alone(text, entry["name"])
                if len(text) > LARGEST:
                    print(f"left out: {title[run.case]} {run.label}: {len(text) >> 10} KiB of PTX")
                    continue
                ptx = folder.out / foreign.store(folder.out, text.encode(), "ptx")
                args = tile_build.arguments(run)
                maps = [tensor_map(recipe, args) for recipe in sorted(entry["tensor_maps"], key=lambda m: m["param"])]
                launch = foreign.Launch(
                    [*args, *maps],
                    run.grid,
                    entry["block"],
                    entry["cluster"],
                    entry["shared_bytes"],
                    label=run.label,
                    stdout=run.stdout,
                )
                head = {"name": title[run.case], "entry": entry["name"], "ptx": str(ptx)}
                folder.add(head | foreign.write_launch(launch, folder.out))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, metavar="DIR")
    parser.add_argument("--arch", help="the GPU, as ptxas names it; without it everything is packed, and no machine code")
    parser.add_argument("--only", nargs="+", metavar="PREFIX", default=[""], help="only cases whose name starts with one of these")
    parser.add_argument("--tilec", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--gpu-check", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--ptxas", required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    out = options.out.resolve()
    options.tilec = options.tilec.resolve()
    options.gpu_check = options.gpu_check and options.gpu_check.resolve()
    if out.exists() and not (out / "suite.json").exists() and any(out.iterdir()):
        raise SystemExit(f"{out} is no folder of a suite: it would be overwritten")
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    # Says whose folder this is if packing is broken off.
    (out / "suite.json").write_text("[]")
    folder = Folder(out, options)
    add_foreign(folder)
    add_tilec(folder)
    if not folder.cases:
        raise SystemExit(f"no case has {' or '.join(options.only)} in its name and runs on {options.arch}")
    if options.arch:
        folder.assemble()
    if options.gpu_check:
        shutil.copy2(options.gpu_check, out / "gpu-check")
    folder.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
