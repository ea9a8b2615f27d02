"""Times every kernel that a cuTile program launches, compiled by tilec and by tileiras, in the same process on the same data.

    tilec launch -- python3 beside.py TIMES.tsv [--tileiras PATH] [--each N] -- SCRIPT.py ARGUMENT …
    tilec launch -- python3 beside.py TIMES.tsv -- -m pytest tests/ops
    python3 beside.py --summary TIMES.tsv …

Needs a GPU, PyTorch, and tileiras with the files that it looks for beside itself (`ptxas` in its folder, `libnvvm.so.4` in
`../lib`). The first launch of a kernel with given types, shapes, constants and grid is timed; later ones run as they are.
Before each timed launch the tensors get back what they held before the first, and at the end tilec's results stay, so that
the program goes on as if nothing had happened. Only launches of `cuda.tile.launch` outside of graphs are seen: a tuner that
times by itself chooses with tilec, and what it chose is then compared. Several programs at once take turns for the timed
part; what else they run on the GPU disturbs, which the median beside the minimum shows.

A line of TIMES.tsv: kernel; tilec's minimum and median in µs; tileiras'; `ok` or what failed; the largest relative
difference of a tensor's contents, by norms (-2: not compared, too large); bytes of all tensors; arguments; grid; hints.
"""

import argparse
import fcntl
import math
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path

TIMES = 6
SECONDS = 30  # for a compilation by tileiras
KEPT = 3 << 30  # bytes of tensors up to which they are put back before each launch
COMPARED = 1 << 30
SPIN = 5_000_000  # cycles that the GPU waits, so that launches queue up and their overhead does not show


def signature(argument) -> str:
    """A launch's argument in short: type and shape of a tensor, the value of a constant."""
    if hasattr(argument, "is_contiguous"):
        strides = "" if argument.is_contiguous() else f"s{list(argument.stride())}"
        return f"{str(argument.dtype).removeprefix('torch.')}{list(argument.shape)}{strides}"
    if isinstance(argument, (list, tuple)):
        return f"({','.join(map(signature, argument[:4]))}..{len(argument)})"
    return repr(argument)[:40]


def tensors_of(argument) -> list:
    """The tensors on a GPU among arguments, those in lists included, that can be put back by a copy."""
    if hasattr(argument, "is_cuda"):
        return [argument] if argument.is_cuda and argument.numel() and 0 not in argument.stride() else []
    if isinstance(argument, (list, tuple)):
        return [tensor for part in argument for tensor in tensors_of(part)]
    return []


