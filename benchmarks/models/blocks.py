"""What models of several families are made of, in the forms that exporters write."""

import numpy as np


def conv(g, x, inputs, outputs, size=1, stride=1, groups=1, dilation=1, dims=2, bias=True, pads=None):
    """A convolution that keeps extents at stride 1."""
    weight = g.weight(outputs, inputs // groups, *[size] * dims)
    operands = [x, weight, g.near(0, outputs)] if bias else [x, weight]
    side = dilation * (size - 1) // 2
    return g.node("Conv", *operands, kernel_shape=[size] * dims, strides=[stride] * dims, dilations=[dilation] * dims,
                  group=groups, pads=pads or [side] * 2 * dims)


def batch_norm(g, x, channels):
    return g.node("BatchNormalization", x, g.near(1, channels, word="weight"), g.near(0, channels),
                  g.near(0, channels, word="running_mean"), g.near(1, channels, word="running_var"),
                  epsilon=1e-5, momentum=0.9)


def conv_transpose(g, x, inputs, outputs, size, stride, dims=2):
    weight = g.weight(inputs, outputs, *[size] * dims, terms=inputs * size**dims // stride**dims)
    side = (size - stride) // 2
    return g.node("ConvTranspose", x, weight, g.near(0, outputs), kernel_shape=[size] * dims, strides=[stride] * dims,
                  pads=[side] * 2 * dims, dilations=[1] * dims, group=1)


def relu(g, x):
    return g.node("Relu", x)


def relu6(g, x):
    return g.node("Clip", x, g.constant(0), g.constant(6))


def silu(g, x):
    return g.node("Mul", x, g.node("Sigmoid", x))


def hard_swish(g, x):
    """The form of opsets before HardSwish."""
    gate = g.node("Clip", g.node("Add", x, g.constant(3)), g.constant(0), g.constant(6))
    return g.node("Div", g.node("Mul", x, gate), g.constant(6))


def gelu(g, x):
    """x * (1 + erf(x / sqrt(2))) / 2, operation by operation."""
    erf = g.node("Erf", g.node("Div", x, g.constant(2**0.5)))
    return g.node("Mul", g.node("Mul", x, g.node("Add", erf, g.constant(1))), g.constant(0.5))


def gelu_tanh(g, x):
    """The approximation by tanh, as GPT-2 has it."""
    cube = g.node("Mul", g.node("Pow", x, g.constant(3)), g.constant(0.044715))
    inner = g.node("Mul", g.node("Add", x, cube), g.constant((2 / np.pi) ** 0.5))
    gate = g.node("Add", g.node("Tanh", inner), g.constant(1))
    return g.node("Mul", g.node("Mul", x, g.constant(0.5)), gate)


def layer_norm(g, x, width, epsilon=1e-5):
    """Operation by operation, as before opset 17."""
    centered = g.node("Sub", x, g.node("ReduceMean", x, axes=[-1], keepdims=1))
    variance = g.node("ReduceMean", g.node("Pow", centered, g.constant(2)), axes=[-1], keepdims=1)
    scaled = g.node("Div", centered, g.node("Sqrt", g.node("Add", variance, g.constant(epsilon))))
    scaled = g.node("Mul", scaled, g.near(1, width, word="weight"))
    return g.node("Add", scaled, g.near(0, width))


def linear(g, x, inputs, outputs, bias=True):
    """A linear layer over the last axis of x with more than two axes."""
    product = g.node("MatMul", x, g.weight(inputs, outputs, terms=inputs))
    return g.node("Add", g.near(0, outputs), product) if bias else product


def gemm(g, x, inputs, outputs):
    return g.node("Gemm", x, g.weight(outputs, inputs), g.near(0, outputs), alpha=1.0, beta=1.0, transB=1)


def dim(g, x, axis):
    """An extent as a tensor of one element, as exports with open extents compute it."""
    extent = g.node("Gather", g.node("Shape", x), g.constant(axis, np.int64), axis=0)
    return g.node("Unsqueeze", extent, g.constant([0], np.int64))


def split_heads(g, x, heads, width, open_extents, keys=False):
    """[batch, length, heads * size] to [batch, heads, length, size], or with the last two axes turned for keys."""
    size = width // heads
    if open_extents:
        shape = g.node("Concat", dim(g, x, 0), dim(g, x, 1), g.constant([heads], np.int64),
                       g.constant([size], np.int64), axis=0)
    else:
        shape = g.constant([0, 0, heads, size], np.int64)
    return g.node("Transpose", g.node("Reshape", x, shape), perm=[0, 2, 3, 1] if keys else [0, 2, 1, 3])


def join_heads(g, x, width, open_extents):
    x = g.node("Transpose", x, perm=[0, 2, 1, 3])
    if open_extents:
        shape = g.node("Concat", dim(g, x, 0), dim(g, x, 1), g.constant([width], np.int64), axis=0)
    else:
        shape = g.constant([0, 0, width], np.int64)
    return g.node("Reshape", x, shape)


def attention(g, x, width, heads, mask=None, open_extents=False):
    """Self-attention, operation by operation."""
    sides = []
    for name in ("query", "key", "value"):
        with g.scope(name):
            sides.append(split_heads(g, linear(g, x, width, width), heads, width, open_extents, keys=name == "key"))
    query, key, value = sides
    scores = g.node("Div", g.node("MatMul", query, key), g.constant((width // heads) ** 0.5))
    if mask:
        scores = g.node("Add", scores, mask)
    y = g.node("MatMul", g.node("Softmax", scores, axis=-1), value)
    with g.scope("output"):
        return linear(g, join_heads(g, y, width, open_extents), width, width)


def feed_forward(g, x, width, inner, activation=gelu):
    with g.scope("fc1"):
        y = linear(g, x, width, inner)
    y = activation(g, y)
    with g.scope("fc2"):
        return linear(g, y, inner, width)


def pre_norm_layer(g, x, width, heads, inner):
    """A layer of a transformer that normalizes what goes into its halves."""
    with g.scope("attn"):
        x = g.node("Add", x, attention(g, layer_norm(g, x, width), width, heads))
    with g.scope("mlp"):
        return g.node("Add", x, feed_forward(g, layer_norm(g, x, width), width, inner))
