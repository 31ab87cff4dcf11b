"""Control flow with bodies that use values of the graphs around them."""

import numpy as np
from onnx import helper

from differential.builder import Graph, onnx_type, value_info
from differential.registry import operator
from differential.values import Unsuitable, Value, broadcast, fixed, require


def body(graph, prefix, inputs, outputs, inner, info=None):
    infos = [(info or typed_only)(value) for value in outputs]
    return helper.make_graph(inner.nodes, graph.new_name(prefix), inputs, infos, initializer=inner.initializers)


def typed_only(value):
    """A body's value without a shape: it may change between iterations and branches."""
    return helper.make_tensor_value_info(value.name, onnx_type(value.dtype), None)


def inner_graph(graph):
    return Graph(graph.random, graph.opset, parent=graph, allow_empty=graph.allow_empty)


def same_shape_step(inner, x, nesting=0):
    """x -> a value of the same type and shape that uses a value of an outer graph now and then."""
    kind = inner.random.choice(("Tanh", "Add", "Mul", "Neg", "Relu", "Max", "If" if nesting < 2 else "Relu"))
    if kind == "If":
        return emit_if(inner, inner.scalar(inner.random.random() < 0.5, "bool"), x, nesting + 1)
    if kind in ("Add", "Mul", "Max"):
        y = captured(inner, x)
        low, high = {
            "Add": (x.low + y.low, x.high + y.high),
            "Max": (max(x.low, y.low), max(x.high, y.high)),
            "Mul": (-x.magnitude * y.magnitude, x.magnitude * y.magnitude),
        }[kind]
        return inner.emit(kind, [x, y], x.dtype, x.shape, low, high)
    low, high = {"Tanh": (-1, 1), "Neg": (-x.high, -x.low), "Relu": (max(0, x.low), max(0, x.high))}[kind]
    return inner.emit(kind, [x], x.dtype, x.shape, low, high)


def captured(inner, x):
    """A value of an outer graph that broadcasts to x without changing its shape."""
    def suits(other):
        try:
            return other.dtype == x.dtype and other.magnitude <= 8 and broadcast(x.shape, other.shape) == tuple(x.shape)
        except Unsuitable:
            return False

    outer = [value for value in inner.parent.visible() if suits(value)]
    return inner.random.choice(outer) if outer else inner.constant(np.array(1.5, x.dtype))


@operator("If", 1)
def if_(graph):
    emit_if(graph, scalar_condition(graph), graph.pick_float("float32", "float64"))


def emit_if(graph, condition, x, nesting=0):
    branches, results = [], []
    for prefix in ("then", "else"):
        inner = inner_graph(graph)
        y = same_shape_step(inner, x, nesting)
        if inner.random.random() < 0.5:
            y = same_shape_step(inner, y, nesting)
        branches.append(body(graph, prefix, [], [y], inner))
        results.append(y)
    bounds = min(y.low for y in results), max(y.high for y in results)
    return graph.emit("If", [condition], x.dtype, x.shape, *bounds, then_branch=branches[0], else_branch=branches[1])


def scalar_condition(graph):
    """A bool scalar: an input, or computed from a size so that it differs between bindings."""
    if graph.random.random() < 0.4:
        return graph.fresh("bool", ())
    x = graph.pick()
    size = graph.emit("Size", [x], "int64", [], 0, 3000, exact=True)
    return graph.emit("Greater", [size, graph.scalar(6, "int64")], "bool", [], 0, 1, exact=True)


