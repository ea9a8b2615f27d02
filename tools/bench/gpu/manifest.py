"""Numbers of the launch manifest (docs/launch.md) that depend on a launch's arguments. Needs nothing else."""


def evaluate(expression, values: list) -> int:
    """A number of the manifest, given the entry's arguments."""
    match expression:
        case {"param": i}:
            return int(values[i])
        case {"mul": [a, b]}:
            return evaluate(a, values) * evaluate(b, values)
        case {"add": [a, b]}:
            return evaluate(a, values) + evaluate(b, values)
        case {"sub": [a, b]}:
            return evaluate(a, values) - evaluate(b, values)
        case {"ceildiv": [a, b]}:
            return -(-evaluate(a, values) // evaluate(b, values))
        case int():
            return expression
    raise ValueError(f"the manifest has {expression}")


def extents(recipe: dict, values: list) -> tuple[list[int], list[int], int]:
    """Dimensions, strides in bytes and the offset of a tensor map's recipe; no tensor map has an empty dimension."""
    dims, strides = ([evaluate(e, values) for e in recipe[name]] for name in ("dims", "strides_bytes"))
    return [max(d, 1) for d in dims], strides, evaluate(recipe.get("base_offset") or 0, values)
