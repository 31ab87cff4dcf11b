"""Batch, instance, group, layer, RMS, Lp, local-response and mean-variance normalization."""

import numpy as np
import pytest
from nn_models import BFLOAT16, FLOATS, assert_close, compare, random, refuses, run


EPSILON = float(np.float32(1e-5))  # attributes are floats


def batch_feeds(channels, dtype=np.float32, shape=(3, 4, 5)):
    rng = np.random.default_rng(0)
    scale, bias, mean = (random(channels, dtype=dtype, seed=s) for s in (1, 2, 3))
    return {"x": random(*shape, dtype=dtype), "s": scale, "b": bias, "m": mean,
            "v": rng.uniform(0.5, 2, channels).astype(dtype)}  # fmt: skip


def batch_normalize(x, s, b, m, v, epsilon=EPSILON):
    per_channel = [a.astype(np.float64).reshape(1, -1, *[1] * (x.ndim - 2)) for a in (s, b, m, v)]
    s, b, m, v = per_channel
    return (x.astype(np.float64) - m) / np.sqrt(v + epsilon) * s + b


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(3, 4), (3, 4, 5), (2, 4, 3, 2), (0, 4, 2), (2, 4, 0)])
def test_batch_normalization(dtype, shape):
    feeds = batch_feeds(4, dtype, shape)
    (y,) = run("BatchNormalization", feeds, opset=15)
    assert_close(y, batch_normalize(*feeds.values()).astype(dtype))


def test_batch_normalization_with_types_of_its_own_for_statistics():
    feeds = batch_feeds(4)
    feeds["x"] = feeds["x"].astype(np.float16)
    (y,) = run("BatchNormalization", feeds, opset=15)
    assert_close(y, batch_normalize(*feeds.values()).astype(np.float16))


@pytest.mark.parametrize(("opset", "attributes"), [
    (1, {"consumed_inputs": [0, 0, 0, 1, 1], "is_test": 1}), (6, {"is_test": 1}), (7, {}), (7, {"spatial": 1}),
    (9, {}), (14, {}),
])  # fmt: skip
def test_batch_normalization_of_each_version(opset, attributes):
    feeds = batch_feeds(4)
    (y,) = run("BatchNormalization", feeds, opset=opset, epsilon=1e-3, **attributes)
    assert_close(y, batch_normalize(*feeds.values(), epsilon=1e-3).astype(np.float32))


def test_batch_normalization_per_activation():
    feeds = {n: a for n, a in batch_feeds(20).items()}
    for name in "sbmv":
        feeds[name] = feeds[name].reshape(4, 5)
    (y,) = run("BatchNormalization", feeds, opset=7, spatial=0)
    x, *rest = feeds.values()
    expected = batch_normalize(x.reshape(3, 20), *[a.ravel() for a in rest]).reshape(3, 4, 5)
    assert_close(y, expected.astype(np.float32))


@pytest.mark.parametrize("opset", [7, 9, 14, 15])
def test_batch_normalization_in_training(opset):
    feeds = batch_feeds(4)
    x, s, b, m, v = (a.astype(np.float64) for a in feeds.values())
    mean, variance = x.mean(axis=(0, 2)), x.var(axis=(0, 2))
    attributes = {"training_mode": 1} if opset >= 14 else {}
    results = run("BatchNormalization", feeds, 3 if opset >= 14 else 5, opset=opset, momentum=0.8, **attributes)
    running = [m * 0.8 + mean * 0.2, v * 0.8 + variance * 0.2]
    expected = [batch_normalize(x, s, b, mean, variance), *running, mean, variance]
    for actual, wanted in zip(results, expected, strict=False):
        assert_close(actual, wanted.astype(np.float32))


def test_batch_normalization_refuses_what_does_not_fit():
    feeds = batch_feeds(4)
    refuses("training_mode", "BatchNormalization", feeds, 3, opset=15)
    refuses("scale must have the shape", "BatchNormalization", feeds | {"s": random(3)}, opset=15)
    refuses("variance must have the shape", "BatchNormalization", feeds | {"v": random(5)}, opset=15)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(2, 6, 3), (2, 6, 3, 4), (2, 6, 0)])
def test_instance_and_group_normalization(dtype, shape):
    x, s, b = random(*shape, dtype=dtype), random(6, dtype=dtype), random(6, dtype=dtype, seed=9)
    scale, bias = (a.astype(np.float64).reshape(1, 6, *[1] * (len(shape) - 2)) for a in (s, b))

    def expected(groups):
        blocks = x.astype(np.float64).reshape(2, groups, -1)
        if x.size:
            deviation = np.sqrt(blocks.var(axis=2, keepdims=True) + EPSILON)
            blocks = (blocks - blocks.mean(axis=2, keepdims=True)) / deviation
        return (blocks.reshape(shape) * scale + bias).astype(dtype)

    assert_close(run("InstanceNormalization", {"x": x, "s": s, "b": b})[0], expected(6))
    for groups in (1, 2, 3, 6):
        (y,) = run("GroupNormalization", {"x": x, "s": s, "b": b}, opset=21, num_groups=groups)
        assert_close(y, expected(groups))


def test_group_normalization_18_has_one_scale_per_group():
    x, s, b = random(2, 6, 3), random(2), random(2, seed=5)
    old = run("GroupNormalization", {"x": x, "s": s, "b": b}, opset=18, num_groups=2)
    new = run("GroupNormalization", {"x": x, "s": s.repeat(3), "b": b.repeat(3)}, opset=21, num_groups=2)
    assert_close(old[0], new[0])


