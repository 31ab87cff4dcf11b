"""Operators that read or write elements by index, and those that make shapes and ranges."""

import numpy as np
from onnx import helper

from differential.builder import onnx_type
from differential.registry import operator
from differential.values import FLOATS, dims_product, fixed, is_fixed, require
from differential.operators.views import MOVED, emit_view, moved


def indices(graph, shape, size, dtype="int64"):
    """Constant indices into a dimension of at least `size` elements, negative ones included."""
    require(size > 0)
    generator = np.random.default_rng(graph.random.getrandbits(32))
    return graph.constant(generator.integers(-size, size, shape).astype(dtype))


@operator("Gather", 1.5)
def gather(graph):
    x = moved(graph, rank=range(1, 5), nonempty=True)
    axis = graph.random.randrange(x.rank)
    require(x.dtype != "str" or axis == x.rank - 1)  # known_peer_bugs.md: Gather of strings
    index_shape = [graph.random.randint(1, 3) for _ in range(graph.random.randint(0, 2))]
    picked = indices(graph, index_shape, min(x.shape[axis]), graph.random.choice(("int64", "int32")))
    shape = [*x.shape[:axis], *picked.shape, *x.shape[axis + 1 :]]
    emit_view(graph, "Gather", x, [x, picked], shape, axis=axis)


@operator("GatherElements", 0.6)
def gather_elements(graph):
    x = moved(graph, rank=range(1, 4), nonempty=True)
    require(all(map(is_fixed, x.shape)))
    axis = graph.random.randrange(x.rank)
    shape = [dim[0] for dim in x.shape]
    shape[axis] = graph.random.randint(1, 4)
    picked = indices(graph, shape, x.shape[axis][0])
    emit_view(graph, "GatherElements", x, [x, picked], picked.shape, axis=axis)


@operator("GatherND", 0.5)
def gather_nd(graph):
    x = moved(graph, rank=range(1, 5), nonempty=True)
    depth = graph.random.randint(1, x.rank)
    count = graph.random.randint(1, 4)
    columns = [[graph.random.randint(-min(dim), min(dim) - 1) for dim in x.shape[:depth]] for _ in range(count)]
    picked = graph.constant(np.array(columns, np.int64))
    emit_view(graph, "GatherND", x, [x, picked], [fixed(count), *x.shape[depth:]])


@operator("ScatterElements", 0.5)
def scatter_elements(graph):
    x = graph.pick_or_new(("float32", "int64"), rank=(1, 2), nonempty=True)
    require(all(map(is_fixed, x.shape)))
    shape = [dim[0] for dim in x.shape]
    # Each position along the axis is written once, so that the order of writes does not matter.
    order = graph.random.sample(range(shape[0]), graph.random.randint(1, shape[0]))
    shape[0] = len(order)
    rows = np.broadcast_to(np.reshape(order, [-1] + [1] * (x.rank - 1)), shape).astype(np.int64)
    updates = graph.fresh(x.dtype, tuple(map(fixed, shape)))
    bounds = min(x.low, updates.low), max(x.high, updates.high)
    graph.emit("ScatterElements", [x, graph.constant(rows), updates], x.dtype, x.shape, *bounds, exact=x.exact, axis=0)


@operator("ScatterND", 0.5)
def scatter_nd(graph):
    x = graph.pick_or_new(("float32", "int64", "float64"), rank=range(1, 4), nonempty=True)
    size = min(x.shape[0])
    rows = graph.random.sample(range(size), graph.random.randint(1, size))
    where = graph.constant(np.array(rows, np.int64).reshape(-1, 1))
    updates = graph.fresh(x.dtype, (fixed(len(rows)), *x.shape[1:]))
    attributes, low, high, exact = {}, min(x.low, updates.low), max(x.high, updates.high), x.exact
    if graph.opset >= 16 and graph.random.random() < 0.4:
        attributes = {"reduction": "add"}
        low, high, exact = low + min(x.low, updates.low), high + max(x.high, updates.high), x.exact and not x.is_float
    graph.emit("ScatterND", [x, where, updates], x.dtype, x.shape, min(low, 0), max(high, 0), exact=exact, **attributes)


@operator("OneHot", 0.4)
def one_hot(graph):
    depth = graph.random.randint(1, 5)
    rows = graph.fresh("int64", graph.draw_shape(range(1, 3)), -depth, depth - 1)
    axis = graph.random.choice((-1, 0))
    shape = [*rows.shape, fixed(depth)] if axis == -1 else [fixed(depth), *rows.shape]
    values = graph.constant(np.array([0, 1], graph.random.choice(("float32", "int64"))))
    graph.emit("OneHot", [rows, graph.scalar(depth, "int64"), values], values.dtype, shape, 0, 1, exact=True, axis=axis)


@operator("Compress", 0.3)
def compress(graph):
    x = graph.pick_or_new(("float32", "int64"), rank=range(1, 4), nonempty=True)
    axis = graph.random.randrange(x.rank)
    kept = [graph.random.random() < 0.6 for _ in range(min(x.shape[axis]))]
    require(any(kept))
    shape = [*x.shape[:axis], fixed(sum(kept)), *x.shape[axis + 1 :]]
    emit_view(graph, "Compress", x, [x, graph.constant(np.array(kept))], shape, axis=axis)


@operator("Shape", 0.6)
def shape_of(graph):
    x = graph.pick_or_new(MOVED)
    attributes, rank = {}, x.rank
    if graph.opset >= 15 and x.rank >= 2 and graph.random.random() < 0.4:
        attributes, rank = {"start": 1}, x.rank - 1
    graph.emit("Shape", [x], "int64", [fixed(rank)], 0, 3000, exact=True, **attributes)


@operator("Size", 0.3)
def size_of(graph):
    x = graph.pick_or_new((*FLOATS, "int64", "bool"))
    graph.emit("Size", [x], "int64", [], 0, max(dims_product(x.shape)), exact=True)


@operator("ConstantOfShape", 0.5)
def constant_of_shape(graph):
    x = graph.pick_or_new((*FLOATS, "int64"))
    shape = graph.emit("Shape", [x], "int64", [fixed(x.rank)], 0, 3000, exact=True)
    dtype = graph.random.choice(("float32", "int64", "bool"))
    value = helper.make_tensor("value", onnx_type(dtype), [1], [1])
    graph.emit("ConstantOfShape", [shape], dtype, x.shape, 1, 1, exact=True, value=value)


@operator("Range", 0.5)
def range_(graph):
    """From 0 to the size of a dimension, as position ids are made."""
    x = graph.pick_or_new((*FLOATS, "int64"), rank=range(1, 5))
    axis = graph.random.randrange(x.rank)
    shape = graph.emit("Shape", [x], "int64", [fixed(x.rank)], 0, 3000, exact=True)
    stop = graph.emit("Gather", [shape, graph.scalar(axis, "int64")], "int64", [], 0, 3000, exact=True)
    inputs = [graph.scalar(0, "int64"), stop, graph.scalar(1, "int64")]
    graph.emit("Range", inputs, "int64", [x.shape[axis]], 0, max(x.shape[axis]), exact=True, distinct=True)


@operator("EyeLike", 0.2)
def eye_like(graph):
    x = graph.pick_or_new(("float32", "int64"), rank=(2,))
    output = graph.new_value("float32", x.shape, 0, 1, exact=True)
    graph.node("EyeLike", [x], [output], k=graph.random.randint(-1, 1), dtype=onnx_type("float32"))
