"""Writes a request of small kernels that measure single units of an H100: the source of figures in tools/ptxsim/gpus.json.

    python3 micro.py FOLDER --ptxas PATH
    python3 time.py FOLDER          on the GPU; `results.txt` then has the numbers

Each kernel runs on one multiprocessor unless its name says otherwise, does its work three times, and writes `%clock` at
some points of the last time: one row of numbers for each warpgroup. What the points are stands with each kernel below;
their differences are cycles.
"""

import argparse
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

SHARED, FILLED = 200 * 1024, 192 * 1024
GPU = 132
# Swizzle of 128 bytes, rows of 8 x 128 bytes 1024 bytes apart.
DESCRIPTOR = 1 << 16 | 64 << 32 | 1 << 62

HEAD = """.version 8.7
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 smem[];
.visible .entry {name}(.param .u64 out, .param .u64 data, .param .u32 zero)
.reqntid {threads}, 1, 1
{{
  .reg .u32 %t<{points}>, %smem, %tix, %group, %lane, %zero, %again, %x<8>;
  .reg .u64 %o, %data, %d<8>;
  .reg .f32 %start;
  .reg .pred %p, %first, %multiply, %g<3>, %q<4>;
{declarations}
  ld.param.u64 %o, [out];
  ld.param.u64 %data, [data];
  cvta.to.global.u64 %data, %data;
  ld.param.u32 %zero, [zero];
  mov.u32 %smem, smem;
  mov.u32 %tix, %tid.x;
  setp.eq.u32 %first, %tix, 0;
  setp.eq.u32 %multiply, %zero, %zero;
  shr.u32 %group, %tix, 7;
  shfl.sync.idx.b32 %group, %group, 0, 31, -1;
  setp.eq.u32 %g0, %group, 0;
  setp.eq.u32 %g1, %group, 1;
  and.b32 %lane, %tix, 127;
  mad.lo.u32 %x0, %lane, %zero, %zero;
  cvt.rn.f32.u32 %start, %x0;
  shl.b32 %x0, %tix, 4;
$fill:
  cvt.u64.u32 %d0, %x0;
  add.s64 %d0, %d0, %data;
  ld.global.v4.u32 {{%x1, %x2, %x3, %x4}}, [%d0];
  add.u32 %x5, %smem, %x0;
  st.shared.v4.u32 [%x5], {{%x1, %x2, %x3, %x4}};
  add.u32 %x0, %x0, {stride};
  setp.lt.u32 %p, %x0, {filled};
  @%p bra $fill;
  fence.proxy.async.shared::cta;
  mul.lo.u32 %x0, %group, 16384;
  add.u32 %x0, %x0, %smem;
  and.b32 %x0, %x0, 0x3ffff;
  shr.u32 %x0, %x0, 4;
  cvt.u64.u32 %d0, %x0;
  or.b64 %d0, %d0, {descriptor};
  add.u32 %x0, %smem, 65536;
  and.b32 %x0, %x0, 0x3ffff;
  shr.u32 %x0, %x0, 4;
  cvt.u64.u32 %d1, %x0;
  or.b64 %d1, %d1, {descriptor};
{zeros}  mov.u32 %again, 0;
  bar.sync 0;
$again:
"""
TAIL = """  bar.sync 0;
  add.u32 %again, %again, 1;
  setp.lt.u32 %p, %again, 3;
  @%p bra $again;
{sums}  mov.u32 %x0, %ctaid.x;
  or.b32 %x0, %x0, %lane;
  setp.ne.u32 %p, %x0, 0;
  mul.lo.u32 %x0, %group, {row};
  cvt.u64.u32 %d0, %x0;
  add.s64 %o, %o, %d0;
  @%p bra $end;
{stores}$end:
  setp.eq.u32 %p, %zero, 77;
  @%p st.global.f32 [%o+16384], %start;
  ret;
}}
"""


