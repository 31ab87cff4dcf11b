"""One-node models of elementwise math and its relatives, run by tenon and by onnxruntime."""

import ml_dtypes
import numpy as np
import tenon
from onnx import helper
from oracles.peer import run_peer

FLOATS = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16]
SIGNED = [np.int8, np.int16, np.int32, np.int64]
UNSIGNED = [np.uint8, np.uint16, np.uint32, np.uint64]
INTEGERS = SIGNED + UNSIGNED
NUMBERS = FLOATS + INTEGERS


def onnx_type(array):
    return helper.np_dtype_to_tensor_dtype(np.asarray(array).dtype)


def one_node(op_type, inputs, outputs=1, version=28, domain="", dynamic=True, **attributes):
    """The bytes of a model with one node. inputs: arrays, or None for one that is absent."""
    names = [f"x{i}" if x is not None else "" for i, x in enumerate(inputs)]
    results = [f"y{i}" for i in range(outputs)]
    node = helper.make_node(op_type, names, results, domain=domain, **attributes)
    declared = [
        helper.make_tensor_value_info(f"x{i}", onnx_type(x), [None] * x.ndim if dynamic else x.shape)
        for i, x in enumerate(inputs)
        if x is not None
    ]
    graph = helper.make_graph([node], "g", declared, [helper.make_empty_tensor_value_info(y) for y in results])
    opsets = [helper.make_opsetid(domain, version)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()


def feeds_of(inputs):
    return {f"x{i}": x for i, x in enumerate(inputs) if x is not None}


def run(op_type, *inputs, **options):
    """The outputs of one node; a single one as itself."""
    inputs = [None if x is None else np.asarray(x) for x in inputs]
    results = tenon.InferenceSession(one_node(op_type, inputs, **options)).run(None, feeds_of(inputs))
    return results[0] if len(results) == 1 else results


def run_onnxruntime(op_type, *inputs, **options):
    results = run_peer(one_node(op_type, inputs, **options), feeds_of(inputs))
    return results[0] if len(results) == 1 else results


def is_float(dtype):
    """Also for the types of ml_dtypes, which numpy does not know as floats."""
    try:
        ml_dtypes.finfo(dtype)
    except ValueError:
        return False
    return True


def check(actual, expected, rtol=None, atol=None):
    """Same shape and type; floats to two roundings of their type, everything else exactly."""
    expected = np.asarray(expected)
    assert actual.shape == expected.shape and actual.dtype == expected.dtype, (
        f"{actual.dtype}{actual.shape} instead of {expected.dtype}{expected.shape}"
    )
    if is_float(expected.dtype):
        rtol = 2 * float(ml_dtypes.finfo(expected.dtype).eps) if rtol is None else rtol
        wide = [x.astype(np.float64) for x in (actual, expected)]
        atol = float(ml_dtypes.finfo(expected.dtype).smallest_subnormal) if atol is None else atol
        assert np.array_equal(np.isnan(wide[0]), np.isnan(wide[1])), f"{actual} instead of {expected}"
        with np.errstate(invalid="ignore"):  # infinities that are equal
            apart = np.abs(wide[0] - wide[1])
        bad = ~((wide[0] == wide[1]) | (apart <= atol + rtol * np.abs(wide[1])) | np.isnan(wide[0]))
        assert not bad.any(), f"{wide[0][bad]} instead of {wide[1][bad]}, tolerance {rtol}, {atol}"
    else:
        np.testing.assert_array_equal(actual, expected)


def numbers(dtype, shape=(3, 4), low=-8, high=8, seed=0):
    """Random numbers of any type, within its range."""
    generator = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind in "iu":
        return generator.integers(0 if dtype.kind == "u" else low, high, shape).astype(dtype)
    return generator.uniform(low, high, shape).astype(dtype)
