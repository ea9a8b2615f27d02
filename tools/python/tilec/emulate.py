"""PyTorch programs for a GPU, on a machine without one.

Device "cuda" becomes the CPU, DLPack presents CPU tensors as CUDA ones, and the emulated driver runs the kernels that
are launched on them, in the tensors' own memory::

    with tilec.emulate.emulated("sm_90a"):    # as a context manager
        ...
    python -m tilec.emulate [--gpu-name T] script.py ARG …
    tilec emulate -- pytest -p tilec.emulate  # as a plugin of pytest

Without PyTorch, the same starts the driver, and `device_array` makes NumPy's arrays memory of the device::

    x = tilec.emulate.device_array(numpy.zeros(1024, "f4"))    # has `__cuda_array_interface__`

Kernels that PyTorch itself has for "cuda" are those of its CPU backend here: their elementary functions differ from
CUDA's in the last bits.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import runpy
import sys
import threading
import weakref
from pathlib import Path

__all__ = ["device_array", "emulated", "install", "uninstall", "driver"]

# CUDA driver API, cuda.h.
_COMPUTE_CAPABILITY_MAJOR, _COMPUTE_CAPABILITY_MINOR = 75, 76
_MULTIPROCESSOR_COUNT, _L2_CACHE_SIZE, _WARP_SIZE = 16, 38, 10
_SHARED_PER_BLOCK_OPTIN, _SHARED_PER_MULTIPROCESSOR = 97, 81
_THREADS_PER_MULTIPROCESSOR, _REGISTERS_PER_MULTIPROCESSOR = 39, 82
_NOT_READY = 600
_NON_BLOCKING = 1
_DISABLE_TIMING = 2

_LIBRARY = "libtilec_cuda.so"


class EmulationError(RuntimeError):
    """A call of the emulated driver failed."""


def _library() -> str:
    """The emulated driver: that of `tilec emulate`, else the one beside this package."""
    if "TILEC_EMULATE" in os.environ:
        return "libcuda.so.1"
    here = Path(__file__).resolve().parent
    for folder in (here, here / "lib", Path(os.environ.get("TILEC_LIBRARY_PATH", "/nonexistent"))):
        if (folder / _LIBRARY).is_file():
            return str(folder / _LIBRARY)
    raise EmulationError(
        f"no emulated driver: run the program with `tilec emulate -- …`, or set TILEC_LIBRARY_PATH to the folder of {_LIBRARY}"
    )


@functools.cache
def driver() -> ctypes.CDLL:
    """The emulated driver, with the primary context of device 0 made."""
    # Global, and known by the name that it carries: whoever asks for libcuda.so.1 later gets this one.
    library = ctypes.CDLL(_library(), mode=ctypes.RTLD_GLOBAL)
    if not hasattr(library, "tilecEmulateLend"):
        raise EmulationError("libcuda.so.1 is not tilec's: run the program with `tilec emulate -- …`")
    library.tilecEmulateLend.argtypes = [ctypes.c_uint64, ctypes.c_uint64, ctypes.c_char_p]
    library.tilecEmulateReturn.argtypes = [ctypes.c_uint64]
    _check(library, library.cuInit(0))
    return library


def _check(library, status: int) -> None:
    if status:
        text = ctypes.c_char_p()
        library.cuGetErrorString(status, ctypes.byref(text))
        words = text.value.decode() if text.value else f"error {status}"
        raise EmulationError(f"CUDA error: {words}")


def _call(name: str, *args) -> None:
    library = driver()
    _current_context()
    _check(library, getattr(library, name)(*args))


_thread = threading.local()


def _current_context() -> None:
    """Makes the primary context current in a thread that has none, as CUDA's runtime does."""
    if getattr(_thread, "ready", False):
        return
    library, context = driver(), ctypes.c_uint64()
    _check(library, library.cuCtxGetCurrent(ctypes.byref(context)))
    if not context.value:
        _check(library, library.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
        _check(library, library.cuCtxSetCurrent(context))
    _thread.ready = True


def _attribute(number: int, device: int = 0) -> int:
    value = ctypes.c_int()
    _call("cuDeviceGetAttribute", ctypes.byref(value), number, device)
    return value.value


# --- Memory ----------------------------------------------------------------------------------------------------------

_lent: dict[int, int] = {}
_lent_lock = threading.Lock()


def _give_back(address: int, size: int) -> None:
    with _lent_lock:
        if _lent.get(address) == size:
            del _lent[address]
            driver().tilecEmulateReturn(address)


def _lend(tensor) -> None:
    """Lets kernels use a tensor's storage for as long as it exists."""
    storage = tensor.untyped_storage()
    address, size = storage.data_ptr(), storage.nbytes()
    if not size:
        return
    with _lent_lock:
        if _lent.get(address) == size:
            return
        _check(driver(), driver().tilecEmulateLend(address, size, None))
        for other in [a for a, n in _lent.items() if a < address + size and address < a + n]:
            del _lent[other]
        _lent[address] = size
    weakref.finalize(storage, _give_back, address, size)


class DeviceArray:
    """An array of the host's that kernels may use where it is, for as long as this object exists."""

    def __init__(self, array):
        interface = array.__array_interface__
        shape, size = interface["shape"], int(array.itemsize)
        strides = interface.get("strides") or array.strides
        steps = [(n - 1) * step for n, step in zip(shape, strides)]
        address, read_only = interface["data"]
        if any(n == 0 for n in shape):
            first, count = address, 0
        else:
            first = address + sum(step for step in steps if step < 0)
            count = sum(abs(step) for step in steps) + size
        #: the array itself
        self.array = array
        self.__cuda_array_interface__ = {
            "shape": shape,
            "strides": tuple(strides),
            "typestr": interface["typestr"],
            "data": (address, read_only),
            "version": 3,
        }
        if count:
            _check(driver(), driver().tilecEmulateLend(first, count, None))
            weakref.finalize(self, driver().tilecEmulateReturn, first)


def device_array(array) -> DeviceArray:
    """An array of NumPy's (or of anything with `__array_interface__`) as memory of the device.

    Its bytes stay where they are, so that what a kernel writes is in the array. The object has
    `__cuda_array_interface__`, which cuTile, Numba and others take."""
    return DeviceArray(array)


class _DLManagedTensor(ctypes.Structure):
    """The beginning of DLPack's structure."""

    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32)]