class Kernel:
    """PTX of a kernel, instruction by instruction."""

    def __init__(self, name: str, groups: int, points: int, grid: int = 1):
        self.name, self.groups, self.points, self.grid = name, groups, points, grid
        self.lines, self.declarations, self.floats, self.labels = [], [], [], 0

    def __call__(self, *lines: str) -> None:
        self.lines += [f"  {line}" for line in lines]

    def label(self) -> str:
        self.labels += 1
        return f"$l{self.labels}"

    def at(self, point: int) -> None:
        self(f"mov.u32 %t{point}, %clock;")

    def registers(self, name: str, count: int) -> list[str]:
        """Numbers that start as zero, which the compiler does not know, and that are used in the end."""
        self.declarations.append(f"  .reg .f32 %{name}<{count}>;")
        made = [f"%{name}{i}" for i in range(count)]
        self.floats += made
        return made

    def fragments(self) -> list[str]:
        self.declarations.append("  .reg .b32 %a<32>;")
        for i in range(32):
            self(f"mov.b32 %a{i}, %zero;")
        return [f"%a{i}" for i in range(32)]

    def loop(self, times: int, body: Callable[[], None]) -> None:
        label = self.label()
        counter = f"%n{self.labels}"
        self.declarations.append(f"  .reg .u32 {counter};")
        self(f"mov.u32 {counter}, 0;", f"{label}:")
        body()
        self(f"add.u32 {counter}, {counter}, 1;", f"setp.lt.u32 %q0, {counter}, {times};", f"@%q0 bra {label};")

    def only(self, group: int, body: Callable[[], None]) -> None:
        label = self.label()
        self(f"@!%g{group} bra {label};")
        body()
        self(f"{label}:")

    def multiply(self, n: int, i: int, acc: list[str], fragments: list[str] | None = None) -> None:
        """The i-th m64nNk16 of a chain."""
        row, column = i % 4 * 2, i // 4 % 2
        self(f"add.s64 %d3, %d1, {row + column * n * 8};")
        if fragments:
            left, ends = f"{{{', '.join(fragments[4 * (i % 8) :][:4])}}}", "1, 1, 0"
        else:
            self(f"add.s64 %d2, %d0, {row + column * 512};")
            left, ends = "%d2", "1, 1, 0, 0"
        self(f"wgmma.mma_async.sync.aligned.m64n{n}k16.f32.f16.f16 {{{', '.join(acc)}}}, {left}, %d3, %multiply, {ends};")

    def chain(self, n: int, count: int, acc: list[str], fragments: list[str] | None, pending: int | None = 0) -> None:
        self("wgmma.fence.sync.aligned;")
        for i in range(count):
            self.multiply(n, i, acc, fragments)
        self("wgmma.commit_group.sync.aligned;")
        if pending is not None:
            self(f"wgmma.wait_group.sync.aligned {pending};")

    def wait(self, offset: int, parity: int | str) -> None:
        label = self.label()
        self(f"{label}:", f"mbarrier.try_wait.parity.shared::cta.b64 %q1, [%smem+{offset}], {parity};", f"@!%q1 bra {label};")

    def text(self) -> str:
        values = {
            "name": self.name, "threads": 128 * self.groups, "points": self.points, "stride": 16 * 128 * self.groups,
            "filled": FILLED, "descriptor": DESCRIPTOR, "row": 4 * self.points, "declarations": "\n".join(self.declarations),
            "zeros": "".join(f"  mov.f32 {r}, %start;\n" for r in self.floats)
            + "".join(f"  mov.u32 %t{i}, 0;\n" for i in range(self.points)),
            "sums": "".join(f"  add.f32 %start, %start, {r};\n" for r in self.floats),
            "stores": "".join(f"  st.global.u32 [%o+{4 * i}], %t{i};\n" for i in range(self.points)),
        }  # fmt: skip
        return HEAD.format(**values) + "\n".join(self.lines) + "\n" + TAIL.format(**values)


BARRIER = FILLED  # mbarriers lie behind what is filled


