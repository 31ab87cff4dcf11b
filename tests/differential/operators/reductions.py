"""Reductions, scans along an axis, softmax and the operators that order elements."""

import math

import numpy as np

from differential.registry import operator
from differential.values import dims_product, fixed, is_nonempty, require


def draw_axes(graph, x):
    return sorted(graph.random.sample(range(x.rank), graph.random.randint(1, x.rank)))


def reduced_shape(x, axes, keepdims):
    if keepdims:
        return [fixed(1) if axis in axes else dim for axis, dim in enumerate(x.shape)]
    return [dim for axis, dim in enumerate(x.shape) if axis not in axes]


def reduction(name, types, range_of, low=None, high=None, empty=False, weight=0.6):
    """`range_of(x, n)` is the range of a reduction of n elements."""

    @operator(name, weight)
    def place(graph):
        x = graph.pick_or_new(types, low=low, high=high, rank=range(1, 5))
        require(empty or is_nonempty(x.shape))
        axes = draw_axes(graph, x)
        keepdims = graph.random.randint(0, 1)
        # known_peer_bugs.md: negative axes of empty tensors
        from_end = 0.3 if is_nonempty(x.shape) else 0.0
        shown = [axis - x.rank if graph.random.random() < from_end else axis for axis in axes]
        inputs, attributes = [x], {"keepdims": keepdims}
        if len(axes) == x.rank and graph.random.random() < 0.5:
            pass  # without axes all are reduced
        elif graph.opset >= 18 or name == "ReduceSum":
            inputs.append(graph.ints(*shown))
        else:
            attributes["axes"] = shown
        count = max(dims_product([x.shape[axis] for axis in axes]))
        bounds = range_of(x, count)
        exact = x.exact and (not x.is_float or name in ("ReduceMax", "ReduceMin"))
        graph.emit(name, inputs, x.dtype, reduced_shape(x, axes, keepdims), *bounds, exact=exact, **attributes)


SUMMED = ("float32", "float64", "float16", "int32", "int64")
reduction("ReduceSum", SUMMED, lambda x, n: (min(n * x.low, 0), max(n * x.high, 0)), empty=True, weight=1)
reduction("ReduceMean", ("float32", "float64", "float16"), lambda x, n: (x.low, x.high), weight=1)
reduction("ReduceMax", (*SUMMED, "int8", "uint8"), lambda x, n: (x.low, x.high))
reduction("ReduceMin", (*SUMMED, "int8", "uint8"), lambda x, n: (x.low, x.high))
reduction("ReduceProd", ("float32", "int32"), lambda x, n: (-(max(1, x.magnitude) ** n), max(1, x.magnitude) ** n),
          low=-1.5, high=1.5)
reduction("ReduceL1", ("float32",), lambda x, n: (0, n * x.magnitude), empty=True)
reduction("ReduceL2", ("float32",), lambda x, n: (0, math.sqrt(n) * x.magnitude), empty=True)
reduction("ReduceSumSquare", ("float32", "float64"), lambda x, n: (0, n * x.magnitude**2), empty=True)
reduction("ReduceLogSum", ("float32",), lambda x, n: (math.log(x.low), math.log(n * x.high)), low=0.5)
reduction("ReduceLogSumExp", ("float32", "float64"), lambda x, n: (x.low, x.high + math.log(n)))


@operator("CumSum", 0.6)
def cumulative_sum(graph):
    x = graph.pick_or_new(("float32", "float64", "int32", "int64"), rank=range(1, 4))
    axis = graph.random.randrange(x.rank)
    count = max(x.shape[axis])
    bounds = min(count * x.low, 0), max(count * x.high, 0)
    inputs = [x, graph.scalar(axis, graph.random.choice(("int32", "int64")))]
    graph.emit("CumSum", inputs, x.dtype, x.shape, *bounds, exact=not x.is_float,
               exclusive=graph.random.randint(0, 1), reverse=graph.random.randint(0, 1))


@operator("Softmax", 1)
def softmax(graph):
    x = graph.pick_float(rank=range(1, 5), nonempty=True)
    axis = graph.random.randrange(-x.rank, x.rank)
    graph.emit("Softmax", [x], x.dtype, x.shape, 0, 1, axis=axis)


@operator("LogSoftmax", 0.5)
def log_softmax(graph):
    x = graph.pick_float(rank=range(1, 5), nonempty=True)
    axis = graph.random.randrange(-x.rank, x.rank)
    low = x.low - x.high - math.log(max(x.shape[axis]))
    graph.emit("LogSoftmax", [x], x.dtype, x.shape, low, 0, axis=axis)


def ordered(graph, types=("float32", "int64")):
    """A value without ties: an order among equal or nearly equal elements is not defined well enough to compare."""
    return graph.pick_or_new(types, rank=range(1, 4), exact=True, nonempty=True, distinct=True, low=None, high=None)


@operator("ArgMax and ArgMin", 0.8)
def arg_extremum(graph):
    x = ordered(graph, ("float32", "float64"))
    axis, keepdims = graph.random.randrange(x.rank), graph.random.randint(0, 1)
    name = graph.random.choice(("ArgMax", "ArgMin"))
    shape = reduced_shape(x, [axis], keepdims)
    graph.emit(name, [x], "int64", shape, 0, max(x.shape[axis]), exact=True, axis=axis, keepdims=keepdims)


@operator("TopK", 0.8)
def top_k(graph):
    x = ordered(graph, ("float32", "float64"))
    axis = graph.random.randrange(x.rank)
    count = graph.random.randint(1, min(x.shape[axis]))
    shape = [*x.shape[:axis], fixed(count), *x.shape[axis + 1 :]]
    outputs = [
        graph.new_value(x.dtype, shape, x.low, x.high, exact=True, distinct=True),
        graph.new_value("int64", shape, 0, max(x.shape[axis]), exact=True),
    ]
    graph.node("TopK", [x, graph.ints(count)], outputs, axis=axis, largest=graph.random.randint(0, 1), sorted=1)


@operator("Hardmax", 0.2)
def hardmax(graph):
    x = ordered(graph, ("float32",))
    graph.emit("Hardmax", [x], x.dtype, x.shape, 0, 1, exact=True, axis=graph.random.randrange(x.rank))


@operator("NonZero", 0.3)
def non_zero(graph):
    """Of a constant, so that the number of results is known."""
    shape = [graph.random.randint(1, 4) for _ in range(graph.random.randint(1, 3))]
    array = np.array(graph.random.choices((0, 0, 1, 2), k=int(np.prod(shape))), np.int64).reshape(shape)
    found = fixed(int(np.count_nonzero(array)))
    graph.emit("NonZero", [graph.constant(array)], "int64", [fixed(array.ndim), found], 0, 10, exact=True)


@operator("Unique", 0.2)
def unique(graph):
    array = np.array([graph.random.randint(0, 5) for _ in range(graph.random.randint(1, 12))], np.int64)
    kinds = len(np.unique(array))
    outputs = [
        graph.new_value("int64", [fixed(kinds)], 0, 5, exact=True, distinct=True),
        *(graph.new_value("int64", [fixed(size)], 0, 12, exact=True) for size in (kinds, len(array), kinds)),
    ]
    graph.node("Unique", [graph.constant(array)], outputs, sorted=1)
