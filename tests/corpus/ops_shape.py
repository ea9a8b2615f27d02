"""Operations that move elements: every one at every type that memory holds."""

import numpy as np

import kernel
from emit import Tile
from formats import FLOATS, INTS
from kernel import Kernel, data, given, i32, pointer, scalar, wanted
from ops_convert import since
from values import special_bits, to_array

TYPES = ["i1", "i8", "i16", "i32", "i64", *(t for t in FLOATS if t != "f4E2M1FN")]


def moves(name, t, shapes, result, emit, right, since_="13.1"):
    """Loads a tile of each shape, stores what `emit(body, *tiles)` gives;
    `right(*arrays)` says where the elements go."""

    def fill(b, *pointers):
        tiles = [b.load(p, shape) for p, shape in zip(pointers, shapes)]
        b.store(pointers[-1], emit(b, *tiles))

    def arguments(rng):
        arrays = [data(t, shape, rng) for shape in shapes]
        answer = right(*arrays)
        assert answer.shape == tuple(result)
        return [*(given(f"x{i}", t, a) for i, a in enumerate(arrays)), wanted("y", t, answer)]

    return Kernel(f"{name}_{t}", (pointer(t),) * (len(shapes) + 1), fill, arguments, since(t, at_least=since_))


def reshapes():
    for t in TYPES:
        yield moves(
            "reshape",
            t,
            [(4, 8, 16)],
            (64, 8),
            lambda b, x: b.op("Reshape", Tile(x.element, (64, 8)), source=x),
            lambda x: x.reshape(64, 8),
        )


def broadcasts():
    for t in TYPES:
        yield moves(
            "broadcast",
            t,
            [(1, 8, 1)],
            (4, 8, 16),
            lambda b, x: b.op("Broadcast", Tile(x.element, (4, 8, 16)), source=x),
            lambda x: np.broadcast_to(x, (4, 8, 16)),
        )


def permutes():
    for t in TYPES:
        for axes in ((2, 0, 1), (0, 2, 1)) if t in ("f16", "f32") else ((2, 0, 1),):
            shape = tuple((4, 8, 16)[a] for a in axes)
            name = "permute_" + "".join(map(str, axes))
            yield moves(
                name,
                t,
                [(4, 8, 16)],
                shape,
                lambda b, x, s=shape, axes=axes: b.op("Permute", Tile(x.element, s), source=x, permutation=list(axes)),
                lambda x, axes=axes: x.transpose(axes),
            )


def concatenations():
    for t in TYPES:
        for dim in (0, 1, 2):
            shape = tuple(n * 2 if i == dim else n for i, n in enumerate((4, 2, 8)))
            yield moves(
                f"cat{dim}",
                t,
                [(4, 2, 8), (4, 2, 8)],
                shape,
                lambda b, x, y, s=shape, dim=dim: b.op("Cat", Tile(x.element, s), lhs=x, rhs=y, dim=dim),
                lambda x, y, dim=dim: np.concatenate([x, y], dim),
            )


def slices():
    """extract and insert: the indices count slices, and are operands."""
    whole, part = (8, 16), (2, 4)
    for t in TYPES:
        for row, col in ((0, 0), (3, 1)):

            def cut(b, x, y, i, j):
                tile = b.load(x, whole)
                b.store(y, b.op("Extract", Tile(tile.element, part), source=tile, indices=[i, j]))

            def cut_arguments(rng, t=t, row=row, col=col):
                x = data(t, whole, rng)
                answer = x[row * 2 : row * 2 + 2, col * 4 : col * 4 + 4]
                return [given("x", t, x), wanted("y", t, answer), i32(row), i32(col)]

            name = f"{row}{col}_{t}"
            parameters = (pointer(t), pointer(t), scalar("i32"), scalar("i32"))
            yield Kernel(f"extract_{name}", parameters, cut, cut_arguments, since(t))

            def put(b, x, s, y, i, j):
                tile, small = b.load(x, whole), b.load(s, part)
                b.store(y, b.op("Insert", tile.type, source=small, destination=tile, indices=[i, j]))

            def put_arguments(rng, t=t, row=row, col=col):
                x, small = data(t, whole, rng), data(t, part, rng)
                answer = x.copy()
                answer[row * 2 : row * 2 + 2, col * 4 : col * 4 + 4] = small
                return [given("x", t, x), given("s", t, small), wanted("y", t, answer), i32(row), i32(col)]

            yield Kernel(f"insert_{name}", (pointer(t), *parameters), put, put_arguments, since(t, at_least="13.4"))


def constant_bytes(t, bits) -> bytes:
    """Elements as the constant section holds them: whole bytes each, i1 in bits."""
    if t == "i1":
        return np.packbits(np.array(bits, bool), bitorder="little").tobytes()
    width = INTS.get(t) or FLOATS[t].bits
    return b"".join(int(b).to_bytes(-(-width // 8), "little") for b in bits)


def constants():
    """Dense, splat and scalar constants of every type, stored as they are."""
    for t in [*TYPES, "f4E2M1FN"]:
        bits = (special_bits(t) * 16)[:16]
        splat = bits[-1]
        memory = "i8" if t == "f4E2M1FN" else t

        def stored(b, p, tile, t=t):
            if t == "f4E2M1FN":
                tile = b.op("Pack", Tile("i8", (tile.shape[0] // 2,)), source=tile)
            b.store(p, tile)

        def dense(b, p, t=t, bits=bits, stored=stored):
            stored(b, p, b.constant(Tile(t, (16,)), constant_bytes(t, bits)))

        def filled(b, p, t=t, splat=splat, stored=stored):
            # One bit splats as a whole byte of it.
            one = (b"\xff" if splat else b"\0") if t == "i1" else constant_bytes(t, [splat])
            stored(b, p, b.constant(Tile(t, (16,)), one))

        for name, fill, answer in (("dense", dense, bits), ("splat", filled, [splat] * 16)):
            yield Kernel(
                f"constant_{name}_{t}",
                (pointer(memory),),
                fill,
                lambda rng, t=t, memory=memory, answer=answer: [wanted("y", memory, to_array(t, answer))],
                since(t),
            )


def iotas():
    for t in ("i8", "i16", "i32", "i64"):
        yield Kernel(
            f"iota_{t}",
            (pointer(t),),
            lambda b, p, t=t: b.store(p, b.op("Iota", Tile(t, (128,)))),
            lambda rng, t=t: [wanted("y", t, np.arange(128).astype(t.replace("i", "int")))],
        )


GROUPS = {
    "reshape": list(reshapes()),
    "broadcast": list(broadcasts()),
    "permute": list(permutes()),
    "cat": list(concatenations()),
    "slice": list(slices()),
    "constant": list(constants()),
    "iota": list(iotas()),
}

CASES = [kernel.module(name, kernels) for name, kernels in GROUPS.items()]


def runs():
    return kernel.runs(GROUPS)
