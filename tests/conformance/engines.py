"""The engines the tests can drive, all behind one call: `prepare(model_bytes)` returns `run(feeds) -> list of outputs`.

Values are numpy arrays (ml_dtypes for the types numpy lacks), lists for sequences, None for an empty optional.
The environment variable TENON_TEST_ENGINE selects the engine under test: tenon (default), onnxruntime or reference.
"""

import ctypes
import os

import numpy as np
import onnx
from onnx import numpy_helper

PLAIN_ONNX_TYPES = frozenset(
    "tensor(%s)" % name
    for name in "float double float16 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool string".split()
)


def engine_name():
    return os.environ.get("TENON_TEST_ENGINE", "tenon")


def prepare_under_test(model_bytes, *settings):
    return ENGINES[engine_name()](model_bytes, *settings)


def open_session(module, model_bytes):
    options = module.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    return module.InferenceSession(model_bytes, options, providers=["CPUExecutionProvider"])


def prepare_tenon(model_bytes, combination=None):
    """combination: one of tests/matrix, or None for a session as users open it."""
    import tenon

    if combination is not None:
        from matrix.run import run_combination

        return lambda feeds: run_combination(model_bytes, feeds, combination)
    session = open_session(tenon, model_bytes)
    return lambda feeds: session.run(None, feeds)


def prepare_onnxruntime(model_bytes):
    import onnxruntime

    session = open_session(onnxruntime, model_bytes)
    boundary = [*session.get_inputs(), *session.get_outputs()]
    # onnxruntime's plain run() refuses bfloat16, float8 and sub-byte arrays: they pass as raw bytes.
    has_raw_type = any(v.type.startswith("tensor(") and v.type not in PLAIN_ONNX_TYPES for v in boundary)
    if not has_raw_type:
        return lambda feeds: session.run(None, feeds)

    def run(feeds):
        values = {name: to_ort_value(onnxruntime, value) for name, value in feeds.items()}
        return [from_ort_value(value) for value in session.run_with_ort_values(None, values)]

    return run


def to_ort_value(module, array):
    if array.dtype.isbuiltin == 1:  # ml_dtypes types are registered with numpy from outside
        return module.OrtValue.ortvalue_from_numpy(array)
    tensor = numpy_helper.from_array(array)
    value = module.OrtValue.ortvalue_from_shape_and_type(list(array.shape), tensor.data_type)
    ctypes.memmove(value.data_ptr(), tensor.raw_data, len(tensor.raw_data))
    return value


def from_ort_value(value):
    if not value.is_tensor() or value.data_type() in PLAIN_ONNX_TYPES:
        return value.numpy()
    raw = ctypes.string_at(value.data_ptr(), value.tensor_size_in_bytes())
    return numpy_helper.to_array(
        onnx.TensorProto(data_type=value.element_type(), dims=value.shape(), raw_data=raw)
    )


def prepare_reference(model_bytes):
    from onnx.reference import ReferenceEvaluator

    evaluator = ReferenceEvaluator(onnx.load_from_string(model_bytes))

    def run(feeds):
        with np.errstate(all="ignore"):
            return [as_array(value) for value in evaluator.run(None, feeds)]

    return run


def as_array(value):
    """The reference evaluator returns numpy scalars for some 0-d results."""
    return np.asarray(value) if isinstance(value, np.generic) else value


ENGINES = {"tenon": prepare_tenon, "onnxruntime": prepare_onnxruntime, "reference": prepare_reference}
