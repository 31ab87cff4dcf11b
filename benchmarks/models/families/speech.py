"""Speech: an encoder like Whisper's, a vocoder of 1-D convolutions, and a wake word in a few dense layers."""

import numpy as np

from ..blocks import conv, conv_transpose, gelu, gemm, layer_norm, pre_norm_layer
from ..graph import Graph


def whisper_encoder(width=384, layers=4, heads=6):
    g = Graph(seed=12)
    x = g.input("mel", g.random.standard_normal((1, 80, 3000), dtype=np.float32))
    x = gelu(g, conv(g, x, 80, width, 3, dims=1))
    x = gelu(g, conv(g, x, width, width, 3, 2, dims=1))
    x = g.node("Transpose", x, perm=[0, 2, 1])
    x = g.node("Add", x, g.weight(1500, width, terms=1, word="positional_embedding"))
    for i in range(layers):
        with g.scope(f"blocks.{i}"):
            x = pre_norm_layer(g, x, width, heads, 4 * width)
    g.output(layer_norm(g, x, width), "audio_features", rank=3)
    return g.model(), g.feeds


def leaky(g, x):
    return g.node("LeakyRelu", x, alpha=0.1)


def residual_stack(g, x, channels, size):
    for dilation in (1, 3, 5):
        y = conv(g, leaky(g, x), channels, channels, size, dilation=dilation, dims=1)
        x = g.node("Add", conv(g, leaky(g, y), channels, channels, size, dims=1), x)
    return x


def vocoder():
    """From 64 frames to 16384 samples; each stage sums three stacks of different kernels."""
    g, channels = Graph(seed=13), 128
    x = conv(g, g.input("mel", g.random.standard_normal((1, 80, 64), dtype=np.float32)), 80, channels, 7, dims=1)
    for stage, (factor, size) in enumerate(((8, 16), (8, 16), (2, 4), (2, 4))):
        with g.scope(f"ups.{stage}"):
            x = conv_transpose(g, leaky(g, x), channels, channels // 2, size, factor, dims=1)
        channels //= 2
        with g.scope(f"resblocks.{stage}"):
            stacks = [residual_stack(g, x, channels, size) for size in (3, 7, 11)]
        x = g.node("Div", g.node("Add", g.node("Add", stacks[0], stacks[1]), stacks[2]), g.constant(3))
    g.output(g.node("Tanh", conv(g, leaky(g, x), channels, 1, 7, dims=1)), "audio", rank=3)
    return g.model(), g.feeds


def wake_word():
    g = Graph(seed=14)
    x = g.input("features", g.random.standard_normal((1, 16, 96), dtype=np.float32))
    x = g.node("Flatten", x, axis=1)
    for inputs in (1536, 128, 128):
        x = g.node("Relu", layer_norm(g, gemm(g, x, inputs, 128), 128))
    g.output(g.node("Sigmoid", gemm(g, x, 128, 1)), "score")
    return g.model(), g.feeds


MODELS = {"whisper_encoder": whisper_encoder, "vocoder": vocoder, "wake_word": wake_word}