_DL_CPU, _DL_CUDA = 1, 2
_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_void_p
_capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


def _as_cuda(capsule):
    tensor = _DLManagedTensor.from_address(_capsule_pointer(capsule, b"dltensor"))
    if tensor.device_type == _DL_CPU:
        tensor.device_type, tensor.device_id = _DL_CUDA, 0
    return capsule


# --- torch.cuda ------------------------------------------------------------------------------------------------------


class Stream:
    """`torch.cuda.Stream`"""

    def __init__(self, device=None, priority=0, *, handle=None, **_):
        self.device_index = 0
        if handle is None:
            made = ctypes.c_uint64()
            _call("cuStreamCreateWithPriority", ctypes.byref(made), _NON_BLOCKING, priority)
            handle = made.value
        self.cuda_stream = handle

    @property
    def device(self):
        import torch

        return torch.device("cuda", 0)

    def synchronize(self):
        _call("cuStreamSynchronize", ctypes.c_uint64(self.cuda_stream))

    def query(self):
        status = driver().cuStreamQuery(ctypes.c_uint64(self.cuda_stream))
        if status not in (0, _NOT_READY):
            _check(driver(), status)
        return status == 0

    def wait_event(self, event):
        _call("cuStreamWaitEvent", ctypes.c_uint64(self.cuda_stream), ctypes.c_uint64(event.cuda_event), 0)

    def wait_stream(self, stream):
        self.wait_event(stream.record_event())

    def record_event(self, event=None):
        event = event or Event()
        event.record(self)
        return event

    def __eq__(self, other):
        return isinstance(other, Stream) and other.cuda_stream == self.cuda_stream

    def __hash__(self):
        return hash(self.cuda_stream)


