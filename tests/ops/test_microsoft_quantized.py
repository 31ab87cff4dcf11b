"""Quantized ops of com.microsoft: dequantize, compute, quantize."""

import numpy as np
import pytest
from microsoft_models import run_onnxruntime, run_tenon

BYTES = [np.uint8, np.int8]


@pytest.fixture
def rng():
    return np.random.default_rng(4)


def integers(rng, dtype, *shape):
    info = np.iinfo(dtype)
    return np.asarray(rng.integers(info.min, info.max + 1, shape), dtype)


def scalar(value, dtype=np.float32):
    return np.array(value, dtype)


def check(op, inputs, expected, data, scale, zero_point, dtype, **attributes):
    """The result is the rounded formula, and onnxruntime's up to one step (its kernels round products, not results)."""
    constants = [k for k in inputs if k not in data and inputs[k] is not None]
    (y,) = run_tenon(op, inputs, constants=constants, **attributes)
    info = np.iinfo(dtype)
    steps = np.asarray(expected) / np.float64(scale) + zero_point
    assert y.dtype == dtype and y.shape == steps.shape
    assert np.abs(y - np.clip(steps, info.min, info.max)).max(initial=0) <= 0.5 + 1e-4
    try:
        (theirs,) = run_onnxruntime(op, inputs, constants=constants, **attributes)
    except Exception as error:  # no kernel for this type
        assert "NOT_IMPLEMENTED" in str(error) or "Fail" in type(error).__name__, error
        return
    assert np.abs(y.astype(int) - theirs.astype(int)).max(initial=0) <= 1


def operand(rng, name, dtype, shape, scale, with_zero):
    zero = integers(rng, dtype)
    inputs = {name: integers(rng, dtype, *shape), f"{name}_scale": scalar(scale)}
    inputs[f"{name}_zero"] = zero if with_zero else None
    real = (inputs[name].astype(np.float64) - (int(zero) if with_zero else 0)) * np.float64(np.float32(scale))
    return inputs, real


@pytest.mark.parametrize("dtype", BYTES)
@pytest.mark.parametrize("op", ["QLinearAdd", "QLinearMul"])
@pytest.mark.parametrize("with_zero", [False, True])
@pytest.mark.parametrize("shapes", [((3, 4), (3, 4)), ((3, 4), (4,)), ((2, 1, 4), (3, 1)), ((), (3,))])
def test_binary(rng, dtype, op, with_zero, shapes):
    a, real_a = operand(rng, "A", dtype, shapes[0], 0.03, with_zero)
    b, real_b = operand(rng, "B", dtype, shapes[1], 0.07, with_zero)
    zero = scalar(5, dtype)
    inputs = a | b | {"C_scale": scalar(0.11), "C_zero": zero if with_zero else None}
    expected = real_a + real_b if op == "QLinearAdd" else real_a * real_b
    check(op, inputs, expected, ["A", "B"], np.float32(0.11), 5 if with_zero else 0, dtype)


@pytest.mark.parametrize("dtype", BYTES)
def test_where(rng, dtype):
    x, real_x = operand(rng, "X", dtype, (3, 4), 0.03, True)
    y, real_y = operand(rng, "Y", dtype, (4,), 0.07, True)
    condition = rng.random((3, 1)) < 0.5
    inputs = {"condition": condition} | x | y | {"Z_scale": scalar(0.05), "Z_zero": scalar(3, dtype)}
    expected = np.where(condition, real_x, real_y)
    check("QLinearWhere", inputs, expected, ["condition", "X", "Y"], np.float32(0.05), 3, dtype)


@pytest.mark.parametrize("dtype", BYTES)
@pytest.mark.parametrize("axis", [0, -1])
def test_concat(rng, dtype, axis):
    shapes = [(2, 3), (4, 3)] if axis == 0 else [(2, 3), (2, 1)]
    parts = [operand(rng, f"X{i}", dtype, shape, 0.02 * (i + 1), True) for i, shape in enumerate(shapes)]
    inputs = {"Y_scale": scalar(0.05), "Y_zero": scalar(3, dtype)} | parts[0][0] | parts[1][0]
    expected = np.concatenate([real for _, real in parts], axis=axis)
    check("QLinearConcat", inputs, expected, ["X0", "X1"], np.float32(0.05), 3, dtype, axis=axis)


