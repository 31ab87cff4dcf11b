"""Pools, normalizations, resizing and recurrent layers."""

import math

import numpy as np

from differential.operators.linear import image, window
from differential.registry import operator
from differential.values import fixed, is_fixed, is_nonempty, require


@operator("MaxPool", 0.8)
def max_pool(graph):
    x = image(graph)
    attributes, sizes = window(graph, x)
    # known_peer_bugs.md: a window that reaches over all elements, into the padding on both sides
    require(all(min(dim) >= d for dim, d in zip(x.shape[2:], attributes["dilations"])))
    graph.emit("MaxPool", [x], x.dtype, [*x.shape[:2], *sizes], x.low, x.high, exact=x.exact, **attributes)


@operator("AveragePool", 0.8)
def average_pool(graph):
    x = image(graph)
    attributes, sizes = window(graph, x, dilate=False)
    include = graph.random.randint(0, 1)
    bounds = min(x.low, 0), max(x.high, 0)
    graph.emit("AveragePool", [x], x.dtype, [*x.shape[:2], *sizes], *bounds, count_include_pad=include, **attributes)


@operator("global pools", 0.5)
def global_pool(graph):
    x = image(graph)
    name = graph.random.choice(("GlobalAveragePool", "GlobalMaxPool"))
    shape = [*x.shape[:2], *[fixed(1)] * (x.rank - 2)]
    graph.emit(name, [x], x.dtype, shape, x.low, x.high, exact=x.exact and name == "GlobalMaxPool")


# Each epsilon is large: a nearly constant row must not turn a rounding error into a visible one.

@operator("BatchNormalization", 0.7)
def batch_normalization(graph):
    x = image(graph)
    channel = (x.shape[1],)
    inputs = [x, graph.fresh("float32", channel, -1, 1), graph.fresh("float32", channel, -1, 1),
              graph.fresh("float32", channel, -1, 1), graph.fresh("float32", channel, 0.5, 2)]
    bound = 2 * (x.magnitude + 1) + 1
    graph.emit("BatchNormalization", inputs, "float32", x.shape, -bound, bound, epsilon=1e-3)


@operator("InstanceNormalization", 0.4)
def instance_normalization(graph):
    x = image(graph)
    inputs = [x, graph.fresh("float32", (x.shape[1],), -1, 1), graph.fresh("float32", (x.shape[1],), -1, 1)]
    bound = 2 * x.magnitude / math.sqrt(0.25) + 1
    graph.emit("InstanceNormalization", inputs, "float32", x.shape, -bound, bound, epsilon=0.25)


@operator("LayerNormalization", 0.8, since=17)
def layer_normalization(graph):
    x = graph.pick_or_new(("float32", "float32", "float64"), rank=range(1, 4), nonempty=True)
    axis = graph.random.randrange(x.rank)
    tail = x.shape[axis:]
    inputs = [x, graph.fresh(x.dtype, tail, -1, 1)]
    if graph.random.random() < 0.6:
        inputs.append(graph.fresh(x.dtype, tail, -1, 1))
    bound = 2 * x.magnitude / math.sqrt(0.25) + 1
    shown = axis if graph.random.random() < 0.5 else axis - x.rank
    graph.emit("LayerNormalization", inputs, x.dtype, x.shape, -bound, bound, axis=shown, epsilon=0.25)


@operator("RMSNormalization", 0.8, since=23)
def rms_normalization(graph):
    x = graph.pick_or_new(("float32",), rank=range(1, 4), nonempty=True)
    axis = graph.random.randrange(x.rank)
    scale = graph.fresh(x.dtype, x.shape[axis:], -1, 1)
    bound = 2 * x.magnitude / math.sqrt(0.25) + 1
    graph.emit("RMSNormalization", [x, scale], x.dtype, x.shape, -bound, bound, axis=axis - x.rank, epsilon=0.25)


@operator("LpNormalization", 0.3)
def lp_normalization(graph):
    x = graph.pick_float("float32", low=0.5, rank=range(1, 4), nonempty=True)
    axis = graph.random.randrange(x.rank)
    graph.emit("LpNormalization", [x], x.dtype, x.shape, 0, 1, axis=axis, p=graph.random.choice((1, 2)))


@operator("LRN", 0.2)
def local_response_normalization(graph):
    x = image(graph, dims=2)
    graph.emit("LRN", [x], "float32", x.shape, min(x.low, 0), max(x.high, 0), size=3, alpha=0.1, beta=0.75, bias=1.0)


@operator("GroupNormalization", 0.4, since=21)
def group_normalization(graph):
    x = image(graph, channels=4)
    inputs = [x, graph.fresh("float32", (fixed(4),), -1, 1), graph.fresh("float32", (fixed(4),), -1, 1)]
    bound = 2 * x.magnitude / math.sqrt(0.25) + 1
    graph.emit("GroupNormalization", inputs, "float32", x.shape, -bound, bound, num_groups=2, epsilon=0.25)


@operator("Resize", 0.5)
def resize(graph):
    x = image(graph, dims=2)
    mode = graph.random.choice(("nearest", "linear"))
    scales = graph.constant(np.array([1, 1, 2, 2], np.float32))
    shape = [*x.shape[:2], *(tuple(2 * size for size in dim) for dim in x.shape[2:])]
    # Factors of two and asymmetric positions: no sample lies between two equally near neighbours.
    attributes = {"coordinate_transformation_mode": "asymmetric"}
    if mode == "nearest":
        attributes["nearest_mode"] = "floor"
    exact = x.exact and mode == "nearest"
    graph.emit("Resize", [x, None, scales], "float32", shape, x.low, x.high, exact=exact, mode=mode, **attributes)


def recurrent(name, gates):
    @operator(name, 0.3)
    def place(graph):
        x = sequence_input(graph)
        time, batch, width = x.shape
        hidden = graph.random.randint(1, 3)
        direction = graph.random.choice(("forward", "reverse", "bidirectional"))
        directions = 2 if direction == "bidirectional" else 1
        inputs = [x, graph.fresh("float32", (fixed(directions), fixed(gates * hidden), width), -1, 1),
                  graph.fresh("float32", (fixed(directions), fixed(gates * hidden), fixed(hidden)), -1, 1)]
        if graph.random.random() < 0.6:
            inputs.append(graph.fresh("float32", (fixed(directions), fixed(2 * gates * hidden)), -1, 1))
        outputs = [graph.new_value("float32", [time, fixed(directions), batch, fixed(hidden)], -1, 1),
                   graph.new_value("float32", [fixed(directions), batch, fixed(hidden)], -1, 1)]
        graph.node(name, inputs, outputs, hidden_size=hidden, direction=direction)


def sequence_input(graph):
    def suits(value):
        return value.dtype == "float32" and value.rank == 3 and is_nonempty(value.shape) and is_fixed(value.shape[2])

    if graph.random.random() < 0.5 and any(map(suits, graph.visible())):
        return graph.pick(suits)
    shape = (graph.draw_dim(True), graph.draw_dim(True), fixed(graph.random.randint(1, 4)))
    return graph.fresh("float32", shape)


recurrent("LSTM", 4)
recurrent("GRU", 3)
recurrent("RNN", 1)
