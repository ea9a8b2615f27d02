"""cuTile Python's own path from a kernel to a cubin, with the tools in PATH; then its dump of the bytecode."""

import pathlib
import sys

import cuda.tile as ct
from cuda.tile import _compile
from cuda.tile.compilation import ArrayConstraint, KernelSignature, export_kernel

# Its first choice is NVIDIA's package, which this environment has.
_compile._find_pip_tileiras = lambda: None


@ct.kernel
def twice(x, y, n: ct.Constant[int]):
    tile = ct.load(x, index=(ct.bid(0),), shape=(n,))
    ct.store(y, index=(ct.bid(0),), tile=tile + tile)


out = pathlib.Path(sys.argv[1])
array = ArrayConstraint(
    ct.float32, 1, index_dtype=ct.int32, stride_lower_bound_incl=0, alias_groups=(), may_alias_internally=False
)
signature = KernelSignature([array, array, 256], ct.compilation.CallingConvention.cutile_python_v1())
print(_compile._find_compiler_bin().path)
print(_compile._get_max_supported_bytecode_version(str(out.parent)).as_string())
export_kernel(twice, [signature], out, gpu_code="sm_90", output_format="cubin")
export_kernel(twice, [signature], out.with_suffix(".bc"), gpu_code="sm_90", output_format="tileir_bytecode")
print(_compile._bytecode_to_mlir_text(out.with_suffix(".bc").read_bytes()))
