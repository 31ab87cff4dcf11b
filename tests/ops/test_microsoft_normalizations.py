"""Normalizations of com.microsoft, with what is fused into them."""

import numpy as np
import pytest
from microsoft_models import (
    assert_close,
    compare_with_onnxruntime,
    microsoft_model,
    normal,
    run_onnxruntime,
    run_tenon,
    session_without_shapes,
)


@pytest.fixture
def rng():
    return np.random.default_rng(2)


def silu(x):
    return x / (1 + np.exp(-x))


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("skip_shape", [(2, 3, 8), (1, 3, 8), (3, 8)])
@pytest.mark.parametrize("optional", [(False, False), (True, False), (False, True), (True, True)])
def test_skip_layer_normalization(rng, dtype, skip_shape, optional):
    beta, bias = (normal(rng, 8, dtype=dtype) if given else None for given in optional)
    inputs = {
        "input": normal(rng, 2, 3, 8, dtype=dtype), "skip": normal(rng, *skip_shape, dtype=dtype),
        "gamma": normal(rng, 8, dtype=dtype), "beta": beta, "bias": bias,
    }  # fmt: skip
    compare_with_onnxruntime("SkipLayerNormalization", inputs, ["y", "", "", "sum"], epsilon=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_statistics_of_skip_layer_normalizations(rng, dtype):
    inputs = {
        "input": normal(rng, 2, 3, 8, dtype=dtype), "skip": normal(rng, 2, 3, 8, dtype=dtype),
        "gamma": normal(rng, 8, dtype=dtype),
    }  # fmt: skip
    total = (inputs["input"] + inputs["skip"]).astype(np.float64)
    _, mean, inverse, _ = run_tenon("SkipLayerNormalization", inputs, 4, epsilon=1e-3)
    assert_close(mean, total.mean(axis=2, keepdims=True).astype(np.float32))
    assert_close(inverse, (1 / np.sqrt(total.var(axis=2, keepdims=True) + 1e-3)).astype(np.float32))
    outputs = ["y", "", "inverse", "sum"]
    _, inverse, _ = run_tenon("SkipSimplifiedLayerNormalization", inputs, outputs, epsilon=1e-3)
    expected = (1 / np.sqrt((total**2).mean(axis=2, keepdims=True) + 1e-3)).astype(np.float32)
    assert_close(inverse, expected)
    x = {"X": total.astype(dtype), "scale": inputs["gamma"]}
    compare_with_onnxruntime("SimplifiedLayerNormalization", x, 2, domain="", axis=-1, epsilon=1e-3, stash_type=1)
    assert_close(run_tenon("SimplifiedLayerNormalization", x, 2, axis=-1, epsilon=1e-3)[1], expected)


def test_skip_layer_normalization_has_a_small_default_epsilon(rng):
    x = 1e-4 * normal(rng, 1, 2, 8)
    inputs = {"input": x, "skip": x, "gamma": np.ones(8, np.float32)}
    compare_with_onnxruntime("SkipLayerNormalization", inputs)
    compare_with_onnxruntime("SkipSimplifiedLayerNormalization", inputs)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("shape", [(2, 3, 8), (5, 8)])
@pytest.mark.parametrize("with_bias", [False, True])
def test_skip_simplified_layer_normalization(rng, dtype, shape, with_bias):
    inputs = {
        "input": normal(rng, *shape, dtype=dtype), "skip": normal(rng, *shape, dtype=dtype),
        "gamma": normal(rng, 8, dtype=dtype), "bias": normal(rng, 8, dtype=dtype) if with_bias else None,
    }  # fmt: skip
    compare_with_onnxruntime("SkipSimplifiedLayerNormalization", inputs, ["y", "", "", "sum"], epsilon=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("with_bias", [False, True])
def test_skip_simplified_layer_normalization_with_every_output_named(rng, dtype, with_bias):
    """onnxruntime computes the first and the last; the others it leaves as its memory is."""
    inputs = {
        "input": normal(rng, 2, 3, 8, dtype=dtype), "skip": normal(rng, 2, 3, 8, dtype=dtype),
        "gamma": normal(rng, 8, dtype=dtype), "bias": normal(rng, 8, dtype=dtype) if with_bias else None,
    }  # fmt: skip
    names, attributes = ["y", "mean", "inverse", "sum"], {"epsilon": 1e-6}
    y, mean, inverse, total = run_tenon("SkipSimplifiedLayerNormalization", inputs, names, **attributes)
    expected = run_onnxruntime("SkipSimplifiedLayerNormalization", inputs, names, typed=names[1:3], **attributes)
    assert_close(y, expected[0])
    assert_close(total, expected[3])
    wide = total.astype(np.float64)
    assert_close(mean, wide.mean(-1, keepdims=True).astype(np.float32))
    assert_close(inverse, (1 / np.sqrt((wide**2).mean(-1, keepdims=True) + 1e-6)).astype(np.float32))


@pytest.mark.parametrize("axis", [-1, 1])
@pytest.mark.parametrize("domain", ["", "com.microsoft"])
def test_simplified_layer_normalization(rng, axis, domain):
    x, scale = normal(rng, 2, 3, 4), normal(rng, *((4,) if axis == -1 else (3, 4)))
    attributes = {"axis": axis, "epsilon": 1e-6, "stash_type": 1}
    (y,) = run_tenon("SimplifiedLayerNormalization", {"X": x, "scale": scale}, domain=domain, **attributes)
    axes = (2,) if axis == -1 else (1, 2)
    expected = x / np.sqrt((x.astype(np.float64) ** 2).mean(axis=axes, keepdims=True) + 1e-6) * scale
    assert_close(y, expected.astype(np.float32))
    if domain == "":
        compare_with_onnxruntime("SimplifiedLayerNormalization", {"X": x, "scale": scale}, domain=domain, **attributes)


def embedding_inputs(rng, **change):
    inputs = {
        "input_ids": rng.integers(0, 10, (2, 4)).astype(np.int32),
        "segment_ids": rng.integers(0, 2, (2, 4)).astype(np.int32),
        "word_embedding": normal(rng, 10, 8), "position_embedding": normal(rng, 6, 8),
        "segment_embedding": normal(rng, 2, 8), "gamma": normal(rng, 8), "beta": normal(rng, 8),
        "mask": None, "position_ids": None,
    }  # fmt: skip
    return inputs | change


@pytest.mark.parametrize("mask", [None, np.array([[1, 1, 0, 0], [1, 2, 1, 1]], np.int32)])
@pytest.mark.parametrize("position_ids", [None, np.array([[5, 0, 1, 1]], np.int32), np.arange(8).reshape(2, 4) % 6])
def test_embed_layer_normalization(rng, mask, position_ids):
    if position_ids is not None:
        position_ids = position_ids.astype(np.int32)
    inputs = embedding_inputs(rng, mask=mask, position_ids=position_ids)
    compare_with_onnxruntime("EmbedLayerNormalization", inputs, 3, epsilon=1e-5)


def test_embed_layer_normalization_without_segments(rng):
    inputs = embedding_inputs(rng, segment_ids=None, segment_embedding=None)
    compare_with_onnxruntime("EmbedLayerNormalization", inputs, 2)


def test_embed_layer_normalization_refuses_ids_out_of_range(rng):
    inputs = embedding_inputs(rng)
    inputs["input_ids"][1, 2] = 10
    with pytest.raises(Exception, match="10"):
        run_tenon("EmbedLayerNormalization", inputs, 2)


def group_norm(x, gamma, beta, groups, epsilon, activation):
    """x has its channels second."""
    grouped = x.astype(np.float64).reshape(x.shape[0], groups, -1)
    grouped = grouped - grouped.mean(axis=2, keepdims=True)
    grouped /= np.sqrt((grouped**2).mean(axis=2, keepdims=True) + epsilon)
    shape = (1, -1) + (1,) * (x.ndim - 2)
    y = grouped.reshape(x.shape) * gamma.reshape(shape) + beta.reshape(shape)
    return silu(y) if activation else y


@pytest.mark.parametrize("channels_last", [0, 1, None])
@pytest.mark.parametrize("activation", [0, 1])
@pytest.mark.parametrize("dtypes", [(np.float32, np.float32), (np.float16, np.float32), (np.float16, np.float16)])
def test_group_norm(rng, channels_last, activation, dtypes):
    x = normal(rng, 2, 6, 3, 4, dtype=dtypes[0])
    gamma, beta = normal(rng, 6, dtype=dtypes[1]), normal(rng, 6, dtype=dtypes[1])
    expected = group_norm(x, gamma, beta, 3, 1e-4, activation).astype(dtypes[0])
    last = channels_last != 0
    inputs = {"X": np.moveaxis(x, 1, -1).copy() if last else x, "gamma": gamma, "beta": beta}
    attributes = {"groups": 3, "activation": activation, "epsilon": 1e-4}
    if channels_last is not None:
        attributes["channels_last"] = channels_last
    (y,) = run_tenon("GroupNorm", inputs, **attributes)
    assert_close(y, np.moveaxis(expected, 1, -1) if last else expected)


@pytest.mark.parametrize("channels_last", [0, 1])
@pytest.mark.parametrize("skip_shape", ["full", "channels", "matrix"])
@pytest.mark.parametrize("with_bias", [False, True])
def test_skip_group_norm(rng, channels_last, skip_shape, with_bias):
    x, gamma, beta = normal(rng, 2, 6, 3, 4), normal(rng, 6), normal(rng, 6)
    skip = normal(rng, *(x.shape if skip_shape == "full" else (2, 6, 1, 1)))
    bias = normal(rng, 6) if with_bias else None
    total = x + skip + (bias.reshape(6, 1, 1) if with_bias else 0)
    expected = [group_norm(total, gamma, beta, 2, 1e-5, 1).astype(np.float32), total]
    if channels_last:
        x, skip, *expected = (np.moveaxis(v, 1, -1).copy() for v in (x, skip, *expected))
    if skip_shape == "matrix":
        skip = skip.reshape(2, 6)
    inputs = {"X": x, "gamma": gamma, "beta": beta, "skip": skip, "bias": bias}
    actual = run_tenon("SkipGroupNorm", inputs, 2, groups=2, activation=1, channels_last=channels_last)
    for a, e in zip(actual, expected, strict=True):
        assert_close(a, e)


def test_group_norm_refuses_wrong_groups_and_activations(rng):
    inputs = {"X": normal(rng, 2, 3, 4, 6), "gamma": normal(rng, 6), "beta": normal(rng, 6)}
    with pytest.raises(Exception, match="6 channels cannot be divided evenly into 4 groups"):
        run_tenon("GroupNorm", inputs, groups=4, activation=0)
    with pytest.raises(Exception, match="activation is 2"):
        run_tenon("GroupNorm", inputs, groups=3, activation=2)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("activation", ["silu", "swish", "sigmoid"])
@pytest.mark.parametrize("width", [4, 12])
def test_gated_rms_norm(rng, dtype, activation, width):
    inputs = {
        "X": normal(rng, 2, 3, width, dtype=dtype), "scale": normal(rng, 4, dtype=dtype),
        "gate": normal(rng, 2, 3, width, dtype=dtype),
    }  # fmt: skip
    compare_with_onnxruntime("GatedRMSNorm", inputs, activation=activation, epsilon=1e-4)


def test_normalizations_of_unknown_shapes(rng):
    inputs = {"X": normal(rng, 2, 3, 8), "scale": normal(rng, 4), "gate": normal(rng, 2, 3, 8)}
    (y,) = session_without_shapes(microsoft_model("GatedRMSNorm", inputs)).run(None, inputs)
    np.testing.assert_array_equal(y, run_tenon("GatedRMSNorm", inputs)[0])
    inputs = {"X": normal(rng, 2, 3, 4, 6), "gamma": normal(rng, 6), "beta": normal(rng, 6)}
    (y,) = session_without_shapes(microsoft_model("GroupNorm", inputs, groups=3, activation=1)).run(None, inputs)
    np.testing.assert_array_equal(y, run_tenon("GroupNorm", inputs, groups=3, activation=1)[0])


def test_gated_rms_norm_refuses_other_activations(rng):
    inputs = {"X": normal(rng, 2, 4), "scale": normal(rng, 4), "gate": normal(rng, 2, 4)}
    with pytest.raises(Exception, match="activation is 'relu'"):
        run_tenon("GatedRMSNorm", inputs, activation="relu")
