"""Matrix products and convolutions, dense and quantized."""

import numpy as np

from differential.registry import operator
from differential.values import broadcast, fixed, is_fixed, is_nonempty, require
from oracles.saturation import SAFE_HIGH, SAFE_LOW


def product_bounds(x, y, count, extra=0.0):
    bound = count * x.magnitude * y.magnitude + extra
    return -bound, bound


@operator("MatMul", 1.5)
def matmul(graph):
    x = graph.pick_or_new(("float32", "float32", "float64", "float16"), rank=range(1, 5))
    inner = x.shape[-1]
    empty = not is_nonempty(x.shape)
    require(not empty or x.rank == 2)  # known_peer_bugs.md: MatMul of empty tensors
    columns = graph.draw_dim()
    right_batch = tuple(dim if graph.random.random() < 0.5 else fixed(1) for dim in x.shape[:-2])
    shapes = [(inner, columns)] if empty else [(inner,), (inner, columns), (*right_batch, inner, columns)]
    y_shape = graph.random.choice(shapes)
    y = graph.fresh(x.dtype, y_shape, -1, 1)
    shape = list(broadcast(x.shape[:-2], y.shape[:-2])) if max(x.rank, y.rank) > 2 else []
    shape += [x.shape[-2]] if x.rank > 1 else []
    shape += [y.shape[-1]] if y.rank > 1 else []
    graph.emit("MatMul", [x, y], x.dtype, shape, *product_bounds(x, y, max(inner)))


@operator("Gemm", 1)
def gemm(graph):
    x = graph.pick_or_new(("float32", "float32", "float64"), rank=(2,))
    trans_a, trans_b = graph.random.randint(0, 1), graph.random.randint(0, 1)
    rows, inner = x.shape[::-1] if trans_a else x.shape
    require(min(inner) > 0)  # known_peer_bugs.md: Gemm without terms
    columns = graph.draw_dim()
    y = graph.fresh(x.dtype, (columns, inner) if trans_b else (inner, columns), -1, 1)
    inputs = [x, y]
    if graph.random.random() < 0.7:
        inputs.append(graph.fresh(x.dtype, graph.random.choice([(columns,), (rows, columns), (rows, fixed(1)), ()])))
    alpha, beta = graph.random.choice((1.0, 0.5)), graph.random.choice((1.0, 2.0))
    bounds = product_bounds(x, y, max(inner), extra=8)
    graph.emit("Gemm", inputs, x.dtype, [rows, columns], *bounds, transA=trans_a, transB=trans_b, alpha=alpha, beta=beta)


def image(graph, dtype="float32", channels=None, dims=None):
    """A value that can be convolved: an existing one of rank 3 or 4 or a new one."""
    ranks = (dims + 2,) if dims else (3, 4)

    def suits(value):
        return (
            value.dtype == dtype and value.rank in ranks and is_nonempty(value.shape)
            and is_fixed(value.shape[1]) and (channels is None or value.shape[1][0] == channels)
        )

    if graph.random.random() < 0.4 and any(map(suits, graph.visible())):
        return graph.pick(suits)
    rank = graph.random.choice(ranks)
    channel = channels or graph.random.choice((1, 2, 4))
    spatial = [fixed(graph.random.randint(3, 8)) for _ in range(rank - 2)]
    return graph.fresh(dtype, (graph.draw_dim(nonempty=True), fixed(channel), *spatial))


