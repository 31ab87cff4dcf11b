"""Groups of nodes that exporters write and compilers fuse."""

import math

import numpy as np

from differential.operators.linear import image, product_bounds, window
from differential.operators.reductions import reduced_shape
from differential.registry import operator
from differential.values import fixed, is_fixed, is_nonempty, require


def activation(graph, x):
    """One of the activations that follow a linear layer."""
    kind = graph.random.choice(("Relu", "Tanh", "Sigmoid", "Clip", "SiLU", "none"))
    if kind == "none":
        return x
    if kind == "Clip":
        bounds = [graph.scalar(0, x.dtype), graph.scalar(6, x.dtype)]
        return graph.emit("Clip", [x, *bounds], x.dtype, x.shape, 0, 6)
    if kind == "SiLU":
        gate = graph.emit("Sigmoid", [x], x.dtype, x.shape, 0, 1)
        return graph.emit("Mul", [x, gate], x.dtype, x.shape, -1, max(1, x.high))
    low, high = {"Relu": (0, max(0, x.high)), "Tanh": (-1, 1), "Sigmoid": (0, 1)}[kind]
    return graph.emit(kind, [x], x.dtype, x.shape, low, high)


@operator("MatMul, bias and activation", 1)
def linear_layer(graph):
    x = graph.pick_or_new(("float32", "float32", "float64"), rank=(2, 3))
    require(is_fixed(x.shape[-1]) and is_nonempty(x.shape))
    columns = fixed(graph.random.randint(1, 8))
    weight = graph.constant(weights(graph, x.dtype, x.shape[-1][0], columns[0]), -1, 1)
    product = graph.emit("MatMul", [x, weight], x.dtype, [*x.shape[:-1], columns], *product_bounds(x, weight, x.shape[-1][0]))
    bias = graph.constant(weights(graph, x.dtype, columns[0]), -1, 1)
    inputs = graph.random.sample([product, bias], 2)
    total = graph.emit("Add", inputs, x.dtype, product.shape, product.low - 1, product.high + 1)
    activation(graph, total)


def weights(graph, dtype, *shape):
    return np.random.default_rng(graph.random.getrandbits(32)).uniform(-1, 1, shape).astype(dtype)


@operator("Conv, BatchNormalization and activation", 0.8)
def conv_block(graph):
    x = image(graph)
    attributes, sizes = window(graph, x)
    filters, channels = graph.random.randint(1, 3), x.shape[1][0]
    weight = graph.constant(weights(graph, "float32", filters, channels, *attributes["kernel_shape"]), -1, 1)
    bound = channels * int(np.prod(attributes["kernel_shape"])) * x.magnitude
    y = graph.emit("Conv", [x, weight], "float32", [x.shape[0], fixed(filters), *sizes], -bound, bound, **attributes)
    if graph.random.random() < 0.6:
        scale, shift, mean = (graph.constant(weights(graph, "float32", filters), -1, 1) for _ in range(3))
        variance = graph.constant(1.5 + weights(graph, "float32", filters), 0.5, 2.5)
        limit = 2 * (bound + 1) + 1
        y = graph.emit("BatchNormalization", [y, scale, shift, mean, variance], "float32", y.shape, -limit, limit, epsilon=1e-3)
    y = activation(graph, y)
    skip = [value for value in graph.visible() if value.dtype == "float32" and value.shape == y.shape and value != y]
    if skip and graph.random.random() < 0.7:
        other = graph.random.choice(skip)
        graph.emit("Add", [y, other], "float32", y.shape, y.low + other.low, y.high + other.high)


@operator("Gelu written out", 0.5)
def written_gelu(graph):
    """x * 0.5 * (1 + erf(x / sqrt(2)))"""
    x = graph.pick_float("float32", low=-50, high=50)
    scaled = graph.emit("Div", [x, graph.scalar(math.sqrt(2), x.dtype)], x.dtype, x.shape, x.low, x.high)
    erf = graph.emit("Erf", [scaled], x.dtype, x.shape, -1, 1)
    one = graph.emit("Add", [erf, graph.scalar(1, x.dtype)], x.dtype, x.shape, 0, 2)
    product = graph.emit("Mul", [x, one], x.dtype, x.shape, min(0, 2 * x.low), max(0, 2 * x.high))
    graph.emit("Mul", [product, graph.scalar(0.5, x.dtype)], x.dtype, x.shape, min(0, x.low), max(0, x.high))


