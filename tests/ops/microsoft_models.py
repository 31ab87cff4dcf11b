"""One-node models of com.microsoft, run by tenon and by onnxruntime."""

import ml_dtypes
import numpy as np
import onnx
import tenon
from onnx import TensorProto, helper, numpy_helper
from oracles.peer import run_peer
from oracles.rounding import absolute, assert_sum, sum_error

ONNX_TYPES = {
    np.dtype(name): getattr(TensorProto, name.upper().replace("FLOAT32", "FLOAT").replace("FLOAT64", "DOUBLE"))
    for name in "float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool".split()
}
ONNX_TYPES[np.dtype(object)] = TensorProto.STRING
ONNX_TYPES[np.dtype(ml_dtypes.bfloat16)] = TensorProto.BFLOAT16
ONNX_TYPES[np.dtype(ml_dtypes.float8_e4m3fn)] = TensorProto.FLOAT8E4M3FN
ONNX_TYPES[np.dtype(ml_dtypes.int4)] = TensorProto.INT4
ONNX_TYPES[np.dtype(ml_dtypes.uint4)] = TensorProto.UINT4


def microsoft_model(op_type, inputs, outputs=1, domain="com.microsoft", constants=(), typed=(), **attributes):
    """The bytes of a model with one node. inputs: name -> array, or None for an absent one; `constants` become
    initializers, as scales and zero points mostly are. outputs: how many, or their names ("" for an absent one).
    typed: outputs that must say that they are float32."""
    names = [f"out{i}" for i in range(outputs)] if isinstance(outputs, int) else outputs
    input_names = [name if value is not None else "" for name, value in inputs.items()]
    node = helper.make_node(op_type, input_names, names, domain=domain, **attributes)
    given = {name: value for name, value in inputs.items() if value is not None}
    declared = [
        helper.make_tensor_value_info(name, ONNX_TYPES[value.dtype], value.shape)
        for name, value in given.items()
        if name not in constants
    ]
    initializers = [numpy_helper.from_array(given[name], name) for name in constants]
    results = [helper.make_empty_tensor_value_info(name) for name in names if name]
    for value in results:
        if value.name in typed:
            value.type.tensor_type.elem_type = TensorProto.FLOAT
    graph = helper.make_graph([node], "g", declared, results, initializers)
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString()


def feeds_of(inputs, constants=()):
    return {name: value for name, value in inputs.items() if value is not None and name not in constants}


def run_tenon(op_type, inputs, outputs=1, constants=(), **attributes):
    model = microsoft_model(op_type, inputs, outputs, constants=constants, **attributes)
    return tenon.InferenceSession(model).run(None, feeds_of(inputs, constants))


def without_shapes(model, keep_ranks=False):
    """The model with inputs that have no declared extents, and no ranks unless they are kept."""
    model = onnx.load_from_string(model)
    for value in model.graph.input:
        if keep_ranks:
            for axis, dim in enumerate(value.type.tensor_type.shape.dim):
                dim.dim_param = f"{value.name}_{axis}"
        else:
            value.type.tensor_type.ClearField("shape")
    return model.SerializeToString()


def session_without_shapes(model, keep_ranks=False):
    return tenon.InferenceSession(without_shapes(model, keep_ranks))


def run_onnxruntime(op_type, inputs, outputs=1, constants=(), **attributes):
    model = microsoft_model(op_type, inputs, outputs, constants=constants, **attributes)
    return run_peer(model, feeds_of(inputs, constants), optimize=False)


TERMS = 36  # the longest sums of these tests


def assert_close(actual, expected, dtype=None):
    assert actual.shape == expected.shape and actual.dtype == expected.dtype
    error = sum_error(dtype or expected.dtype, TERMS)
    np.testing.assert_allclose(actual.astype(np.float64), expected.astype(np.float64), rtol=error, atol=error)


def compare_with_onnxruntime(op_type, inputs, outputs=1, constants=(), **attributes):
    actual = run_tenon(op_type, inputs, outputs, constants, **attributes)
    expected = run_onnxruntime(op_type, inputs, outputs, constants, **attributes)
    assert len(actual) == len(expected)
    for a, e in zip(actual, expected, strict=True):
        if e.dtype.kind in "iub":
            assert a.dtype == e.dtype
            np.testing.assert_array_equal(a, e)
        else:
            # onnxruntime adds up in float32.
            assert_close(a, e, e.dtype if e.dtype != np.float64 else np.float32)


def compare_sums(op_type, inputs, terms, function=None, same=None, **attributes):
    """An op that adds up that many products, and onnxruntime: both round every term. function: attributes of what
    follows the sum, whose slope is at most 2; same: others, that leave positive sums as they are."""
    (y,), (theirs,) = (run(op_type, inputs, **attributes, **(function or {})) for run in (run_tenon, run_onnxruntime))
    assert y.dtype == theirs.dtype
    (magnitude,) = run_onnxruntime(op_type, absolute(inputs, inputs), **attributes, **(same or {}))
    magnitude = magnitude + np.abs(theirs)  # what follows rounds, too
    assert_sum(y, theirs.astype(np.float64), magnitude.astype(np.float64), 2 * terms * (2 if function else 1))


def normal(rng, *shape, dtype=np.float32):
    return rng.normal(size=shape).astype(dtype)
