"""Operators that move elements without computing."""

import numpy as np

from differential.registry import operator
from differential.values import FLOATS, dims_product, dims_sum, fixed, is_fixed, require

MOVED = (*FLOATS, "int32", "int64", "bool", "uint8", "int8", "str")


def moved(graph, **conditions):
    return graph.pick_or_new(MOVED, **conditions)


def emit_view(graph, name, x, inputs, shape, keeps_distinct=False, **attributes):
    """A node whose output has elements of x only."""
    return graph.emit(
        name, inputs, x.dtype, shape, x.low, x.high, x.exact, x.distinct and keeps_distinct, **attributes
    )


@operator("Identity", 0.3)
def identity(graph):
    x = moved(graph)
    emit_view(graph, "Identity", x, [x], x.shape, True)


@operator("Transpose", 1.5)
def transpose(graph):
    x = moved(graph, rank=range(1, 6))
    order = graph.random.sample(range(x.rank), x.rank)
    if graph.random.random() < 0.2:
        emit_view(graph, "Transpose", x, [x], x.shape[::-1], True)
    else:
        emit_view(graph, "Transpose", x, [x], [x.shape[i] for i in order], True, perm=order)


@operator("Reshape", 1.5)
def reshape(graph):
    x = moved(graph, nonempty=True)
    shape = regrouped(graph, list(x.shape))
    target = reshape_target(graph, x, shape)
    emit_view(graph, "Reshape", x, [x, graph.ints(*target)], shape, True)