@operator("LayerNormalization written out", 0.5)
def written_layer_normalization(graph):
    x = graph.pick_float("float32", low=-8, high=8, rank=range(1, 4), nonempty=True)
    mean = reduce_last(graph, x, x.low, x.high)
    centred = graph.emit("Sub", [x, mean], x.dtype, x.shape, -16, 16)
    square = graph.emit("Pow", [centred, graph.scalar(2, x.dtype)], x.dtype, x.shape, 0, 256)
    variance = reduce_last(graph, square, 0, 256)
    shifted = graph.emit("Add", [variance, graph.scalar(0.25, x.dtype)], x.dtype, variance.shape, 0.25, 257)
    deviation = graph.emit("Sqrt", [shifted], x.dtype, shifted.shape, 0.5, 17)
    normal = graph.emit("Div", [centred, deviation], x.dtype, x.shape, -32, 32)
    gain = graph.fresh(x.dtype, (x.shape[-1],), -1, 1)
    graph.emit("Mul", [normal, gain], x.dtype, x.shape, -32, 32)


def reduce_last(graph, x, low, high):
    shape = reduced_shape(x, [x.rank - 1], keepdims=1)
    if graph.opset >= 18:
        return graph.emit("ReduceMean", [x, graph.ints(-1)], x.dtype, shape, low, high, keepdims=1)
    return graph.emit("ReduceMean", [x], x.dtype, shape, low, high, axes=[-1], keepdims=1)


@operator("attention written out", 0.6)
def written_attention(graph):
    """Split heads, softmax(Q K^T / sqrt(d)) V, merge heads."""
    batch, length = graph.draw_dim(nonempty=True), graph.draw_dim(nonempty=True)
    heads, width = graph.random.randint(1, 2), graph.random.randint(1, 3)
    rows = [split_heads(graph, batch, length, heads, width) for _ in range(3)]
    query, key, value = rows
    shape = [batch, fixed(heads), length, length]
    key = graph.emit("Transpose", [key], "float32", [batch, fixed(heads), fixed(width), length], -2, 2, perm=[0, 1, 3, 2])
    scores = graph.emit("MatMul", [query, key], "float32", shape, -4 * width, 4 * width)
    scores = graph.emit("Mul", [scores, graph.scalar(1 / math.sqrt(width), "float32")], "float32", shape, -4 * width, 4 * width)
    if graph.random.random() < 0.5:
        mask = graph.fresh("float32", (batch, fixed(1), fixed(1), length), -8, 0)
        scores = graph.emit("Add", [scores, mask], "float32", shape, -4 * width - 8, 4 * width)
    chances = graph.emit("Softmax", [scores], "float32", shape, 0, 1, axis=-1)
    mixed = graph.emit("MatMul", [chances, value], "float32", [batch, fixed(heads), length, fixed(width)], -2, 2)
    swapped = graph.emit("Transpose", [mixed], "float32", [batch, length, fixed(heads), fixed(width)], -2, 2, perm=[0, 2, 1, 3])
    graph.emit("Reshape", [swapped, graph.ints(0, 0, heads * width)], "float32", [batch, length, fixed(heads * width)], -2, 2)


def split_heads(graph, batch, length, heads, width):
    x = graph.fresh("float32", (batch, length, fixed(heads * width)), -2, 2)
    shape = [batch, length, fixed(heads), fixed(width)]
    split = graph.emit("Reshape", [x, graph.ints(0, 0, heads, width)], "float32", shape, -2, 2)
    return graph.emit("Transpose", [split], "float32", [shape[0], shape[2], shape[1], shape[3]], -2, 2, perm=[0, 2, 1, 3])


