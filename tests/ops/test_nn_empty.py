"""Tensors without elements cost nothing, whatever their other extents are."""

import numpy as np
import pytest
from nn_models import random, run

HUGE = 2**40


def empty(*shape):
    return np.empty(shape, np.float32)


@pytest.mark.parametrize(("op_type", "feeds", "attributes", "shape"), [
    ("MatMul", [empty(HUGE, 0), empty(0, 0)], {}, (HUGE, 0)),
    ("MatMul", [empty(HUGE, 0, 3), random(3, 2)], {}, (HUGE, 0, 2)),
    ("Gemm", [empty(HUGE, 0), empty(0, 0)], {}, (HUGE, 0)),
    ("Einsum", [empty(HUGE, 0), empty(0, 0)], {"equation": "ij,jk->ik"}, (HUGE, 0)),
    ("LpNormalization", [empty(HUGE, 0)], {}, (HUGE, 0)),
    ("LayerNormalization", [empty(HUGE, 0), empty(0)], {}, (HUGE, 0)),
    ("RMSNormalization", [empty(HUGE, 0), empty(0)], {}, (HUGE, 0)),
    ("BatchNormalization", [empty(HUGE, 0), empty(0), empty(0), empty(0), empty(0)], {}, (HUGE, 0)),
    ("InstanceNormalization", [empty(HUGE, 0, 3), empty(0), empty(0)], {}, (HUGE, 0, 3)),
    ("LRN", [empty(HUGE, 0, 3, 3)], {"size": 3}, (HUGE, 0, 3, 3)),
    ("MeanVarianceNormalization", [empty(HUGE, 0, 3, 3)], {}, (HUGE, 0, 3, 3)),
    ("Conv", [empty(0, 1, HUGE), random(1, 1, 3)], {}, (0, 1, HUGE - 2)),
    ("ConvTranspose", [empty(0, 1, HUGE), random(1, 1, 3)], {}, (0, 1, HUGE + 2)),
    ("MaxPool", [empty(0, 1, HUGE)], {"kernel_shape": [3]}, (0, 1, HUGE - 2)),
    ("AveragePool", [empty(0, 1, HUGE)], {"kernel_shape": [3]}, (0, 1, HUGE - 2)),
    ("LpPool", [empty(0, 1, HUGE)], {"kernel_shape": [3]}, (0, 1, HUGE - 2)),
    ("GlobalMaxPool", [empty(0, 1, HUGE)], {}, (0, 1, 1)),
    ("DFT", [empty(HUGE, 0, 1)], {}, (HUGE, 0, 2)),
    ("Attention", [empty(1, 1, HUGE, 0), empty(1, 1, 3, 0), empty(1, 1, 3, 0)], {}, (1, 1, HUGE, 0)),
    ("RotaryEmbedding", [empty(1, 1, HUGE, 0), empty(1, HUGE, 0), empty(1, HUGE, 0)], {}, (1, 1, HUGE, 0)),
])  # fmt: skip
def test_empty_results(op_type, feeds, attributes, shape):
    opset = 23 if op_type in ("Attention", "RotaryEmbedding", "RMSNormalization") else 22
    (y,) = run(op_type, {f"x{i}": x for i, x in enumerate(feeds)}, opset=opset, **attributes)
    assert y.shape == shape


@pytest.mark.parametrize("op_type", ["RNN", "GRU", "LSTM"])
def test_recurrent_layers_without_steps_or_batch(op_type):
    gates = {"RNN": 1, "GRU": 3, "LSTM": 4}[op_type]
    weights = {"w": random(1, 2 * gates, 3), "r": random(1, 2 * gates, 2)}
    for steps, batch in ((0, 2), (2, 0)):
        y, h = run(op_type, {"x": empty(steps, batch, 3), **weights}, 2, opset=14)
        assert y.shape == (steps, 1, batch, 2) and not h.any() and h.shape == (1, batch, 2)