class Beside:
    """`cuda.tile.launch` with a second compiler beside it."""

    def __init__(self, times: Path, tileiras: Path, each: int):
        import cuda.tile
        import cuda.tile._compile as compiler
        import torch

        self.torch, self.launch, self.run = torch, cuda.tile.launch, compiler._CompilerBinary.run
        self.tileiras, self.each = tileiras, each
        self.out = times.open("a", buffering=1)
        self.lock = (Path(tempfile.gettempdir()) / "tilec-beside.lock").open("w")
        self.seen, self.others, self.compiled = set(), {}, {}
        self.second = False  # whether tileiras is to compile what is launched now
        beside = self

        def run(binary, arguments, flags, timeout_sec=None):
            if not beside.second:
                return beside.run(binary, arguments, flags, timeout_sec)
            # Variables such as CUDA_HOME would lead it to another toolkit's ptxas.
            command = [beside.tileiras, *arguments, *flags]
            subprocess.run(command, env={"PATH": "/usr/bin:/bin"}, check=True, capture_output=True, timeout=SECONDS)
            beside.compiled[beside.name] = beside.compiled.get(beside.name, 0) + 1

        compiler._CompilerBinary.run = run
        cuda.tile.launch = self

    def __call__(self, stream, grid, kernel, arguments, /, **options):
        name = kernel._pyfunc.__name__
        hints = str(kernel._compiler_options).removeprefix("CompilerOptions")
        key = "\t".join((name, ";".join(map(signature, arguments)), str(tuple(grid)), hints))
        new = key not in self.seen and self.compiled.get(name, 0) < self.each
        if not new or self.torch.cuda.is_current_stream_capturing():
            return self.launch(stream, grid, kernel, arguments, **options)
        self.seen.add(key)
        self.name = name

        other = self.others.setdefault(id(kernel), (kernel.replace_hints(), kernel))[0]
        tensors = tensors_of(list(arguments))
        size = sum(tensor.numel() * tensor.element_size() for tensor in tensors)
        before = [tensor.detach().clone() for tensor in tensors] if size < KEPT else None

        def put_back():
            with self.torch.no_grad():
                for tensor, old in zip(tensors, before or []):
                    tensor.detach().copy_(old)

        def start(which):
            return self.launch(stream, grid, which, arguments, **options)

        result = start(kernel)
        self.torch.cuda.synchronize()
        ours = [tensor.detach().clone() for tensor in tensors] if size < COMPARED else None
        put_back()
        failure = self.compile_other(lambda: start(other))
        compared = ours is not None and not failure
        difference = max((self.difference(a, b.detach()) for a, b in zip(ours, tensors)), default=0.0) if compared else -2.0
        del ours
        order = [kernel] if failure else [other, kernel]
        times = self.time(order * TIMES, put_back, start)
        figures = [f"{min(t):.2f}\t{sorted(t)[len(t) // 2]:.2f}" if t else "-\t-" for t in (times.get(kernel), times.get(other))]
        rest = key.split("\t", 1)[1]
        self.out.write("\t".join((name, *figures, failure or "ok", f"{difference:.3g}", str(size), rest)) + "\n")
        return result

    def compile_other(self, start) -> str | None:
        """Compiles with tileiras and runs once; what failed, if anything."""
        self.second = True
        try:
            start()
            self.torch.cuda.synchronize()
        except Exception as error:
            text = getattr(error, "stderr", None) or error
            return f"{type(error).__name__} {text}"[:160].replace("\n", " ").replace("\t", " ")
        finally:
            self.second = False

    def difference(self, a, b) -> float:
        """The norm of the difference over the norm; of 8-bit floats and other bytes, of their bits."""
        if a.element_size() == 1:
            a, b = a.view(self.torch.uint8), b.view(self.torch.uint8)
        a, b = (self.torch.nan_to_num(t.double().flatten(), posinf=1e30, neginf=-1e30) for t in (a, b))
        return ((a - b).norm() / (a.norm() + 1e-30)).item()

    def time(self, order, put_back, start) -> dict:
        """Launches in order, each between two events."""
        event = lambda: self.torch.cuda.Event(enable_timing=True)
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        try:
            spans = [(which, event(), event()) for which in order]
            self.torch.cuda._sleep(SPIN)
            for which, begin, end in spans:
                put_back()
                begin.record()
                start(which)
                end.record()
            self.torch.cuda.synchronize()
        finally:
            fcntl.flock(self.lock, fcntl.LOCK_UN)
        times = {}
        for which, begin, end in spans:
            times.setdefault(which, []).append(begin.elapsed_time(end) * 1e3)
        return times


def summary(files: list[str]) -> None:
    """Ratios of times, the slowest first, and their geometric mean over launches of more than 8 µs."""
    mean = lambda ratios: math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else float("nan")
    kernels, worst = {}, 0.0
    for line in (line for file in files for line in Path(file).read_text().splitlines()):
        name, ours, _, other, _, status, difference, _, arguments, *_ = line.split("\t")
        if status == "ok":
            kernels.setdefault(name, []).append((float(ours), float(other), arguments))
            worst = max(worst, float(difference))
        else:
            print(f"{name}: {status}")
    rows = [(mean([a / b for a, b, _ in launches]), max(launches, key=lambda l: l[1]), name) for name, launches in kernels.items()]
    for ratio, (ours, other, arguments), name in sorted(rows, reverse=True):
        print(f"{ratio:6.2f}  {name:48} {len(kernels[name]):3} launches; {ours:.1f} and {other:.1f} µs with {arguments[:80]}")
    launches = [launch for every in kernels.values() for launch in every]
    long = [a / b for a, b, _ in launches if a > 8]
    print(f"{len(launches)} launches, largest difference {worst:.1e}; of {len(long)} over 8 µs the geometric mean is {mean(long):.2f}")


def main() -> None:
    if "--" not in sys.argv:
        parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("--summary", nargs="+", required=True, metavar="TIMES")
        return summary(parser.parse_args().summary)
    at = sys.argv.index("--")
    parser = argparse.ArgumentParser()
    parser.add_argument("times", type=Path)
    parser.add_argument("--tileiras", type=Path, default=Path("tileiras"))
    parser.add_argument("--each", type=int, default=8, help="compilations by tileiras for each kernel's name")
    options, program = parser.parse_args(sys.argv[1:at]), sys.argv[at + 1 :]
    Beside(options.times, options.tileiras, options.each)
    if program[0] == "-m":
        sys.argv = program[1:]
        runpy.run_module(program[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = program
        sys.path.insert(0, str(Path(program[0]).resolve().parent))
        runpy.run_path(program[0], run_name="__main__")


if __name__ == "__main__":
    main()