@operator("Attention", 0.8, since=23)
def attention(graph):
    batch, length, past = (graph.draw_dim(nonempty=True) for _ in range(3))
    key_heads, width = graph.random.randint(1, 2), graph.random.choice((2, 4))
    heads = key_heads * graph.random.randint(1, 2)
    query = graph.fresh("float32", (batch, fixed(heads), length, fixed(width)), -2, 2)
    key, value = (graph.fresh("float32", (batch, fixed(key_heads), past, fixed(width)), -2, 2) for _ in range(2))
    inputs = [query, key, value]
    if graph.random.random() < 0.4:
        inputs.append(graph.fresh("float32", (length, past), -4, 0))
    causal = int(len(inputs) == 3 and graph.random.random() < 0.4)
    graph.emit("Attention", inputs, "float32", query.shape, -2, 2, is_causal=causal)


@operator("MatMul between QuantizeLinear and DequantizeLinear", 0.6)
def quantized_matmul(graph):
    """Steps are powers of two and the sums small, so every float in between is exact."""
    x = graph.fresh("float32", (graph.draw_dim(nonempty=True), fixed(graph.random.randint(1, 8))), -2, 2)
    zero = graph.random.randint(0, 20)
    x = quantize_and_back(graph, x, 1 / 32, zero, "uint8")
    columns = fixed(graph.random.randint(1, 6))
    generator = np.random.default_rng(graph.random.getrandbits(32))
    stored = generator.integers(-60, 60, (x.shape[1][0], columns[0])).astype(np.int8)
    inputs = [graph.constant(stored), graph.scalar(1 / 64, "float32"), graph.scalar(0, "int8")]
    weight = graph.emit("DequantizeLinear", inputs, "float32", [x.shape[1], columns], -1, 1, exact=True)
    product = graph.emit("MatMul", [x, weight], "float32", [x.shape[0], columns], -80, 80, exact=True)
    quantize_and_back(graph, product, 1 / 8, 128, "uint8")


def quantize_and_back(graph, x, step, zero, dtype):
    scale, offset = graph.scalar(step, "float32"), graph.scalar(zero, dtype)
    stored = graph.emit("QuantizeLinear", [x, scale, offset], dtype, x.shape, 0, 255, exact=True)
    bounds = -zero * step, (255 - zero) * step
    return graph.emit("DequantizeLinear", [stored, scale, offset], "float32", x.shape, *bounds, exact=True)


@operator("Transposes that cancel", 0.5)
def cancelling_transposes(graph):
    x = graph.pick_or_new(("float32", "int64"), rank=range(2, 5))
    order = graph.random.sample(range(x.rank), x.rank)
    there = graph.emit("Transpose", [x], x.dtype, [x.shape[i] for i in order], x.low, x.high, exact=x.exact, perm=order)
    there = graph.emit("Neg", [there], x.dtype, there.shape, -x.high, -x.low, exact=x.exact)
    back = [order.index(axis) for axis in range(x.rank)]
    graph.emit("Transpose", [there], x.dtype, x.shape, -x.high, -x.low, exact=x.exact, perm=back)


@operator("arithmetic with neutral constants", 0.6)
def neutral_arithmetic(graph):
    """x + 0, x * 1 and the like, also where the constant's shape changes the result's."""
    x = graph.pick_or_new(("float32", "float64", "int64"))
    name, number = graph.random.choice((("Add", 0), ("Sub", 0), ("Mul", 1), ("Div", 1)))
    rank = graph.random.choice((0, 1, x.rank, x.rank + 1))
    constant = graph.constant(np.full([1] * rank, number, x.dtype))
    shape = [fixed(1)] * (rank - x.rank) + list(x.shape)
    graph.emit(name, [x, constant], x.dtype, shape, x.low, x.high, exact=not x.is_float)


@operator("Dropout", 0.2)
def dropout(graph):
    x = graph.pick_float("float32", "float64")
    graph.emit("Dropout", [x, graph.scalar(0.5, "float32")], x.dtype, x.shape, x.low, x.high, exact=x.exact)
