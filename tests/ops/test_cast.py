"""Cast and CastLike: all pairs of types, strings, saturation, rounding of scales."""

import itertools

import ml_dtypes
import numpy as np
import pytest
import tenon
from math_models import INTEGERS, NUMBERS, onnx_type, run
from onnx import TensorProto, helper

FLOAT8 = [ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e5m2, ml_dtypes.float8_e5m2fnuz]
TINY_FLOATS = [ml_dtypes.float4_e2m1fn, ml_dtypes.float6_e2m3fn, ml_dtypes.float6_e3m2fn]
TINY = [ml_dtypes.int4, ml_dtypes.uint4, ml_dtypes.int2, ml_dtypes.uint2, *TINY_FLOATS]
CASTABLE = [*NUMBERS, *FLOAT8, *TINY, np.bool_]


def cast(x, to, **options):
    return run("Cast", x, to=helper.np_dtype_to_tensor_dtype(np.dtype(to)), **options)


@pytest.mark.parametrize(("source", "target"), list(itertools.product(CASTABLE, CASTABLE)))
def test_small_numbers_survive_every_pair(source, target):
    x = np.array([0, 1, 1, 0, 1], np.float32).astype(source)
    actual = cast(x, target)
    assert actual.dtype == target and actual.astype(np.float32).tolist() == [0, 1, 1, 0, 1]


@pytest.mark.parametrize("target", INTEGERS)
@pytest.mark.parametrize("source", [np.float32, np.float64, np.int64, np.uint64])
def test_to_integers(source, target):
    if np.dtype(source).kind == "f":
        x = np.array([0.9, -0.9, 100.7, -1, -100.2, 200, 300, 40000, -40000], source)
        expected = np.trunc(x).astype(np.int64).astype(target)
    else:
        x = np.array([0, 127, 128, 255, 256, 2**31, 2**32 + 5, 2**63 - 1], source)
        expected = x.astype(target)
    assert cast(x, target).tolist() == expected.tolist()


@pytest.mark.parametrize("source", [np.float16, np.float32, np.float64])
def test_out_of_range_floats_become_the_lowest_integer(source):
    x = np.array([np.nan, np.inf, -np.inf], source)
    assert cast(x, np.int32).tolist() == [np.iinfo(np.int32).min] * 3
    assert cast(x, np.int64).tolist() == [np.iinfo(np.int64).min] * 3
    assert cast(x, np.int8).tolist() == [0] * 3
    assert cast(x, bool).tolist() == [True] * 3


@pytest.mark.parametrize("target", TINY_FLOATS)
def test_tiny_floats_round_to_even_and_saturate(target):
    x = np.concatenate([np.linspace(-33, 33, 331), [1e9, -1e9, 1e-9, -0.0]]).astype(np.float32)
    largest = float(ml_dtypes.finfo(target).max)
    expected = np.clip(x, -largest, largest).astype(target).astype(np.float32)
    assert cast(x, target).astype(np.float32).tolist() == expected.tolist()
    assert cast(expected.astype(target), np.float32).tolist() == expected.tolist()


def test_integers_round_once():
    x = np.array([2**24 + 1, 2**53 + 1, 2**60 + 2**36 + 1, -(2**62) - 2**38 - 1], np.int64)
    assert cast(x, np.float32).tolist() == x.astype(np.float32).tolist()
    assert cast(x.astype(np.uint64), np.float64).tolist() == x.astype(np.uint64).astype(np.float64).tolist()


@pytest.mark.parametrize("target", FLOAT8)
@pytest.mark.parametrize("saturate", [0, 1])
def test_float8(target, saturate):
    x = np.array([0, -0.0, 0.3, -3.14, 1e9, -1e9, np.inf, -np.inf, np.nan, 1e-9, 250.1], np.float32)
    expected = x.astype(target)
    if saturate:
        largest = float(ml_dtypes.finfo(target).max)
        expected = np.clip(x, -largest, largest).astype(target)
    actual = cast(x, target, saturate=saturate)
    np.testing.assert_array_equal(actual.astype(np.float32), expected.astype(np.float32))


