"""Times launches on a GPU: machine code with tilec's manifest beside it, on arguments that are made there.

    python3 time.py FOLDER …          each with a request.json; needs torch, cuda-bindings and manifest.py, and nothing of tilec

A request is a list of launches: `name`, `cubin`, `manifest` (null: `block` and `shared` are given and there are no tensor
maps), `entry`, `grid` in tile blocks, `args`, and of the work `flops` and `bytes` where known. An argument is
{"i32"|"i64"|"f32": value} or {"tensor": [elements], "dtype": …, "init": normal|zeros|ones|range|empty|random, "scale": …,
"low", "high": …, "share": key, "out": bool}; tensors with the same `share` have the same contents; `print` is how many of
the first elements of a written one the results show, after the timed launches (a kernel's own measurements). `same_as` names the
launch whose outputs must be equal within `tolerance`, relative to their norm.

Written beside the request, and printed: median and smallest of the times by events, the rate, and the difference.
"""

import ctypes
import json
import sys
import zlib
from pathlib import Path

import torch
from cuda.bindings import driver as cuda
from manifest import extents

TYPES = {
    "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64,
    "e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2,
    "i8": torch.int8, "u8": torch.uint8, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64, "bool": torch.bool,
}  # fmt: skip
SCALARS = {"i32": ctypes.c_int32, "i64": ctypes.c_int64, "f32": ctypes.c_float, "f64": ctypes.c_double, "i8": ctypes.c_int8, "i16": ctypes.c_int16}
MAP_TYPES = {
    "u8": "UINT8", "u16": "UINT16", "u32": "UINT32", "s32": "INT32", "u64": "UINT64", "s64": "INT64", "f16": "FLOAT16",
    "f32": "FLOAT32", "f64": "FLOAT64", "bf16": "BFLOAT16", "f32_ftz": "FLOAT32_FTZ", "tf32": "TFLOAT32",
    "f8E4M3FN": "UINT8", "f8E5M2": "UINT8", "f8E8M0FNU": "UINT8",
}  # fmt: skip
WARM, TIMES = 3, 20


def call(result):
    code, *values = result
    if int(code) != 0:
        raise RuntimeError(f"{code!r}")
    return values[0] if len(values) == 1 else values


def tensor(argument: dict, shared: dict) -> torch.Tensor:
    """A tensor with reproducible contents."""
    key = argument.get("share")
    if key in shared:
        return shared[key]
    n, dtype, init = argument["tensor"], TYPES[argument["dtype"]], argument.get("init", "normal")
    generator = torch.Generator("cuda").manual_seed(zlib.crc32(str(key).encode()))
    if init == "normal":
        made = torch.empty(n, device="cuda", dtype=dtype)
        flat, step = made.view(-1), 1 << 26
        for start in range(0, flat.numel(), step):
            part = flat[start : start + step]
            part.copy_(torch.randn(part.numel(), device="cuda", generator=generator) * argument.get("scale", 1.0))
    elif init == "range":
        made = torch.arange(torch.Size(n).numel(), device="cuda").view(n).to(dtype)
    elif init == "random":
        made = torch.randint(argument["low"], argument["high"], n, device="cuda", generator=generator).to(dtype)
    else:
        made = {"zeros": torch.zeros, "ones": torch.ones, "empty": torch.empty}[init](n, device="cuda", dtype=dtype)
    if key is not None:
        shared[key] = made
    return made


def tensor_map(recipe: dict, values: list):
    dims, strides, offset = extents(recipe, values)
    base, box = int(values[recipe["base"]]) + offset, recipe["box"]
    kind = getattr(cuda.CUtensorMapDataType, f"CU_TENSOR_MAP_DATA_TYPE_{MAP_TYPES[recipe['element']]}")
    swizzle = recipe["swizzle"].upper() if recipe["swizzle"] != "none" else "NONE"
    fill = "NONE" if recipe["oob_fill"] == "zero" else "NAN_REQUEST_ZERO_FMA"
    words = lambda type_, list_: [type_(x) for x in list_]  # noqa: E731
    return call(
        cuda.cuTensorMapEncodeTiled(
            kind, len(dims), base, words(cuda.cuuint64_t, dims), words(cuda.cuuint64_t, strides), words(cuda.cuuint32_t, box),
            words(cuda.cuuint32_t, recipe.get("element_strides") or [1] * len(dims)),
            cuda.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
            getattr(cuda.CUtensorMapSwizzle, f"CU_TENSOR_MAP_SWIZZLE_{swizzle}"),
            cuda.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
            getattr(cuda.CUtensorMapFloatOOBfill, f"CU_TENSOR_MAP_FLOAT_OOB_FILL_{fill}"),
        )
    )  # fmt: skip


