"""Quantization: granularities, types, rounding, saturation, integer products and convolutions."""

import ml_dtypes
import numpy as np
import pytest
from math_models import check, numbers, run, run_onnxruntime
from onnx import TensorProto, helper
from oracles import exact_integers

INTEGER_TYPES = [np.int8, np.uint8, np.int16, np.uint16]
INTEGER_TYPES += [ml_dtypes.int4, ml_dtypes.uint4, ml_dtypes.int2, ml_dtypes.uint2]
FLOAT8 = [ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e5m2, ml_dtypes.float8_e5m2fnuz]


def quantized(x, scale, zero, dtype):
    limits = ml_dtypes.iinfo(dtype)
    rounded = np.rint((x / scale).astype(np.float32)) + zero.astype(np.float64)
    return np.clip(rounded, int(limits.min), int(limits.max)).astype(dtype)


@pytest.mark.parametrize("dtype", INTEGER_TYPES)
def test_per_tensor(dtype):
    x = numbers(np.float32, (5, 7), low=-30, high=30)
    scale, zero = np.array(0.25, np.float32), np.array(1, dtype)
    y = run("QuantizeLinear", x, scale, zero)
    check(y, quantized(x, scale, zero, dtype))
    check(run("DequantizeLinear", y, scale, zero), ((y.astype(np.float32) - 1) * 0.25).astype(np.float32))


@pytest.mark.parametrize("dtype", INTEGER_TYPES)
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_per_axis(dtype, axis):
    x = numbers(np.float32, (3, 4, 5), low=-30, high=30)
    count = x.shape[axis]
    scale, zero = np.linspace(0.5, 2, count, dtype=np.float32), (np.arange(count) % 2).astype(dtype)
    shape = [1, 1, 1]
    shape[axis] = count
    wide = scale.reshape(shape), zero.reshape(shape)
    y = run("QuantizeLinear", x, scale, zero, axis=axis)
    check(y, quantized(x, *wide, dtype))
    expected = (y.astype(np.float32) - wide[1].astype(np.float32)) * wide[0]
    check(run("DequantizeLinear", y, scale, zero, axis=axis), expected)


@pytest.mark.parametrize(("axis", "block"), [(0, 2), (1, 3), (-1, 4), (1, 5)])
def test_per_block(axis, block):
    x = numbers(np.float32, (4, 5, 8), low=-30, high=30)
    blocks = list(x.shape)
    blocks[axis] = -(-x.shape[axis] // block)
    scale = numbers(np.float32, blocks, low=0.5, high=2, seed=1)
    zero = numbers(np.int8, blocks, seed=2)

    def spread(v):
        return np.take(np.repeat(v, block, axis), range(x.shape[axis]), axis)

    y = run("QuantizeLinear", x, scale, zero, axis=axis, block_size=block)
    check(y, quantized(x, spread(scale), spread(zero), np.int8))
    expected = (y.astype(np.float32) - spread(zero)) * spread(scale)
    check(run("DequantizeLinear", y, scale, zero, axis=axis, block_size=block), expected)


@pytest.mark.parametrize("dtype", FLOAT8)
@pytest.mark.parametrize("saturate", [0, 1])
def test_to_float8(dtype, saturate):
    x = np.array([0, 1.1, -300, 1e6, -1e6, 5], np.float32)
    scale, zero = np.array(2, np.float32), np.array(0).astype(dtype)
    y = run("QuantizeLinear", x, scale, zero, saturate=saturate)
    expected = run("Cast", x / 2, to=helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), saturate=saturate)
    assert y.dtype == dtype and y.tobytes() == expected.tobytes()
    if saturate:
        check(run("DequantizeLinear", y, scale), y.astype(np.float32) * 2)


def test_to_float4():
    x = np.array([0, 0.7, -3, 100, -100, 5], np.float32)
    y = run("QuantizeLinear", x, np.array(1, np.float32), output_dtype=TensorProto.FLOAT4E2M1)
    assert y.astype(np.float32).tolist() == x.astype(ml_dtypes.float4_e2m1fn).astype(np.float32).tolist()


