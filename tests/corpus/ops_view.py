"""Views: partitions, strided and gather/scatter views, at ragged edges."""

import math

import numpy as np
from cuda.tile._bytecode.attribute import LoadStoreHints, make_load_store_hints
from cuda.tile._bytecode.encodings import MemoryOrderingSemantics as Order
from cuda.tile._bytecode.encodings import MemoryScope as Scope

import kernel
from emit import DYNAMIC, GatherScatterView, PaddingValue, PartitionView, StridedView, TensorView, Tile, Token
from formats import FLOATS
from kernel import Kernel, data, given, i32, pointer, scalar, wanted
from ops_convert import since
from ops_shape import TYPES
from values import storage, to_array

# The matrix of most cases: ragged in both dimensions, rows further apart than
# they are long.
ROWS, COLS, PITCH = 13, 21, 24
TILE = (8, 16)
GRID = (2, 2)  # tiles that cover it
PARAMETERS = (scalar("i32"),) * 3  # rows, columns, pitch
SIZES = [i32(ROWS), i32(COLS), i32(PITCH)]

PADDINGS = {
    "zero": (PaddingValue.Zero, 0.0),
    "neg_zero": (PaddingValue.NegZero, -0.0),
    "nan": (PaddingValue.Nan, math.nan),
    "pos_inf": (PaddingValue.PosInf, math.inf),
    "neg_inf": (PaddingValue.NegInf, -math.inf),
}


def matrix_view(b, base, rows, cols, pitch):
    type_ = TensorView(base.element.pointee, (DYNAMIC, DYNAMIC), (DYNAMIC, 1), base.element.kind)
    return b.op("MakeTensorView", type_, base=base, dynamicShape=[rows, cols], dynamicStrides=[pitch])


def partition(b, tensor, tile=TILE, dim_map=None, padding=PaddingValue.Missing):
    dim_map = tuple(range(len(tile))) if dim_map is None else dim_map
    return b.op("MakePartitionView", PartitionView(tile, tensor.type, dim_map, padding), tensor_view=tensor)


def block(b):
    i = Tile("i32")
    return b.op("GetTileBlockId", [i, i, i])


def load_view(b, view, index, **attributes):
    element = view.type.view.element
    return b.op("LoadViewTko", [Tile(element, view.type.tile), Token()], view=view, index=index, **attributes)[0]


def store_view(b, view, index, tile, **attributes):
    return b.op("StoreViewTko", Token(), view=view, index=index, tile=tile, **attributes)


def store_block(b, y, tile, number):
    """Stores the block's tile behind those of the blocks before it."""
    count = math.prod(tile.shape)
    start = b.like("MulI", number, b.i32(count))
    b.store(b.op("Offset", y.type, ptr=y, offset=start), tile)


def block_number(b, x, y):
    return b.like("AddI", b.like("MulI", x, b.i32(GRID[1])), y)


def matrix(t, rng):
    """The buffer: garbage behind each row's end."""
    return data(t, (ROWS, PITCH), rng)


def tiles_of(x, pad, tile, steps, grid):
    """The tiles of a matrix that is padded on: (block, row, column)."""
    out = []
    for i in range(grid[0]):
        for j in range(grid[1]):
            whole = np.full(tile, pad, x.dtype)
            part = x[i * steps[0] :, j * steps[1] :][: tile[0], : tile[1]]
            whole[: part.shape[0], : part.shape[1]] = part
            out.append(whole)
    return np.stack(out)


def pad_value(t, number):
    if t in FLOATS:
        return to_array(t, [FLOATS[t].encode(number)])[0]
    return np.zeros((), storage(t))[()]


def allowed(t, padding):
    """Zero at every type with one; the others where the type has that value."""
    if padding == "zero":
        return t != "f8E8M0FNU"
    if t not in FLOATS or not FLOATS[t].signed:
        return False
    return padding in ("neg_zero", "nan") or FLOATS[t].special == "ieee"


