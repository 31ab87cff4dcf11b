"""A one-stage detector with split-and-concat blocks, SiLU, a pyramid with nearest upsampling, and decoded boxes."""

import numpy as np

from ..blocks import conv, silu
from ..graph import Graph


def conv_silu(g, x, inputs, outputs, size=1, stride=1):
    with g.scope("conv"):
        return silu(g, conv(g, x, inputs, outputs, size, stride))


def split_block(g, x, inputs, outputs, repeats, shortcut, name):
    """Convolves one half again and again and keeps every stage."""
    half = outputs // 2
    with g.scope(name):
        parts = g.node("Split", conv_silu(g, x, inputs, outputs), g.constant([half, half], np.int64), outputs=2, axis=1)
        for _ in range(repeats):
            y = conv_silu(g, conv_silu(g, parts[-1], half, half, 3), half, half, 3)
            parts.append(g.node("Add", parts[-1], y) if shortcut else y)
        return conv_silu(g, g.node("Concat", *parts, axis=1), half * (2 + repeats), outputs)


def pooled_pyramid(g, x, channels):
    x = conv_silu(g, x, channels, channels // 2)
    parts = [x]
    for _ in range(3):
        parts.append(g.node("MaxPool", parts[-1], kernel_shape=[5, 5], strides=[1, 1], pads=[2, 2, 2, 2]))
    return conv_silu(g, g.node("Concat", *parts, axis=1), channels * 2, channels)


def upsample(g, x):
    return g.node("Resize", x, "", g.constant([1, 1, 2, 2]), mode="nearest", nearest_mode="floor",
                  coordinate_transformation_mode="asymmetric")


def head(g, x, channels, classes, bins, level):
    """Distances to the sides of a box as distributions, and classes."""
    with g.scope(f"head.{level}"):
        box = conv_silu(g, conv_silu(g, x, channels, 64, 3), 64, 64, 3)
        kind = conv_silu(g, conv_silu(g, x, channels, classes, 3), classes, classes, 3)
        both = g.node("Concat", conv(g, box, 64, 4 * bins), conv(g, kind, classes, classes), axis=1)
        return g.node("Reshape", both, g.constant([1, 4 * bins + classes, -1], np.int64))


def decode(g, levels, classes, bins):
    joined = g.node("Concat", *levels, axis=2)
    sides, scores = g.node("Split", joined, g.constant([4 * bins, classes], np.int64), outputs=2, axis=1)
    sides = g.node("Transpose", g.node("Reshape", sides, g.constant([1, 4, bins, -1], np.int64)), perm=[0, 2, 1, 3])
    weights = g.stored(np.arange(bins, dtype=np.float32).reshape(1, bins, 1, 1), "dfl")
    distances = g.node("Conv", g.node("Softmax", sides, axis=1), weights, kernel_shape=[1, 1])
    distances = g.node("Reshape", distances, g.constant([1, 4, -1], np.int64))
    return g.node("Concat", distances, g.node("Sigmoid", scores), axis=1)


def yolo():
    g, classes, bins = Graph(seed=4), 80, 16
    x = conv_silu(g, conv_silu(g, g.image(1, 3, 320, 320, name="images"), 3, 32, 3, 2), 32, 64, 3, 2)
    x = split_block(g, x, 64, 64, 1, True, "stage1")
    p3 = split_block(g, conv_silu(g, x, 64, 128, 3, 2), 128, 128, 2, True, "stage2")
    p4 = split_block(g, conv_silu(g, p3, 128, 256, 3, 2), 256, 256, 2, True, "stage3")
    p5 = split_block(g, conv_silu(g, p4, 256, 512, 3, 2), 512, 512, 1, True, "stage4")
    p5 = pooled_pyramid(g, p5, 512)
    m4 = split_block(g, g.node("Concat", upsample(g, p5), p4, axis=1), 768, 256, 1, False, "up4")
    m3 = split_block(g, g.node("Concat", upsample(g, m4), p3, axis=1), 384, 128, 1, False, "up3")
    n4 = g.node("Concat", conv_silu(g, m3, 128, 128, 3, 2), m4, axis=1)
    n4 = split_block(g, n4, 384, 256, 1, False, "down4")
    n5 = g.node("Concat", conv_silu(g, n4, 256, 256, 3, 2), p5, axis=1)
    n5 = split_block(g, n5, 768, 512, 1, False, "down5")
    levels = [head(g, x, c, classes, bins, i) for i, (x, c) in enumerate(((m3, 128), (n4, 256), (n5, 512)))]
    g.output(decode(g, levels, classes, bins), "output0", rank=3)
    return g.model(), g.feeds


MODELS = {"yolo": yolo}
