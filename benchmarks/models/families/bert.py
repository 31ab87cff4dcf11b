"""Encoders of text: BERT-base with fixed extents, MiniLM with open ones and mean pooling, as sentence encoders have
them."""

import numpy as np

from ..blocks import attention, feed_forward, gemm, layer_norm
from ..graph import Graph


def embeddings(g, ids, types, width, vocabulary, length):
    with g.scope("embeddings"):
        x = g.node("Gather", g.weight(vocabulary, width, terms=1, word="word_embeddings"), ids, axis=0)
        kinds = g.node("Gather", g.weight(2, width, terms=1, word="token_type_embeddings"), types, axis=0)
        x = g.node("Add", x, kinds)
        places = g.weight(512, width, terms=1, word="position_embeddings")
        end = length or g.node("Unsqueeze", g.node("Gather", g.node("Shape", ids), g.constant(1, np.int64), axis=0),
                               g.constant([0], np.int64))
        places = g.node("Slice", places, g.constant([0], np.int64), end, g.constant([0], np.int64))
        return layer_norm(g, g.node("Add", x, places), width, 1e-12)


def additive_mask(g, mask):
    """0 where to look, a large negative number elsewhere."""
    wide = g.node("Unsqueeze", mask, g.constant([1, 2], np.int64))
    inverse = g.node("Sub", g.constant(1), g.node("Cast", wide, to=1))
    return g.node("Mul", inverse, g.constant(np.finfo(np.float32).min))


def encoder(g, length, layers, width, heads, vocabulary, open_extents):
    dims = ["batch", "sequence"] if open_extents else None
    ids = g.input("input_ids", g.random.integers(1, vocabulary, (1, length)), dims)
    seen = np.ones((1, length), np.int64)
    seen[0, length - length // 8 :] = 0
    mask = g.input("attention_mask", seen, dims)
    types = g.input("token_type_ids", np.zeros((1, length), np.int64), dims)
    x = embeddings(g, ids, types, width, vocabulary, None if open_extents else g.constant([length], np.int64))
    masked = additive_mask(g, mask)
    for i in range(layers):
        with g.scope(f"encoder.layer.{i}"):
            with g.scope("attention"):
                y = attention(g, x, width, heads, masked, open_extents)
                x = layer_norm(g, g.node("Add", y, x), width, 1e-12)
            x = layer_norm(g, g.node("Add", feed_forward(g, x, width, 4 * width), x), width, 1e-12)
    return x, mask


def bert_base():
    g = Graph(seed=9)
    x, _ = encoder(g, 128, 12, 768, 12, 30522, open_extents=False)
    first = g.node("Gather", x, g.constant(0, np.int64), axis=1)
    with g.scope("pooler"):
        pooled = g.node("Tanh", gemm(g, first, 768, 768))
    g.output(x, "last_hidden_state", rank=3)
    g.output(pooled, "pooler_output")
    return g.model(), g.feeds


def minilm(length):
    """Six layers, and the mean over the tokens that count, of length one."""
    g = Graph(seed=10)
    x, mask = encoder(g, length, 6, 384, 12, 30522, open_extents=True)
    weights = g.node("Cast", g.node("Unsqueeze", mask, g.constant([-1], np.int64)), to=1)
    total = g.node("ReduceSum", g.node("Mul", x, weights), g.constant([1], np.int64), keepdims=0)
    count = g.node("Clip", g.node("ReduceSum", weights, g.constant([1], np.int64), keepdims=0), g.constant(1e-9))
    mean = g.node("Div", total, count)
    norm = g.node("Clip", g.node("ReduceL2", mean, axes=[1], keepdims=1), g.constant(1e-12))
    g.output(g.node("Div", mean, norm), "sentence_embedding")
    return g.model(), g.feeds


MODELS = {"bert_base_s128": bert_base, "minilm_s128": lambda: minilm(128), "minilm_s16": lambda: minilm(16)}
