"""Voice activity, step by step: nested Ifs choose by the sample rate and by whether there is a state already."""

import numpy as np
from onnx import TensorProto, helper

from ..blocks import conv, relu
from ..graph import Graph

HIDDEN = 128


def branch(g, name, *results):
    """The body with these results, each under a name of its own."""
    for i, value in enumerate(results):
        g.nodes.append(helper.make_node("Identity", [value], [f"{name}_{i}"], name=f"/{name}_{i}"))
        g.outputs.append(helper.make_tensor_value_info(f"{name}_{i}", TensorProto.FLOAT, None))
    return g.graph(name)


def spectrum(g, x, window):
    """A short-time Fourier transform as a convolution with sines and cosines."""
    count = window // 2 + 1
    angles = 2 * np.pi * np.outer(np.arange(count), np.arange(window)) / window
    basis = np.concatenate([np.cos(angles), -np.sin(angles)]) * np.hanning(window)
    x = g.node("Pad", g.node("Unsqueeze", x, g.constant([1], np.int64)),
               g.constant([0, 0, 0, 0, 0, window // 4], np.int64), mode="reflect")
    x = g.node("Conv", x, g.stored(basis[:, None].astype(np.float32), "basis"), kernel_shape=[window],
               strides=[window // 2])
    real, imaginary = g.node("Split", x, g.constant([count, count], np.int64), outputs=2, axis=1)
    squares = [g.node("Pow", part, g.constant(2)) for part in (real, imaginary)]
    return g.node("Sqrt", g.node("Add", *squares)), count


def first_state(g, state):
    """The state that was given, or zeros where it is empty."""
    then, other = g.body("then"), g.body("else")
    zeros = branch(then, "zeros", then.constant(np.zeros((2, 1, HIDDEN))))
    given = branch(other, "given", other.node("Identity", state))
    empty = g.node("Equal", g.node("Size", state), g.constant(0, np.int64))
    return g.node("If", empty, then_branch=zeros, else_branch=given)


def network(g, x, state, window):
    x, channels = spectrum(g, x, window)
    for outputs, stride in ((128, 1), (64, 2), (64, 2), (HIDDEN, 1)):
        x = relu(g, conv(g, x, channels, outputs, 3, stride, dims=1))
        channels = outputs
    hidden, cell = g.node("Split", first_state(g, state), g.constant([1, 1], np.int64), outputs=2, axis=0)
    x = g.node("Transpose", x, perm=[2, 0, 1])
    weights = [g.weight(1, 4 * HIDDEN, HIDDEN, terms=HIDDEN, word=word) for word in "WR"]
    y, hidden, cell = g.node("LSTM", x, *weights, g.near(0, 1, 8 * HIDDEN, word="B"), "", hidden, cell, outputs=3,
                             hidden_size=HIDDEN)
    y = relu(g, g.node("Transpose", g.node("Squeeze", y, g.constant([1], np.int64)), perm=[1, 2, 0]))
    score = g.node("ReduceMean", g.node("Sigmoid", conv(g, y, HIDDEN, 1, dims=1)), axes=[2], keepdims=0)
    return score, g.node("Concat", hidden, cell, axis=0)


def voice_activity():
    g = Graph(seed=15)
    x = g.input("input", g.random.standard_normal((1, 512), dtype=np.float32), [1, "samples"])
    state = g.input("state", g.random.standard_normal((2, 1, HIDDEN), dtype=np.float32), [2, "batch", HIDDEN])
    rate = g.input("sr", np.array(16000, np.int64))
    branches = {}
    for name, window in (("then_branch", 256), ("else_branch", 128)):
        inner = g.body(name)
        score, after = network(inner, x, state, window)
        branches[name] = branch(inner, name, score, after)
    score, after = g.node("If", g.node("Equal", rate, g.constant(16000, np.int64)), outputs=2, **branches)
    g.output(score)
    g.output(after, "stateN", rank=3)
    return g.model(), g.feeds


MODELS = {"voice_activity": voice_activity}
