"""Unary and binary math, comparisons, logic and bits: every type, old versions, broadcasting, edges."""

import math

import ml_dtypes
import numpy as np
import pytest
from math_models import FLOATS, INTEGERS, NUMBERS, SIGNED, UNSIGNED, check, numbers, run
from onnx import TensorProto

vectorized_erf = np.vectorize(math.erf, otypes=[np.float64])

UNARY = {
    "Acos": (np.arccos, -1, 1),
    "Acosh": (np.arccosh, 1, 9),
    "Asin": (np.arcsin, -1, 1),
    "Asinh": (np.arcsinh, -9, 9),
    "Atan": (np.arctan, -9, 9),
    "Atanh": (np.arctanh, -0.9, 0.9),
    "Ceil": (np.ceil, -9, 9),
    "Cos": (np.cos, -9, 9),
    "Cosh": (np.cosh, -5, 5),
    "Erf": (vectorized_erf, -2, 2),
    "Exp": (np.exp, -5, 5),
    "Floor": (np.floor, -9, 9),
    "Log": (np.log, 0.1, 9),
    "Reciprocal": (lambda x: 1 / x, 0.1, 9),
    "Round": (np.round, -9, 9),
    "Sigmoid": (lambda x: 1 / (1 + np.exp(-x)), -9, 9),
    "Sin": (np.sin, -9, 9),
    "Sinh": (np.sinh, -5, 5),
    "Sqrt": (np.sqrt, 0, 9),
    "Tan": (np.tan, -1, 1),
    "Tanh": (np.tanh, -3, 3),
}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", UNARY)
def test_unary(name, dtype):
    function, low, high = UNARY[name]
    x = numbers(dtype, (2, 5), low, high)
    check(run(name, x), function(x.astype(np.float64)).astype(dtype))


@pytest.mark.parametrize("name", ["Exp", "Abs", "Relu", "Not"])
@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3)])
def test_unary_of_scalars_and_nothing(name, shape):
    x = np.zeros(shape, bool if name == "Not" else np.float32)
    expected = {"Exp": np.exp(x) if name == "Exp" else x, "Not": ~x if name == "Not" else x}.get(name, x)
    check(run(name, x), expected)


@pytest.mark.parametrize("name", ["Exp", "Log", "Sigmoid", "Sqrt", "Tanh", "Neg", "Abs", "Ceil", "Floor", "Reciprocal"])
def test_first_versions_carry_a_memory_hint(name):
    x = numbers(np.float32, low=1)
    check(run(name, x, version=1, consumed_inputs=[0]), run(name, x))


@pytest.mark.parametrize("dtype", NUMBERS)
def test_abs_and_sign(dtype):
    x = numbers(dtype)
    check(run("Abs", x), np.abs(x))
    check(run("Sign", x), np.sign(x.astype(np.float64)).astype(dtype))


@pytest.mark.parametrize("dtype", SIGNED)
def test_the_lowest_integer_wraps(dtype):
    lowest = np.array([np.iinfo(dtype).min], dtype)
    assert run("Abs", lowest) == lowest
    assert run("Neg", lowest) == lowest
    assert run("Div", lowest, np.array([-1], dtype)) == lowest
    assert run("Mod", lowest, np.array([-1], dtype)) == 0
    assert run("Mod", lowest, np.array([-1], dtype), fmod=1) == 0
    assert run("Sub", lowest, np.array([1], dtype)) == np.iinfo(dtype).max


def test_sign_and_round_of_special_numbers():
    x = np.array([np.nan, -0.0, np.inf, -np.inf, 0.5, 1.5, -2.5], np.float32)
    np.testing.assert_array_equal(run("Sign", x), [np.nan, 0, 1, -1, 1, 1, -1])
    np.testing.assert_array_equal(run("Round", x), [np.nan, 0, np.inf, -np.inf, 0, 2, -2])


@pytest.mark.parametrize("dtype", [*FLOATS, ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e4m3fnuz])
def test_tests_for_special_numbers(dtype):
    x = np.array([1, np.inf, -np.inf, np.nan], np.float32).astype(dtype)
    wide = x.astype(np.float32)
    check(run("IsNaN", x), np.isnan(wide))
    check(run("IsInf", x), np.isinf(wide))
    check(run("IsInf", x, detect_negative=0), np.isposinf(wide))
    check(run("IsInf", x, detect_positive=0), np.isneginf(wide))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_bitwise(dtype):
    x, y = numbers(dtype, (3, 1), seed=1), numbers(dtype, (4,), seed=2)
    check(run("BitwiseNot", x), ~x)
    check(run("BitwiseAnd", x, y), x & y)
    check(run("BitwiseOr", x, y), x | y)
    check(run("BitwiseXor", x, y), x ^ y)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("direction", ["LEFT", "RIGHT"])
