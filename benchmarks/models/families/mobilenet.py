"""Mobile networks for images: MobileNetV2 as PyTorch exports it, and one like EfficientNet-lite with its batch
normalizations in place, as converters of other frameworks leave it."""

from ..blocks import batch_norm, conv, gemm, relu6
from ..graph import Graph

# Each: expansion, channels, blocks, stride, size of the depthwise kernel.
MOBILENET_V2 = ((1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 32, 3, 2, 3), (6, 64, 4, 2, 3), (6, 96, 3, 1, 3),
                (6, 160, 3, 2, 3), (6, 320, 1, 1, 3))
EFFICIENTNET_LITE = ((1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3), (6, 112, 3, 1, 5),
                     (6, 192, 4, 2, 5), (6, 320, 1, 1, 3))


def conv_norm(g, x, inputs, outputs, size=1, stride=1, groups=1, folded=True):
    y = conv(g, x, inputs, outputs, size, stride, groups, bias=folded)
    return y if folded else batch_norm(g, y, outputs)


def inverted_residual(g, x, inputs, outputs, expansion, stride, size, folded):
    y, width = x, inputs * expansion
    if expansion > 1:
        with g.scope("expand"):
            y = relu6(g, conv_norm(g, y, inputs, width, folded=folded))
    with g.scope("depthwise"):
        y = relu6(g, conv_norm(g, y, width, width, size, stride, width, folded))
    with g.scope("project"):
        y = conv_norm(g, y, width, outputs, folded=folded)
    return g.node("Add", x, y) if stride == 1 and inputs == outputs else y


def network(seed, stages, folded):
    g = Graph(seed=seed)
    x = relu6(g, conv_norm(g, g.image(1, 3, 224, 224), 3, 32, 3, 2, folded=folded))
    channels = 32
    for stage, (expansion, outputs, blocks, stride, size) in enumerate(stages):
        for block in range(blocks):
            with g.scope(f"features.{stage}.{block}"):
                x = inverted_residual(g, x, channels, outputs, expansion, stride if block == 0 else 1, size, folded)
            channels = outputs
    x = relu6(g, conv_norm(g, x, channels, 1280, folded=folded))
    x = g.node("Flatten", g.node("GlobalAveragePool", x), axis=1)
    g.output(gemm(g, x, 1280, 1000))
    return g.model(), g.feeds


MODELS = {
    "mobilenet_v2": lambda: network(2, MOBILENET_V2, folded=True),
    "efficientnet_lite": lambda: network(3, EFFICIENTNET_LITE, folded=False),
}