def test_half_rounds_to_even_before_the_zero_point():
    x = np.array([0.5, 1.5, 2.5, -0.5, -1.5], np.float32)
    y = run("QuantizeLinear", x, np.array(1, np.float32), np.array(1, np.int8))
    assert y.tolist() == [1, 3, 3, 1, -1]


def test_special_numbers_saturate():
    x = np.array([np.inf, -np.inf, np.nan, 1e30], np.float32)
    assert run("QuantizeLinear", x, np.array(1, np.float32), np.array(3, np.int8)).tolist() == [127, -128, -128, 127]


@pytest.mark.parametrize("version", [10, 13, 19, 21, 23])
def test_versions_agree_with_onnxruntime(version):
    x, scale, zero = numbers(np.float32, (4, 6), low=-40), np.array(0.3, np.float32), np.array(7, np.uint8)
    y = run("QuantizeLinear", x, scale, zero, version=version)
    check(y, run_onnxruntime("QuantizeLinear", x, scale, zero, version=version))
    back = run("DequantizeLinear", y, scale, zero, version=version)
    check(back, run_onnxruntime("DequantizeLinear", y, scale, zero, version=version))


def test_output_types():
    x, scale = numbers(np.float32), np.array(0.5, np.float32)
    assert run("QuantizeLinear", x, scale).dtype == np.uint8
    assert run("QuantizeLinear", x, scale, output_dtype=TensorProto.INT16).dtype == np.int16
    y = run("QuantizeLinear", x, scale)
    assert run("DequantizeLinear", y, scale, output_dtype=TensorProto.FLOAT16).dtype == np.float16
    assert run("DequantizeLinear", y, scale.astype(ml_dtypes.bfloat16)).dtype == ml_dtypes.bfloat16
    check(run("DequantizeLinear", np.array([5, -7], np.int32), scale), np.array([2.5, -3.5], np.float32))


def test_scale_type_sets_the_precision():
    x, scale = np.array([1.0, 3.0, 10.0], np.float16), np.array(0.3, np.float16)
    expected = np.rint(x / scale).astype(np.uint8)
    check(run("QuantizeLinear", x, scale), expected)
    wide = np.rint(x.astype(np.float32) / scale.astype(np.float32)).astype(np.uint8)
    check(run("QuantizeLinear", x, scale, precision=TensorProto.FLOAT), wide)


def test_scales_of_powers_of_two():
    scale = np.array([0.5, 4], np.float32).astype(ml_dtypes.float8_e8m0fnu)
    x = np.array([[1, 2], [8, 9]], np.float32)
    y = run("QuantizeLinear", x, scale, axis=0, output_dtype=TensorProto.INT8)
    assert y.tolist() == [[2, 4], [2, 2]]
    back = run("DequantizeLinear", y, scale, axis=0, output_dtype=TensorProto.FLOAT)
    check(back, np.array([[1, 2], [8, 8]], np.float32))


def test_nothing_to_quantize():
    x, scale = np.zeros((0, 3), np.float32), np.ones(3, np.float32)
    assert run("QuantizeLinear", x, scale, axis=1).shape == (0, 3)


WRONG = [
    ({"axis": 2}, (3,), None, "axis 2 is out of range for a tensor of rank 2"),
    ({"axis": 0}, (3,), None, r"the scale has the shape \[3\]; it must be a scalar or have one entry for each of the 2 positions"),
    ({"axis": 1, "block_size": 2}, (2, 3), None, r"a scale of shape \[2, 3\] does not match an input of shape \[2, 3\]"),
    ({"block_size": -1}, (), None, "'block_size' is -1"),
    ({"axis": 1}, (3,), (2,), r"scale has the shape \[3\] and the zero point has the shape \[2\]; they must be the same"),
    ({"output_dtype": TensorProto.FLOAT}, (), None, "'output_dtype' is float; the allowed types are"),
    ({"precision": TensorProto.INT32}, (), None, "'precision' is int32; the allowed types are"),
    ({"output_dtype": TensorProto.INT8}, (), (), "'output_dtype' is int8, but the zero point is uint8"),
]