class Event:
    """`torch.cuda.Event`"""

    def __init__(self, enable_timing=False, blocking=False, interprocess=False, external=False):
        handle = ctypes.c_uint64()
        _call("cuEventCreate", ctypes.byref(handle), 0 if enable_timing else _DISABLE_TIMING)
        self.cuda_event = handle.value

    def record(self, stream=None):
        stream = stream or _current_stream()
        _call("cuEventRecord", ctypes.c_uint64(self.cuda_event), ctypes.c_uint64(stream.cuda_stream))

    def wait(self, stream=None):
        (stream or _current_stream()).wait_event(self)

    def query(self):
        return driver().cuEventQuery(ctypes.c_uint64(self.cuda_event)) == 0

    def synchronize(self):
        _call("cuEventSynchronize", ctypes.c_uint64(self.cuda_event))

    def elapsed_time(self, end):
        ms = ctypes.c_float()
        _call("cuEventElapsedTime_v2", ctypes.byref(ms), ctypes.c_uint64(self.cuda_event), ctypes.c_uint64(end.cuda_event))
        return ms.value


class CUDAGraph:
    """`torch.cuda.CUDAGraph`. What PyTorch computes by itself during a capture is computed once, and not replayed."""

    def __init__(self, keep_graph=False):
        self._executable = None

    def capture_begin(self, pool=None, capture_error_mode="global"):
        _call("cuStreamBeginCapture_v2", ctypes.c_uint64(_current_stream().cuda_stream), 0)

    def capture_end(self):
        graph, executable = ctypes.c_uint64(), ctypes.c_uint64()
        _call("cuStreamEndCapture", ctypes.c_uint64(_current_stream().cuda_stream), ctypes.byref(graph))
        _call("cuGraphInstantiateWithFlags", ctypes.byref(executable), graph, ctypes.c_uint64(0))
        _call("cuGraphDestroy", graph)
        self._executable = executable

    def replay(self):
        _call("cuGraphLaunch", self._executable, ctypes.c_uint64(_current_stream().cuda_stream))

    def reset(self):
        if self._executable is not None:
            _call("cuGraphExecDestroy", self._executable)
            self._executable = None

    def pool(self):
        return (0, 0)


_DEFAULT_STREAM = Stream(handle=0)


def _current_stream(device=None):
    _current_context()
    return getattr(_thread, "stream", _DEFAULT_STREAM)


def _set_stream(stream):
    _thread.stream = stream


@contextlib.contextmanager
def _stream(stream):
    before = _current_stream()
    if stream is not None:
        _set_stream(stream)
    try:
        yield
    finally:
        _set_stream(before)


class _Graph:
    """`torch.cuda.graph`"""

    def __init__(self, graph, pool=None, stream=None, capture_error_mode="global"):
        self._graph, self._stream = graph, stream

    def __enter__(self):
        self._context = _stream(self._stream or Stream())
        self._context.__enter__()
        self._graph.capture_begin()

    def __exit__(self, *exception):
        self._graph.capture_end()
        self._context.__exit__(*exception)


class _Device:
    """`torch.cuda.device`"""

    def __init__(self, device):
        self.idx = device

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return False


class Properties:
    """What `torch.cuda.get_device_properties` returns."""

    def __init__(self, device: int):
        name = ctypes.create_string_buffer(128)
        _call("cuDeviceGetName", name, len(name), device)
        memory = ctypes.c_uint64()
        _call("cuDeviceTotalMem_v2", ctypes.byref(memory), device)
        self.name = name.value.decode()
        self.major = _attribute(_COMPUTE_CAPABILITY_MAJOR, device)
        self.minor = _attribute(_COMPUTE_CAPABILITY_MINOR, device)
        self.total_memory = memory.value
        self.multi_processor_count = _attribute(_MULTIPROCESSOR_COUNT, device)
        self.L2_cache_size = _attribute(_L2_CACHE_SIZE, device)
        self.warp_size = _attribute(_WARP_SIZE, device)
        self.shared_memory_per_block_optin = _attribute(_SHARED_PER_BLOCK_OPTIN, device)
        self.shared_memory_per_multiprocessor = _attribute(_SHARED_PER_MULTIPROCESSOR, device)
        self.max_threads_per_multi_processor = _attribute(_THREADS_PER_MULTIPROCESSOR, device)
        self.regs_per_multiprocessor = _attribute(_REGISTERS_PER_MULTIPROCESSOR, device)