def padded_loads():
    for t in TYPES:
        for name, (padding, number) in PADDINGS.items():
            if not allowed(t, name):
                continue

            def fill(b, x, rows, cols, pitch, y, padding=padding):
                i, j, _ = block(b)
                view = partition(b, matrix_view(b, x, rows, cols, pitch), padding=padding)
                store_block(b, y, load_view(b, view, [i, j]), block_number(b, i, j))

            def arguments(rng, t=t, number=number):
                x = matrix(t, rng)
                answer = tiles_of(x[:, :COLS], pad_value(t, number), TILE, TILE, GRID)
                return [given("x", t, x), *SIZES, wanted("y", t, answer)]

            yield Kernel(f"load_{name}_{t}", (pointer(t), *PARAMETERS, pointer(t)), fill, arguments, since(t), GRID)


def masked_stores():
    for t in TYPES:

        def fill(b, x, y, rows, cols, pitch):
            i, j, _ = block(b)
            view = partition(b, matrix_view(b, y, rows, cols, pitch))
            start = b.like("MulI", block_number(b, i, j), b.i32(math.prod(TILE)))
            tile = b.load(b.op("Offset", x.type, ptr=x, offset=start), TILE)
            store_view(b, view, [i, j], tile)

        def arguments(rng, t=t):
            x = data(t, (4, *TILE), rng)
            before = matrix(t, rng)
            answer = before.copy()
            whole = np.block([[x[0], x[1]], [x[2], x[3]]])
            answer[:, :COLS] = whole[:ROWS, :COLS]
            return [given("x", t, x), wanted("y", t, answer, before=before), *SIZES]

        yield Kernel(f"store_{t}", (pointer(t), pointer(t), *PARAMETERS), fill, arguments, since(t), GRID)


def transposed():
    """dim_map: the tile's first dimension walks the matrix's columns."""

    def fill(b, x, rows, cols, pitch, y):
        i, j, _ = block(b)
        view = partition(b, matrix_view(b, x, rows, cols, pitch), (16, 8), (1, 0), PaddingValue.Zero)
        store_block(b, y, load_view(b, view, [i, j]), block_number(b, i, j))

    def arguments(rng):
        x = matrix("f32", rng)
        answer = tiles_of(x[:, :COLS].T, np.float32(0), (16, 8), (16, 8), GRID)
        return [given("x", "f32", x), *SIZES, wanted("y", "f32", answer)]

    return Kernel("load_transposed", (pointer("f32"), *PARAMETERS, pointer("f32")), fill, arguments, grid=GRID)


