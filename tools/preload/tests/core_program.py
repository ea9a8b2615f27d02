"""A program on cuda.core: a template compiled to machine code, launched on a stream with device buffers."""

import sys

import numpy as np
from cuda.bindings import driver
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

CODE = """
template <typename T>
__global__ void axpy(T a, const T* x, T* y, size_t n) {
    size_t step = gridDim.x * blockDim.x;
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) y[i] = a * x[i] + y[i];
}
"""

device = Device()
device.set_current()
stream = device.create_stream()
options = ProgramOptions(std="c++17", arch=f"sm_{device.arch}")
program = Program(CODE, code_type="c++", options=options)
names = ("axpy<float>", "axpy<double>")
module = program.compile(sys.argv[1], name_expressions=names)


def check(result):
    assert result[0] == driver.CUresult.CUDA_SUCCESS, result[0]


for name, kind in zip(names, (np.float32, np.float64)):
    x, y = np.arange(1000, dtype=kind), np.ones(1000, kind)
    on_device = []
    for array in (x, y):
        buffer = device.allocate(array.nbytes, stream=stream)
        check(driver.cuMemcpyHtoD(int(buffer.handle), array.ctypes.data, array.nbytes))
        on_device.append(buffer)
    launch(stream, LaunchConfig(grid=4, block=128), module.get_kernel(name), kind(3), *on_device, np.uint64(1000))
    stream.sync()
    check(driver.cuMemcpyDtoH(y.ctypes.data, int(on_device[1].handle), y.nbytes))
    assert (y == 3 * x + 1).all(), name
print("right")
