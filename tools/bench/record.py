"""A pytest plugin that runs TileGym's tests with no GPU and keeps what they would launch.

Tensors on "cuda" are CPU tensors that say they are on CUDA; kernels are not run. A launch of
cuTile Python leaves the kernel's signature, as just-in-time compilation would have it (types,
constants, alignments); a launch of CUDA Tile C++ leaves the template's instance. At the end of
the session the chosen ones become bytecode, or lines of instances.json for nvcc.

RECORD_OUT is the folder to write to, RECORD_EACH how many launches of a kernel to keep,
RECORD_SECONDS how long a test may take.
"""

import collections
import ctypes
import hashlib
import json
import os
import re
import signal
import types
from pathlib import Path

import pytest
import torch
from torch.overrides import TorchFunctionMode

OUT = Path(os.environ["RECORD_OUT"])
EACH = int(os.environ.get("RECORD_EACH", "4"))
SECONDS = int(os.environ.get("RECORD_SECONDS", "10"))
CAPABILITY = (9, 0)
LARGE = 1 << 20  # elements: larger tensors are never filled
DLPACK_CUDA = 2


class Anything:
    """Streams, events, device contexts: they do nothing."""

    cuda_stream = 0

    def __init__(self, *_args, **_keywords):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_args):
        pass

    def elapsed_time(self, _other):
        return 1.0

    def nothing(self, *_args, **_keywords):
        pass

    record = synchronize = wait = wait_event = wait_stream = nothing


def pretend_cuda() -> None:
    properties = types.SimpleNamespace(
        name="recorder", major=CAPABILITY[0], minor=CAPABILITY[1], multi_processor_count=132, warp_size=32,
        total_memory=80 << 30, L2_cache_size=50 << 20, shared_memory_per_block_optin=232448,
        shared_memory_per_multiprocessor=233472, regs_per_multiprocessor=65536,
        max_threads_per_multi_processor=2048,
    )  # fmt: skip
    answers = {
        "is_available": True, "device_count": 1, "current_device": 0, "get_device_capability": CAPABILITY,
        "get_device_properties": properties, "get_device_name": properties.name, "is_bf16_supported": True,
        "mem_get_info": (60 << 30, 80 << 30), "memory_allocated": 0, "max_memory_allocated": 0,
        "current_stream": Anything(), "default_stream": Anything(),
        **dict.fromkeys(("synchronize", "empty_cache", "manual_seed", "manual_seed_all", "init", "set_device")),
    }  # fmt: skip
    for name, answer in answers.items():
        setattr(torch.cuda, name, lambda *_a, _answer=answer, **_k: _answer)
    torch.cuda.Stream = torch.cuda.Event = torch.cuda.device = torch.cuda.stream = Anything
    torch.Tensor.is_cuda = property(lambda _self: True)
    torch.Tensor.cuda = lambda self, *_a, **_k: self
    torch.Generator = type("Generator", (), {"__new__": lambda _cls, device=None, _made=torch.Generator: _made()})
    for name in FACTORIES:
        setattr(torch, name, factory(getattr(torch, name)))
    OnCpu().__enter__()


FACTORIES = ["randn", "rand", "zeros", "ones", "empty", "full", "randint", "arange", "tensor", "empty_strided",
             "randperm", "linspace", "as_tensor", "eye"]  # fmt: skip
FILLED = {"randn", "rand", "zeros", "ones", "full", "randint"}
EMPTY, ZEROS = torch.empty, torch.zeros


def on_cpu(value):
    return torch.device("cpu") if str(value).startswith("cuda") and isinstance(value, str | torch.device) else value


def factory(function):
    """The same on the CPU; large tensors are left as the allocator gives them, indices zero."""

    def make(*args, **keywords):
        keywords.pop("generator", None)
        if "device" in keywords:
            keywords["device"] = on_cpu(keywords["device"])
        if function.__name__ in FILLED:
            shape = keywords.get("size", args)
            if function.__name__ in ("full", "randint") and "size" not in keywords:
                shape = args[0] if function.__name__ == "full" else args[-1]
            shape = (shape,) if isinstance(shape, int) else shape
            shape = torch.Size(shape[0] if shape and isinstance(shape[0], tuple | list) else shape)
            kept = {k: v for k, v in keywords.items() if k in ("dtype", "requires_grad")}
            if shape.numel() > LARGE and function.__name__ == "randint":
                return ZEROS(shape, **{"dtype": torch.int64, **kept})
            if shape.numel() > LARGE:
                return EMPTY(shape, **kept)
        return function(*args, **keywords)

    make.__name__ = function.__name__
    return make


