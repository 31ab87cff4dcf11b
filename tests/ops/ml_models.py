"""One-node models of ai.onnx.ml, run by tenon and by onnxruntime."""

import numpy as np
import tenon
from onnx import TensorProto, helper
from oracles.peer import run_peer

ONNX_TYPES = {
    np.dtype(np.float32): TensorProto.FLOAT,
    np.dtype(np.float64): TensorProto.DOUBLE,
    np.dtype(np.float16): TensorProto.FLOAT16,
    np.dtype(np.int16): TensorProto.INT16,
    np.dtype(np.int32): TensorProto.INT32,
    np.dtype(np.int64): TensorProto.INT64,
    np.dtype(object): TensorProto.STRING,
}
POST_TRANSFORMS = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"]


# onnxruntime computes PROBIT in float with a cancellation, which leaves half of the digits.
PROBIT_ERROR = 3 * float(np.sqrt(np.finfo(np.float32).eps))


def ml_model(op_type, inputs, output_count=1, version=3, output_types=None, **attributes):
    """The bytes of a model with one node; inputs: name -> array, dict (a map) or a type."""
    names = [f"out{i}" for i in range(output_count)]
    node = helper.make_node(op_type, list(inputs), names, domain="ai.onnx.ml", **attributes)
    declared = [helper.make_value_info(name, input_type(value)) for name, value in inputs.items()]
    outputs = [helper.make_value_info(name, kind) for name, kind in zip(names, output_types or [], strict=False)]
    outputs += [helper.make_empty_tensor_value_info(name) for name in names[len(outputs) :]]
    graph = helper.make_graph([node], "g", declared, outputs)
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("ai.onnx.ml", version)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString()


def input_type(value):
    if isinstance(value, np.ndarray):
        return helper.make_tensor_type_proto(ONNX_TYPES[value.dtype], [None] * value.ndim)
    return value


def run_tenon(model, feeds):
    return tenon.InferenceSession(model).run(None, feeds)


def run_onnxruntime(model, feeds):
    return run_peer(model, feeds)


def assert_same(actual, expected, rtol=1e-4, atol=1e-5):
    assert len(actual) == len(expected)
    for a, e in zip(actual, expected, strict=True):
        assert a.shape == e.shape and a.dtype == e.dtype, f"{a.dtype}{a.shape} instead of {e.dtype}{e.shape}"
        if e.dtype == object or e.dtype.kind in "iU":
            assert a.tolist() == e.tolist()
        else:
            np.testing.assert_allclose(a, e, rtol=rtol, atol=atol)


def compare_with_onnxruntime(op_type, feeds, output_count=1, rtol=1e-4, atol=1e-5, **attributes):
    model = ml_model(op_type, feeds, output_count, **attributes)
    if attributes.get("post_transform") in ("PROBIT", POST_TRANSFORMS.index("PROBIT")):
        atol = PROBIT_ERROR
    assert_same(run_tenon(model, feeds), run_onnxruntime(model, feeds), rtol, atol)
