"""A program without PyTorch: arrays of NumPy's, a kernel in PTX, the driver by ctypes. Run by `python -m tilec.emulate`."""

import ctypes
import sys

import numpy as np
import tilec.emulate

assert "torch" not in sys.modules

PTX = b"""
.version 7.0
.target sm_75
.address_size 64
.visible .entry twice(.param .u64 x, .param .u32 n, .param .u32 step) {
    .reg .pred %p; .reg .b32 %r<6>; .reg .f32 %f; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [x]; ld.param.u32 %r1, [n]; ld.param.u32 %r2, [step];
    mov.u32 %r3, %tid.x; setp.ge.u32 %p, %r3, %r1; @%p ret;
    mul.lo.s32 %r4, %r3, %r2; cvt.s64.s32 %rd2, %r4; add.s64 %rd3, %rd1, %rd2;
    ld.global.f32 %f, [%rd3]; add.f32 %f, %f, %f; st.global.f32 [%rd3], %f;
    ret;
}
"""

cuda = ctypes.CDLL("libcuda.so.1")
module, kernel = ctypes.c_void_p(), ctypes.c_void_p()
assert cuda.cuModuleLoadData(ctypes.byref(module), PTX) == 0
assert cuda.cuModuleGetFunction(ctypes.byref(kernel), module, b"twice") == 0


def twice(array) -> int:
    interface = array.__cuda_array_interface__
    (n,), (step,), (address, _) = interface["shape"], interface["strides"], interface["data"]
    values = [ctypes.c_uint64(address), ctypes.c_uint32(n), ctypes.c_int32(step)]
    args = (ctypes.c_void_p * 3)(*[ctypes.addressof(v) for v in values])
    return cuda.cuLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, None, args, None)


x = np.arange(32, dtype=np.float32)
assert twice(tilec.emulate.device_array(x)) == 0
assert (x == 2 * np.arange(32)).all()
# Every other element, backwards: the memory begins before the address.
view = x[::-2]
assert twice(tilec.emulate.device_array(view)) == 0
assert (x[1::2] == 4 * np.arange(1, 32, 2)).all() and (x[::2] == 2 * np.arange(0, 32, 2)).all()
# What is no longer lent, kernels may not touch.
lent = tilec.emulate.device_array(x)
interface = dict(lent.__cuda_array_interface__)
del lent


class Gone:
    __cuda_array_interface__ = interface


assert twice(Gone) == 700
# A device as PyTorch's functions take it.
for device in (None, 0, "cuda", "cuda:0"):
    assert tilec.emulate._CUDA["get_device_capability"](device) == (9, 0)
# PyTorch's compiler tells its functions apart by what they are.
replaced = list(tilec.emulate._CUDA.values())
assert len({id(function) for function in replaced}) == len(replaced)
print("right")
