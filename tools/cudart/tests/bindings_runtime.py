"""A program on cuda.bindings.runtime: memory, streams, events, properties, a library of kernels, and a captured graph."""

import numpy as np
from cuda.bindings import driver, nvrtc, runtime

CODE = b"""
extern "C" __global__ void add(int* x, int n, int y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += y;
}
"""
H2D, D2H = runtime.cudaMemcpyKind.cudaMemcpyHostToDevice, runtime.cudaMemcpyKind.cudaMemcpyDeviceToHost


def check(result):
    assert result[0] == type(result[0])(0), result[0]
    return result[1] if len(result) == 2 else result[1:]


assert check(runtime.cudaGetDeviceCount()) == 1
check(runtime.cudaSetDevice(0))
properties = check(runtime.cudaGetDeviceProperties(0))
assert (properties.warpSize, properties.major, properties.minor) == (32, 9, 0)

stream = check(runtime.cudaStreamCreate())
x = np.arange(1000, dtype=np.int32)
memory = check(runtime.cudaMallocAsync(x.nbytes, stream))
check(runtime.cudaMemcpyAsync(memory, x.ctypes.data, x.nbytes, H2D, stream))
begin, end = check(runtime.cudaEventCreate()), check(runtime.cudaEventCreate())
check(runtime.cudaEventRecord(begin, stream))

program = check(nvrtc.nvrtcCreateProgram(CODE, b"add.cu", 0, None, None))
check(nvrtc.nvrtcCompileProgram(program, 1, [b"--gpu-architecture=sm_90"]))
code = b" " * check(nvrtc.nvrtcGetPTXSize(program))
check(nvrtc.nvrtcGetPTX(program, code))
library = check(runtime.cudaLibraryLoadData(code, [], [], 0, [], [], 0))
kernel = check(runtime.cudaLibraryGetKernel(library, b"add"))

# A graph of two nodes, launched twice.
check(runtime.cudaStreamBeginCapture(stream, runtime.cudaStreamCaptureMode.cudaStreamCaptureModeThreadLocal))
pointer, n, y = (np.array([v], t) for v, t in ((memory, np.uint64), (x.size, np.int32), (5, np.int32)))
arguments = np.array([a.ctypes.data for a in (pointer, n, y)], dtype=np.uint64)
for _ in range(2):
    check(driver.cuLaunchKernel(driver.CUfunction(int(kernel)), 4, 1, 1, 256, 1, 1, 0, int(stream), arguments.ctypes.data, 0))
graph = check(runtime.cudaStreamEndCapture(stream))
work = check(runtime.cudaGraphInstantiate(graph, 0))
for _ in range(2):
    check(runtime.cudaGraphLaunch(work, stream))

check(runtime.cudaEventRecord(end, stream))
check(runtime.cudaStreamSynchronize(stream))
assert check(runtime.cudaEventElapsedTime(begin, end)) >= 0
out = np.zeros_like(x)
check(runtime.cudaMemcpy(out.ctypes.data, memory, x.nbytes, D2H))
assert (out == x + 4 * 5).all(), out
check(runtime.cudaFreeAsync(memory, stream))

# An error is the runtime's own.
assert runtime.cudaFree(12345)[0] == runtime.cudaError_t.cudaErrorInvalidValue
assert check(runtime.cudaGetErrorName(runtime.cudaError_t.cudaErrorInvalidValue)) == b"cudaErrorInvalidValue"
print("right")