def test_concat_refuses_an_incomplete_part():
    inputs = {"Y_scale": scalar(0.05), "Y_zero": scalar(3, np.uint8), "X": scalar([1], np.uint8), "S": scalar(0.1)}
    with pytest.raises(Exception, match="4 inputs; there must be"):
        run_tenon("QLinearConcat", inputs, axis=0)


@pytest.mark.parametrize("dtype", BYTES)
@pytest.mark.parametrize("with_zero", [False, True])
def test_activations(rng, dtype, with_zero):
    x, real = operand(rng, "X", dtype, (3, 40), 0.03, with_zero)
    zero = {"Y_zero": scalar(3, dtype) if with_zero else None}
    offset = 3 if with_zero else 0
    inputs = x | {"Y_scale": scalar(1 / 256)} | zero
    check("QLinearSigmoid", inputs, 1 / (1 + np.exp(-real)), ["X"], np.float32(1 / 256), offset, dtype)
    inputs = x | {"Y_scale": scalar(0.04)} | zero
    leaky = np.where(real < 0, np.float32(0.3) * real, real)
    check("QLinearLeakyRelu", inputs, leaky, ["X"], np.float32(0.04), offset, dtype, alpha=0.3)


@pytest.mark.parametrize("dtype", BYTES)
@pytest.mark.parametrize(("opset", "axis", "axes"), [(13, -1, (2,)), (13, 1, (1,)), (12, 1, (1, 2)), (11, 2, (2,))])
def test_softmax(rng, dtype, opset, axis, axes):
    x, real = operand(rng, "X", dtype, (2, 3, 5), 0.02, True)
    e = np.exp(real)
    zero = np.iinfo(dtype).min
    inputs = x | {"Y_scale": scalar(1 / 256), "Y_zero": scalar(zero, dtype)}
    expected = e / e.sum(axis=axes, keepdims=True)
    check("QLinearSoftmax", inputs, expected, ["X"], np.float32(1 / 256), zero, dtype, axis=axis, opset=opset)


@pytest.mark.parametrize("dtype", BYTES)
@pytest.mark.parametrize("channels_last", [0, 1])
def test_pools(rng, dtype, channels_last):
    shape = (2, 4, 6, 3) if channels_last else (2, 3, 4, 6)
    x, real = operand(rng, "X", dtype, shape, 0.03, True)
    inputs = x | {"Y_scale": scalar(0.05), "Y_zero": scalar(3, dtype)}
    spatial = (1, 2) if channels_last else (2, 3)
    expected = real.mean(axis=spatial, keepdims=True)
    check("QLinearGlobalAveragePool", inputs, expected, ["X"], np.float32(0.05), 3, dtype, channels_last=channels_last)
    first = np.moveaxis(real, -1, 1) if channels_last else real
    expected = first.reshape(2, 3, 2, 2, 3, 2).mean(axis=(3, 5))
    expected = np.moveaxis(expected, 1, -1) if channels_last else expected
    window = {"kernel_shape": [2, 2], "strides": [2, 2], "channels_last": channels_last}
    check("QLinearAveragePool", inputs, expected, ["X"], np.float32(0.05), 3, dtype, **window)


@pytest.mark.parametrize("dtype", BYTES)
@pytest.mark.parametrize("keepdims", [0, 1])
def test_reductions(rng, dtype, keepdims):
    x, real = operand(rng, "X", dtype, (2, 3, 4), 0.03, True)
    inputs = x | {"Y_scale": scalar(0.01), "Y_zero": scalar(3, dtype)}
    expected = real.mean(axis=(0, 2), keepdims=bool(keepdims))
    check("QLinearReduceMean", inputs, expected, ["X"], np.float32(0.01), 3, dtype, axes=[0, -1], keepdims=keepdims)
    (y,) = run_tenon("ReduceSumInteger", {"X": x["X"]}, axes=[0, -1], keepdims=keepdims)
    wide = np.int32 if dtype == np.int8 else np.uint32
    assert y.dtype == wide
    np.testing.assert_array_equal(y, x["X"].astype(wide).sum(axis=(0, 2), keepdims=bool(keepdims), dtype=wide))
