"""A program on cuda.bindings: NVRTC and the driver API, function by function, with dynamic shared memory."""

import numpy as np
from cuda.bindings import driver, nvrtc

CODE = b"""
extern "C" __global__ void sums(const int* x, int* out) {
    extern __shared__ int part[];
    part[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    for (int step = blockDim.x / 2; step > 0; step /= 2) {
        if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}
"""


def check(result):
    assert result[0] == type(result[0])(0), result[0]
    return result[1] if len(result) == 2 else result[1:]


check(driver.cuInit(0))
device = check(driver.cuDeviceGet(0))
context = check(driver.cuDevicePrimaryCtxRetain(device))
check(driver.cuCtxSetCurrent(context))
major = check(driver.cuDeviceGetAttribute(driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device))
minor = check(driver.cuDeviceGetAttribute(driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device))

program = check(nvrtc.nvrtcCreateProgram(CODE, b"sums.cu", 0, None, None))
check(nvrtc.nvrtcCompileProgram(program, 1, [f"--gpu-architecture=sm_{major}{minor}".encode()]))
cubin = b" " * check(nvrtc.nvrtcGetCUBINSize(program))
check(nvrtc.nvrtcGetCUBIN(program, cubin))

module = check(driver.cuModuleLoadData(np.char.array(cubin)))
kernel = check(driver.cuModuleGetFunction(module, b"sums"))
x, out = np.arange(4 * 256, dtype=np.int32), np.zeros(4, np.int32)
to = check(driver.cuMemAlloc(out.nbytes))
source = check(driver.cuMemAlloc(x.nbytes))
check(driver.cuMemcpyHtoD(source, x.ctypes.data, x.nbytes))
pointers = np.array([int(source), int(to)], dtype=np.uint64)
args = np.array([pointers[i : i + 1].ctypes.data for i in range(2)], dtype=np.uint64)
check(driver.cuLaunchKernel(kernel, 4, 1, 1, 256, 1, 1, 256 * 4, 0, args.ctypes.data, 0))
check(driver.cuMemcpyDtoH(out.ctypes.data, to, out.nbytes))
assert (out == x.reshape(4, 256).sum(1)).all(), out
print("right")
