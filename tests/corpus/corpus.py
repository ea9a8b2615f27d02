"""What every corpus file uses: a case, its array parameters, its bytecode."""

import io
from dataclasses import dataclass
from typing import Any

import cuda.tile as ct
from cuda.tile._bytecode.version import BytecodeVersion
from cuda.tile._compile import compile_tile
from cuda.tile.compilation import ArrayConstraint, CallingConvention, KernelSignature, export_kernel

HEADER = 12  # bytes of magic and version


@dataclass(frozen=True, eq=False)
class Case:
    """One bytecode file: a kernel and the parameters it is compiled for."""

    name: str
    kernel: Any
    parameters: list
    version: str  # bytecode version, "13.1" … "13.5"

    @property
    def entry(self) -> str:
        """The entry's name: the kernel's own, not a mangled one."""
        return self.kernel._annotated_function.pyfunc.__name__

    def files(self) -> dict[str, bytes]:
        return {f"{self.name}.tilebc": self.bytecode()}

    def bytecode(self) -> bytes:
        signature = KernelSignature(self.parameters, CallingConvention.cutile_python_v1(), self.entry)
        buffer = io.BytesIO()
        export_kernel(
            self.kernel,
            [signature],
            buffer,
            gpu_code="sm_90",
            output_format="tileir_bytecode",
            bytecode_version=self.version,
        )
        return buffer.getvalue()


@dataclass(frozen=True, eq=False)
class Program(Case):
    """A case in every bytecode version that can say it; `version` is the first.

    A file is left out where only its header tells it from the version before.
    """

    def files(self) -> dict[str, bytes]:
        made = {}
        previous = b""
        for version in BytecodeVersion:
            name = version.as_string()
            if name < self.version:
                continue
            data = self._compiled(version)
            if data[HEADER:] != previous[HEADER:]:
                made[f"{self.name}-{name}.tilebc"] = previous = data
        return made

    def _compiled(self, version: BytecodeVersion) -> bytes:
        # export_kernel refuses 13.5 by name, what lies below it does not.
        result = compile_tile(
            self.kernel._annotated_function,
            [KernelSignature(self.parameters, CallingConvention.cutile_python_v1(), self.entry)],
            sm_arch="sm_100",
            compiler_options=self.kernel._compiler_options,
            return_bytecode=True,
            return_cubin=False,
            bytecode_version=version,
        )
        return bytes(result.bytecode)


def array(dtype, ndim, *, aligned=True, whole=False) -> ArrayConstraint:
    """A row-major array that aliases no other.

    `aligned` promises a base address and row strides divisible by 16 bytes,
    as an allocator and a padded leading dimension give; `whole`, that rows are
    of whole 16 bytes, which tensor copies need to store them.
    """
    elements_in_16_bytes = 128 // dtype.bitwidth
    return ArrayConstraint(
        dtype,
        ndim,
        index_dtype=ct.int32,
        stride_lower_bound_incl=0,
        alias_groups=(),
        may_alias_internally=False,
        stride_constant=[None] * (ndim - 1) + [1],
        stride_divisible_by=[elements_in_16_bytes if aligned else 1] * (ndim - 1) + [1],
        shape_divisible_by=[1] * (ndim - 1) + [elements_in_16_bytes if whole else 1],
        base_addr_divisible_by=16 if aligned else dtype.bitwidth // 8,
    )
