"""Activations: every float type, attributes, old versions."""

import math

import numpy as np
import pytest
from math_models import FLOATS, NUMBERS, check, numbers, run

erf = np.vectorize(math.erf, otypes=[np.float64])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


ACTIVATIONS = [
    ("Celu", {"alpha": 2.0}, lambda x: np.maximum(x, 0) + np.minimum(0, 2 * np.expm1(x / 2))),
    ("Elu", {}, lambda x: np.where(x < 0, np.expm1(x), x)),
    ("Elu", {"alpha": 0.5}, lambda x: np.where(x < 0, 0.5 * np.expm1(x), x)),
    ("Gelu", {}, lambda x: 0.5 * x * (1 + erf(x / np.sqrt(2)))),
    ("Gelu", {"approximate": "tanh"}, lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))),
    ("HardSigmoid", {"alpha": 0.25}, lambda x: np.clip(0.25 * x + 0.5, 0, 1)),
    ("HardSwish", {}, lambda x: x * np.clip(x / 6 + 0.5, 0, 1)),
    ("LeakyRelu", {"alpha": 0.125}, lambda x: np.where(x < 0, 0.125 * x, x)),
    ("Mish", {}, lambda x: x * np.tanh(np.log1p(np.exp(x)))),
    ("Relu", {}, lambda x: np.maximum(x, 0)),
    ("Selu", {"alpha": 1.5, "gamma": 2.0}, lambda x: 2 * np.where(x > 0, x, 1.5 * np.expm1(x))),
    ("Shrink", {"lambd": 1.5, "bias": 0.5}, lambda x: np.where(x < -1.5, x + 0.5, np.where(x > 1.5, x - 0.5, 0))),
    ("Softplus", {}, lambda x: np.log1p(np.exp(x))),
    ("Softsign", {}, lambda x: x / (1 + np.abs(x))),
    ("Swish", {"alpha": 0.5}, lambda x: x * sigmoid(0.5 * x)),
    ("ThresholdedRelu", {"alpha": 0.5}, lambda x: np.where(x > 0.5, x, 0)),
]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("name", "attributes", "function"), ACTIVATIONS)
def test_activation(name, attributes, function, dtype):
    x = numbers(dtype, (4, 8))
    # Attributes are single-precision numbers.
    rtol = 4 * float(np.finfo(np.float32).eps) if dtype == np.float64 else None
    wide = x.astype(np.float64)
    # 1 + erf(x) and 1 + tanh(x) are rounded to units of 1, of which little is left below zero.
    atol = np.abs(wide) * float(np.finfo(np.float32).eps) if name == "Gelu" else None
    check(run(name, x, **attributes), function(wide).astype(dtype), rtol, atol)


# Constants of zero and below have no meaning of their own: the formula of the standard holds.
UNUSUAL = [
    ("Celu", {"alpha": 0.0}, lambda x: np.maximum(x, 0) + np.minimum(0, 0.0 * np.expm1(x / 0.0))),
    ("Celu", {"alpha": -0.0}, lambda x: np.maximum(x, 0) + np.minimum(0, -0.0 * np.expm1(x / -0.0))),
    ("Celu", {"alpha": -1.0}, lambda x: np.maximum(x, 0) + np.minimum(0, -1.0 * np.expm1(x / -1.0))),
    ("Elu", {"alpha": 0.0}, lambda x: np.where(x < 0, 0.0 * np.expm1(x), x)),
    ("Elu", {"alpha": -1.0}, lambda x: np.where(x < 0, -1.0 * np.expm1(x), x)),
    ("HardSigmoid", {"alpha": 0.0, "beta": 0.0}, lambda x: np.clip(0.0 * x + 0.0, 0, 1)),
    ("LeakyRelu", {"alpha": 0.0}, lambda x: np.where(x < 0, 0.0 * x, x)),
    ("Selu", {"alpha": 0.0, "gamma": 0.0}, lambda x: 0.0 * np.where(x > 0, x, 0.0 * np.expm1(x))),
    ("Shrink", {"lambd": 0.0, "bias": 0.0}, lambda x: np.where(x < 0, x, np.where(x > 0, x, 0))),
    ("Swish", {"alpha": 0.0}, lambda x: x * sigmoid(0.0 * x)),
    ("ThresholdedRelu", {"alpha": 0.0}, lambda x: np.where(x > 0, x, 0)),
]


@pytest.mark.parametrize(("name", "attributes", "function"), UNUSUAL)
def test_constants_of_zero(name, attributes, function):
    x = np.array([-np.inf, -2, -1e-30, -0.0, 0, 1e-30, 2, np.inf, np.nan], np.float32)
    with np.errstate(all="ignore"):
        expected = function(x.astype(np.float64)).astype(np.float32)
    np.testing.assert_array_equal(run(name, x, **attributes), expected)


def test_large_numbers_do_not_overflow():
    x = np.array([1000, -1000], np.float32)
    assert run("Softplus", x).tolist() == [1000, 0]
    assert run("Mish", x).tolist() == [1000, 0]
    assert run("Sigmoid", x).tolist() == [1, 0]


def test_first_selu_has_shorter_constants():
    x = np.array([-1, 1], np.float32)
    expected = np.array([1.0507 * 1.6732 * np.expm1(-1), 1.0507], np.float32)
    check(run("Selu", x, version=1), expected)


