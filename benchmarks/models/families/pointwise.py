"""Chains of operations on single elements: one of eight over 4.2 million numbers, and one with broadcasts over few."""

import numpy as np

from ..graph import Graph


def chain():
    g = Graph(seed=17)
    x = g.input("x", g.random.standard_normal((64, 65536), dtype=np.float32))
    y = g.node("Mul", x, g.constant(0.5))
    y = g.node("Add", y, g.constant(1.0))
    y = g.node("Relu", y)
    y = g.node("Mul", y, y)
    y = g.node("Sub", y, x)
    y = g.node("Clip", y, g.constant(-4), g.constant(4))
    y = g.node("Mul", y, g.constant(0.25))
    g.output(g.node("Add", y, x))
    return g.model(), g.feeds


def broadcasts():
    """Scales and shifts of rows and columns around functions that cost more."""
    g = Graph(seed=18)
    x = g.input("x", g.random.standard_normal((256, 512), dtype=np.float32))
    y = g.node("Add", g.node("Mul", x, g.near(1, 512, word="weight")), g.near(0, 256, 1))
    y = g.node("Mul", y, g.node("Sigmoid", y))
    y = g.node("Add", g.node("Tanh", y), g.node("Exp", g.node("Neg", g.node("Abs", x))))
    y = g.node("Div", y, g.node("Sqrt", g.node("Add", g.node("Mul", x, x), g.constant(1))))
    g.output(g.node("Mul", y, g.near(1, 256, 1, word="weight")))
    return g.model(), g.feeds


MODELS = {"pointwise_chain": chain, "pointwise_broadcasts": broadcasts}
