"""A plugin of pytest for cuTile's tests: references have CUDA's bits, and no GPU is too old.

PyTorch computes on the CPU here, and its elementary functions differ from CUDA's in the last bits, which the tests
compare. Those of `FUNCTIONS` are compiled by nvcc, from calls of CUDA's own, and run in the simulator as PTX.
CUTILE_NVCC names nvcc; without it, the CPU's stay.

cuTile refuses some types on some GPUs by the number of the architecture; the emulated GPU takes them all.
"""

import ctypes
import functools
import os
import subprocess
import tempfile
from pathlib import Path

FUNCTIONS = "sin cos tan sinh cosh tanh log log2 sqrt rsqrt".split()
THREADS = 128


def _source() -> str:
    kernel = (
        'extern "C" __global__ void f_{0}(const float *x, float *y, int n) {{\n'
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) y[i] = {0}f(x[i]);\n}}\n"
    )
    return "".join(kernel.format(name) for name in FUNCTIONS)


@functools.cache
def _kernels() -> dict:
    from tilec.emulate import _call

    with tempfile.TemporaryDirectory() as folder:
        source, ptx = Path(folder) / "f.cu", Path(folder) / "f.ptx"
        source.write_text(_source())
        subprocess.run([os.environ["CUTILE_NVCC"], "-ptx", "-arch=compute_75", "-o", ptx, source], check=True)
        text = ptx.read_bytes() + b"\0"
    module, kernels = ctypes.c_uint64(), {}
    _call("cuModuleLoadData", ctypes.byref(module), text)
    for name in FUNCTIONS:
        kernels[name] = ctypes.c_uint64()
        _call("cuModuleGetFunction", ctypes.byref(kernels[name]), module, f"f_{name}".encode())
    return kernels


def _cuda(name: str, original):
    import torch
    from tilec.emulate import _call

    @functools.wraps(original)
    def call(x, *args, **kwargs):
        if args or kwargs or not isinstance(x, torch.Tensor) or x.dtype == torch.float64 or x.is_complex():
            return original(x, *args, **kwargs)
        # As PyTorch: integers become f32; halves are computed in f32 and rounded.
        result = x.dtype if x.is_floating_point() else torch.float32
        wide = x.to(torch.float32).contiguous()
        out = torch.empty_like(wide)
        n = wide.numel()
        if n:
            values = ctypes.c_uint64(wide.data_ptr()), ctypes.c_uint64(out.data_ptr()), ctypes.c_int(n)
            params = (ctypes.c_void_p * 3)(*(ctypes.cast(ctypes.pointer(v), ctypes.c_void_p) for v in values))
            blocks = (n + THREADS - 1) // THREADS
            _call("cuLaunchKernel", _kernels()[name], blocks, 1, 1, THREADS, 1, 1, 0, None, params, None)
        return out.to(result)

    return call


def _absolute(original):
    """CUDA has it for booleans, the CPU has not."""
    import torch

    @functools.wraps(original)
    def call(x, *args, **kwargs):
        return x.clone() if x.dtype == torch.bool else original(x, *args, **kwargs)

    return call


def _every_type() -> None:
    from cuda.tile._passes import check_dtype_support as checks

    def without_number(check, position):
        @functools.wraps(check)
        def call(*args):
            return check(*args[:position], None, *args[position + 1 :])

        return call

    checks._check_dtype = without_number(checks._check_dtype, 2)
    checks._check_atomic_rmw_dtype = without_number(checks._check_atomic_rmw_dtype, 2)


def pytest_configure(config) -> None:
    import torch

    if os.environ.get("CUTILE_NVCC"):
        for name in FUNCTIONS:
            setattr(torch, name, _cuda(name, getattr(torch, name)))
            setattr(torch.Tensor, name, _cuda(name, getattr(torch.Tensor, name)))
    for owner, name in ((torch, "abs"), (torch.Tensor, "abs"), (torch.Tensor, "__abs__")):
        setattr(owner, name, _absolute(getattr(owner, name)))
    if os.environ.get("CUTILE_ANY_GPU"):
        _every_type()