class Launch:
    """A launch that is ready to run."""

    def __init__(self, request: dict, folder: Path, shared: dict):
        self.request, self.outputs, self.holders, self.printed = request, [], [], []
        values = []
        for argument in request["args"]:
            if "tensor" in argument:
                made = tensor(argument, shared)
                if argument.get("out"):
                    self.outputs.append(made)
                if argument.get("print"):
                    self.printed.append((made, argument["print"]))
                values.append(made.data_ptr() + argument.get("offset", 0))
                self.holders += [made, ctypes.c_uint64(values[-1])]
            else:
                ((kind, value),) = argument.items()
                values.append(value)
                self.holders.append(SCALARS[kind](value))
        if request.get("manifest"):
            entries = json.loads((folder / request["manifest"]).read_text())["entries"]
            entry = next(e for e in entries if e["name"] == request["entry"])
        else:
            entry = request | {"shared_bytes": request["shared"], "tensor_maps": []}
        maps = [tensor_map(r, values) for r in sorted(entry["tensor_maps"], key=lambda m: m["param"])]
        self.holders += maps
        pointers = [ctypes.addressof(h) for h in self.holders if isinstance(h, ctypes._SimpleCData)]
        pointers += [m.getPtr() for m in maps]
        self.params = (ctypes.c_void_p * len(pointers))(*pointers)
        module = call(cuda.cuModuleLoadData((folder / request["cubin"]).read_bytes()))
        self.function = call(cuda.cuModuleGetFunction(module, request["entry"].encode()))
        if entry["shared_bytes"]:
            attribute = cuda.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            call(cuda.cuFuncSetAttribute(self.function, attribute, entry["shared_bytes"]))
        self.config = cuda.CUlaunchConfig()
        # Clusters are in the machine code (`.blocksareclusters`: the grid counts tile blocks).
        for name, n, b in zip("XYZ", request["grid"], entry["block"], strict=True):
            setattr(self.config, f"gridDim{name}", n)
            setattr(self.config, f"blockDim{name}", b)
        self.config.sharedMemBytes = entry["shared_bytes"]
        self.config.hStream = torch.cuda.current_stream().cuda_stream

    def run(self) -> None:
        call(cuda.cuLaunchKernelEx(self.config, self.function, ctypes.addressof(self.params), 0))


def milliseconds(launch: Launch) -> list[float]:
    for _ in range(WARM):
        launch.run()
    torch.cuda.synchronize()
    events = [torch.cuda.Event(enable_timing=True) for _ in range(TIMES + 1)]
    events[0].record()
    for event in events[1:]:
        launch.run()
        event.record()
    torch.cuda.synchronize()
    return sorted(a.elapsed_time(b) for a, b in zip(events, events[1:], strict=False))


def difference(ours: list, theirs: list) -> float:
    """Of the outputs, relative to their norm."""
    worst = 0.0
    for one, other in zip(ours, theirs, strict=True):
        one, other = one.float(), other.float()
        worst = max(worst, ((one - other).norm() / other.norm().clamp_min(1e-30)).item())
    return worst


def row(request: dict, folder: Path, shared: dict, kept: dict) -> str:
    launch = Launch(request, folder, shared)
    for out in launch.outputs:
        out.zero_()
    launch.run()
    torch.cuda.synchronize()
    kept[request["name"]] = [out.clone() for out in launch.outputs]
    notes = ""
    if (other := request.get("same_as")) and other in kept:
        off = difference(kept[request["name"]], kept[other])
        notes = f"off by {off:.1e}" + ("" if off <= request.get("tolerance", 0.01) else " WRONG")
    times = milliseconds(launch)
    median = times[len(times) // 2]
    rates = [f"{request['flops'] / median / 1e9:.1f} TFLOP/s"] if request.get("flops") else []
    rates += [f"{request['bytes'] / median / 1e6:.0f} GB/s"] if request.get("bytes") else []
    for made, count in launch.printed:
        notes += f"\n    {made.view(-1)[:count].tolist()}"
    return f"{request['name']:60} {median * 1e3:9.1f} us (least {times[0] * 1e3:.1f})  {' '.join(rates)}  {notes}"


def main() -> None:
    torch.cuda.init()
    torch.empty(1, device="cuda")
    for folder in map(Path, sys.argv[1:]):
        shared, kept, lines = {}, {}, []
        for request in json.loads((folder / "request.json").read_text()):
            try:
                lines.append(row(request, folder, shared, kept))
            except Exception as error:  # noqa: BLE001: the others are still of use
                lines.append(f"{request['name']:60} FAILED: {error}")
            print(lines[-1], flush=True)
        (folder / "results.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
