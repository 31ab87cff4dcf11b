"""A decoder like GPT-2: the pass over a prompt, and one token with the keys and values of those before it."""

import numpy as np

from ..blocks import feed_forward, gelu_tanh, join_heads, layer_norm, linear, split_heads
from ..graph import Graph

WIDTH, HEADS, LAYERS, VOCABULARY, PLACES = 768, 12, 6, 16000, 1024


def causal_mask(g, query, key):
    """Cuts the rows of the queries and the columns of the keys out of a triangle."""
    triangle = g.stored(np.tril(np.ones((1, 1, PLACES, PLACES), bool)), "bias")
    queries, keys = (g.node("Gather", g.node("Shape", x), g.constant([2], np.int64), axis=0) for x in (query, key))
    start, axes = g.node("Sub", keys, queries), [g.constant([axis], np.int64) for axis in (2, 3)]
    rows = g.node("Slice", triangle, start, keys, axes[0])
    return g.node("Slice", rows, g.constant([0], np.int64), keys, axes[1])


def attend(g, x, layer, past):
    parts = g.node("Split", linear(g, x, WIDTH, 3 * WIDTH), g.constant([WIDTH] * 3, np.int64), outputs=3, axis=2)
    query, key, value = (split_heads(g, part, HEADS, WIDTH, open_extents=True) for part in parts)
    if past:
        key, value = (g.node("Concat", before, now, axis=2) for before, now in zip(past, (key, value), strict=True))
    scores = g.node("MatMul", query, g.node("Transpose", key, perm=[0, 1, 3, 2]))
    scores = g.node("Div", scores, g.constant((WIDTH // HEADS) ** 0.5))
    hidden = g.constant(np.finfo(np.float32).min)
    scores = g.node("Where", causal_mask(g, query, key), scores, hidden)
    y = g.node("MatMul", g.node("Softmax", scores, axis=-1), value)
    y = linear(g, join_heads(g, y, WIDTH, open_extents=True), WIDTH, WIDTH)
    g.output(key, f"present.{layer}.key", rank=4)
    g.output(value, f"present.{layer}.value", rank=4)
    return y


def decoder(length, past_length):
    g = Graph(seed=16)
    ids = g.input("input_ids", g.random.integers(0, VOCABULARY, (1, length)), ["batch", "sequence"])
    places = np.arange(past_length, past_length + length)[None]
    places = g.input("position_ids", places, ["batch", "sequence"])
    x = g.node("Gather", g.weight(VOCABULARY, WIDTH, terms=1, word="wte"), ids, axis=0)
    x = g.node("Add", x, g.node("Gather", g.weight(PLACES, WIDTH, terms=1, word="wpe"), places, axis=0))
    for layer in range(LAYERS):
        past = []
        for side in ("key", "value") if past_length else ():
            values = g.random.standard_normal((1, HEADS, past_length, WIDTH // HEADS), dtype=np.float32)
            past.append(g.input(f"past_key_values.{layer}.{side}", values, ["batch", HEADS, "past", WIDTH // HEADS]))
        with g.scope(f"h.{layer}"):
            x = g.node("Add", attend(g, layer_norm(g, x, WIDTH), layer, past), x)
            y = feed_forward(g, layer_norm(g, x, WIDTH), WIDTH, 4 * WIDTH, gelu_tanh)
            x = g.node("Add", x, y)
    with g.scope("lm_head"):
        g.output(linear(g, layer_norm(g, x, WIDTH), WIDTH, VOCABULARY, bias=False), "logits", rank=3)
    return g.model(), g.feeds


MODELS = {"gpt_prefill_s64": lambda: decoder(64, 0), "gpt_decode_p128": lambda: decoder(1, 128)}