@pytest.mark.parametrize(("attributes", "scale", "zero", "message"), WRONG)
def test_wrong_quantization(attributes, scale, zero, message):
    inputs = [np.zeros((2, 3), np.float32), np.ones(scale, np.float32)]
    inputs += [] if zero is None else [np.zeros(zero, np.uint8)]
    with pytest.raises(Exception, match=message):
        run("QuantizeLinear", *inputs, dynamic=False, **attributes)


SHAPES_OF_ONE = [(), (1,), (1, 1)]


@pytest.mark.parametrize("scale", SHAPES_OF_ONE)
@pytest.mark.parametrize("zero", SHAPES_OF_ONE)
@pytest.mark.parametrize("shape", [(), (2, 3)])
def test_one_scale_of_open_extents(scale, zero, shape):
    """Whether [n] and [] are one number each is decided by the numbers that come."""
    x = numbers(np.float32, shape, low=-30, high=30)
    scale, zero = np.full(scale, 0.25, np.float32), np.full(zero, 3, np.int8)
    y = run("QuantizeLinear", x, scale, zero)
    check(y, quantized(x, np.float32(0.25), np.int8(3), np.int8))
    check(run("DequantizeLinear", y, scale, zero), ((y.astype(np.float32) - 3) * 0.25).astype(np.float32))


def test_several_scales_where_one_fits():
    x, scale = np.zeros((2, 3), np.float32), np.ones(3, np.float32)
    with pytest.raises(Exception, match=r"scale has the shape \[3\] and the zero point has the shape \[\]; they must be the same"):
        run("QuantizeLinear", x, scale, np.array(0, np.int8), axis=1)
    with pytest.raises(Exception, match="a scalar needs one scale"):
        run("QuantizeLinear", x[0, 0], scale)
    with pytest.raises(Exception, match="axis 2 is out of range"):
        run("QuantizeLinear", x, scale, axis=2)


@pytest.mark.parametrize("x", [[0, 2, -3, -2.5, 1.34, 0.5], [-1, -2.1, -1.3], [1, 2.1, 3.3], [0.0], []])
def test_dynamic(x):
    x = np.array(x, np.float32)
    y, scale, zero = run("DynamicQuantizeLinear", x, outputs=3)
    if x.size == 0:
        assert y.shape == (0,) and scale == 1 and zero == 0
        return
    theirs = run_onnxruntime("DynamicQuantizeLinear", x, outputs=3, version=21)
    for actual, expected in zip((y, scale, zero), theirs, strict=True):
        check(actual, expected)


FACTORS = [((3, 4), (4, 5)), ((2, 3, 4), (2, 4, 5)), ((2, 1, 3, 4), (3, 4, 2))]
FACTORS += [((4,), (4, 5)), ((3, 4), (4,)), ((0, 4), (4, 2))]


@pytest.mark.parametrize("a_type", [np.int8, np.uint8])
@pytest.mark.parametrize("b_type", [np.int8, np.uint8])
@pytest.mark.parametrize(("a_shape", "b_shape"), FACTORS)
def test_matmul_integer(a_type, b_type, a_shape, b_shape):
    a, b = numbers(a_type, a_shape, high=100), numbers(b_type, b_shape, high=100, seed=1)
    zeros = np.array(3, a_type), np.array(5, b_type)
    check(run("MatMulInteger", a, b, *zeros), exact_integers.matmul(a, b, *zeros).astype(np.int32))
    check(run("MatMulInteger", a, b), exact_integers.matmul(a, b).astype(np.int32))


