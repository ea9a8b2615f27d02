"""Running the two compilers, and timing whole processes."""

import os
import statistics
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class Failure(Exception):
    """A compiler's own error, in one line."""


@dataclass(frozen=True)
class Tools:
    tilec: Path
    ptxas: Path
    tileiras: Path
    nvdisasm: Path
    cuobjdump: Path

    def tilec_ptx(self, module: Path, out: Path) -> list:
        return [self.tilec, "compile", module, "-o", out, "--gpu-name", "sm_90a"]

    def tilec_manifest(self, module: Path, out: Path) -> list:
        return [*self.tilec_ptx(module, out), "--emit", "manifest"]

    def ptxas_cubin(self, ptx: Path, out: Path) -> list:
        return [self.ptxas, "-arch=sm_90a", "-O3", ptx, "-o", out]

    def tileiras_cubin(self, module: Path, out: Path) -> list:
        # sm_90 is the name it knows; it generates code for sm_90a.
        return [self.tileiras, "--gpu-name", "sm_90", module, "-o", out]


def toolkit() -> dict[str, Path]:
    """Where the toolkit's programs are."""
    listing = subprocess.run([ROOT / "tools/toolkit"], check=True, capture_output=True, text=True)
    return {k: Path(v) for k, v in (line.split("=", 1) for line in listing.stdout.splitlines())}


def locate(tilec: Path | None) -> Tools:
    """Finds the toolkit's programs; builds tilec unless one is given."""
    paths = toolkit()
    # tileiras looks for ptxas on the PATH.
    os.environ["PATH"] = f"{paths['ptxas'].parent}{os.pathsep}{os.environ['PATH']}"
    return Tools(
        tilec=tilec or build_tilec(),
        **{name: paths[name] for name in ("ptxas", "tileiras", "nvdisasm", "cuobjdump")},
    )


def build_tilec() -> Path:
    subprocess.run(["cargo", "build", "--release", "--bin", "tilec"], cwd=ROOT, check=True)
    target = ROOT / (os.environ.get("CARGO_TARGET_DIR") or "target")
    return target / "release/tilec"


def run(command: list, limit: float | None = None) -> None:
    """Fails, too, when it takes longer than `limit` seconds."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        raise Failure(f"{Path(command[0]).name}: no result after {limit} s") from None
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines()
        said = lines[0] if lines else f"exit status {done.returncode}, no message"
        raise Failure(f"{Path(command[0]).name}: {said}")


@dataclass(frozen=True)
class Timing:
    """Wall-clock seconds of whole processes."""

    median: float
    fastest: float
    runs: int


def timed(command: list, repeat: int) -> Timing:
    run(command)  # warms the file cache, and reports a failure once
    seconds = []
    for _ in range(repeat):
        start = time.perf_counter()
        # close_fds=False lets Python use vfork, so starting costs the same for all.
        subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            close_fds=False,
            check=True,
        )
        seconds.append(time.perf_counter() - start)
    return Timing(statistics.median(seconds), min(seconds), repeat)
