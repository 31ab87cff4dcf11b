"""Convolutions and poolings of com.microsoft: with activations, with channels last, quantized."""

import numpy as np
import pytest
from microsoft_models import assert_close, compare_with_onnxruntime, normal, run_onnxruntime, run_tenon
from onnx import TensorProto, helper
from oracles import exact_integers
from oracles.peer import run_peer
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
    """Conv of the default domain by onnxruntime, in the type of x."""
    inputs = {"x": x, "w": w} | ({"b": b} if b is not None else {})
    declared = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape)
        for name, v in inputs.items()
    ]
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([helper.make_node("Conv", list(inputs), ["y"], **attributes)], "g", declared, [result])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    return run_peer(model.SerializeToString(), inputs)[0]


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
    compare_with_onnxruntime("FusedConv", inputs, group=2, **fused(activation, numbers))


@pytest.mark.parametrize("window", WINDOWS)
def test_fused_conv_with_other_windows(rng, window):
    inputs = {"X": normal(rng, 1, 3, 9, 8), "W": normal(rng, 4, 3, 3, 2), "B": normal(rng, 4)}
    compare_with_onnxruntime("FusedConv", inputs, activation="Relu", **window)


@pytest.mark.parametrize(("x_shape", "w_shape"), [((2, 3, 9), (4, 3, 3)), ((1, 2, 4, 5, 6), (3, 2, 2, 3, 2))])
def test_fused_conv_of_other_ranks(rng, x_shape, w_shape):
    compare_with_onnxruntime("FusedConv", {"X": normal(rng, *x_shape), "W": normal(rng, *w_shape)}, activation="Tanh")


def test_fused_conv_of_half_precision(rng):
    x, w, z = (normal(rng, *s, dtype=np.float16) for s in [(1, 2, 5, 5), (3, 2, 3, 3), (1, 3, 3, 3)])
    (y,) = run_tenon("FusedConv", {"X": x, "W": w, "B": None, "Z": z}, activation="Relu")
    product = plain_conv(x.astype(np.float32), w.astype(np.float32), None)
    assert_close(y, np.maximum(product.astype(np.float16) + z, 0))


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
    assert_close(y, last(plain_conv(x, w, b, group=2, **window)))


@pytest.mark.parametrize(("x_shape", "w_shape"), [((2, 3, 9), (4, 3, 3)), ((1, 2, 4, 5, 6), (3, 2, 2, 3, 2))])
def test_nhwc_conv_of_other_ranks(rng, x_shape, w_shape):
    x, w = normal(rng, *x_shape), normal(rng, *w_shape)
    assert_close(run_tenon("NhwcConv", {"X": last(x), "W": w})[0], last(plain_conv(x, w, None)))


@pytest.mark.parametrize(("activation", "numbers"), ACTIVATIONS)
def test_nhwc_fused_conv(rng, activation, numbers):
    x, w, b, z = (normal(rng, *s) for s in [(2, 3, 6, 7), (4, 3, 3, 2), (4,), (2, 4, 4, 6)])
    (expected,) = run_onnxruntime("FusedConv", {"X": x, "W": w, "B": b, "Z": z}, **fused(activation, numbers))
    (y,) = run_tenon("NhwcFusedConv", {"X": last(x), "W": w, "B": b, "Z": last(z)}, **fused(activation, numbers))
    assert_close(y, last(expected))


def test_nhwc_conv_refuses_what_is_no_image(rng):
    with pytest.raises(Exception, match="an image must have at least 3 axes, but this one has 2"):
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