def test_bit_shift(dtype, direction):
    bits = np.iinfo(dtype).bits
    x = np.array([np.iinfo(dtype).min, np.iinfo(dtype).max, 1, 5], dtype)[:, None]
    amounts = [0, 1, bits - 1, bits, 127]
    y = np.array([*amounts, -1, -bits] if np.iinfo(dtype).min < 0 else amounts, dtype)

    def shift(value, amount):
        if not 0 <= amount < bits:
            return -1 if direction == "RIGHT" and value < 0 else 0
        moved = value >> amount if direction == "RIGHT" else value << amount
        return int(np.array(moved & (2**bits - 1), f"u{bits // 8}").view(dtype))

    expected = [[shift(int(a), int(b)) for b in y] for a in x[:, 0]]
    check(run("BitShift", x, y, direction=direction), np.array(expected, dtype))


def test_bit_shift_needs_a_direction():
    with pytest.raises(Exception, match="'direction' is 'UP'; it must be 'LEFT' or 'RIGHT'"):
        run("BitShift", np.array([1], np.uint8), np.array([1], np.uint8), direction="UP")


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("name", ["Add", "Sub", "Mul"])
def test_arithmetic_broadcasts(name, dtype):
    a, b = numbers(dtype, (2, 1, 4), seed=1), numbers(dtype, (3, 1), seed=2)
    function = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply}[name]
    wide = np.float64 if np.dtype(dtype).kind in "fV" else dtype
    check(run(name, a, b), function(a.astype(wide), b.astype(wide)).astype(dtype))


@pytest.mark.parametrize("dtype", NUMBERS)
def test_div_and_mod(dtype):
    a = numbers(dtype, (4, 1), low=-20, high=20)
    b = np.array([1, 3, 7] if dtype in UNSIGNED else [-3, 1, 7], dtype)
    is_float = np.dtype(dtype).kind in "fV"
    wide = (a.astype(np.float64), b.astype(np.float64))
    quotient = wide[0] / wide[1]
    check(run("Div", a, b), (quotient if is_float else np.trunc(quotient)).astype(dtype))
    check(run("Mod", a, b, fmod=1), np.fmod(*wide).astype(dtype))
    check(run("Mod", a, b), np.mod(*wide).astype(dtype))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_by_zero_give_zero(dtype):
    a, zero = np.array([5, 0], dtype), np.array([0, 0], dtype)
    assert run("Div", a, zero).tolist() == [0, 0]
    assert run("Mod", a, zero).tolist() == [0, 0]


def test_mod_of_special_numbers():
    a = np.array([np.inf, 3, -3, 0.0, 5, np.nan], np.float32)
    b = np.array([2, np.inf, np.inf, -2, 0, 1], np.float32)
    result = run("Mod", a, b)
    np.testing.assert_array_equal(result, [np.nan, 3, np.inf, -0.0, np.nan, np.nan])
    assert np.signbit(result[3])


@pytest.mark.parametrize("exponent", NUMBERS)
@pytest.mark.parametrize("base", [*FLOATS, np.int32, np.int64])
def test_pow_of_mixed_types(base, exponent):
    a, b = np.array([[1], [2], [3]], base), np.array([0, 1, 2, 5], exponent)
    check(run("Pow", a, b), (a.astype(np.float64) ** b.astype(np.float64)).astype(base))


def test_pow_of_integers():
    check(run("Pow", np.array([3, -3], np.int64), np.array([39, 39], np.uint64)), np.array([3**39, -(3**39)]))
    check(run("Pow", np.array([1, -1, 2], np.int32), np.array(-3, np.int32)), np.array([1, -1, 0], np.int32))


@pytest.mark.parametrize("dtype", NUMBERS)
def test_min_and_max_of_many(dtype):
    inputs = [numbers(dtype, shape, seed=i) for i, shape in enumerate([(3, 4), (4,), (3, 1)])]
    wide = [x.astype(np.float64) for x in inputs]
    check(run("Min", *inputs), np.minimum(np.minimum(wide[0], wide[1]), wide[2]).astype(dtype))
    check(run("Max", *inputs), np.maximum(np.maximum(wide[0], wide[1]), wide[2]).astype(dtype))
    check(run("Max", inputs[0]), inputs[0])


@pytest.mark.parametrize("version", [1, 6, 8, 13])
def test_sum_and_mean(version):
    inputs = [numbers(np.float32, seed=i) for i in range(3)]
    check(run("Sum", *inputs, version=version), sum(x.astype(np.float64) for x in inputs).astype(np.float32))
    check(run("Mean", *inputs, version=version), (sum(x.astype(np.float64) for x in inputs) / 3).astype(np.float32))


def test_nan_wins():
    a, b = np.array([np.nan, 1], np.float32), np.array([1, np.nan], np.float32)
    assert np.isnan(run("Max", a, b)).all() and np.isnan(run("Min", a, b)).all()


COMPARISONS = {
    "Equal": np.equal,
    "Greater": np.greater,
    "GreaterOrEqual": np.greater_equal,
    "Less": np.less,
    "LessOrEqual": np.less_equal,
}


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons(name, dtype):
    a, b = numbers(dtype, (5, 1), high=4), numbers(dtype, (6,), high=4, seed=1)
    check(run(name, a, b), COMPARISONS[name](a, b))


