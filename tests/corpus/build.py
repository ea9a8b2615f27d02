"""Compiles every case of every corpus file into bytecode/<file>/<case>.tilebc.

tests/corpus/build            rebuild everything, drop stale files
tests/corpus/build --check    fail if anything committed differs
"""

import inspect
import os
import shutil
import sys
from pathlib import Path
from types import ModuleType

from cuda.tile._bytecode.version import BytecodeVersion
from cuda.tile._passes import ast2hir

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
OUT = HERE / "bytecode"

# Corpus files, in the order of the README.
FILES = [
    "vadd",
    "softmax",
    "matmul",
    "ops_integer",
    "ops_float",
    "ops_math",
    "ops_convert",
    "ops_shape",
    "ops_reduce",
    "ops_mma",
    "ops_pointer",
    "ops_view",
    "ops_atomic",
    "ops_control",
    "ops_other",
    "ops_debug",
    "ops_types",
    "programs_norm",
    "programs_gemm",
    "programs_attention",
    "programs_layers",
    "programs_gather",
    "programs_memory",
    "programs_control",
    "programs_models",
    "programs_numeric",
    "production_gemm",
    "production_attention",
    "production_rows",
    "production_widened",
    "production_cluster",
    "production_cuda",
]


def load(file: str) -> ModuleType:
    """Runs one corpus file.

    Compiled under its path from the repository's root, because that path ends
    up in the bytecode's debug information: it must not depend on the checkout.
    """
    path = (HERE / f"{file}.py").relative_to(ROOT)
    module = ModuleType(file)
    sys.modules[file] = module
    exec(compile(path.read_text(), str(path), "exec"), module.__dict__)
    return module


def newest(file: str, case: str) -> Path:
    """The committed bytecode of a case, in the newest version that it has.

    Found by its name, since compiling all versions of a case takes longer than what runs need otherwise. Whether it is what
    its source gives, `--check` asks.
    """
    names = [case, *(f"{case}-{version.as_string()}" for version in BytecodeVersion)]
    paths = [path for name in names if (path := OUT / file / f"{name}.tilebc").exists()]
    if not paths:
        raise FileNotFoundError(f"no bytecode of {file}/{case}: tests/corpus/build writes it")
    return paths[-1]


class StablePaths:
    """`inspect`, but functions of installed packages are said to lie below no folder.

    Their file names end up in the debug information of kernels that call them:
    they must not depend on where the toolkit is installed.
    """

    def __getattr__(self, name: str):
        return getattr(inspect, name)

    def getfile(self, function) -> str:
        path = inspect.getfile(function)
        return path.rpartition("site-packages/")[2]


def build() -> dict[Path, bytes]:
    """Every bytecode file: its path below OUT and its bytes."""
    built = {}
    for file in FILES:
        for case in load(file).CASES:
            for name, data in case.files().items():
                path = Path(file) / name
                assert path not in built, f"two files are called {path}"
                built[path] = data
    return built


def committed() -> dict[Path, bytes]:
    return {path.relative_to(OUT): path.read_bytes() for path in sorted(OUT.rglob("*.tilebc"))}


def main() -> int:
    os.chdir(ROOT)
    ast2hir.inspect = StablePaths()
    built = build()
    if "--check" in sys.argv[1:]:
        there = committed()
        wrong = sorted(str(path) for path in built.keys() | there.keys() if built.get(path) != there.get(path))
        for path in wrong:
            print(f"differs from what its source gives: {path}", file=sys.stderr)
        return 1 if wrong else 0
    shutil.rmtree(OUT, ignore_errors=True)
    for path, data in built.items():
        (OUT / path).parent.mkdir(parents=True, exist_ok=True)
        (OUT / path).write_bytes(data)
    print(f"{len(built)} files, {sum(map(len, built.values()))} bytes in {OUT}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
