"""ViT-B/16, as PyTorch traces it."""

import numpy as np

from ..blocks import conv, gemm, layer_norm, pre_norm_layer
from ..graph import Graph


def vit_b16(width=768, layers=12):
    g = Graph(seed=11)
    x = conv(g, g.image(1, 3, 224, 224), 3, width, 16, 16, pads=[0, 0, 0, 0])
    x = g.node("Transpose", g.node("Reshape", x, g.constant([1, width, 196], np.int64)), perm=[0, 2, 1])
    x = g.node("Concat", g.weight(1, 1, width, terms=1, word="class_token"), x, axis=1)
    x = g.node("Add", x, g.weight(1, 197, width, terms=1, word="pos_embedding"))
    for i in range(layers):
        with g.scope(f"encoder.layers.{i}"):
            x = pre_norm_layer(g, x, width, 12, 4 * width)
    x = g.node("Gather", layer_norm(g, x, width), g.constant(0, np.int64), axis=1)
    g.output(gemm(g, x, width, 1000))
    return g.model(), g.feeds


MODELS = {"vit_b16": vit_b16}