def _index(device) -> int:
    if isinstance(device, int):
        return device
    if isinstance(device, str):
        return int(device.partition(":")[2] or 0)
    return getattr(device, "index", None) or 0


def _device_count() -> int:
    count = ctypes.c_int()
    _call("cuDeviceGetCount", ctypes.byref(count))
    return count.value


def _synchronize(device=None):
    _call("cuCtxSynchronize")


def _capability(device=None):
    index = _index(device)
    return _attribute(_COMPUTE_CAPABILITY_MAJOR, index), _attribute(_COMPUTE_CAPABILITY_MINOR, index)


def _nothing():
    """A function that does nothing: for each name one of its own, which PyTorch's compiler asks for."""
    return lambda *_, **__: None


def _generator():
    import torch

    return torch.default_generator


_CUDA = {
    "is_available": lambda: True,
    "is_initialized": lambda: True,
    "init": _nothing(),
    "_lazy_init": _nothing(),
    "device_count": _device_count,
    "current_device": lambda: 0,
    "set_device": _nothing(),
    "device": _Device,
    "get_device_name": lambda device=None: Properties(_index(device)).name,
    "get_device_capability": _capability,
    "get_device_properties": lambda device=None: Properties(_index(device)),
    "synchronize": _synchronize,
    "current_stream": _current_stream,
    "default_stream": lambda device=None: _DEFAULT_STREAM,
    "set_stream": _set_stream,
    "stream": _stream,
    "Stream": Stream,
    "Event": Event,
    "CUDAGraph": CUDAGraph,
    "graph": _Graph,
    "is_current_stream_capturing": lambda: False,
    "empty_cache": _nothing(),
    # The CPU's generator makes the numbers.
    "manual_seed": lambda seed: _generator().manual_seed(seed),
    "manual_seed_all": lambda seed: _generator().manual_seed(seed),
    "initial_seed": lambda: _generator().initial_seed(),
    "get_rng_state": lambda device=None: _generator().get_state(),
    "set_rng_state": lambda state, device=None: _generator().set_state(state),
    "reset_peak_memory_stats": _nothing(),
    "memory_allocated": lambda device=None: sum(_lent.values()),
    "max_memory_allocated": lambda device=None: sum(_lent.values()),
}

# --- Devices ---------------------------------------------------------------------------------------------------------


def _is_cuda(device) -> bool:
    if isinstance(device, str):
        return device == "cuda" or device.startswith("cuda:")
    return getattr(device, "type", None) == "cuda"


def _is_ordinal(device) -> bool:
    """The number of an accelerator, which PyTorch takes where it takes a device."""
    return isinstance(device, int) and not isinstance(device, bool)


def _on_cpu(function, ordinal_at: int | None = None):
    """The function with the CPU in the place of every CUDA device among its arguments. `ordinal_at` is the position
    at which it takes a device's number, if there is one: elsewhere a number is a size."""

    @functools.wraps(function)
    def call(*args, **kwargs):
        if any(map(_is_cuda, args)):
            args = tuple("cpu" if _is_cuda(a) else a for a in args)
        if ordinal_at is not None and len(args) > ordinal_at and _is_ordinal(args[ordinal_at]):
            args = (*args[:ordinal_at], "cpu", *args[ordinal_at + 1 :])
        for name in ("device", "map_location"):
            device = kwargs.get(name)
            if _is_cuda(device) or _is_ordinal(device):
                kwargs[name] = "cpu"
        return function(*args, **kwargs)

    return call