@operator("Loop", 1)
def loop(graph):
    """Halves a state and adds a captured value, trip count from a constant or a size; also collects it."""
    start = graph.pick_float("float32", "float64", low=-50, high=50)
    trips, count = trip_count(graph)
    inner = inner_graph(graph)
    iteration = Value(graph.new_name(), "int64", (), 0, 1000, exact=True)
    condition = Value(graph.new_name(), "bool", (), 0, 1, exact=True)
    state = Value(graph.new_name(), start.dtype, start.shape, -100, 100)
    inner.values += [iteration, condition, state]
    half = inner.emit("Mul", [state, inner.scalar(0.5, start.dtype)], start.dtype, start.shape, -50, 50)
    following = inner.emit("Add", [half, captured(inner, state)], start.dtype, start.shape, -66, 66)
    cast = inner.emit("Cast", [iteration], start.dtype, (), 0, 20, to=onnx_type(start.dtype))
    collected = inner.emit("Add", [state, cast], start.dtype, start.shape, -120, 120)
    keep_on = inner.emit("Identity", [condition], "bool", (), 0, 1, exact=True)
    inputs = [value_info(iteration), value_info(condition), typed_only(state)]
    results, outputs = [keep_on, following], [graph.new_value(start.dtype, start.shape, -100, 100)]
    # Without an iteration nobody knows the shape of what would have been collected.
    if min(count) > 0:
        results.append(collected)
        outputs.append(graph.new_value(start.dtype, [count, *start.shape], -200, 200))
    graph_proto = body(graph, "loop", inputs, results, inner)
    graph.node("Loop", [trips, graph.scalar(True, "bool"), start], outputs, body=graph_proto)


def trip_count(graph):
    if graph.random.random() < 0.5 or not graph.symbols:
        count = graph.random.randint(0 if graph.allow_empty else 1, 4)
        return graph.scalar(count, "int64"), fixed(count)
    symbols = list(graph.symbols.values())
    x = graph.pick(lambda value: any(dim in symbols for dim in value.shape))
    axis = next(axis for axis, dim in enumerate(x.shape) if dim in symbols)
    shape = graph.emit("Shape", [x], "int64", [fixed(x.rank)], 0, 3000, exact=True)
    trips = graph.emit("Gather", [shape, graph.scalar(axis, "int64")], "int64", [], 0, 3000, exact=True)
    return trips, x.shape[axis]


@operator("Loop that ends by its condition", 0.4)
def loop_until(graph):
    """while (i < limit): counts in integers, so that the end does not depend on rounding."""
    limit = graph.fresh("int64", (), 1, 12)
    inner = inner_graph(graph)
    iteration = Value(graph.new_name(), "int64", (), 0, 1000, exact=True)
    condition = Value(graph.new_name(), "bool", (), 0, 1, exact=True)
    state = Value(graph.new_name(), "int64", (), 0, 30, exact=True)
    inner.values += [iteration, condition, state]
    following = inner.emit("Add", [state, inner.scalar(2, "int64")], "int64", (), 0, 30, exact=True)
    keep_on = inner.emit("Less", [following, limit], "bool", (), 0, 1, exact=True)
    graph_proto = body(graph, "loop", [value_info(v) for v in (iteration, condition, state)], [keep_on, following], inner)
    outputs = [graph.new_value("int64", (), 0, 30, exact=True)]
    inputs = [graph.scalar(100, "int64"), graph.scalar(True, "bool"), graph.scalar(0, "int64")]
    graph.node("Loop", inputs, outputs, body=graph_proto)


@operator("Scan", 0.8)
def scan(graph):
    """A running sum over the first axis, with another function of each row collected."""
    x = graph.pick_or_new(("float32", "float64"), rank=range(1, 4), nonempty=True)
    row_shape = x.shape[1:]
    bound = max(x.shape[0]) * x.magnitude + 1
    require(bound <= 1e3)
    require(all(len(set(dim)) == 1 for dim in row_shape))
    start = graph.fresh(x.dtype, row_shape, -1, 1)
    inner = inner_graph(graph)
    state = Value(graph.new_name(), x.dtype, row_shape, -bound, bound)
    row = Value(graph.new_name(), x.dtype, row_shape, x.low, x.high)
    inner.values += [state, row]
    following = inner.emit("Add", [state, row], x.dtype, row_shape, -bound, bound)
    collected = same_shape_step(inner, row)
    graph_proto = body(graph, "scan", [value_info(state), value_info(row)], [following, collected], inner, value_info)
    outputs = [
        graph.new_value(x.dtype, row_shape, -bound, bound),
        graph.new_value(x.dtype, x.shape, collected.low, collected.high),
    ]
    attributes = {"scan_input_directions": [1]} if graph.random.random() < 0.3 else {}
    if graph.random.random() < 0.3:
        attributes["scan_output_directions"] = [1]
    graph.node("Scan", [start, x], outputs, body=graph_proto, num_scan_inputs=1, **attributes)
