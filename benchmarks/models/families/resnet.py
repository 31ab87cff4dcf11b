"""ResNet-50, its batch normalizations folded into the convolutions as PyTorch exports it."""

from ..blocks import conv, gemm, relu
from ..graph import Graph


def bottleneck(g, x, inputs, width, stride):
    with g.scope("conv1"):
        y = relu(g, conv(g, x, inputs, width))
    with g.scope("conv2"):
        y = relu(g, conv(g, y, width, width, 3, stride))
    with g.scope("conv3"):
        y = conv(g, y, width, 4 * width)
    if inputs != 4 * width or stride > 1:
        with g.scope("downsample"):
            x = conv(g, x, inputs, 4 * width, 1, stride)
    return relu(g, g.node("Add", y, x))


def resnet50():
    g = Graph(seed=1)
    x = relu(g, conv(g, g.image(1, 3, 224, 224), 3, 64, 7, 2))
    x = g.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    channels = 64
    for stage, (width, blocks) in enumerate(((64, 3), (128, 4), (256, 6), (512, 3)), 1):
        for block in range(blocks):
            with g.scope(f"layer{stage}"), g.scope(f"layer{stage}.{block}"):
                x = bottleneck(g, x, channels, width, 2 if stage > 1 and block == 0 else 1)
            channels = 4 * width
    x = g.node("Flatten", g.node("GlobalAveragePool", x), axis=1)
    with g.scope("fc"):
        g.output(gemm(g, x, 2048, 1000))
    return g.model(), g.feeds


MODELS = {"resnet50": resnet50}