def test_equal_of_strings_and_truths():
    a, b = np.array(["a", "b", ""], object), np.array(["a", "B", ""], object)
    assert run("Equal", a, b).tolist() == [True, False, True]
    assert run("Equal", np.array([True, False]), np.array([True])).tolist() == [True, False]


@pytest.mark.parametrize("name", ["And", "Or", "Xor"])
def test_logic(name):
    a, b = np.array([[True], [False]]), np.array([True, False])
    check(run(name, a, b), {"And": a & b, "Or": a | b, "Xor": a ^ b}[name])


OLD_BINARY = ["Add", "Sub", "Mul", "Div", "Pow"]
ALIGNED = [(0, (2,)), (1, (3,)), (1, (3, 4)), (None, (3, 4)), (-1, (4,)), (None, (4,))]


@pytest.mark.parametrize("name", OLD_BINARY)
@pytest.mark.parametrize(("axis", "shape"), ALIGNED)
def test_old_broadcast_aligns_at_an_axis(name, axis, shape):
    a, b = numbers(np.float32, (2, 3, 4), low=1, high=3), numbers(np.float32, shape, low=1, high=3, seed=1)
    attributes = {"broadcast": 1} if axis is None else {"broadcast": 1, "axis": axis}
    start = a.ndim - b.ndim if axis is None else axis % a.ndim
    aligned = b.reshape(b.shape + (1,) * (a.ndim - start - b.ndim)).astype(np.float64)
    function = dict(zip(OLD_BINARY, [np.add, np.subtract, np.multiply, np.divide, np.power], strict=True))[name]
    actual = run(name, a, b, version=6, dynamic=False, **attributes)
    check(actual, function(a.astype(np.float64), aligned).astype(np.float32))


@pytest.mark.parametrize("name", ["Greater", "Less", "And", "Equal"])
def test_old_comparisons_broadcast(name):
    dtype = {"And": bool, "Equal": np.int32}.get(name, np.float32)
    a, b = numbers(np.int32, (2, 3)).astype(dtype), numbers(np.int32, (2,), seed=1).astype(dtype)
    actual = run(name, a, b, version=6, dynamic=False, broadcast=1, axis=0)
    check(actual, run(name, a, b[:, None]))


def test_wrong_old_axis():
    with pytest.raises(Exception, match="axis 2, rank 2 cannot be aligned with rank 3"):
        run("Add", np.zeros((2, 3, 4), np.float32), np.zeros((3, 4), np.float32), version=6, broadcast=1, axis=2)


EVERY_TYPE = [*NUMBERS, bool, object, np.complex64, np.complex128, ml_dtypes.float8_e4m3fn, ml_dtypes.int4]


@pytest.mark.parametrize("dtype", EVERY_TYPE)
def test_where(dtype):
    x = np.array([[1], [0]]).astype(str if dtype is object else dtype).astype(dtype)
    y = np.array([0, 1, 1]).astype(str if dtype is object else dtype).astype(dtype)
    condition = np.array([True, False, True])
    actual = run("Where", condition, x, y)
    assert actual.dtype == x.dtype and actual.tolist() == np.where(condition, x, y).tolist()


def test_errors_name_the_problem():
    three, four = np.zeros(3, np.float32), np.zeros(4, np.float32)
    with pytest.raises(Exception, match=r"shapes \[3\] and \[4\] cannot be broadcast"):
        run("Add", three, four, dynamic=False)
    with pytest.raises(Exception, match="inputs 0 and 1 must have the same element type, but they are float and int64"):
        run("Add", three, np.zeros(3, np.int64))
    with pytest.raises(Exception, match="input 0 is int32; the allowed types are"):
        run("Exp", np.zeros(3, np.int32))
    with pytest.raises(Exception, match="Add needs input 1, which is missing"):
        run("Add", three)


BIT_CASTS = [
    (np.float32, np.int32, TensorProto.INT32),
    (np.int64, np.float64, TensorProto.DOUBLE),
    (ml_dtypes.bfloat16, np.uint16, TensorProto.UINT16),
    (np.uint8, ml_dtypes.float8_e5m2, TensorProto.FLOAT8E5M2),
    (np.complex64, np.uint64, TensorProto.UINT64),
]


@pytest.mark.parametrize(("source", "target", "code"), BIT_CASTS)
def test_bit_cast(source, target, code):
    x = numbers(np.float32, (3, 2), low=0).astype(source)
    actual = run("BitCast", x, to=code)
    assert actual.dtype == target and actual.tobytes() == x.tobytes() and actual.shape == x.shape


def test_bit_cast_of_half_bytes_and_truths():
    x = np.array([-1, 7, -8], ml_dtypes.int4)
    assert run("BitCast", x, to=TensorProto.UINT4).astype(int).tolist() == [15, 7, 8]
    assert run("BitCast", np.array([0, 1, 2], np.uint8), to=TensorProto.BOOL).tolist() == [False, True, True]


def test_bit_cast_needs_one_width():
    with pytest.raises(Exception, match="float has 32 bits, but int64 has 64"):
        run("BitCast", np.zeros(2, np.float32), to=TensorProto.INT64)
