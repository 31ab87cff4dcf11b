"""Reading text in images: a detector on a mobile network with squeeze-and-excitation and hard-swish, and a recognizer
of convolutions and bidirectional LSTMs."""

import numpy as np

from ..blocks import batch_norm, conv, conv_transpose, hard_swish, linear, relu
from ..graph import Graph

# Each: kernel, channels inside, channels out, squeeze and excitation, hard-swish, stride.
BLOCKS = ((3, 16, 16, False, False, 1), (3, 64, 24, False, False, 2), (3, 72, 24, False, False, 1),
          (5, 72, 40, True, False, 2), (5, 120, 40, True, False, 1), (3, 240, 80, False, True, 2),
          (3, 200, 80, False, True, 1), (3, 480, 112, True, True, 1), (5, 672, 160, True, True, 2),
          (5, 960, 160, True, True, 1))


def conv_norm(g, x, inputs, outputs, size=1, stride=1, groups=1):
    return batch_norm(g, conv(g, x, inputs, outputs, size, stride, groups, bias=False), outputs)


def squeeze_excite(g, x, channels):
    with g.scope("se"):
        y = relu(g, conv(g, g.node("GlobalAveragePool", x), channels, channels // 4))
        y = g.node("HardSigmoid", conv(g, y, channels // 4, channels), alpha=0.2, beta=0.5)
        return g.node("Mul", x, y)


def mobile_block(g, x, inputs, size, width, outputs, squeezes, swish, stride):
    activation = hard_swish if swish else relu
    y = activation(g, conv_norm(g, x, inputs, width))
    y = activation(g, conv_norm(g, y, width, width, size, stride, width))
    if squeezes:
        y = squeeze_excite(g, y, width)
    y = conv_norm(g, y, width, outputs)
    return g.node("Add", x, y) if stride == 1 and inputs == outputs else y


def upsample(g, x, factor):
    return g.node("Resize", x, "", g.constant([1, 1, factor, factor]), mode="nearest", nearest_mode="floor",
                  coordinate_transformation_mode="asymmetric")


def pyramid(g, stages, width=96):
    """Brings the stages together at the extents of the finest."""
    sides = [conv(g, x, channels, width, bias=False) for x, channels in stages]
    for i in reversed(range(len(sides) - 1)):
        sides[i] = g.node("Add", sides[i], upsample(g, sides[i + 1], 2))
    parts = [conv(g, side, width, width // 4, 3, bias=False) for side in sides]
    parts = [part if i == 0 else upsample(g, part, 2**i) for i, part in enumerate(parts)]
    return g.node("Concat", *reversed(parts), axis=1)


def detector():
    g = Graph(seed=7, opset=14)
    x, channels, stages = g.image(1, 3, 480, 480, name="x"), 16, []
    x = hard_swish(g, conv_norm(g, x, 3, channels, 3, 2))
    for i, (size, width, outputs, squeezes, swish, stride) in enumerate(BLOCKS):
        if stride == 2 and i > 1:
            stages.append((x, channels))
        with g.scope(f"block{i}"):
            x = mobile_block(g, x, channels, size, width, outputs, squeezes, swish, stride)
        channels = outputs
    x = pyramid(g, [*stages, (x, channels)])
    x = relu(g, conv_norm(g, x, 96, 24, 3))
    x = relu(g, batch_norm(g, conv_transpose(g, x, 24, 24, 2, 2), 24))
    g.output(g.node("Sigmoid", conv_transpose(g, x, 24, 1, 2, 2)), "maps", rank=4)
    return g.model(), g.feeds


def bidirectional_lstm(g, x, inputs, hidden):
    """Over [length, batch, inputs], with states that are zero at the beginning."""
    state = g.constant(np.zeros((2, 1, hidden)))
    y, _, _ = g.node("LSTM", x, g.weight(2, 4 * hidden, inputs, terms=inputs, word="W"),
                     g.weight(2, 4 * hidden, hidden, terms=hidden, word="R"), g.near(0, 2, 8 * hidden, word="B"),
                     "", state, state, outputs=3, direction="bidirectional", hidden_size=hidden)
    y = g.node("Transpose", y, perm=[0, 2, 1, 3])
    return g.node("Reshape", y, g.constant([0, 0, -1], np.int64))


def recognizer():
    """Convolutions that end at a height of one, then two recurrent layers over the width."""
    g = Graph(seed=8)
    x, channels = g.image(1, 1, 32, 320), 1
    pools = {0: (2, 2), 1: (2, 2), 3: (2, 1), 5: (2, 1)}
    for i, outputs in enumerate((64, 128, 256, 256, 512, 512)):
        x = relu(g, conv(g, x, channels, outputs, 3))
        channels = outputs
        if i in pools:
            x = g.node("MaxPool", x, kernel_shape=list(pools[i]), strides=list(pools[i]))
    x = relu(g, conv(g, x, 512, 512, 2, pads=[0, 0, 0, 0]))
    x = g.node("Transpose", g.node("Squeeze", x, g.constant([2], np.int64)), perm=[2, 0, 1])
    x = bidirectional_lstm(g, x, 512, 256)
    x = bidirectional_lstm(g, x, 512, 256)
    g.output(g.node("Softmax", linear(g, x, 512, 97), axis=2), "scores", rank=3)
    return g.model(), g.feeds


MODELS = {"ocr_detector": detector, "crnn": recognizer}