# Functions of torch that take a device.
_FACTORIES = """
    arange as_tensor asarray bartlett_window blackman_window empty empty_like empty_permuted empty_strided eye full
    full_like hamming_window hann_window kaiser_window linspace logspace ones ones_like rand rand_like randint
    randint_like randn randn_like randperm range scalar_tensor sparse_coo_tensor tensor tril_indices triu_indices
    vander zeros zeros_like from_file load
""".split()
_METHODS = "new_empty new_empty_strided new_full new_ones new_tensor new_zeros".split()


def _product(function):
    """`torch.mm` or another product, with the type of the result that only its CUDA kernels take."""

    @functools.wraps(function)
    def call(*args, out_dtype=None, **kwargs):
        if out_dtype is None:
            return function(*args, **kwargs)
        import torch

        # CUDA's kernels add up halves and less in f32.
        wide = torch.promote_types(out_dtype, torch.float32) if out_dtype.is_floating_point else out_dtype
        return function(*(a.to(wide) for a in args), **kwargs).to(out_dtype)

    return call


def _generator_type(original):
    """A type that makes generators of `original`, on the CPU, and has them as its instances."""

    class Meta(type):
        def __instancecheck__(cls, instance):
            return isinstance(instance, original)

    class Generator(metaclass=Meta):
        def __new__(cls, device="cpu"):
            return original(device="cpu" if _is_cuda(device) else device)

    return Generator


def _asked_by_torch() -> bool:
    """Whether the caller's caller is one of PyTorch's own modules, which would look for CUDA's kernels."""
    asked_by = sys._getframe(2).f_globals.get("__name__", "")
    return asked_by.partition(".")[0] == "torch"


def _says_cuda(own, on_cuda) -> property:
    """An attribute of tensors that tells where they are, `on_cuda` to programs and what it is, `own`, to PyTorch: by
    `is_cuda` and `device.type`, programs refuse what is not on a GPU."""
    return property(lambda self: own.__get__(self) if _asked_by_torch() else on_cuda)


_replaced: list[tuple[object, str, object]] = []


def _replace(owner, name: str, value) -> None:
    if hasattr(owner, name):
        _replaced.append((owner, name, getattr(owner, name)))
        setattr(owner, name, value)


def _for_children() -> None:
    """Lets Python processes that this one starts do the same when they import torch (`_children/sitecustomize.py`)."""
    here = Path(__file__).resolve().parent
    path = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    for folder in (str(here.parent), str(here / "_children")):
        if folder not in path:
            path.insert(0, folder)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, path))
    os.environ["TILEC_EMULATE_TORCH"] = "1"


