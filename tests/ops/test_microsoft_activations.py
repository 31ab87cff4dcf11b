"""Activations of com.microsoft, and the ones with a bias."""

import math

import ml_dtypes
import numpy as np
import pytest
from microsoft_models import assert_close, compare_with_onnxruntime, normal, run_tenon

FLOATS = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16]


def gelu(x):
    return np.vectorize(lambda v: 0.5 * v * (1 + math.erf(v / math.sqrt(2))))(x.astype(np.float64))


def softmax(x, axes):
    e = np.exp(x - x.max(axis=axes, keepdims=True))
    return e / e.sum(axis=axes, keepdims=True)


@pytest.fixture
def rng():
    return np.random.default_rng(1)


def test_like_onnxruntime(rng):
    x, bias = normal(rng, 2, 3, 8), normal(rng, 8)
    compare_with_onnxruntime("Gelu", {"X": x})
    compare_with_onnxruntime("BiasGelu", {"A": x, "B": bias})
    compare_with_onnxruntime("FastGelu", {"X": x})
    compare_with_onnxruntime("FastGelu", {"X": x, "bias": bias})
    compare_with_onnxruntime("QuickGelu", {"X": x})
    compare_with_onnxruntime("QuickGelu", {"X": x}, alpha=0.7)
    compare_with_onnxruntime("ScaledSiLU", {"X": x})
    compare_with_onnxruntime("ScaledSiLU", {"X": x}, alpha=0.7)


@pytest.mark.parametrize("dtype", FLOATS)
def test_gelu_of_every_type(rng, dtype):
    x, bias = normal(rng, 4, 8, dtype=dtype), normal(rng, 8, dtype=dtype)
    assert_close(run_tenon("Gelu", {"X": x})[0], gelu(x).astype(dtype))
    assert_close(run_tenon("BiasGelu", {"A": x, "B": bias})[0], gelu(x + bias).astype(dtype))
    sigmoid = 1 / (1 + np.exp(-np.float64(np.float32(1.702)) * x.astype(np.float64)))
    assert_close(run_tenon("QuickGelu", {"X": x})[0], (x * sigmoid).astype(dtype))


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_bias_split_gelu(rng, dtype):
    x, bias = normal(rng, 2, 3, 8, dtype=dtype), normal(rng, 8, dtype=dtype)
    left, right = np.split((x + bias).astype(np.float64), 2, axis=-1)
    assert_close(run_tenon("BiasSplitGelu", {"X": x, "bias": bias})[0], (left * gelu(right)).astype(dtype))


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_bias_add(rng, dtype):
    x, bias, skip = normal(rng, 2, 3, 4, dtype=dtype), normal(rng, 4, dtype=dtype), normal(rng, 2, 3, 4, dtype=dtype)
    assert_close(run_tenon("BiasAdd", {"X": x, "bias": bias, "skip": skip})[0], x + bias + skip)


@pytest.mark.parametrize(
    ("axis", "bias_shape", "axes"),
    [(3, (2, 1, 1, 5), (3,)), (-1, (1, 1, 4, 5), (3,)), (2, (2, 1, 4, 5), (2, 3)), (1, (3, 4, 5), (1, 2, 3))],
)
def test_bias_softmax(rng, axis, bias_shape, axes):
    data, bias = normal(rng, 2, 3, 4, 5), normal(rng, *bias_shape)
    (y,) = run_tenon("BiasSoftmax", {"data": data, "bias": bias}, axis=axis, is_inner_broadcast=1)
    assert_close(y, softmax(data + bias, axes))


def test_scaled_silu_takes_its_scale_from_the_input(rng):
    x, scale = normal(rng, 3, 4), np.array(0.3, np.float32)
    compare_with_onnxruntime("ScaledSiLU", {"X": x, "scale": scale}, alpha=9.0)


def test_unknown_attributes_are_refused(rng):
    with pytest.raises(Exception, match="beta"):
        run_tenon("QuickGelu", {"X": normal(rng, 3)}, beta=1.0)