class OnCpu(TorchFunctionMode):
    def __torch_function__(self, function, _types, args=(), kwargs=None):
        keywords = {k: on_cpu(v) for k, v in (kwargs or {}).items() if k != "generator"}
        name = getattr(function, "__name__", "")
        if args and isinstance(args[0], torch.Tensor) and args[0].numel() > LARGE:
            if name in ("normal_", "uniform_", "random_", "fill_", "zero_"):
                return args[0]
            if name in ("randn_like", "rand_like", "ones_like", "zeros_like", "full_like"):
                return torch.empty_like(args[0], **{k: v for k, v in keywords.items() if k == "dtype"})
        if name == "to":
            args = tuple(map(on_cpu, args))
        return function(*args, **keywords)


pretend_cuda()

import cuda.tile as ct  # noqa: E402 - torch must look like CUDA's before anything asks it
from cuda.tile import tune  # noqa: E402
from cuda.tile.compilation import CallingConvention, KernelSignature, export_kernel  # noqa: E402

capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
capsule_pointer.restype = ctypes.c_void_p
capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


class Exported:
    """A tensor whose DLPack capsule says that it is on CUDA device 0."""

    def __init__(self, tensor):
        self.tensor = tensor.detach()

    def __dlpack__(self, **_keywords):
        capsule = self.tensor.__dlpack__()
        device = capsule_pointer(capsule, b"dltensor") + ctypes.sizeof(ctypes.c_void_p)
        ctypes.cast(device, ctypes.POINTER(ctypes.c_int32))[0] = DLPACK_CUDA
        return capsule

    def __dlpack_device__(self):
        return (DLPACK_CUDA, 0)


def exported(value):
    if isinstance(value, torch.Tensor):
        return Exported(value)
    return type(value)(map(exported, value)) if type(value) in (list, tuple) else value


LAUNCHES: dict[tuple, dict] = {}  # kernel → signature and hints → what to export
INSTANCES: dict[str, dict] = {}  # source and kernel → instances


def keep(kernel, args) -> None:
    function = kernel._annotated_function.pyfunc
    for convention in (CallingConvention.cutile_python_v1, CallingConvention.cutile_python_v2):
        try:
            signature = KernelSignature.from_kernel_args(kernel, tuple(map(exported, args)), convention())
            break
        except ValueError as error:
            if "calling convention" not in str(error):
                raise
    key = repr(kernel._compiler_options) + repr(signature.parameters)
    LAUNCHES.setdefault((function.__module__, function.__qualname__), {}).setdefault(key, (kernel, signature))


def search(space, _stream, _grid, kernel, args, hints=None, **_keywords):
    """Keeps what each configuration would launch; the first is the best."""
    space = list(space)
    for configuration in space:
        tuned = kernel if isinstance(kernel, ct.kernel) else kernel(configuration)
        keep(tuned.replace_hints(**hints(configuration)) if hints else tuned, args(configuration))
    best = types.SimpleNamespace(config=space[0], mean_us=1.0)
    return types.SimpleNamespace(best=best, successes=[best], failures=[], summary=lambda *_a, **_k: "")


ct.launch = lambda _stream, _grid, kernel, args, *_a, **_k: keep(kernel, args)
tune.exhaustive_search = search


def record_cpp() -> None:
    from tilegym.ops.tilecpp.utils import _cuda_utils as tilecpp

    def get_kernel(self, dtype, template_params, signature):
        cpp_type, convert = tilecpp.get_dtype_info(dtype)
        words = [str(p).lower() if isinstance(p, bool) else str(p) for p in template_params]
        arguments = ", ".join([cpp_type, *words])
        parameters = signature.replace("{T}", cpp_type)
        instance = f"template __tile_global__ void {self.kernel_name}<{arguments}>({parameters});"
        INSTANCES.setdefault(f"{self.source_path}|{self.kernel_name}", {})[instance] = None
        return None, self.kernel_name, convert

    tilecpp.TileCppKernel.get_kernel = get_kernel
    tilecpp.TileCppKernel.launch = lambda *_a, **_k: None
    tilecpp._get_current_device_arch = lambda: CAPABILITY[0] * 10 + CAPABILITY[1]