@pytest.mark.parametrize("dtype", NUMBERS)
def test_clip(dtype):
    x, low, high = numbers(dtype), np.array(2, dtype), np.array(5, dtype)
    check(run("Clip", x, low, high), np.clip(x.astype(np.float64), 2, 5).astype(dtype))
    check(run("Clip", x, None, high), np.minimum(x.astype(np.float64), 5).astype(dtype))
    check(run("Clip", x, low), np.maximum(x.astype(np.float64), 2).astype(dtype))
    check(run("Clip", x), x)
    assert (run("Clip", x, high, low).astype(np.float64) == 2).all()  # the upper limit is applied last


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_old_clip(dtype):
    x = numbers(dtype)
    check(run("Clip", x, version=6, min=-1.0, max=2.0), np.clip(x, -1, 2))
    check(run("Clip", x, version=6, max=2.0), np.minimum(x, 2))
    check(run("Clip", x, version=1), x)


def test_clip_needs_single_limits():
    with pytest.raises(Exception, match=r"the min of a Clip must be one number, but its shape is \[2\]"):
        run("Clip", np.zeros(3, np.float32), np.zeros(2, np.float32), dynamic=False)


@pytest.mark.parametrize("dtype", [*FLOATS, np.int32, np.int64])
@pytest.mark.parametrize("shape", [(4,), (3, 1), (1,), ()])
def test_prelu(dtype, shape):
    x, slope = numbers(dtype, (2, 3, 4)), numbers(dtype, shape, seed=1)
    wide = x.astype(np.float64)
    check(run("PRelu", x, slope), np.where(wide < 0, wide * slope.astype(np.float64), wide).astype(dtype))


def test_old_prelu_slope_belongs_to_channels():
    x, slope = numbers(np.float32, (2, 3, 3, 3)), numbers(np.float32, (3,), seed=1)
    check(run("PRelu", x, slope, version=6, dynamic=False), run("PRelu", x, slope[:, None, None]))


def test_prelu_slope_must_fit():
    with pytest.raises(Exception, match=r"the slope \[2, 3\] has more dimensions than the input \[3\]"):
        run("PRelu", np.zeros(3, np.float32), np.zeros((2, 3), np.float32), dynamic=False)


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64])
def test_shrink_of_integers(dtype):
    x = np.array([0, 1, 5, 9], dtype)
    assert run("Shrink", x, lambd=1.5, bias=2.0).tolist() == [0, 0, 3, 7]


def test_swiglu():
    a, b = numbers(np.float32), numbers(np.float32, seed=1)
    expected = a.astype(np.float64) * sigmoid(1.5 * a.astype(np.float64)) * b
    check(run("SwiGLU", a, b, alpha=1.5), expected.astype(np.float32))
    with pytest.raises(Exception, match=r"gate \[2\] and value \[3\] must have the same shape"):
        run("SwiGLU", np.zeros(2, np.float32), np.zeros(3, np.float32), dynamic=False)


def test_unknown_gelu():
    with pytest.raises(Exception, match="'approximate' is 'erf'; it must be 'none' or 'tanh'"):
        run("Gelu", np.zeros(2, np.float32), approximate="erf")


def softmax(x, axis):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def hardmax(x, axis):
    result = np.zeros_like(x)
    np.put_along_axis(result, np.expand_dims(x.argmax(axis), axis), 1, axis)
    return result


SOFTMAXES = {"Softmax": softmax, "LogSoftmax": lambda x, axis: np.log(softmax(x, axis)), "Hardmax": hardmax}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("axis", [None, 0, 1, -1, -3])
@pytest.mark.parametrize("name", SOFTMAXES)
def test_softmax(name, axis, dtype):
    x = numbers(dtype, (3, 4, 5), low=-2, high=2)
    attributes = {} if axis is None else {"axis": axis}
    expected = SOFTMAXES[name](x.astype(np.float64), -1 if axis is None else axis).astype(dtype)
    # Logarithms are differences of numbers up to 4.
    atol = 4 * float(np.finfo(np.float32).eps) if name == "LogSoftmax" and dtype == np.float32 else None
    check(run(name, x, **attributes), expected, 1e-13 if dtype == np.float64 else None, atol)


@pytest.mark.parametrize("axis", [None, 0, 1, 2, -1, -2])
@pytest.mark.parametrize("name", SOFTMAXES)
@pytest.mark.parametrize("dynamic", [True, False])
def test_old_softmax_takes_axes_together(name, axis, dynamic):
    x = numbers(np.float32, (3, 4, 5), low=-2, high=2)
    attributes = {} if axis is None else {"axis": axis}
    rows = int(np.prod(x.shape[: (1 if axis is None else axis % 3)]))
    flat = SOFTMAXES[name](x.astype(np.float64).reshape(rows, -1), 1)
    actual = run(name, x, version=11, dynamic=dynamic, **attributes)
    check(actual, flat.reshape(x.shape).astype(np.float32), rtol=1e-5)


@pytest.mark.parametrize("version", [11, 13])
@pytest.mark.parametrize("shape", [(0, 3, 2), (2, 0, 2), (2, 3, 0)])
@pytest.mark.parametrize("name", SOFTMAXES)
def test_softmax_of_nothing(name, shape, version):
    x = np.zeros(shape, np.float32)
    check(run(name, x, version=version, axis=1), x)


def test_softmax_axis_is_checked():
    with pytest.raises(Exception, match="axis 2 is out of range for a tensor of rank 2"):
        run("Softmax", np.zeros((2, 2), np.float32), axis=2)
    with pytest.raises(Exception, match="axis 2"):
        run("Softmax", np.zeros((2, 2), np.float32), axis=2, version=11)