def test_group_normalization_refuses_uneven_groups():
    feeds = {"x": random(2, 6, 3), "s": random(6), "b": random(6)}
    refuses("be divided evenly into 4", "GroupNormalization", feeds, opset=21, num_groups=4)
    refuses("num_groups is 0", "GroupNormalization", feeds, opset=21, num_groups=0)
    refuses("scale must have the shape", "GroupNormalization", feeds | {"s": random(5)}, opset=21, num_groups=2)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("axis", [-1, -2, 0, 1])
@pytest.mark.parametrize("biased", [False, True])
def test_layer_normalization(dtype, axis, biased):
    x = random(2, 3, 4, dtype=dtype)
    s, b = random(*x.shape[axis:], dtype=dtype), random(*x.shape[axis:], dtype=dtype, seed=4) if biased else None
    y, mean, inverse = run("LayerNormalization", {"x": x, "s": s, "b": b}, 3, opset=17, axis=axis)
    axes, wide = tuple(range(axis % 3, 3)), x.astype(np.float64)
    m, d = wide.mean(axis=axes, keepdims=True), 1 / np.sqrt(wide.var(axis=axes, keepdims=True) + EPSILON)
    expected = ((wide - m) * d).astype(dtype).astype(np.float64) * s.astype(np.float64)
    assert_close(y, (expected + (b.astype(np.float64) if biased else 0)).astype(dtype))
    assert_close(mean, m.astype(np.float32))
    assert_close(inverse, d.astype(np.float32))


def test_layer_normalization_stashes_in_the_type_it_is_told():
    feeds = {"x": random(2, 3), "s": random(3)}
    _, mean, inverse = run("LayerNormalization", feeds, 3, opset=17, stash_type=16)
    assert mean.dtype == inverse.dtype == BFLOAT16


@pytest.mark.parametrize(("x_type", "scale_type"), [(t, t) for t in FLOATS] + [(np.float16, np.float32)])
@pytest.mark.parametrize("axis", [-1, 1])
def test_rms_normalization(x_type, scale_type, axis):
    x, s = random(2, 3, 4, dtype=x_type), random(*(2, 3, 4)[axis:], dtype=scale_type)
    (y,) = run("RMSNormalization", {"x": x, "s": s}, opset=23, axis=axis, epsilon=1e-4)
    wide = x.astype(np.float64)
    rms = np.sqrt((wide**2).mean(axis=tuple(range(axis % 3, 3)), keepdims=True) + float(np.float32(1e-4)))
    assert_close(y, ((wide / rms).astype(x_type).astype(np.float64) * s.astype(np.float64)).astype(scale_type))


def test_layer_normalization_refuses_what_does_not_fit():
    x = random(2, 3, 4)
    refuses("axis 3", "LayerNormalization", {"x": x, "s": random(4)}, opset=17, axis=3)
    refuses("broadcast", "LayerNormalization", {"x": x, "s": random(5)}, opset=17)
    refuses("does not broadcast", "LayerNormalization", {"x": x, "s": random(2, 2, 3, 4)}, opset=17)
    refuses("stash_type", "LayerNormalization", {"x": x, "s": random(4)}, opset=17, stash_type=7)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("axis", [-1, 0, 1])
@pytest.mark.parametrize("p", [1, 2])
def test_lp_normalization(dtype, axis, p):
    x = random(3, 4, 2, dtype=dtype)
    x[0] = 0
    wide = np.abs(x.astype(np.float64))
    norm = (wide**p).sum(axis=axis, keepdims=True) ** (1 / p)
    expected = np.divide(x.astype(np.float64), norm, out=np.zeros(x.shape), where=norm != 0)
    assert_close(run("LpNormalization", {"x": x}, axis=axis, p=p)[0], expected.astype(dtype))


def test_lp_normalization_refuses_other_norms():
    refuses("p is 3", "LpNormalization", {"x": random(2, 2)}, p=3)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 40])
@pytest.mark.parametrize("shape", [(2, 5, 3, 2), (2, 5), (1, 5, 3)])
def test_lrn(size, shape):
    x = random(*shape)
    (y,) = run("LRN", {"x": x}, opset=13, size=size, alpha=0.5, beta=0.6, bias=1.5)
    squares = np.zeros(shape)
    for c in range(5):
        low, high = max(0, c - (size - 1) // 2), min(4, c + size // 2)
        squares[:, c] = (x[:, low : high + 1].astype(np.float64) ** 2).sum(axis=1)
    assert_close(y, (x / (1.5 + 0.5 / size * squares) ** float(np.float32(0.6))).astype(np.float32))


def test_lrn_refuses_an_empty_region():
    refuses("size is 0", "LRN", {"x": random(1, 2, 3, 3)}, opset=13, size=0)


@pytest.mark.parametrize(("opset", "attributes", "axes"), [
    (9, {}, (0, 2, 3)), (13, {"axes": [-1, 1]}, (1, 3)), (1, {}, (0, 2, 3)), (1, {"across_channels": 1}, (0, 1, 2, 3)),
])  # fmt: skip
def test_mean_variance_normalization(opset, attributes, axes):
    x = random(2, 3, 4, 2)
    (y,) = run("MeanVarianceNormalization", {"x": x}, opset=opset, **attributes)
    wide = x.astype(np.float64)
    centered = wide - wide.mean(axis=axes, keepdims=True)
    assert_close(y, (centered / wide.std(axis=axes, keepdims=True)).astype(np.float32))
    if opset == 1:
        (y,) = run("MeanVarianceNormalization", {"x": x}, opset=1, normalize_variance=0, **attributes)
        assert_close(y, centered.astype(np.float32))


def test_layer_normalization_against_onnxruntime():
    compare("LayerNormalization", {"x": random(3, 5, 7), "s": random(7), "b": random(7)}, 3, opset=17)