def chosen(launches):
    """At most EACH: of each combination of element types and flags first, the largest tiles of them."""

    def tile(launch):
        sizes = [getattr(p, "value", None) for p in launch[1].parameters]
        return sum(x.bit_length() for x in sizes if type(x) is int and 16 <= x <= 256)

    def kind(launch):
        values = [getattr(p, "value", None) for p in launch[1].parameters]
        dtypes = [p.dtype.name for p in launch[1].parameters if hasattr(p, "ndim")]
        return (tuple(dtypes), tuple(v for v in values if isinstance(v, bool)))

    rest, seen = sorted(launches, key=tile, reverse=True), collections.Counter()
    while rest and seen.total() < EACH:
        launch = min(rest, key=lambda one: seen[kind(one)])
        rest.remove(launch)
        seen[kind(launch)] += 1
        yield launch


def export(kernel, signature, file: Path) -> None:
    """Bytecode of a kernel; of one with types that sm_90 has not, such as scales of eight bits, for sm_100."""
    for gpu, version in (("sm_90", "13.3"), ("sm_100", "13.4")):
        try:
            export_kernel(
                kernel, [signature], file, gpu_code=gpu,
                output_format="tileir_bytecode", bytecode_version=version,
            )  # fmt: skip
            return
        except ct.TileUnsupportedFeatureError as error:
            refused = error
    raise refused


def write() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    for (module, name), launches in LAUNCHES.items():
        for kernel, signature in chosen(launches.values()):
            dtypes = dict.fromkeys(p.dtype.name for p in signature.parameters if hasattr(p, "ndim"))
            key = hashlib.sha256((repr(kernel._compiler_options) + repr(signature.parameters)).encode())
            words = ["py", module.split(".")[-1], name.strip("_"), "_".join(dtypes), key.hexdigest()[:5]]
            file = OUT / f"{'-'.join(words)}.tilebc"
            try:
                export(kernel, signature, file)
            except ct.TileError as error:  # the wrapper's own mistake, such as an element type the kernel does not take
                print(f"{file.stem}: {error}")
    file = OUT / "instances.json"
    before = json.loads(file.read_text()) if file.exists() else {}
    for key, instances in INSTANCES.items():
        before[key] = sorted({*before.get(key, []), *instances})
    file.write_text(json.dumps(before, indent=1))
    print(f"{len(LAUNCHES)} kernels of cuTile Python and {len(INSTANCES)} of CUDA Tile C++ were launched")


def expired(*_args):
    raise TimeoutError(f"the test took longer than {SECONDS} s")


signal.signal(signal.SIGALRM, expired)


def pytest_collection_modifyitems(items):
    record_cpp()
    from tests import common

    def run_only(_self, test_fn, _ref_fn, kwargs, extra_test_kwargs=None, _extra=None, gradient=None, **_keywords):
        """No reference, no comparison: the function, and its gradient."""
        given = {k: v.tensor if isinstance(v, common.TestParam) else v for k, v in kwargs.items()}
        out = test_fn(**given, **(extra_test_kwargs or {}))
        first = out[0] if isinstance(out, tuple | list) else out
        if isinstance(first, torch.Tensor) and first.requires_grad:
            first.backward(gradient if isinstance(gradient, torch.Tensor) else torch.ones_like(first))

    common.PyTestCase.assertCorrectness = run_only
    common.benchmark = lambda function, *_a, **_k: function() and {}
    other = re.compile(r"[\[-](pytorch|torch|triton|cutile[-_]rs)[-\]]")
    items[:] = [i for i in items if not other.search(i.nodeid)]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    signal.alarm(SECONDS)
    try:
        return (yield)
    finally:
        signal.alarm(0)


def pytest_sessionfinish():
    write()
