"""Cases in CUDA Tile C++: the kernels of one file in tile_cpp/, and the bytecode that nvcc makes of them."""

import functools
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
HEADER = 12  # bytes of magic and version
STRING = 0x01  # the section's number
ALIGNED = 0x80


@functools.cache
def nvcc() -> str:
    command = [sys.executable, ROOT / "tools/toolkit", "nvcc"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@dataclass(frozen=True, eq=False)
class CudaCase:
    """One bytecode file with all kernels of `tile_cpp/NAME.cu`. Runs name their entries with `entry_of`."""

    name: str
    entry: str | None = None  # there are several

    def files(self) -> dict[str, bytes]:
        return {f"{self.name}.tilebc": self._bytecode}

    def entry_of(self, kernel: str) -> str:
        """The mangled name of the one instance of a kernel template."""
        start = f"_Z{len(kernel)}{kernel}I".encode()
        (name,) = [s for s in strings(self._bytecode) if s.startswith(start)]
        return name.decode()

    @functools.cached_property
    def _bytecode(self) -> bytes:
        source = (HERE / "tile_cpp" / f"{self.name}.cu").relative_to(ROOT)
        # Among other things, the lengths of absolute paths decide in which order nvcc lists
        # what loops carry: the source and the toolkit are given paths of equal length on all machines.
        with tempfile.TemporaryDirectory(prefix="corpus-", dir="/tmp") as folder:
            root = Path(folder)
            (root / source).parent.mkdir(parents=True)
            shutil.copyfile(ROOT / source, root / source)
            (root / "site-packages/nvidia").mkdir(parents=True)
            toolkit = root / "site-packages/nvidia/cu13"
            toolkit.symlink_to(Path(nvcc()).parents[1])
            # The architecture decides nothing in these kernels; nvcc wants one.
            command = [toolkit / "bin/nvcc", "--tilebc", "-arch=sm_90", "-std=c++20", "--tile-only"]
            done = subprocess.run([*command, "-o", "out.tilebc", source], cwd=root, capture_output=True, text=True)
            if done.returncode:
                raise SystemExit(f"{source}:\n{done.stdout}{done.stderr}")
            return with_stable_paths((root / "out.tilebc").read_bytes(), root)


def with_stable_paths(data: bytes, root: Path) -> bytes:
    """The module with file names that depend on no folder below which it was made.

    nvcc writes absolute paths for the debug information. Only the table of strings
    changes; nothing refers to it but by number.
    """
    out = bytearray(data[:HEADER])
    for number, alignment, payload in sections(data):
        if number == STRING:
            payload = string_table([stable(s, str(root).encode()) for s in strings(data)])
        out.append(number | (ALIGNED if alignment > 1 else 0))
        out += varint(len(payload))
        if alignment > 1:
            out += varint(alignment)
            pad(out, alignment)
        out += payload
    out.append(0)  # the end of the module
    return bytes(out)


def stable(string: bytes, root: bytes) -> bytes:
    """A path below the root or the toolkit's packages, from there on."""
    if string == root:
        return b"."
    if b"site-packages/" in string:
        return re.sub(rb"[^/]+/\.\./", b"", string.rpartition(b"site-packages/")[2])
    return string.removeprefix(root + b"/")


def sections(data: bytes):
    """(number, alignment, payload) of each section."""
    at = HEADER
    while data[at]:
        number, at = data[at], at + 1
        length, at = read_varint(data, at)
        alignment = 1
        if number & ALIGNED:
            alignment, at = read_varint(data, at)
            at = -(-at // alignment) * alignment
        yield number & ~ALIGNED, alignment, data[at : at + length]
        at += length


def strings(data: bytes) -> list[bytes]:
    """The table of strings: a count, where each begins (u32), all of them."""
    (payload,) = [payload for number, _, payload in sections(data) if number == STRING]
    count, at = read_varint(payload, 0)
    at = -(-at // 4) * 4
    starts = struct.unpack_from(f"<{count}I", payload, at)
    text = payload[at + 4 * count :]
    return [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]


def string_table(table: list[bytes]) -> bytes:
    out = bytearray(varint(len(table)))
    pad(out, 4)
    start = 0
    for string in table:
        out += struct.pack("<I", start)
        start += len(string)
    return bytes(out) + b"".join(table)


def pad(out: bytearray, alignment: int) -> None:
    out += b"\xcb" * (-len(out) % alignment)


def varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while data[at] & 0x80:
        value |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
    return value | data[at] << shift, at + 1
