"""Conv, ConvTranspose, DeformConv and CausalConvWithState."""

import itertools

import numpy as np
import pytest
from nn_models import FLOATS, assert_close, compare, random, refuses, run


def convolve(x, w, strides, dilations, pads, group=1):
    """The definition, in double."""
    rank = x.ndim - 2
    x = np.pad(x.astype(np.float64), [(0, 0), (0, 0), *zip(pads[:rank], pads[rank:], strict=True)])
    extents = [(k - 1) * d + 1 for k, d in zip(w.shape[2:], dilations, strict=True)]
    out = [(n - e) // s + 1 for n, e, s in zip(x.shape[2:], extents, strides, strict=True)]
    y = np.zeros((x.shape[0], w.shape[0], *out))
    per_group, in_group = w.shape[0] // group, w.shape[1]
    for m, at in itertools.product(range(w.shape[0]), itertools.product(*map(range, out))):
        channels = slice(m // per_group * in_group, (m // per_group + 1) * in_group)
        window = tuple(slice(p * s, p * s + e, d) for p, s, e, d in zip(at, strides, extents, dilations, strict=True))
        y[(slice(None), m, *at)] = (x[(slice(None), channels, *window)] * w[m]).sum(axis=tuple(range(1, x.ndim)))
    return y


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("rank", [1, 2, 3, 4])
def test_conv_of_every_rank_and_type(rank, dtype):
    x, w = random(2, 4, *(6, 5, 4, 3)[:rank], dtype=dtype), random(6, 2, *(3, 2, 2, 1)[:rank], dtype=dtype)
    strides, dilations, pads = [2, 1, 1, 2][:rank], [2, 1, 2, 1][:rank], [1, 0, 2, 1][:rank] + [2, 1, 0, 0][:rank]
    (y,) = run("Conv", {"x": x, "w": w}, group=2, strides=strides, dilations=dilations, pads=pads)
    assert_close(y, convolve(x, w, strides, dilations, pads, group=2).astype(dtype))


@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"])
@pytest.mark.parametrize("size", [5, 6, 7])
@pytest.mark.parametrize("stride", [1, 2, 3])
def test_conv_auto_pad(auto_pad, size, stride):
    feeds = {"x": random(1, 2, size, size + 1), "w": random(3, 2, 4, 2), "b": random(3)}
    compare("Conv", feeds, auto_pad=auto_pad, strides=[stride, stride])


@pytest.mark.parametrize("opset", [1, 11, 22])
def test_conv_of_each_version(opset):
    compare("Conv", {"x": random(1, 3, 5, 5), "w": random(4, 3, 3, 3), "b": random(4)}, opset=max(opset, 7))


@pytest.mark.parametrize("shape", [(0, 2, 5, 5), (1, 2, 5, 3)])
def test_conv_with_an_empty_result(shape):
    (y,) = run("Conv", {"x": random(*shape), "w": random(3, 2, 1, 4)})
    assert y.size == 0 and y.shape[1] == 3


def test_conv_refuses_what_does_not_fit():
    x, w = random(1, 4, 5, 5), random(6, 2, 3, 3)
    refuses("channels", "Conv", {"x": x, "w": w})
    refuses("be divided evenly", "Conv", {"x": x, "w": random(5, 2, 3, 3)}, group=2)
    refuses("'group' is 0", "Conv", {"x": x, "w": w}, group=0)
    refuses("'strides' has 1", "Conv", {"x": x, "w": w}, group=2, strides=[1])
    refuses("'strides' contains 0", "Conv", {"x": x, "w": w}, group=2, strides=[0, 1])
    refuses("'dilations' contains -1", "Conv", {"x": x, "w": w}, group=2, dilations=[-1, 1])
    refuses("'pads' has 2", "Conv", {"x": x, "w": w}, group=2, pads=[1, 1])
    refuses("'pads' contains -3", "Conv", {"x": x, "w": w}, group=2, pads=[1, 1, -3, 1])
    refuses("kernel_shape", "Conv", {"x": x, "w": w}, group=2, kernel_shape=[3, 2])
    refuses("auto_pad is 'SAME'", "Conv", {"x": x, "w": w}, group=2, auto_pad="SAME")
    refuses("the bias", "Conv", {"x": x, "w": w, "b": random(5)}, group=2)
    refuses("rank", "Conv", {"x": random(1, 4, 5), "w": w}, group=2)
    refuses("would have the shape", "Conv", {"x": random(1, 2, 2, 2), "w": random(1, 2, 5, 5)})


def scatter(x, w, strides, dilations, pads, output, group=1):
    """The transposed convolution by its definition, in double; output: spatial extents."""
    in_group, out_group = x.shape[1] // group, w.shape[1]
    y = np.zeros((x.shape[0], out_group * group, *output))
    for c, at, m in itertools.product(range(x.shape[1]), np.ndindex(x.shape[2:]), range(out_group)):
        for tap in np.ndindex(w.shape[2:]):
            to = tuple(a * s + t * d - p for a, s, t, d, p in zip(at, strides, tap, dilations, pads, strict=False))
            if all(0 <= i < n for i, n in zip(to, output, strict=True)):
                value = x[(slice(None), c, *at)].astype(np.float64) * float(w[(c, m, *tap)])
                y[(slice(None), c // in_group * out_group + m, *to)] += value
    return y


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_conv_transpose_of_every_rank_and_type(rank, dtype):
    x, w = random(2, 4, *(4, 3, 3)[:rank], dtype=dtype), random(4, 3, *(3, 2, 2)[:rank], dtype=dtype)
    strides, dilations, pads = [2, 3, 1][:rank], [2, 1, 1][:rank], [1, 0, 1][:rank] + [2, 1, 0][:rank]
    padding = [1, 0, 0][:rank]
    output = [
        s * (n - 1) + o + (k - 1) * d + 1 - pads[i] - pads[rank + i]
        for i, (s, n, o, k, d) in enumerate(zip(strides, x.shape[2:], padding, w.shape[2:], dilations, strict=True))
    ]
    attributes = {"strides": strides, "dilations": dilations, "pads": pads, "output_padding": padding, "group": 2}
    (y,) = run("ConvTranspose", {"x": x, "w": w}, **attributes)
    assert_close(y, scatter(x, w, strides, dilations, pads, output, group=2).astype(dtype))


@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"])
@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("cut", [None, [0, 0], [1, 2], [3, 1]])
def test_conv_transpose_padding(auto_pad, stride, cut):
    attributes = {"auto_pad": auto_pad, "strides": [stride, stride]}
    if cut:  # from what the kernel reaches
        attributes["output_shape"] = [3 * stride + 3 - cut[0], 4 * stride + 4 - cut[1]]
    compare("ConvTranspose", {"x": random(1, 2, 4, 5), "w": random(2, 3, 3, 4), "b": random(3)}, **attributes)


def test_conv_transpose_leaves_what_the_kernel_does_not_reach_at_the_end():
    x, w = random(1, 1, 3), random(1, 1, 2)
    (full,) = run("ConvTranspose", {"x": x, "w": w})
    (larger,) = run("ConvTranspose", {"x": x, "w": w}, output_shape=[6])
    np.testing.assert_array_equal(larger, np.pad(full, [(0, 0), (0, 0), (0, 2)]))
    (named,) = run("ConvTranspose", {"x": x, "w": w}, output_shape=[1, 1, 6])
    np.testing.assert_array_equal(named, larger)


def test_conv_transpose_refuses_what_does_not_fit():
    x, w = random(1, 4, 5, 5), random(4, 2, 3, 3)
    refuses("channels", "ConvTranspose", {"x": random(1, 3, 5, 5), "w": w})
    refuses("'output_padding' has 1", "ConvTranspose", {"x": x, "w": w}, output_padding=[1])
    refuses("'output_shape' has 3", "ConvTranspose", {"x": x, "w": w}, output_shape=[1, 2, 3])
    refuses("would have the shape", "ConvTranspose", {"x": x, "w": w}, pads=[9, 9, 9, 9])


@pytest.mark.parametrize("dtype", FLOATS)
def test_deform_conv_without_offsets_is_a_convolution(dtype):
    x, w = random(2, 4, 6, 5, dtype=dtype), random(6, 2, 3, 2, dtype=dtype)
    offset, mask = np.zeros((2, 24, 3, 6), dtype), np.full((2, 12, 3, 6), 0.5, dtype)
    attributes = {"group": 2, "offset_group": 2, "strides": [2, 1], "pads": [1, 1, 1, 1]}
    (y,) = run("DeformConv", {"x": x, "w": w, "o": offset, "b": None, "m": mask}, **attributes)
    assert_close(y, (convolve(x, w, [2, 1], [1, 1], [1, 1, 1, 1], group=2) / 2).astype(dtype))


def test_deform_conv_against_onnxruntime():
    rng = np.random.default_rng(3)
    x, w = random(2, 4, 7, 6), random(4, 2, 3, 3)
    offset = rng.uniform(-3, 3, (2, 2 * 2 * 9, 5, 4)).astype(np.float32)
    mask = rng.uniform(0, 1, (2, 2 * 9, 5, 4)).astype(np.float32)
    feeds = {"x": x, "w": w, "o": offset, "b": random(4), "m": mask}
    compare("DeformConv", feeds, group=2, offset_group=2)


def test_deform_conv_far_and_undefined_offsets_read_zero():
    offset = np.zeros((1, 8, 2, 2), np.float32)
    offset[0, 0] = [[np.nan, np.inf], [-np.inf, 1e30]]
    ones = {"x": np.ones((1, 1, 3, 3), np.float32), "w": np.ones((1, 1, 2, 2), np.float32)}
    (y,) = run("DeformConv", {**ones, "o": offset})
    np.testing.assert_array_equal(y, np.full((1, 1, 2, 2), 3.0))


def test_deform_conv_refuses_a_wrong_offset():
    feeds = {"x": random(1, 1, 3, 3), "w": random(1, 1, 2, 2), "o": random(1, 8, 3, 2)}
    refuses("the offset must have the shape", "DeformConv", feeds)
    refuses("offset_group|channels", "DeformConv", {**feeds, "o": random(1, 16, 2, 2)}, offset_group=2)


@pytest.mark.parametrize("length", [1, 2, 6])
@pytest.mark.parametrize("activation", ["none", "silu", "swish"])
def test_causal_conv_carries_its_state(length, activation):
    x, w, bias, past = random(2, 3, length), random(3, 1, 4), random(3), random(2, 3, 3)
    feeds = {"x": x, "w": w, "b": bias, "past": past}
    y, present = run("CausalConvWithState", feeds, 2, opset=27, activation=activation)
    joined = np.concatenate([past, x], axis=2).astype(np.float64)
    sums = [(joined[:, :, i : i + 4] * w[:, 0]).sum(axis=2) for i in range(length)]
    expected = np.stack(sums, axis=2) + bias[:, None]
    if activation != "none":
        expected = expected / (1 + np.exp(-expected))
    assert_close(y, expected.astype(np.float32))
    np.testing.assert_array_equal(present, joined[:, :, -3:].astype(np.float32))


def test_causal_conv_refuses_what_does_not_fit():
    x, w = random(2, 3, 5), random(3, 1, 4)
    refuses("activation is 'relu'", "CausalConvWithState", {"x": x, "w": w}, 2, opset=27, activation="relu")
    refuses("weights must have the shape", "CausalConvWithState", {"x": x, "w": random(2, 1, 4)}, 2, opset=27)
    refuses("past_state", "CausalConvWithState", {"x": x, "w": w, "b": None, "p": random(2, 3, 4)}, 2, opset=27)
