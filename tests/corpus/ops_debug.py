"""Debug information: every kind of scope and location, and odd strings."""

import numpy as np

from emit import Entry, Module, Tile
from kernel import given, pointer, wanted
from numerics import Run

N = 16


def scopes(table):
    """The scopes of `scoped`, and the location of the function itself."""
    file = table.file("scopes.py", "some/folder")
    kernel = table.subprogram(file, 10, "scoped", "scoped", table.compile_unit(file), 11)
    return file, kernel, table.loc(kernel, "scopes.py", 10, 0)


def scoped(b, x, y):
    """Locations in a subprogram, in blocks nested in it, and through calls."""
    table = b.debug_table
    file, kernel, _ = scopes(table)
    other = table.file('größe "1".py', "")
    helper = table.subprogram(other, 3, "helper", "_helper", table.compile_unit(file), 4)
    outer = table.lexical_block(kernel, file, 12, 4)
    inner = table.lexical_block(outer, other, 13, 8)
    call = table.loc(kernel, "scopes.py", 20, 1)
    chain = table.call_site(table.loc(helper, "helper.py", 5, 2), call)
    deeper = table.call_site(table.loc(helper, "helper.py", 6, 2), table.loc(inner, "scopes.py", 14, 2))

    with b.located(call):
        tile = b.load(x, (N,))
    with b.located(table.loc(outer, "scopes.py", 15, 0)):
        tile = b.like("AddF", tile, tile)
    with b.located(chain):
        tile = b.like("MulF", tile, tile)
    with b.located(deeper):
        tile = b.like("NegF", tile)
    # Back to no location at all.
    b.store(y, tile)


LARGE = 2**31 - 1


def far_away(table):
    """A line and a column as large as they get, and a name beyond ASCII."""
    file = table.file("a.py", "/")
    program = table.subprogram(file, LARGE, "ｎａｍｅ", "named", table.compile_unit(file), 1)
    return table.loc(program, "a.py", LARGE, LARGE)


def named(b, x, y):
    with b.located(far_away(b.debug_table)):
        b.store(y, b.load(x, (N,)))


POINTERS = (pointer("f32"),) * 2

CASES = [
    Module(
        "scopes",
        [
            Entry("scoped", POINTERS, scoped, location=lambda table: scopes(table)[2]),
            Entry("named", POINTERS, named, location=far_away),
        ],
    ),
    Module("empty", []),
    Module(
        "nothing",
        [
            Entry("nothing", (), lambda b: None),
            Entry("unused", (Tile("i64"), pointer("f16")), lambda b, *_: None),
        ],
    ),
]


def runs():
    x = np.random.default_rng(1).standard_normal(N).astype(np.float32)
    for entry, right in (("scoped", -(2 * x) * (2 * x)), ("named", x)):
        args = [given("x", "f32", x), wanted("y", "f32", right)]
        yield Run("scopes", entry, (1,), args, entry=entry)
    yield Run("nothing", "nothing", (3, 2), [], entry="nothing")