def of_rank(rank):
    """Static extents and strides, of ranks 1 and 3; the copy goes through views on both sides."""
    shape = {1: (100,), 3: (5, 6, 20)}[rank]
    tile = {1: (32,), 3: (2, 4, 16)}[rank]
    strides = tuple(np.array(np.empty(shape, np.int8).strides).tolist())
    grid = tuple(-(-n // t) for n, t in zip(shape, tile))

    def fill(b, x, y):
        index = list(block(b))[:rank]
        views = []
        for base in (x, y):
            type_ = TensorView("f16", shape, strides)
            tensor = b.op("MakeTensorView", type_, base=base, dynamicShape=[], dynamicStrides=[])
            views.append(partition(b, tensor, tile))
        store_view(b, views[1], index, load_view(b, views[0], index))

    def arguments(rng):
        x = data("f16", shape, rng)
        return [given("x", "f16", x), wanted("y", "f16", x)]

    return Kernel(f"copy_rank{rank}", (pointer("f16"),) * 2, fill, arguments, grid=grid)


def index_types():
    """Extents, strides and indices of other integer types."""
    for t in ("i8", "i16", "i64"):

        def fill(b, x, n, y, t=t):
            type_ = TensorView("f32", (DYNAMIC,), (1,))
            tensor = b.op("MakeTensorView", type_, base=x, dynamicShape=[n], dynamicStrides=[])
            view = partition(b, tensor, (32,), padding=PaddingValue.Zero)
            one = b.constant(Tile(t), (1).to_bytes(int(t[1:]) // 8, "little"))
            b.store(y, load_view(b, view, [one]))

        def arguments(rng, t=t):
            x = data("f32", (50,), rng)
            answer = np.zeros(32, np.float32)
            answer[:18] = x[32:]
            return [given("x", "f32", x), kernel.Scalar(t, 50), wanted("y", "f32", answer)]

        yield Kernel(f"index_{t}", (pointer("f32"), scalar(t), pointer("f32")), fill, arguments)


def attributes():
    """Orderings, scopes, hints and in-bounds promises on view accesses."""
    hints = make_load_store_hints({"sm_90": LoadStoreHints(latency=5, allow_tma=False)})
    for name, load, store, since_ in (
        ("hints", {"optimization_hints": hints}, {"optimization_hints": hints}, "13.1"),
        (
            "relaxed",
            {"memory_ordering_semantics": Order.RELAXED, "memory_scope": Scope.DEVICE},
            {"memory_ordering_semantics": Order.RELAXED, "memory_scope": Scope.DEVICE},
            "13.1",
        ),
        (
            "acquire_release",
            {"memory_ordering_semantics": Order.ACQUIRE, "memory_scope": Scope.SYS},
            {"memory_ordering_semantics": Order.RELEASE, "memory_scope": Scope.TL_BLK},
            "13.1",
        ),
        ("inbounds", {"inbounds": [True, True]}, {"inbounds": [True, True]}, "13.4"),
    ):

        def fill(b, x, y, rows, cols, pitch, load=load, store=store):
            source, target = (partition(b, matrix_view(b, p, rows, cols, pitch)) for p in (x, y))
            zero = b.i32(0)
            tile, token = b.op(
                "LoadViewTko",
                [Tile("f32", TILE), Token()],
                view=source,
                index=[zero, zero],
                token=b.token(),
                **load,
            )
            store_view(b, target, [zero, zero], tile, token=token, **store)

        def arguments(rng):
            x = matrix("f32", rng)
            answer = np.zeros_like(x)
            answer[: TILE[0], : TILE[1]] = x[: TILE[0], : TILE[1]]
            return [given("x", "f32", x), wanted("y", "f32", answer), *SIZES]

        yield Kernel(f"view_{name}", (pointer("f32"), pointer("f32"), *PARAMETERS), fill, arguments, since_)


def shapes():
    """get_tensor_shape and get_index_space_shape."""
    for t in ("i32", "i64"):

        def fill(b, x, rows, cols, pitch, y, t=t):
            tensor = matrix_view(b, x, rows, cols, pitch)
            views = [
                ("GetTensorShape", tensor),
                ("GetIndexSpaceShape", partition(b, tensor)),
                ("GetIndexSpaceShape", partition(b, tensor, (16, 8), (1, 0))),
            ]
            at = 0
            for name, view in views:
                for extent in b.op(name, [Tile(t), Tile(t)], src=view):
                    b.store(y, extent, start=at)
                    at += 1

        def arguments(rng, t=t):
            answer = np.array([ROWS, COLS, 2, 2, 2, 2], storage(t))
            return [given("x", "f32", matrix("f32", rng)), *SIZES, wanted("y", t, answer)]

        yield Kernel(f"shapes_{t}", (pointer("f32"), *PARAMETERS, pointer(t)), fill, arguments)


def strided(b, tensor, tile, steps, dim_map=(0, 1), padding=PaddingValue.Missing):
    return b.op("MakeStridedView", StridedView(tile, steps, tensor.type, dim_map, padding), tensor_view=tensor)


def strided_loads():
    """Tiles that overlap in one dimension and leave gaps in the other."""
    tile, steps, grid = (4, 8), (3, 9), (5, 3)

    def fill(b, x, rows, cols, pitch, y):
        i, j, _ = block(b)
        tensor = matrix_view(b, x, rows, cols, pitch)
        view = strided(b, tensor, tile, steps, padding=PaddingValue.Nan)
        number = b.like("AddI", b.like("MulI", i, b.i32(grid[1])), j)
        store_block(b, y, load_view(b, view, [i, j]), number)

    def arguments(rng):
        x = matrix("f32", rng)
        answer = tiles_of(x[:, :COLS], np.float32(np.nan), tile, steps, grid)
        return [given("x", "f32", x), *SIZES, wanted("y", "f32", answer)]

    return Kernel("strided_load", (pointer("f32"), *PARAMETERS, pointer("f32")), fill, arguments, "13.3", grid)


def strided_transposed():
    tile, steps, grid = (4, 8), (5, 3), (5, 5)

    def fill(b, x, rows, cols, pitch, y):
        i, j, _ = block(b)
        tensor = matrix_view(b, x, rows, cols, pitch)
        view = strided(b, tensor, tile, steps, (1, 0), PaddingValue.Zero)
        number = b.like("AddI", b.like("MulI", i, b.i32(grid[1])), j)
        store_block(b, y, load_view(b, view, [i, j]), number)

    def arguments(rng):
        x = matrix("f32", rng)
        answer = tiles_of(x[:, :COLS].T, np.float32(0), tile, steps, grid)
        return [given("x", "f32", x), *SIZES, wanted("y", "f32", answer)]

    return Kernel(
        "strided_load_transposed", (pointer("f32"), *PARAMETERS, pointer("f32")), fill, arguments, "13.3", grid
    )


def strided_store():
    """Tiles with gaps between them: the gaps stay."""
    tile, steps, grid = (4, 8), (5, 9), (3, 3)

    def fill(b, y, rows, cols, pitch):
        i, j, _ = block(b)
        view = strided(b, matrix_view(b, y, rows, cols, pitch), tile, steps)
        number = b.like("AddI", b.like("MulI", i, b.i32(grid[1])), j)
        store_view(b, view, [i, j], b.splat(number, tile))

    def arguments(rng):
        before = np.full((ROWS, PITCH), -1, np.int32)
        answer = before.copy()
        for i in range(grid[0]):
            for j in range(grid[1]):
                answer[:, :COLS][i * steps[0] :, j * steps[1] :][: tile[0], : tile[1]] = i * grid[1] + j
        return [wanted("y", "i32", answer, before=before), *SIZES]

    return Kernel("strided_store", (pointer("i32"), *PARAMETERS), fill, arguments, "13.3", grid)


def strided_shape():
    def fill(b, x, rows, cols, pitch, y):
        tensor = matrix_view(b, x, rows, cols, pitch)
        at = 0
        for view in (strided(b, tensor, (4, 8), (3, 9)), strided(b, tensor, (4, 8), (5, 3), (1, 0))):
            for extent in b.op("GetIndexSpaceShape", [Tile("i32"), Tile("i32")], src=view):
                b.store(y, extent, start=at)
                at += 1

    def arguments(rng):
        answer = np.array([5, 3, 5, 5], np.int32)
        return [given("x", "f32", matrix("f32", rng)), *SIZES, wanted("y", "i32", answer)]

    return Kernel("strided_shape", (pointer("f32"), *PARAMETERS, pointer("i32")), fill, arguments, "13.3")


def gathered(sparse, t="f32"):
    """Rows (or columns) picked one by one; what lies outside is padding. The
    other index counts elements."""
    tile = (8, 16)
    start = 7

    def fill(b, x, index, rows, cols, pitch, y):
        tensor = matrix_view(b, x, rows, cols, pitch)
        type_ = GatherScatterView(tile, tensor.type, sparse, PaddingValue.Zero)
        view = b.op("MakeGatherScatterView", type_, tensor_view=tensor)
        picked = b.load(index, (tile[sparse],))
        at = [picked, b.i32(start)] if sparse == 0 else [b.i32(start), picked]
        b.store(y, load_view(b, view, at))

    def arguments(rng):
        x = matrix(t, rng)
        extent = (ROWS, COLS)[sparse]
        index = rng.permutation(extent + 3)[: tile[sparse]].astype(np.int32)
        wide = np.zeros((ROWS + 20, COLS + 20), x.dtype)
        wide[:ROWS, :COLS] = x[:, :COLS]
        if sparse == 0:
            answer = wide[index][:, start : start + tile[1]]
        else:
            answer = wide[start : start + tile[0]][:, index]
        return [given("x", t, x), given("index", "i32", index), *SIZES, wanted("y", t, answer)]

    parameters = (pointer(t), pointer("i32"), *PARAMETERS, pointer(t))
    return Kernel(f"gather{sparse}_{t}", parameters, fill, arguments, "13.3")


def scattered(sparse):
    tile = (8, 16)
    start = 6

    def fill(b, x, index, y, rows, cols, pitch):
        tensor = matrix_view(b, y, rows, cols, pitch)
        view = b.op("MakeGatherScatterView", GatherScatterView(tile, tensor.type, sparse), tensor_view=tensor)
        picked = b.load(index, (tile[sparse],))
        at = [picked, b.i32(start)] if sparse == 0 else [b.i32(start), picked]
        store_view(b, view, at, b.load(x, tile))

    def arguments(rng):
        x = data("f32", tile, rng)
        extent = (ROWS, COLS)[sparse]
        index = rng.permutation(extent + 3)[: tile[sparse]].astype(np.int32)
        before = matrix("f32", rng)
        wide = np.zeros((ROWS + 20, COLS + 20), np.float32)
        wide[:ROWS, :COLS] = before[:, :COLS]
        if sparse == 0:
            wide[index, start : start + tile[1]] = x
        else:
            wide[start : start + tile[0], index] = x
        answer = before.copy()
        answer[:, :COLS] = wide[:ROWS, :COLS]
        return [given("x", "f32", x), given("index", "i32", index), wanted("y", "f32", answer, before=before), *SIZES]

    parameters = (pointer("f32"), pointer("i32"), pointer("f32"), *PARAMETERS)
    return Kernel(f"scatter{sparse}_f32", parameters, fill, arguments, "13.3")


def four_bits():
    """f4 has no pointers to elements: views alone reach it. Two elements lie
    in a byte, the first in its low half."""
    shape, tile = (4, 32), (4, 16)

    def fill(b, x, y):
        type_ = TensorView("f4E2M1FN", shape, (shape[1], 1))
        tensor = b.op("MakeTensorView", type_, base=x, dynamicShape=[], dynamicStrides=[])
        view = partition(b, tensor, tile)
        loaded = load_view(b, view, [b.i32(0), b.i32(1)])
        b.store(y, b.op("FToF", Tile("f32", tile), from_=loaded))

    def arguments(rng):
        bits = rng.integers(0, 16, shape)
        numbers = np.array([float(FLOATS["f4E2M1FN"].decode(int(n))) for n in bits.ravel()], np.float32)
        x = to_array("f4E2M1FN", bits.ravel().tolist()).view(np.uint8)
        answer = numbers.reshape(shape)[:, 16:]
        return [given("x", "f4E2M1FN", x), wanted("y", "f32", answer)]

    return Kernel("load_f4E2M1FN", (pointer("f4E2M1FN"), pointer("f32")), fill, arguments, "13.3")


GROUPS = {
    "partition_load": [*padded_loads(), transposed(), of_rank(1), of_rank(3), *index_types()],
    "partition_store": list(masked_stores()),
    "view_attributes": list(attributes()),
    "view_shapes": list(shapes()),
    "strided": [strided_loads(), strided_transposed(), strided_store(), strided_shape()],
    "gather_scatter": [gathered(0), gathered(1), gathered(0, "i32"), scattered(0), scattered(1)],
    "four_bits": [four_bits()],
}

CASES = [kernel.module(name, kernels) for name, kernels in GROUPS.items()]


def runs():
    return kernel.runs(GROUPS)
