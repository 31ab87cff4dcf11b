"""Small models of ops that move, select or sample elements, run by tenon and, where it can, by onnxruntime."""

import ml_dtypes
import numpy as np
import onnx
import pytest
import tenon
from onnx import helper
from oracles.peer import run_peer

ALL_DTYPES = [
    np.float32,
    np.float64,
    np.float16,
    ml_dtypes.bfloat16,
    np.int8,
    np.int16,
    np.int32,
    np.int64,
    np.uint8,
    np.uint16,
    np.uint32,
    np.uint64,
    np.bool_,
    np.complex64,
    np.complex128,
    object,
]
SMALL_DTYPES = [
    ml_dtypes.float8_e4m3fn,
    ml_dtypes.float8_e5m2,
    ml_dtypes.int4,
    ml_dtypes.uint4,
    ml_dtypes.int2,
    ml_dtypes.uint2,
    ml_dtypes.float4_e2m1fn,
]


def array_of(dtype, shape, seed=0):
    """Small numbers (or words) that every element type holds exactly."""
    values = np.random.default_rng(seed).integers(0, 2, shape)
    if dtype is object:
        return np.array([f"w{v}é" for v in values.ravel()] or [], dtype=object).reshape(shape)
    return values.astype(dtype)


def onnx_type(array):
    if array.dtype == object:
        return onnx.TensorProto.STRING
    return helper.np_dtype_to_tensor_dtype(array.dtype)


def model_of(op_type, inputs, version, outputs=1, domain="", constants=(), **attributes):
    """The bytes of a model with one node. inputs: arrays, or None for absent ones; constants: which are weights."""
    names = ["" if value is None else f"in{i}" for i, value in enumerate(inputs)]
    results = [f"out{i}" for i in range(outputs)]
    node = helper.make_node(op_type, names, results, domain=domain, **attributes)
    declared, weights = [], []
    for i, (name, value) in enumerate(zip(names, inputs, strict=True)):
        if value is None:
            continue
        if i in constants:
            weights.append(onnx.numpy_helper.from_array(value, name))
        else:
            declared.append(helper.make_tensor_value_info(name, onnx_type(value), [None] * value.ndim))
    graph = helper.make_graph(
        [node], "g", declared, [helper.make_empty_tensor_value_info(name) for name in results], weights
    )
    opsets = [helper.make_opsetid("", version)]
    if domain:
        opsets.append(helper.make_opsetid(domain, 1))
    return helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()


def feeds_of(inputs, constants=()):
    return {f"in{i}": v for i, v in enumerate(inputs) if v is not None and i not in constants}


def run(op_type, inputs, version, **settings):
    model = model_of(op_type, inputs, version, **settings)
    return tenon.InferenceSession(model).run(None, feeds_of(inputs, settings.get("constants", ())))


def run_onnxruntime(op_type, inputs, version, **settings):
    return run_peer(model_of(op_type, inputs, version, **settings), feeds_of(inputs, settings.get("constants", ())))


def check_same(op_type, inputs, version, **settings):
    """Both engines agree: exactly for what only moves, within float rounding for what computes."""
    expected = run_onnxruntime(op_type, inputs, version, **settings)
    for got, want in zip(run(op_type, inputs, version, **settings), expected, strict=True):
        assert got.shape == want.shape and got.dtype == want.dtype
        if want.dtype.kind == "f":
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
        else:
            np.testing.assert_array_equal(got, want)


def check(result, expected):
    """The one result of a run, to the last bit."""
    (result,) = result
    assert result.dtype == expected.dtype, f"{result.dtype} instead of {expected.dtype}"
    assert result.shape == expected.shape, f"{result.shape} instead of {expected.shape}"
    np.testing.assert_array_equal(result, expected)


def check_error(text, op_type, inputs, version, **settings):
    with pytest.raises(Exception, match=text):
        run(op_type, inputs, version, **settings)


def ints(*values):
    return np.array(values, np.int64)
