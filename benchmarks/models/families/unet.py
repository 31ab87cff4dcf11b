"""U-Nets: one for images, which is 3x3 convolutions for the most part, and a block of one for volumes."""

from ..blocks import conv, conv_transpose, relu
from ..graph import Graph


def double_conv(g, x, inputs, outputs, name):
    with g.scope(name):
        return relu(g, conv(g, relu(g, conv(g, x, inputs, outputs, 3)), outputs, outputs, 3))


def unet(size=256, width=32, depth=4):
    g = Graph(seed=5)
    x, channels, kept = g.image(1, 3, size, size), 3, []
    for level in range(depth):
        x = double_conv(g, x, channels, width << level, f"down{level}")
        channels = width << level
        kept.append(x)
        x = g.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = double_conv(g, x, channels, 2 * channels, "middle")
    for level in reversed(range(depth)):
        channels = width << level
        x = conv_transpose(g, x, 2 * channels, channels, 2, 2)
        x = double_conv(g, g.node("Concat", kept[level], x, axis=1), 2 * channels, channels, f"up{level}")
    g.output(g.node("Sigmoid", conv(g, x, width, 1)), rank=4)
    return g.model(), g.feeds


def norm_conv(g, x, inputs, outputs):
    y = conv(g, x, inputs, outputs, 3, dims=3)
    y = g.node("InstanceNormalization", y, g.near(1, outputs, word="weight"), g.near(0, outputs), epsilon=1e-5)
    return g.node("LeakyRelu", y, alpha=0.01)


def unet_3d():
    g = Graph(seed=6)
    x = g.image(1, 8, 24, 48, 48, name="volume")
    with g.scope("down"):
        x = norm_conv(g, norm_conv(g, x, 8, 16), 16, 16)
    with g.scope("middle"):
        y = g.node("MaxPool", x, kernel_shape=[2, 2, 2], strides=[2, 2, 2])
        y = norm_conv(g, norm_conv(g, y, 16, 32), 32, 32)
    with g.scope("up"):
        y = g.node("Concat", x, conv_transpose(g, y, 32, 16, 2, 2, dims=3), axis=1)
        y = norm_conv(g, norm_conv(g, y, 32, 16), 16, 16)
    g.output(conv(g, y, 16, 4, dims=3), rank=5)
    return g.model(), g.feeds


MODELS = {"unet": unet, "unet_3d": unet_3d}