@pytest.mark.parametrize(
    ("mode", "expected"), [("up", [1, 2, 2, 2, 4]), ("down", [1, 1, 1, 1, 2]), ("nearest", [1, 1, 2, 2, 2])]
)
def test_rounding_of_scales(mode, expected):
    x = np.array([1, 1.25, 1.5, 1.75, 2.5], np.float32)
    actual = cast(x, ml_dtypes.float8_e8m0fnu, round_mode=mode)
    assert actual.astype(np.float32).tolist() == expected


def test_wrong_attributes():
    x = np.zeros(2, np.float32)
    with pytest.raises(Exception, match="'round_mode' is 'odd'; it must be 'up', 'down' or 'nearest'"):
        run("Cast", x, to=TensorProto.FLOAT8E8M0, round_mode="odd")
    with pytest.raises(Exception, match="'to' is complex64; the types that Cast can produce are"):
        run("Cast", x, to=TensorProto.COMPLEX64)
    with pytest.raises(Exception, match="needs attribute 'to'"):
        run("Cast", x)


def test_first_version_names_the_type():
    x = np.array([1.5, 2.5], np.float32)
    assert run("Cast", x, to="INT64", version=1).tolist() == [1, 2]
    assert run("Cast", x, to="DOUBLE", version=1).dtype == np.float64


def test_from_strings():
    x = np.array(["3.5", "-1e-3", "+INF", "inf", "-inf", "NaN", " 7 ", "1E8", "1e999", "-1e-999"], object)
    actual = cast(x, np.float32)
    expected = np.array([3.5, -1e-3, np.inf, np.inf, -np.inf, np.nan, 7, 1e8, np.inf, 0], np.float32)
    np.testing.assert_array_equal(actual, expected)
    integers = cast(np.array(["12", "-7", "100.5", "9007199254740993"], object), np.int64)
    assert integers.tolist() == [12, -7, 100, 9007199254740993]
    assert cast(np.array(["0", "1", "True", "false"], object), bool).tolist() == [False, True, True, False]


@pytest.mark.parametrize("text", ["Hello", "", "1.5x", "--1", "+-1"])
def test_strings_that_are_no_numbers(text):
    with pytest.raises(Exception, match="element 1 is '.*', which cannot be cast to float"):
        cast(np.array(["1", text], object), np.float32)


def test_to_strings():
    x = np.array([0.1, 314.15926, -2, np.nan, np.inf, -np.inf, 1e20], np.float32)
    texts = cast(x, object).tolist()
    assert texts[:6] == ["0.1", "314.15927", "-2", "NaN", "INF", "-INF"] and np.float32(texts[6]) == x[6]
    assert cast(np.array([0.1, 1 / 3]), object).tolist() == ["0.1", "0.3333333333333333"]
    assert cast(np.array([-5, 2**63 - 1]), object).tolist() == ["-5", "9223372036854775807"]
    assert cast(np.array([2**64 - 1], np.uint64), object).tolist() == ["18446744073709551615"]
    assert cast(np.array([True, False]), object).tolist() == ["1", "0"]


@pytest.mark.parametrize("shape", [(), (0,), (2, 0), (3, 700)])
def test_shapes(shape):
    x = np.arange(np.prod(shape)).reshape(shape).astype(np.float32)
    actual = cast(x, np.int32)
    assert actual.shape == shape and actual.tolist() == x.astype(np.int32).tolist()


@pytest.mark.parametrize("target", CASTABLE)
def test_cast_like(target):
    x = np.array([0, 1, 1], np.float32)
    actual = run("CastLike", x, np.zeros(1, target), version=25)
    assert actual.dtype == target and actual.astype(np.float32).tolist() == [0, 1, 1]


def test_integer_casts_pass_shapes_on():
    """Reshape to a shape that was computed in int32: known when the model is compiled."""
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Cast", ["s"], ["s32"], to=TensorProto.INT32),
        helper.make_node("Mul", ["s32", "two"], ["double"]),
        helper.make_node("Cast", ["double"], ["target"], to=TensorProto.INT64),
        helper.make_node("Concat", ["x", "x"], ["xx"], axis=0),
        helper.make_node("Reshape", ["xx", "target"], ["y"]),
    ]
    x = np.arange(6, dtype=np.float32)
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", onnx_type(x), ["n"])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [helper.make_tensor("two", TensorProto.INT32, [1], [2])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    session = tenon.InferenceSession(model.SerializeToString())
    assert session.run(None, {"x": x})[0].tolist() == [*range(6), *range(6)]
    assert "n" in str(session.get_outputs()[0].shape)
