"""Kernels of cuTile Python: the signature that arguments have, and the bytecode for it."""

from __future__ import annotations

import io
from typing import Any

from ._arrays import Array, Memory, describe, is_array


def is_kernel(value: Any) -> bool:
    return hasattr(value, "_annotated_function") and hasattr(value, "_compiler_options")


def arrays_of(args: tuple[Any, ...], names: list[str]) -> list[Array]:
    return [describe(arg, name) for arg, name in zip(args, names) if is_array(arg)]


def parameters(kernel: Any) -> list[tuple[str, bool]]:
    """Name of each parameter, and whether it is a constant."""
    function = kernel._annotated_function
    nodes = function.parameter_annotations
    return [(name, _constant(node)) for name, node in zip(function.pysig.parameters, nodes)]


def _constant(node: Any) -> bool:
    if hasattr(node, "constant"):
        return bool(node.constant)
    items = node.items if hasattr(node, "items") else [node.each]
    return all(_constant(item) for item in items)


def signature(kernel: Any, args: tuple[Any, ...], memory: Memory) -> Any:
    """What `kernel` is compiled for when it is launched with `args`: assumptions hold in the memory that they get."""
    import cuda.tile as ct
    from cuda.tile.compilation import ArrayConstraint, CallingConvention, KernelSignature, ScalarConstraint

    known = parameters(kernel)
    if len(known) != len(args):
        raise TypeError(f"the kernel has {len(known)} parameters, {len(args)} arguments were given")
    constraints: list[Any] = []
    groups = iter(arrays_of(args, [name for name, _ in known]))
    for (name, constant), arg in zip(known, args):
        if constant:
            constraints.append(arg)
        elif is_array(arg):
            constraints.append(_array(ct, ArrayConstraint, next(groups), memory))
        elif isinstance(arg, bool):
            constraints.append(ScalarConstraint(ct.bool_))
        elif isinstance(arg, int):
            constraints.append(ScalarConstraint(ct.int32))
        elif isinstance(arg, float):
            constraints.append(ScalarConstraint(ct.float32))
        elif hasattr(arg, "dtype"):
            constraints.append(ScalarConstraint(_dtype(ct, arg.dtype.name, name)))
        else:
            raise TypeError(f"{name}: tilec cannot pass a {type(arg).__name__} to a kernel")
    return KernelSignature(constraints, CallingConvention.cutile_python_v1(), kernel._annotated_function.pyfunc.__name__)


def _dtype(ct: Any, dtype: str, name: str) -> Any:
    wanted = {"bool": "bool_"}.get(dtype, dtype)
    found = getattr(ct, wanted, None)
    if found is None:
        raise TypeError(f"{name} has elements of type {dtype}, which cuTile does not have")
    return found


def _array(ct: Any, constraint: Any, array: Array, memory: Memory) -> Any:
    step = max(1, 16 // array.itemsize)
    last = len(array.shape) - 1
    unit = [s == 1 and i == last for i, s in enumerate(array.strides)]
    wide = max([0, *(abs(x) for x in (*array.shape, *array.strides))]) >= 1 << 31
    shared = memory.shared(array)
    return constraint(
        _dtype(ct, array.dtype, array.name),
        len(array.shape),
        index_dtype=ct.int64 if wide else ct.int32,
        stride_lower_bound_incl=0 if all(s >= 0 for s in array.strides) else None,
        alias_groups=["shared"] if shared else [],
        may_alias_internally=any(s == 0 and n > 1 for s, n in zip(array.strides, array.shape)),
        stride_constant=[1 if one else None for one in unit],
        stride_divisible_by=[1 if one or s % step else step for one, s in zip(unit, array.strides)],
        shape_divisible_by=[step if n % step == 0 else 1 for n in array.shape],
        base_addr_divisible_by=memory.alignment(array),
    )


def bytecode(kernel: Any, sign: Any, gpu: str, version: str) -> bytes:
    """The bytecode that cuTile Python makes of a kernel; no part of NVIDIA's toolkit takes part."""
    from cuda.tile.compilation import export_kernel

    buffer = io.BytesIO()
    plain = gpu.rstrip("af")
    plain = "sm_80" if plain == "sm_75" else plain
    export_kernel(
        kernel, [sign], buffer, gpu_code=plain, output_format="tileir_bytecode", bytecode_version=version
    )
    return buffer.getvalue()


def flatten(args: tuple[Any, ...], constants: list[bool]) -> list[Any]:
    """The arguments of the compiled entry: an array is its address, extents and strides; a constant is none."""
    flat: list[Any] = []
    for i, (arg, constant) in enumerate(zip(args, constants)):
        if constant:
            continue
        if is_array(arg):
            array = describe(arg, f"argument {i}")
            flat += [arg, *array.shape, *array.strides]
        else:
            flat.append(arg)
    return flat
