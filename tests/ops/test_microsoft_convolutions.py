"""Convolutions and poolings of com.microsoft: with activations, with channels last, quantized."""

import numpy as np
import pytest
from microsoft_models import compare_sums, compare_with_onnxruntime, normal, run_onnxruntime, run_tenon
from onnx import TensorProto, helper
from oracles import exact_integers
from oracles.peer import run_peer
from oracles.rounding import assert_sum
from oracles.saturation import safe_weights

ACTIVATIONS = [
    ("", []), ("Relu", []), ("Tanh", []), ("Sigmoid", []), ("HardSwish", []), ("LeakyRelu", [0.3]),
    ("Clip", [-0.5, 0.75]), ("HardSigmoid", [0.3, 0.4]),
]  # fmt: skip
WINDOWS = [
    {}, {"strides": [2, 1], "pads": [1, 0, 2, 1]}, {"dilations": [2, 1]}, {"auto_pad": "SAME_UPPER", "strides": [2, 2]},
]  # fmt: skip


@pytest.fixture
def rng():
    return np.random.default_rng(6)


def fused(activation, numbers):
    return ({"activation": activation} if activation else {}) | ({"activation_params": numbers} if numbers else {})


def plain_conv(x, w, b, **attributes):
    """Conv of the default domain by onnxruntime, added up in float32."""
    inputs = {"x": x, "w": w} | ({"b": b} if b is not None else {})
    inputs = {name: v.astype(np.float32) for name, v in inputs.items()}
    declared = [helper.make_tensor_value_info(name, TensorProto.FLOAT, v.shape) for name, v in inputs.items()]
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([helper.make_node("Conv", list(inputs), ["y"], **attributes)], "g", declared, [result])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    return run_peer(model.SerializeToString(), inputs)[0].astype(np.float64)


def conv_magnitude(x, w, b, **attributes):
    """The sum of the absolute values of what a convolution adds up."""
    return plain_conv(np.abs(x), np.abs(w), None if b is None else np.abs(b), **attributes)


def conv_terms(w, *added):
    return w[0].size + sum(x is not None for x in added)


def last(x):
    return np.ascontiguousarray(np.moveaxis(x, 1, -1))


@pytest.mark.parametrize(("activation", "numbers"), ACTIVATIONS)
@pytest.mark.parametrize("with_bias", [False, True])
@pytest.mark.parametrize("with_sum", [False, True])
def test_fused_conv(rng, activation, numbers, with_bias, with_sum):
    inputs = {
        "X": normal(rng, 2, 4, 6, 7), "W": normal(rng, 6, 2, 3, 2), "B": normal(rng, 6) if with_bias else None,
        "Z": normal(rng, 2, 6, 4, 6) if with_sum else None,
    }  # fmt: skip
    if not with_sum:
        del inputs["Z"]
    terms = conv_terms(inputs["W"], inputs["B"], inputs.get("Z"))
    compare_sums("FusedConv", inputs, terms, fused(activation, numbers), group=2)


@pytest.mark.parametrize("window", WINDOWS)
def test_fused_conv_with_other_windows(rng, window):
    inputs = {"X": normal(rng, 1, 3, 9, 8), "W": normal(rng, 4, 3, 3, 2), "B": normal(rng, 4)}
    compare_sums("FusedConv", inputs, conv_terms(inputs["W"], inputs["B"]), {"activation": "Relu"}, **window)


@pytest.mark.parametrize(("x_shape", "w_shape"), [((2, 3, 9), (4, 3, 3)), ((1, 2, 4, 5, 6), (3, 2, 2, 3, 2))])
def test_fused_conv_of_other_ranks(rng, x_shape, w_shape):
    x, w = normal(rng, *x_shape), normal(rng, *w_shape)
    compare_sums("FusedConv", {"X": x, "W": w}, conv_terms(w), {"activation": "Tanh"})