def regrouped(graph, shape):
    """Some neighbouring dimensions merged, some fixed ones split, some ones added."""
    for _ in range(graph.random.randint(1, 2)):
        kind = graph.random.choice(("merge", "split", "one"))
        if kind == "merge" and len(shape) >= 2:
            at = graph.random.randrange(len(shape) - 1)
            shape[at : at + 2] = [dims_product(shape[at : at + 2])]
        elif kind == "split" and any(is_fixed(dim) and dim[0] in (4, 6, 8, 10, 12, 15) for dim in shape):
            at = next(i for i, dim in enumerate(shape) if is_fixed(dim) and dim[0] in (4, 6, 8, 10, 12, 15))
            factor = 3 if shape[at][0] == 15 else 2
            shape[at : at + 1] = [fixed(factor), fixed(shape[at][0] // factor)]
        elif len(shape) < 5:
            shape.insert(graph.random.randint(0, len(shape)), fixed(1))
    return shape


def reshape_target(graph, x, shape):
    """Numbers for Reshape: 0 copies the dimension at the same place, -1 stands for one other symbolic dimension."""
    target = []
    for axis, dim in enumerate(shape):
        copies = axis < x.rank and x.shape[axis] == dim
        if copies and (not is_fixed(dim) or graph.random.random() < 0.2):
            target.append(0)
        else:
            target.append(dim[0] if is_fixed(dim) else -1)
    require(target.count(-1) <= 1)
    if -1 not in target and target and graph.random.random() < 0.4:
        target[graph.random.randrange(len(target))] = -1
    return target


@operator("Reshape by computed shape", 1.2)
def reshape_by_computed_shape(graph):
    """Shape -> Gather -> Concat -> Reshape, as exporters write a flatten of the trailing dimensions."""
    x = moved(graph, rank=range(1, 5), nonempty=True)
    kept = graph.random.randint(1, x.rank)
    shape = graph.emit("Shape", [x], "int64", [fixed(x.rank)], 0, 1000, exact=True)
    parts = []
    for axis in range(kept):
        if graph.random.random() < 0.5:
            size = graph.emit("Gather", [shape, graph.scalar(axis, "int64")], "int64", [], 0, 1000, exact=True)
            parts.append(graph.emit("Unsqueeze", [size, graph.ints(0)], "int64", [fixed(1)], 0, 1000, exact=True))
        else:
            bounds = [graph.ints(axis), graph.ints(axis + 1), graph.ints(0)]
            parts.append(graph.emit("Slice", [shape, *bounds], "int64", [fixed(1)], 0, 1000, exact=True))
    parts.append(graph.ints(-1))
    target = graph.emit("Concat", parts, "int64", [fixed(kept + 1)], -1, 1000, exact=True, axis=0)
    emit_view(graph, "Reshape", x, [x, target], [*x.shape[:kept], dims_product(x.shape[kept:])], True)


@operator("Flatten", 0.4)
def flatten(graph):
    x = moved(graph, rank=range(1, 5))
    axis = graph.random.randint(0, x.rank)
    shape = [dims_product(x.shape[:axis]), dims_product(x.shape[axis:])]
    emit_view(graph, "Flatten", x, [x], shape, True, axis=axis)


@operator("Squeeze", 0.8)
def squeeze(graph):
    x = moved(graph, rank=range(1, 6))
    ones = [axis for axis, dim in enumerate(x.shape) if dim == fixed(1)]
    require(ones)
    axes = graph.random.sample(ones, graph.random.randint(1, len(ones)))
    shape = [dim for axis, dim in enumerate(x.shape) if axis not in axes]
    emit_view(graph, "Squeeze", x, [x, graph.ints(*axes)], shape, True)


@operator("Unsqueeze", 0.8)
def unsqueeze(graph):
    x = moved(graph, rank=range(0, 4))
    axis = graph.random.randint(0, x.rank)
    shape = [*x.shape[:axis], fixed(1), *x.shape[axis:]]
    shown = axis - len(shape) if graph.random.random() < 0.3 else axis
    emit_view(graph, "Unsqueeze", x, [x, graph.ints(shown)], shape, True)


@operator("Expand", 0.8)
def expand(graph):
    x = graph.pick_or_new((*FLOATS, "int32", "int64", "bool", "uint8"))
    shape = [fixed(graph.random.choice((2, 3))) if dim == fixed(1) and graph.random.random() < 0.6 else dim for dim in x.shape]
    shape = [fixed(2)] * graph.random.randint(0, 1) + shape
    # A symbolic dimension stays as it is when the target says 1.
    target = [dim[0] if is_fixed(dim) else 1 for dim in shape]
    emit_view(graph, "Expand", x, [x, graph.ints(*target)], shape)


@operator("Expand to another's shape", 0.6)
def expand_like(graph):
    y = graph.pick_or_new((*FLOATS, "int64"))
    x = graph.fresh(graph.random.choice(("float32", "int64")), graph.broadcastable(y.shape))
    shape = graph.emit("Shape", [y], "int64", [fixed(y.rank)], 0, 1000, exact=True)
    emit_view(graph, "Expand", x, [x, shape], y.shape)


@operator("Slice", 1.5)
def slice_(graph):
    x = moved(graph, rank=range(1, 6))
    axes = graph.random.sample(range(x.rank), graph.random.randint(1, min(2, x.rank)))
    starts, ends, steps, shape = [], [], [], list(x.shape)
    for axis in axes:
        start = graph.random.randint(0, 2)
        step = graph.random.choice((1, 1, 2, -1))
        if step == -1:
            start, end = -1, -(2**62)
            sizes = x.shape[axis]
        else:
            end = graph.random.choice((2**62, 3, -1))
            sizes = tuple(len(range(*slice(start, end, step).indices(size))) for size in x.shape[axis])
        require(graph.allow_empty or min(sizes) > 0)
        starts.append(start), ends.append(end), steps.append(step)
        shape[axis] = sizes
    inputs = [x, graph.ints(*starts), graph.ints(*ends), graph.ints(*axes), graph.ints(*steps)]
    emit_view(graph, "Slice", x, inputs, shape, True)


@operator("Concat", 1.5)
def concat(graph):
    x = moved(graph, rank=range(1, 5))
    axis = graph.random.randrange(x.rank)

    def joins(other):
        return other.dtype == x.dtype and other.rank == x.rank and all(
            a == b for i, (a, b) in enumerate(zip(x.shape, other.shape)) if i != axis
        )

    values = [x] + [graph.pick(joins) for _ in range(graph.random.randint(1, 2))]
    if graph.random.random() < 0.4:
        new_dim = fixed(graph.random.randint(1, 3))
        values.append(graph.fresh(x.dtype, (*x.shape[:axis], new_dim, *x.shape[axis + 1 :])))
    graph.random.shuffle(values)
    shape = [*x.shape[:axis], dims_sum(*(v.shape[axis] for v in values)), *x.shape[axis + 1 :]]
    bounds = min(v.low for v in values), max(v.high for v in values)
    graph.emit("Concat", values, x.dtype, shape, *bounds, exact=all(v.exact for v in values),
               axis=axis if graph.random.random() < 0.7 else axis - x.rank)


@operator("Split", 1)
def split(graph):
    x = moved(graph, rank=range(1, 5))
    axes = [axis for axis, dim in enumerate(x.shape) if is_fixed(dim) and dim[0] >= 2]
    require(axes)
    axis = graph.random.choice(axes)
    size = x.shape[axis][0]
    first = graph.random.randint(1, size - 1)
    sizes, inputs, attributes = [first, size - first], [x, graph.ints(first, size - first)], {}
    if graph.opset >= 18 and graph.random.random() < 0.4:
        half = -(-size // 2)
        sizes, inputs, attributes = [half, size - half], [x], {"num_outputs": 2}
    outputs = [
        graph.new_value(x.dtype, [*x.shape[:axis], fixed(part), *x.shape[axis + 1 :]], x.low, x.high, x.exact, x.distinct)
        for part in sizes
    ]
    graph.node("Split", inputs, outputs, axis=axis, **attributes)


@operator("Pad", 1)
def pad(graph):
    x = graph.pick_or_new((*FLOATS, "int32", "int64", "uint8"), rank=range(1, 5), nonempty=True)
    mode = graph.random.choice(("constant", "constant", "edge", "reflect"))
    most = 2 if mode != "reflect" else min(min(dim) for dim in x.shape) - 1
    before = [graph.random.randint(0, min(2, most)) for _ in x.shape]
    after = [graph.random.randint(0, min(2, most)) for _ in x.shape]
    shape = [tuple(size + a + b for size in dim) for dim, a, b in zip(x.shape, before, after)]
    inputs, low, high = [x, graph.ints(*before, *after)], x.low, x.high
    if mode == "constant":
        low, high = min(low, 0), max(high, 3)
        if graph.random.random() < 0.5:
            inputs.append(graph.scalar(3, x.dtype))
    graph.emit("Pad", inputs, x.dtype, shape, low, high, exact=x.exact, mode=mode)


@operator("Tile", 0.6)
def tile(graph):
    x = graph.pick_or_new((*FLOATS, "int32", "int64", "bool", "uint8"), rank=range(1, 4))
    repeats = [graph.random.choice((1, 2, 3)) for _ in x.shape]
    shape = [tuple(size * r for size in dim) for dim, r in zip(x.shape, repeats)]
    emit_view(graph, "Tile", x, [x, graph.ints(*repeats)], shape)


@operator("DepthToSpace", 0.3)
def depth_to_space(graph):
    batch, height, width = (graph.draw_dim(nonempty=True) for _ in range(3))
    x = graph.fresh("float32", (batch, fixed(8), height, width))
    shape = [batch, fixed(2), *(tuple(2 * s for s in dim) for dim in (height, width))]
    emit_view(graph, "DepthToSpace", x, [x], shape, blocksize=2, mode=graph.random.choice(("DCR", "CRD")))


@operator("SpaceToDepth", 0.3)
def space_to_depth(graph):
    batch = graph.draw_dim(nonempty=True)
    x = graph.fresh("float32", (batch, fixed(3), fixed(4), fixed(6)))
    emit_view(graph, "SpaceToDepth", x, [x], [batch, fixed(12), fixed(2), fixed(3)], blocksize=2)


@operator("Trilu", 0.4, since=14)
def triangle(graph):
    x = graph.pick_or_new(("float32", "float64", "int64"), rank=range(2, 5), nonempty=True)
    offset = graph.scalar(graph.random.randint(-1, 1), "int64")
    bounds = min(x.low, 0), max(x.high, 0)
    graph.emit("Trilu", [x, offset], x.dtype, x.shape, *bounds, exact=x.exact, upper=graph.random.randint(0, 1))


@operator("ReverseSequence", 0.2)
def reverse_sequence(graph):
    x = graph.pick_or_new(("float32", "int64"), rank=range(2, 5), nonempty=True)
    require(is_fixed(x.shape[0]) and is_fixed(x.shape[1]))
    time, batch = x.shape[0][0], x.shape[1][0]
    lengths = graph.constant(np.array([graph.random.randint(1, time) for _ in range(batch)], np.int64))
    emit_view(graph, "ReverseSequence", x, [x, lengths], x.shape, time_axis=0, batch_axis=1)