def window(graph, x, dilate=True):
    """Kernel, strides, pads and dilations that fit, with the output sizes they give."""
    kernel, strides, dilations, before, after, sizes = [], [], [], [], [], []
    for dim in x.shape[2:]:
        k, s = graph.random.randint(1, 3), graph.random.randint(1, 2)
        d = graph.random.choice((1, 1, 2)) if dilate else 1
        a, b = graph.random.randint(0, k // 2), graph.random.randint(0, k // 2)
        reach = d * (k - 1) + 1
        require(min(dim) + a + b >= reach)
        sizes.append(tuple((size + a + b - reach) // s + 1 for size in dim))
        kernel.append(k), strides.append(s), dilations.append(d), before.append(a), after.append(b)
    attributes = {"kernel_shape": kernel, "strides": strides, "pads": before + after}
    if dilate:
        attributes["dilations"] = dilations
    return attributes, sizes


@operator("Conv", 1.5)
def conv(graph):
    x = image(graph)
    channels = x.shape[1][0]
    group = graph.random.choice([g for g in (1, 1, 2, channels) if channels % g == 0])
    attributes, sizes = window(graph, x)
    filters = group * graph.random.randint(1, 3)
    w = graph.fresh("float32", tuple(map(fixed, (filters, channels // group, *attributes["kernel_shape"]))), -1, 1)
    inputs = [x, w]
    if graph.random.random() < 0.6:
        inputs.append(graph.fresh("float32", (fixed(filters),)))
    count = channels // group * int(np.prod(attributes["kernel_shape"]))
    bounds = product_bounds(x, w, count, extra=4)
    graph.emit("Conv", inputs, "float32", [x.shape[0], fixed(filters), *sizes], *bounds, group=group, **attributes)


@operator("Conv with auto_pad", 0.4)
def conv_auto_pad(graph):
    x = image(graph)
    filters = graph.random.randint(1, 3)
    kernel = [graph.random.randint(1, 3) for _ in x.shape[2:]]
    stride = graph.random.randint(1, 2)
    w = graph.fresh("float32", tuple(map(fixed, (filters, x.shape[1][0], *kernel))), -1, 1)
    sizes = [tuple(-(-size // stride) for size in dim) for dim in x.shape[2:]]
    bounds = product_bounds(x, w, x.shape[1][0] * int(np.prod(kernel)))
    mode = graph.random.choice(("SAME_UPPER", "SAME_LOWER"))
    graph.emit("Conv", [x, w], "float32", [x.shape[0], fixed(filters), *sizes], *bounds,
               auto_pad=mode, strides=[stride] * len(kernel))


@operator("ConvTranspose", 0.5)
def conv_transpose(graph):
    x = image(graph)
    channels, filters = x.shape[1][0], graph.random.randint(1, 3)
    kernel = [graph.random.randint(1, 3) for _ in x.shape[2:]]
    strides = [graph.random.randint(1, 2) for _ in kernel]
    w = graph.fresh("float32", tuple(map(fixed, (channels, filters, *kernel))), -1, 1)
    sizes = [tuple((size - 1) * s + k for size in dim) for dim, s, k in zip(x.shape[2:], strides, kernel)]
    bounds = product_bounds(x, w, channels * int(np.prod(kernel)))
    graph.emit("ConvTranspose", [x, w], "float32", [x.shape[0], fixed(filters), *sizes], *bounds,
               kernel_shape=kernel, strides=strides)


@operator("Einsum", 0.5)
def einsum(graph):
    x = graph.pick_or_new(("float32", "float64"), rank=(2, 3), nonempty=True)
    letters = "abc"[: x.rank]
    y = graph.fresh(x.dtype, (x.shape[-1], graph.draw_dim(nonempty=True)), -1, 1)
    result = graph.random.choice((letters[:-1] + "z", "z" + letters[:-1], "z"))
    dims = dict(zip(letters, x.shape)) | {"z": y.shape[1]}
    count = int(np.prod([max(dims[letter]) for letter in letters if letter not in result]))
    equation = f"{letters},{letters[-1]}z->{result}"
    graph.emit("Einsum", [x, y], x.dtype, [dims[letter] for letter in result], *product_bounds(x, y, count), equation=equation)


def safe_range(dtype):
    """Weights for integer products that the oracle gets right on every CPU."""
    return (SAFE_LOW, SAFE_HIGH) if dtype == "int8" else (None, None)


@operator("MatMulInteger", 0.5)
def matmul_integer(graph):
    x = graph.pick_or_new(("uint8", "int8"), rank=(2, 3), nonempty=True)
    right = "int8" if x.dtype == "int8" else graph.random.choice(("uint8", "int8"))
    y = graph.fresh(right, (x.shape[-1], graph.draw_dim(nonempty=True)), *safe_range(right))
    inputs = [x, y]
    if graph.random.random() < 0.6:
        inputs += [graph.scalar(graph.random.randint(0, 9), x.dtype), graph.scalar(graph.random.randint(0, 9), y.dtype)]
    bound = max(x.shape[-1]) * (x.magnitude + 9) * (y.magnitude + 9)
    graph.emit("MatMulInteger", inputs, "int32", [*x.shape[:-1], y.shape[1]], -bound, bound, exact=True)


@operator("ConvInteger", 0.3)
def conv_integer(graph):
    x = image(graph, "uint8", dims=2)
    attributes, sizes = window(graph, x)
    w = graph.fresh("uint8", tuple(map(fixed, (2, x.shape[1][0], *attributes["kernel_shape"]))))
    inputs = [x, w] + ([graph.scalar(3, "uint8"), graph.scalar(5, "uint8")] if graph.random.random() < 0.6 else [])
    bound = x.shape[1][0] * int(np.prod(attributes["kernel_shape"])) * 255 * 20
    graph.emit("ConvInteger", inputs, "int32", [x.shape[0], fixed(2), *sizes], -bound, bound, exact=True, **attributes)


# Scales are powers of two: then division and rounding are exact and no result depends on the order of operations.

@operator("QuantizeLinear", 1)
def quantize(graph):
    x = graph.pick_or_new(("float32",), exact=True)
    dtype = graph.random.choice(("uint8", "int8"))
    scale = graph.scalar(2.0 ** graph.random.randint(-5, -2), "float32")
    zero = graph.scalar(graph.random.randint(0, 100), dtype)
    low, high = (0, 255) if dtype == "uint8" else (-128, 127)
    graph.emit("QuantizeLinear", [x, scale, zero], dtype, x.shape, low, high, exact=True)


@operator("DequantizeLinear", 1)
def dequantize(graph):
    x = graph.pick_or_new(("uint8", "int8"))
    step = 2.0 ** graph.random.randint(-5, -2)
    zero = graph.random.randint(0, 100)
    inputs = [x, graph.scalar(step, "float32"), graph.scalar(zero, x.dtype)]
    graph.emit("DequantizeLinear", inputs, "float32", x.shape, (x.low - zero) * step, (x.high - zero) * step, exact=True)


@operator("Quantize and dequantize per channel", 0.5)
def quantize_per_channel(graph):
    x = graph.pick_or_new(("float32",), exact=True, rank=range(1, 5), nonempty=True)
    axes = [axis for axis, dim in enumerate(x.shape) if is_fixed(dim)]
    require(axes)
    axis = graph.random.choice(axes)
    count = x.shape[axis][0]
    scales = graph.constant(np.array([2.0 ** graph.random.randint(-5, -2) for _ in range(count)], np.float32))
    zeros = graph.constant(np.array([graph.random.randint(-9, 9) for _ in range(count)], np.int8))
    y = graph.emit("QuantizeLinear", [x, scales, zeros], "int8", x.shape, -128, 127, exact=True, axis=axis)
    graph.emit("DequantizeLinear", [y, scales, zeros], "float32", x.shape, -40, 40, exact=True, axis=axis)


@operator("QLinearMatMul", 0.4)
def qlinear_matmul(graph):
    x = graph.pick_or_new(("uint8",), rank=(2, 3), nonempty=True)
    right = graph.random.choice(("uint8", "int8"))
    y = graph.fresh(right, (x.shape[-1], graph.draw_dim(nonempty=True)), *safe_range(right))
    inputs = [x, graph.scalar(0.25, "float32"), graph.scalar(3, "uint8"), y, graph.scalar(0.5, "float32"),
              graph.scalar(2, y.dtype), graph.scalar(4.0, "float32"), graph.scalar(100, "uint8")]
    graph.emit("QLinearMatMul", inputs, "uint8", [*x.shape[:-1], y.shape[1]], 0, 255, exact=True)