def install() -> None:
    """Maps device "cuda" of PyTorch to the CPU, in all of this process, until `uninstall`. Where there is no PyTorch, it
    makes the driver ready."""
    if _replaced:
        return
    driver()
    _current_context()
    try:
        import torch
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        return
    _for_children()
    for name in _FACTORIES:
        if hasattr(torch, name) and not isinstance(getattr(torch, name), type):
            _replace(torch, name, _on_cpu(getattr(torch, name)))
    # Operators called by their own names: `torch.ops.aten.full.default(…, device="cuda")`.
    for kind in (torch._ops.OpOverload, torch._ops.OpOverloadPacket):
        _replace(kind, "__call__", _on_cpu(kind.__call__))
    for name in _METHODS:
        _replace(torch.Tensor, name, _on_cpu(getattr(torch.Tensor, name)))
    for owner in (torch.Tensor, torch.nn.Module):
        _replace(owner, "to", _on_cpu(owner.to, ordinal_at=1))
    _replace(torch, "set_default_device", _on_cpu(torch.set_default_device, ordinal_at=0))
    # `with torch.device("cuda"):`
    from torch.utils._device import DeviceContext

    _replace(DeviceContext, "__init__", _on_cpu(DeviceContext.__init__, ordinal_at=1))
    _replace(torch.nn.Module, "cuda", lambda self, device=None: self)
    _replace(torch.Tensor, "cuda", lambda self, *_, **__: self)
    _replace(torch.Tensor, "pin_memory", lambda self, *_: self)
    device = torch.Tensor.device
    get_device = torch.Tensor.get_device

    def is_on_cpu(tensor) -> bool:
        return device.__get__(tensor).type == "cpu"

    _replace(torch.Tensor, "is_cuda", _says_cuda(torch.Tensor.is_cuda, True))
    _replace(torch.Tensor, "device", _says_cuda(device, torch.device("cuda", 0)))
    _replace(torch.Tensor, "get_device", lambda self: get_device(self) if _asked_by_torch() else 0)
    for name in ("mm", "bmm", "addmm", "baddbmm"):
        _replace(torch, name, _product(getattr(torch, name)))
    _replace(torch, "Generator", _generator_type(torch.Generator))
    for name, value in _CUDA.items():
        _replace(torch.cuda, name, value)
    to_dlpack, dlpack = torch._C._to_dlpack, torch.Tensor.__dlpack__
    data_ptr = torch.Tensor.data_ptr

    def address(self):
        if is_on_cpu(self):
            _lend(self)
        return data_ptr(self)

    # Programs that launch by themselves pass this as an argument.
    _replace(torch.Tensor, "data_ptr", address)

    def export(tensor, *args, **kwargs):
        capsule = to_dlpack(tensor, *args, **kwargs)
        if is_on_cpu(tensor):
            _lend(tensor)
            _current_context()
            _as_cuda(capsule)
        return capsule

    def export_method(self, **kwargs):
        kwargs.pop("stream", None)
        capsule = dlpack(self, **kwargs)
        if is_on_cpu(self) and kwargs.get("max_version") is None:
            _lend(self)
            _as_cuda(capsule)
        return capsule

    _replace(torch._C, "_to_dlpack", export)
    _replace(torch.Tensor, "__dlpack__", export_method)
    _replace(torch.Tensor, "__dlpack_device__", lambda self: (_DL_CUDA, 0))


def uninstall() -> None:
    """Undoes `install`."""
    while _replaced:
        owner, name, value = _replaced.pop()
        setattr(owner, name, value)


def _settings(gpu_name: str | None, engine: str | None, checks: bool, log: str | None) -> None:
    """Options for the driver, which reads them from the environment when it is loaded."""
    options = {"GPU": gpu_name, "ENGINE": engine, "CHECKS": "1" if checks else None, "LOG": log}
    for name, value in options.items():
        if value is not None:
            os.environ[f"TILEC_EMULATE_{name}"] = value


@contextlib.contextmanager
def emulated(gpu_name: str | None = None, *, engine: str | None = None, checks: bool = False, log: str | None = None):
    """Device "cuda" is the CPU in the body; `gpu_name` and the others count the first time."""
    _settings(gpu_name, engine, checks, log)
    install()
    try:
        yield
    finally:
        uninstall()


# --- pytest, and the command line ------------------------------------------------------------------------------------


def pytest_load_initial_conftests() -> None:
    """`pytest -p tilec.emulate`: before any `conftest.py`, which may ask PyTorch for its device."""
    install()


def main(argv: list[str] | None = None) -> None:
    """`python -m tilec.emulate [OPTIONS] script.py ARG …`"""
    import argparse

    parser = argparse.ArgumentParser(prog="python -m tilec.emulate", description=__doc__.splitlines()[0])
    parser.add_argument("--gpu-name", help="the GPU to emulate, such as sm_90a")
    parser.add_argument("--engine", choices=["sim", "eval"], help="what runs Tile IR kernels")
    parser.add_argument("--checks", action="store_true", help="look for races and uninitialised reads")
    parser.add_argument("--log", help="file for a line per call of the driver")
    parser.add_argument("script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args(argv)
    _settings(options.gpu_name, options.engine, options.checks, options.log)
    sys.argv = [options.script, *options.arguments]
    sys.path.insert(0, str(Path(options.script).resolve().parent))
    install()
    runpy.run_path(options.script, run_name="__main__")


if __name__ == "__main__":
    # Under its own name: what is imported later must find the same state.
    from tilec import emulate

    emulate.main()