def chains(n: int, from_registers: bool) -> Kernel:
    """Chains of 1, 2, 4, 8, 16: start, issued, waited for."""
    k = Kernel(f"chain_n{n}_{'rs' if from_registers else 'ss'}", 1, 15)
    acc, fragments = k.registers("c", n // 2), k.fragments() if from_registers else None
    for j, count in enumerate([1, 2, 4, 8, 16]):
        k("bar.sync 0;")
        k.at(3 * j)
        k.chain(n, count, acc, fragments, None)
        k.at(3 * j + 1)
        k("wgmma.wait_group.sync.aligned 0;")
        k.at(3 * j + 2)
    return k


def together(groups: int, delay: int, n: int) -> Kernel:
    """Groups that start `delay` cycles one after another: start, after each of eight issues, waited for."""
    k = Kernel(f"together_g{groups}_d{delay}_n{n}", groups, 10)
    acc, label = k.registers("c", n // 2), k.label()
    k("mov.u32 %x0, %clock;", "add.u32 %x0, %x0, 1500;", f"@%first st.shared.u32 [%smem+{BARRIER}], %x0;", "bar.sync 0;")
    k(f"ld.shared.u32 %x0, [%smem+{BARRIER}];", f"mad.lo.u32 %x0, %group, {delay}, %x0;")
    k(f"{label}:", "mov.u32 %x1, %clock;", "sub.s32 %x1, %x1, %x0;", "setp.lt.s32 %q0, %x1, 0;", f"@%q0 bra {label};")
    k.at(0)
    k("wgmma.fence.sync.aligned;")
    for i in range(8):
        k.multiply(n, i, acc)
        k.at(1 + i)
    k("wgmma.commit_group.sync.aligned;", "wgmma.wait_group.sync.aligned 0;")
    k.at(9)
    return k


def throughput(groups: int, n: int, from_registers: bool) -> Kernel:
    """32 times eight and a wait for them: start, end; the same with a wait for the eight before: start, end."""
    k = Kernel(f"throughput_g{groups}_n{n}_{'rs' if from_registers else 'ss'}", groups, 4)
    acc, fragments = k.registers("c", n // 2), k.fragments() if from_registers else None
    for pending in (0, 1):
        k("bar.sync 0;")
        k.at(2 * pending)
        k.loop(32, lambda: k.chain(n, 8, acc, fragments, pending))
        k("wgmma.wait_group.sync.aligned 0;")
        k.at(2 * pending + 1)
    return k


OPS = {
    "ex2": lambda r, i: f"ex2.approx.ftz.f32 {r[i]}, {r[i]};",
    "fma": lambda r, i: f"fma.rn.f32 {r[i]}, {r[i]}, {r[i]}, %start;",
    "add": lambda r, i: f"add.f32 {r[i]}, {r[i]}, %start;",
    "max": lambda r, i: f"max.f32 {r[i]}, {r[i]}, {r[(i + 1) % len(r)]};",
    "cvt": lambda r, i: f"{{ .reg .b32 z; cvt.rn.f16x2.f32 z, {r[i]}, {r[i]}; mov.b32 {r[i]}, z; }}",
    "shfl": lambda r, i: f"{{ .reg .b32 z; mov.b32 z, {r[i]}; shfl.sync.bfly.b32 z, z, 1, 31, -1; mov.b32 {r[i]}, z; }}",
    "lds": lambda r, i: "{ .reg .b32 z<4>; ld.volatile.shared.v4.u32 {z0, z1, z2, z3}, "
    f"[%x7+{i % 8 * 2048}]; mov.b32 {r[i % 8]}, z0; }}",
}
MIX = ["fma", "max", "ex2", "add"]


def arithmetic(groups: int) -> Kernel:
    """512 independent ones of each kind, and of a mix: start, end."""
    kinds = [["ex2"], ["fma"], ["add"], ["max"], ["cvt"], ["shfl"], MIX, ["lds"]]
    k = Kernel(f"arithmetic_g{groups}", groups, 2 * len(kinds))
    r = k.registers("v", 32)
    k("mad.lo.u32 %x7, %lane, 16, %smem;")
    for j, ops in enumerate(kinds):
        k("bar.sync 0;")
        k.at(2 * j)
        k.loop(8, lambda ops=ops: k(*(OPS[o](r, i % 32) for i in range(64) for o in ops)))
        k.at(2 * j + 1)
    return k


def latencies() -> Kernel:
    """256 of a kind, each of which needs the one before: start, end."""
    kinds = ["ex2", "fma", "add", "cvt", "shfl"]
    k = Kernel("latency", 1, 2 * len(kinds))
    r = k.registers("v", 1)
    for j, op in enumerate(kinds):
        k("bar.sync 0;")
        k.at(2 * j)
        k.loop(8, lambda op=op: k(*(OPS[op](r, 0) for _ in range(32))))
        k.at(2 * j + 1)
    return k


def beside(name: str, ops: list[str], n: int, from_registers: bool = False) -> Kernel:
    """One group multiplies 48 times eight, one does 2048 of `ops`: start, end; then one after the other: start, end."""
    k = Kernel(f"beside_{name}_n{n}_{'rs' if from_registers else 'ss'}", 2, 4)
    acc, fragments = k.registers("c", n // 2), k.fragments() if from_registers else None
    r = k.registers("v", 32)
    k("mad.lo.u32 %x7, %lane, 16, %smem;")
    products = lambda: k.loop(48, lambda: k.chain(n, 8, acc, fragments))  # noqa: E731
    others = lambda: k.loop(32, lambda: k(*(OPS[o](r, i % 32) for i in range(64) for o in ops)))  # noqa: E731

    def timed(point: int, body: Callable[[], None]) -> None:
        k.at(point)
        body()
        k.at(point + 1)

    k("bar.sync 0;")
    k.only(0, lambda: timed(0, products))
    k.only(1, lambda: timed(0, others))
    k("bar.sync 0;")
    k.only(0, lambda: timed(2, products))
    k("bar.sync 0;")
    k.only(1, lambda: timed(2, others))
    return k


def barriers() -> Kernel:
    """64 each, start and end: of 256 threads; of 128; to the other group and back by arrive and sync; to the other group
    and back by mbarriers; waits for an mbarrier that succeed at once."""
    k = Kernel("barriers", 2, 10)
    k("setp.eq.u32 %q3, %lane, 0;", "add.u32 %x7, %group, 2;")
    for offset in (0, 8):
        k(f"@%first mbarrier.init.shared.b64 [%smem+{BARRIER + offset}], 1;")

    def passes(one: tuple[str, str], other: tuple[str, str]) -> None:
        k.only(0, lambda: k.loop(64, lambda: k(*one)))
        k.only(1, lambda: k.loop(64, lambda: k(*other)))

    def mbarriers(group: int) -> None:
        for parity in (0, 1):
            arrive = lambda: k(f"@%q3 mbarrier.arrive.shared.b64 %d4, [%smem+{BARRIER + 8 * group}];")  # noqa: E731
            if group == 0:
                arrive()
            k.wait(BARRIER + 8 * (1 - group), parity)
            if group == 1:
                arrive()

    parts = [
        lambda: k.loop(64, lambda: k("bar.sync 1, 256;")),
        lambda: k.loop(64, lambda: k("bar.sync %x7, 128;")),
        lambda: passes(("bar.arrive 5, 256;", "bar.sync 6, 256;"), ("bar.sync 5, 256;", "bar.arrive 6, 256;")),
        lambda: [k.only(g, lambda g=g: k.loop(32, lambda: mbarriers(g))) for g in (0, 1)],
        lambda: k.loop(64, lambda: k.wait(BARRIER, 1)),
    ]
    for j, part in enumerate(parts):
        k("bar.sync 0;")
        k.at(2 * j)
        part()
        k.at(2 * j + 1)
    k("bar.sync 0;")
    for offset in (0, 8):
        k(f"@%first mbarrier.inval.shared.b64 [%smem+{BARRIER + offset}];")
    return k


def bulk(k: Kernel, to: str, source: str, size: int, barrier: int) -> None:
    k(f"@%first cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [{to}], [{source}], {size}, [%x6+{barrier}];")


def copies() -> Kernel:
    """A copy of 128 bytes, 1, 4, 8, 16, 32 KB from L2, waited for: start, end."""
    k = Kernel("copies", 1, 12)
    k(f"add.u32 %x6, %smem, {BARRIER};", "@%first mbarrier.init.shared.b64 [%x6], 1;", "fence.proxy.async.shared::cta;")
    for j, size in enumerate([128, 1024, 4096, 8192, 16384, 32768]):
        k("bar.sync 0;")
        k.at(2 * j)
        k(f"@%first mbarrier.arrive.expect_tx.shared.b64 _, [%x6], {size};")
        bulk(k, "%smem", "%data", size, 0)
        k.wait(BARRIER, j % 2)
        k.at(2 * j + 1)
    k("bar.sync 0;", "@%first mbarrier.inval.shared.b64 [%x6];")
    return k


def load(n: int, from_registers: bool, times: int) -> Kernel:
    """Two groups on each multiprocessor multiply without end: cycles, nanoseconds."""
    k = Kernel(f"load_n{n}_{'rs' if from_registers else 'ss'}", 2, 4, GPU)
    acc, fragments = k.registers("c", n // 2), k.fragments() if from_registers else None
    if from_registers:
        k(*(f"ld.shared.b32 %a{i}, [%smem+{64 * i}];" for i in range(32)))
    k("bar.sync 0;", "mov.u64 %d4, %globaltimer;")
    k.at(2)
    k.loop(times, lambda: k.chain(n, 8, acc, fragments, 1))
    k("wgmma.wait_group.sync.aligned 0;")
    k.at(3)
    k("mov.u64 %d5, %globaltimer;", "sub.s64 %d5, %d5, %d4;", "cvt.u32.u64 %t1, %d5;", "sub.u32 %t0, %t3, %t2;")
    return k


def bandwidth(name: str, grid: int, apart: int, chunks: int, times: int) -> Kernel:
    """Each block copies `times` of 32 KB by 8 KB, four on their way, from a window of `chunks`, block b from chunk b times
    `apart` on: cycles, nanoseconds."""
    k = Kernel(name, 1, 4, grid)
    end, stages, part = k.label(), 4, 8192
    k(f"add.u32 %x6, %smem, {BARRIER};")
    k(*(f"@%first mbarrier.init.shared.b64 [%x6+{8 * i}], 1;" for i in range(stages)))
    k("fence.proxy.async.shared::cta;", "bar.sync 0;", "mov.u32 %x0, %ctaid.x;", f"mul.lo.u32 %x0, %x0, {apart};")
    k(f"@!%first bra {end};")

    def issue(stage: int) -> None:
        k(f"rem.u32 %x1, %x0, {chunks};", "mul.wide.u32 %d2, %x1, 32768;", "add.s64 %d2, %d2, %data;")
        k("add.u32 %x0, %x0, 1;", f"mbarrier.arrive.expect_tx.shared.b64 _, [%x6+{8 * stage}], 32768;")
        for at in range(0, 32768, part):
            k(f"add.s64 %d3, %d2, {at};", f"add.u32 %x2, %smem, {stage * 32768 + at};")
            bulk(k, "%x2", "%d3", part, 8 * stage)

    def turn() -> None:
        for stage in range(stages):
            k.wait(BARRIER + 8 * stage, "%x3")
            issue(stage)
        k("xor.b32 %x3, %x3, 1;")

    for stage in range(stages):
        issue(stage)
    k("mov.u32 %x3, 0;", "mov.u64 %d4, %globaltimer;")
    k.at(2)
    k.loop(times // stages, turn)
    k.at(3)
    for stage in range(stages):
        k.wait(BARRIER + 8 * stage, "%x3")
    k("mov.u64 %d5, %globaltimer;", "sub.s64 %d5, %d5, %d4;", "cvt.u32.u64 %t1, %d5;", "sub.u32 %t0, %t3, %t2;")
    k(f"{end}:", "bar.sync 0;")
    k(*(f"@%first mbarrier.inval.shared.b64 [%x6+{8 * i}];" for i in range(stages)))
    return k


def kernels() -> list[tuple[Kernel, dict]]:
    """With what their launch needs beside the usual."""
    both = (False, True)
    made = [chains(n, rs) for n in (64, 128, 256) for rs in both]
    made += [together(g, d, n) for g, d, n in ((2, 0, 128), (2, 150, 128), (2, 300, 128), (3, 150, 128), (2, 150, 256))]
    made += [throughput(g, n, rs) for g in (1, 2, 3) for n in (64, 128, 256) for rs in both if g < 3 or n < 256]
    made += [arithmetic(g) for g in (1, 2, 3)] + [latencies()]
    made += [beside(o, [o], 128) for o in ("ex2", "fma", "max", "cvt", "lds")]
    made += [beside(o, [o], n) for o in ("ex2", "max") for n in (64, 256)]
    made += [beside("mix", MIX, 128, rs) for rs in both] + [barriers(), copies()]
    rows = [(k, {}) for k in made]
    for n, rs, times in ((256, False, 4000), (128, False, 8000), (128, True, 8000)):
        work = {"flops": 3 * times * 8 * 2 * GPU * 64 * n * 16 * 2}
        rows.append((load(n, rs, times), work))
        if n == 256:
            rows.append((load(n, rs, times), work | {"init": "zeros", "name": "load_n256_ss, zeros"}))
    for name, grid, apart, chunks, times in (
        ("l2_one", 1, 0, 64, 512), ("l2_all_24mb", GPU, 6, 768, 512), ("l2_all_8mb", GPU, 2, 256, 512),
        ("l2_all_same", GPU, 0, 64, 512), ("memory_all", GPU, 250, 33000, 248),
    ):  # fmt: skip
        rows.append((bandwidth(name, grid, apart, chunks, times), {"chunks": chunks, "init": "zeros", "bytes": 3 * grid * times * 32768}))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--ptxas", required=True)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    requests = []
    for k, more in kernels():
        ptx = options.folder / f"{k.name}.ptx"
        ptx.write_text(k.text())
        subprocess.run([options.ptxas, "-arch=sm_90a", ptx, "-o", ptx.with_suffix(".cubin")], check=True)
        data = {"tensor": [max(131072, more.get("chunks", 0) * 16384)], "dtype": "f16", "init": more.get("init", "normal")}
        out = {"tensor": [16384], "dtype": "i32", "init": "zeros", "out": True, "print": k.groups * k.points}
        requests.append({
            "name": more.get("name", k.name), "cubin": f"{k.name}.cubin", "manifest": None, "entry": k.name,
            "grid": [k.grid, 1, 1], "block": [128 * k.groups, 1, 1], "shared": SHARED, "args": [out, data, {"i32": 0}],
            "flops": more.get("flops"), "bytes": more.get("bytes"),
        })  # fmt: skip
    (options.folder / "request.json").write_text(json.dumps(requests, indent=1))


if __name__ == "__main__":
    main()