def test_matmul_integer_per_row_and_column():
    a, b = numbers(np.uint8, (3, 4), high=200), numbers(np.int8, (4, 5), high=100)
    rows, columns = np.array([1, 2, 3], np.uint8), np.arange(5).astype(np.int8)
    expected = exact_integers.matmul(a, b, rows, columns).astype(np.int32)
    check(run("MatMulInteger", a, b, rows, columns), expected)
    check(run("MatMulInteger", a, b, rows[:, None], columns[None]), expected)
    with pytest.raises(Exception, match=r"input 2 has the shape \[4\]; for a matrix of shape \[3, 4\] it must be one number or one per row"):
        run("MatMulInteger", a, b, np.zeros(4, np.uint8), dynamic=False)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize("scale_type", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_qlinear_matmul(dtype, scale_type):
    a, b = numbers(dtype, (2, 3, 4), low=-100, high=100), numbers(dtype, (2, 4, 5), low=-100, high=100, seed=1)
    scales = [np.array(s, scale_type) for s in (0.5, 0.25, 8)]
    zeros = [np.array(z, dtype) for z in (1, 2, 3)]
    y = run("QLinearMatMul", a, scales[0], zeros[0], b, scales[1], zeros[1], scales[2], zeros[2])
    product = exact_integers.matmul(a, b, *zeros[:2]) * (0.5 * 0.25 / 8)
    limits = np.iinfo(dtype)
    check(y, np.clip(np.rint(product) + 3, limits.min, limits.max).astype(dtype))


def test_qlinear_matmul_per_row_and_column():
    a, b = numbers(np.uint8, (3, 4), high=200), numbers(np.uint8, (4, 5), high=200, seed=1)
    row_scale, column_scale = np.array([0.5, 1, 2], np.float32), np.array([1, 2, 0.25, 4, 0.5], np.float32)
    row_zero, column_zero = np.array([1, 2, 3], np.uint8), np.arange(5).astype(np.uint8)
    product = exact_integers.matmul(a, b, row_zero, column_zero)
    expected = np.clip(np.rint(product * (row_scale[:, None] * column_scale / 512)) + 9, 0, 255).astype(np.uint8)
    result = [np.array(512, np.float32), np.array(9, np.uint8)]
    check(run("QLinearMatMul", a, row_scale, row_zero, b, column_scale, column_zero, *result), expected)
    vector = run("QLinearMatMul", a[0], row_scale[0], row_zero[0], b, column_scale[None], column_zero[None], *result)
    check(vector, expected[0])


@pytest.mark.parametrize("per_channel", [False, True])
def test_conv_integer(per_channel):
    x, w = numbers(np.uint8, (2, 3, 6, 7), high=200), numbers(np.uint8, (4, 3, 3, 2), high=200, seed=1)
    w_zero = np.array([1, 2, 3, 4], np.uint8) if per_channel else np.array(9, np.uint8)
    options = {"pads": [1, 0, 2, 1], "strides": [2, 1]}
    expected = exact_integers.conv(x, w, 7, w_zero, **options).astype(np.int32)
    check(run("ConvInteger", x, w, np.array(7, np.uint8), w_zero, **options), expected)


@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_qlinear_conv(per_channel, bias, dtype):
    x, w = numbers(dtype, (2, 3, 6, 7), low=-90, high=90), numbers(np.int8, (4, 3, 3, 2), low=-90, high=90, seed=1)
    w_scale = np.array([0.25, 0.5, 1, 2], np.float32) if per_channel else np.array(0.5, np.float32)
    w_zero = np.zeros(w_scale.shape, np.int8)
    b = np.array([100, -200, 300, 0], np.int32)
    result = [np.array(128, np.float32), np.array(2, dtype)]
    inputs = [x, np.array(0.5, np.float32), np.array(4, dtype), w, w_scale, w_zero, *result]
    options = {"pads": [1, 0, 2, 1], "strides": [2, 1]}
    y = run("QLinearConv", *inputs, *([b] if bias else []), **options)
    sums = exact_integers.conv(x, w, 4, **options) + (b[:, None, None] if bias else 0)
    factor = 0.5 * w_scale.reshape(-1, 1, 1) / 128
    limits = np.iinfo(dtype)
    check(y, np.clip(np.rint(sums * factor) + 2, limits.min, limits.max).astype(dtype))


def test_wrong_quantized_convolutions():
    x, w = np.zeros((1, 2, 4, 4), np.uint8), np.zeros((3, 2, 2, 2), np.uint8)
    with pytest.raises(Exception, match="the weights' zero point must"):
        run("ConvInteger", x, w, np.array(0, np.uint8), np.zeros(2, np.uint8), dynamic=False)
    with pytest.raises(Exception, match="the input's zero point must be one number"):
        run("ConvInteger", x, w, np.zeros(2, np.uint8), dynamic=False)
