"""Comparisons, logic, selection and casts. They are discontinuous, so they read exact values only."""

import math

from differential.builder import onnx_type
from differential.registry import operator
from differential.values import FLOATS, LIMITS, broadcast, require

COMPARED = (*FLOATS, "int32", "int64")


def comparison(name, types=COMPARED):
    @operator(name, 0.6, since=16 if name.endswith("OrEqual") else 13)
    def place(graph):
        x = graph.pick_or_new(types, exact=True)
        y = graph.partner(x, exact=True)
        graph.emit(name, [x, y], "bool", broadcast(x.shape, y.shape), 0, 1, exact=True)


comparison("Greater")
comparison("Less")
comparison("GreaterOrEqual")
comparison("LessOrEqual")
comparison("Equal", (*COMPARED, "bool"))


def connective(name):
    @operator(name, 0.6)
    def place(graph):
        x = graph.pick_or_new(("bool",))
        y = graph.partner(x)
        graph.emit(name, [x, y], "bool", broadcast(x.shape, y.shape), 0, 1, exact=True)


connective("And")
connective("Or")
connective("Xor")


@operator("Not", 0.5)
def negate(graph):
    x = graph.pick_or_new(("bool",))
    graph.emit("Not", [x], "bool", x.shape, 0, 1, exact=True)


@operator("IsNaN", 0.2)
def is_nan(graph):
    x = graph.pick_float()
    graph.emit("IsNaN", [x], "bool", x.shape, 0, 1, exact=True)


@operator("Where", 1.2)
def where(graph):
    condition = graph.pick_or_new(("bool",))
    x = graph.pick_or_new((*FLOATS, "int32", "int64", "uint8"))
    y = graph.partner(x)
    shape = broadcast(condition.shape, x.shape, y.shape)
    graph.emit("Where", [condition, x, y], x.dtype, shape, min(x.low, y.low), max(x.high, y.high), exact=x.exact and y.exact)


CAST_TARGETS = ("float32", "float64", "float16", "int32", "int64", "int8", "uint8", "int16", "uint16", "uint32", "uint64", "bool")


def place_cast(graph, x):
    target = graph.random.choice([dtype for dtype in CAST_TARGETS if dtype != x.dtype])
    if target not in FLOATS:
        # Rounding differences would become whole numbers.
        require(x.exact)
        low, high = (0, 1) if target == "bool" else (math.trunc(x.low), math.trunc(x.high))
    else:
        low, high = x.low, x.high
    least, most = LIMITS[target]
    require(least <= low and high <= most)
    to = onnx_type(target)
    return graph.emit("Cast", [x], target, x.shape, low, high, exact=x.exact, to=to)


@operator("Cast", 2)
def cast(graph):
    place_cast(graph, graph.pick_or_new(CAST_TARGETS))


@operator("chain of Casts", 0.5)
def cast_chain(graph):
    x = graph.pick_or_new(CAST_TARGETS)
    for _ in range(graph.random.randint(2, 3)):
        x = place_cast(graph, x)


@operator("CastLike", 0.3, since=15)
def cast_like(graph):
    x = graph.pick_or_new((*FLOATS, "int32", "int64"))
    like = graph.pick_or_new((*FLOATS, "int32", "int64"))
    require(like.is_float or x.exact)
    low, high = (x.low, x.high) if like.is_float else (math.trunc(x.low), math.trunc(x.high))
    graph.emit("CastLike", [x, like], like.dtype, x.shape, low, high, exact=x.exact)


@operator("Cast to string", 0.2)
def cast_to_string(graph):
    x = graph.pick_or_new(("int32", "int64"), exact=True)
    graph.emit("Cast", [x], "str", x.shape, 0, 0, exact=True, to=onnx_type("str"))
