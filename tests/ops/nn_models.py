"""One-node models of neural-network layers, run by tenon and by onnxruntime."""

import ml_dtypes
import numpy as np
import pytest
import tenon
from onnx import helper
from oracles.peer import run_peer
from oracles.rounding import absolute, assert_sum, sum_error

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
FLOATS = [np.float16, BFLOAT16, np.float32, np.float64]


def node_model(op_type, feeds, outputs=1, opset=22, domain="", **attributes):
    """The bytes of a model with one node. feeds: name -> array, None for an input left out; outputs: how many."""
    names = [f"out{i}" for i in range(outputs)] if isinstance(outputs, int) else outputs
    inputs = [name if value is not None else "" for name, value in feeds.items()]
    node = helper.make_node(op_type, inputs, names, domain=domain, **attributes)
    declared = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), [None] * value.ndim)
        for name, value in feeds.items()
        if value is not None
    ]
    graph = helper.make_graph([node], "g", declared, [helper.make_empty_tensor_value_info(n) for n in names if n])
    opsets = [helper.make_opsetid("", opset)]
    if domain:
        opsets.append(helper.make_opsetid(domain, 1))
    return helper.make_model(graph, opset_imports=opsets, ir_version=10 if opset < 26 else 14).SerializeToString()


def run_model(model, feeds):
    return tenon.InferenceSession(model).run(None, {n: v for n, v in feeds.items() if v is not None})


def run(op_type, feeds, outputs=1, opset=22, **attributes):
    return run_model(node_model(op_type, feeds, outputs, opset, **attributes), feeds)


def run_onnxruntime(model, feeds):
    return run_peer(model, {n: v for n, v in feeds.items() if v is not None})


def assert_close(actual, expected, terms=64):
    assert actual.shape == expected.shape, f"{actual.shape} instead of {expected.shape}"
    assert actual.dtype == expected.dtype
    if expected.dtype.kind in "iub":
        np.testing.assert_array_equal(actual, expected)
        return
    bound = sum_error(expected.dtype, terms)
    np.testing.assert_allclose(actual.astype(np.float64), expected.astype(np.float64), rtol=bound, atol=bound)


def compare(op_type, feeds, outputs=1, opset=22, terms=64, **attributes):
    """Tenon against onnxruntime; onnxruntime gets the newest version it implements."""
    actual = run(op_type, feeds, outputs, opset, **attributes)
    expected = run_onnxruntime(node_model(op_type, feeds, outputs, opset, **attributes), feeds)
    assert len(actual) == len(expected)
    for a, e in zip(actual, expected, strict=True):
        assert_close(a, e, terms)


def compare_sums(op_type, feeds, terms, summed=("x", "w", "b"), opset=22, **attributes):
    """The same for an op that adds up that many products of the inputs `summed`: both round every term."""
    (y,) = run(op_type, feeds, opset=opset, **attributes)
    (theirs,) = run_onnxruntime(node_model(op_type, feeds, opset=opset, **attributes), feeds)
    assert y.dtype == theirs.dtype
    positive = absolute(feeds, summed)
    (magnitude,) = run_onnxruntime(node_model(op_type, positive, opset=opset, **attributes), positive)
    assert_sum(y, theirs.astype(np.float64), magnitude.astype(np.float64), 2 * terms)


def roundings(dtype, terms):
    """How often a sum of that many terms is rounded: narrow types are added up in a wider one."""
    return terms if np.dtype(dtype) in (np.float32, np.float64) else 1


def refuses(text, op_type, feeds, outputs=1, opset=22, **attributes):
    """The model or the run is an error whose message has this text."""
    with pytest.raises(Exception, match=text):
        run(op_type, feeds, outputs, opset, **attributes)


def random(*shape, dtype=np.float32, seed=0):
    return np.random.default_rng(seed + sum(shape)).uniform(-1, 1, shape).astype(dtype)