def test_fused_conv_of_half_precision(rng):
    x, w, z = (normal(rng, *s, dtype=np.float16) for s in [(1, 2, 5, 5), (3, 2, 3, 3), (1, 3, 3, 3)])
    (y,) = run_tenon("FusedConv", {"X": x, "W": w, "B": None, "Z": z}, activation="Relu")
    assert y.dtype == np.float16
    wide = z.astype(np.float64)
    # The convolution and the sum are rounded to half a step each, which leaves room for those of float32.
    assert_sum(y, np.maximum(plain_conv(x, w, None) + wide, 0), conv_magnitude(x, w, None) + np.abs(wide), 2)


def test_fused_conv_refuses_wrong_activations(rng):
    inputs = {"X": normal(rng, 1, 2, 5, 5), "W": normal(rng, 3, 2, 3, 3)}
    with pytest.raises(Exception, match="unknown activation 'Erf'"):
        run_tenon("FusedConv", inputs, activation="Erf")
    with pytest.raises(Exception, match="activation_params has 1 numbers, but the activation 'Clip' needs 2"):
        run_tenon("FusedConv", inputs, activation="Clip", activation_params=[1.0])
    with pytest.raises(Exception, match="channels"):
        run_tenon("FusedConv", {"X": normal(rng, 1, 3, 5, 5), "W": normal(rng, 3, 2, 3, 3)})


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("with_bias", [False, True])
def test_nhwc_conv(rng, window, with_bias):
    x, w, b = normal(rng, 2, 4, 9, 8), normal(rng, 6, 2, 3, 2), normal(rng, 6) if with_bias else None
    (y,) = run_tenon("NhwcConv", {"X": last(x), "W": w, "B": b}, group=2, **window)
    assert y.dtype == np.float32
    expected, magnitude = (last(conv(x, w, b, group=2, **window)) for conv in (plain_conv, conv_magnitude))
    assert_sum(y, expected, magnitude, 2 * conv_terms(w, b))  # both round every term


@pytest.mark.parametrize(("x_shape", "w_shape"), [((2, 3, 9), (4, 3, 3)), ((1, 2, 4, 5, 6), (3, 2, 2, 3, 2))])
def test_nhwc_conv_of_other_ranks(rng, x_shape, w_shape):
    x, w = normal(rng, *x_shape), normal(rng, *w_shape)
    (y,) = run_tenon("NhwcConv", {"X": last(x), "W": w})
    assert_sum(y, last(plain_conv(x, w, None)), last(conv_magnitude(x, w, None)), 2 * conv_terms(w))


@pytest.mark.parametrize(("activation", "numbers"), ACTIVATIONS)
def test_nhwc_fused_conv(rng, activation, numbers):
    x, w, b, z = (normal(rng, *s) for s in [(2, 3, 6, 7), (4, 3, 3, 2), (4,), (2, 4, 4, 6)])
    (expected,) = run_onnxruntime("FusedConv", {"X": x, "W": w, "B": b, "Z": z}, **fused(activation, numbers))
    (y,) = run_tenon("NhwcFusedConv", {"X": last(x), "W": w, "B": b, "Z": last(z)}, **fused(activation, numbers))
    magnitude = last(conv_magnitude(x, w, b) + np.abs(z) + np.abs(expected))
    assert_sum(y, last(expected.astype(np.float64)), magnitude, 4 * conv_terms(w, b, z))  # both round; slopes up to 2


def test_nhwc_conv_refuses_what_is_no_image(rng):
    with pytest.raises(Exception, match=r"\(NhwcConv\): X has the shape \[2, 3\]; it must be \[batch, length, spatial"):
        run_tenon("NhwcConv", {"X": normal(rng, 2, 3), "W": normal(rng, 4, 3, 3)})
    with pytest.raises(Exception, match="activation"):
        run_tenon("NhwcConv", {"X": normal(rng, 1, 5, 5, 2), "W": normal(rng, 3, 2, 3, 3)}, activation="Relu")


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize(
    "window",
    [
        {"kernel_shape": [2, 3]}, {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 2, 1]},
        {"kernel_shape": [3, 3], "dilations": [2, 1]}, {"kernel_shape": [3, 2], "strides": [2, 2], "ceil_mode": 1},
        {"kernel_shape": [3, 3], "strides": [2, 2], "auto_pad": "SAME_LOWER"},
    ],
)  # fmt: skip
def test_nhwc_max_pool(rng, dtype, window):
    info = np.iinfo(dtype)
    x = rng.integers(info.min, info.max + 1, (2, 8, 9, 3)).astype(dtype)
    compare_with_onnxruntime("NhwcMaxPool", {"x": x}, **window)


def test_nhwc_max_pool_of_one_and_three_axes(rng):
    x = rng.integers(-128, 128, (2, 9, 3)).astype(np.int8)
    compare_with_onnxruntime("NhwcMaxPool", {"x": x}, kernel_shape=[3], strides=[2])
    x = rng.integers(-128, 128, (1, 5, 4, 6, 2)).astype(np.int8)
    compare_with_onnxruntime("NhwcMaxPool", {"x": x}, kernel_shape=[3, 2, 2])
    with pytest.raises(Exception, match="kernel_shape"):
        run_tenon("NhwcMaxPool", {"x": x}, kernel_shape=[3, 2])


def quantized_conv_inputs(rng, x_type, w_type, channels_last, per_channel, with_bias):
    def integers(dtype, *shape):
        info = np.iinfo(dtype)
        return np.asarray(rng.integers(info.min, info.max + 1, shape), dtype)

    channels = (6,) if per_channel else ()
    x = integers(x_type, 2, 4, 6, 7)
    return {
        "x": last(x) if channels_last else x, "x_scale": np.array(0.02, np.float32), "x_zero_point": integers(x_type),
        "w": integers(w_type, 6, 2, 3, 2), "w_scale": np.asarray(rng.uniform(0.01, 0.05, channels), np.float32),
        "w_zero_point": np.zeros(channels, w_type) if w_type == np.int8 else np.full(channels, 120, w_type),
        "y_scale": np.array(0.3, np.float32), "y_zero_point": np.array(7, x_type),
        "B": rng.integers(-5000, 5000, 6).astype(np.int32) if with_bias else None,
    }  # fmt: skip


@pytest.mark.parametrize(("x_type", "w_type"), [(np.uint8, np.uint8), (np.uint8, np.int8), (np.int8, np.int8)])
@pytest.mark.parametrize("channels_last", [0, 1])
@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("with_bias", [False, True])
def test_qlinear_conv(rng, x_type, w_type, channels_last, per_channel, with_bias):
    inputs = quantized_conv_inputs(rng, x_type, w_type, channels_last, per_channel, with_bias)
    constants = [k for k in inputs if k != "x" and inputs[k] is not None]
    attributes = {"group": 2, "channels_last": channels_last, "pads": [1, 0, 0, 1], "strides": [1, 2]}
    (y,) = run_tenon("QLinearConv", inputs, constants=constants, **attributes)
    assert y.dtype == x_type
    exact_integers.assert_quantized(y, exact_qlinear_conv(inputs, **attributes), inputs["y_scale"], 7)
    # onnxruntime rounds scales and products to float32: one step where a product lies on the edge between two.
    inputs["w"] = safe_weights(inputs["w"])
    (y,) = run_tenon("QLinearConv", inputs, constants=constants, **attributes)
    (theirs,) = run_onnxruntime("QLinearConv", inputs, constants=constants, **attributes)
    assert y.dtype == theirs.dtype and y.shape == theirs.shape
    assert np.abs(y.astype(int) - theirs.astype(int)).max() <= 1
    assert (y != theirs).mean() < 0.01


def exact_qlinear_conv(inputs, channels_last, **window):
    """The real numbers that the result stands for."""
    x = np.moveaxis(inputs["x"], -1, 1) if channels_last else inputs["x"]
    sums = exact_integers.conv(x, inputs["w"], inputs["x_zero_point"], inputs["w_zero_point"], **window)
    if inputs["B"] is not None:
        sums += inputs["B"][:, None, None]
    real = exact_integers.scaled(sums, inputs["x_scale"], inputs["w_scale"].reshape(-1, 1, 1))
    return np.moveaxis(real, 1, -1) if channels_last else real
