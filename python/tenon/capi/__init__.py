"""The places where onnxruntime scripts look for exceptions and classes."""

from . import (  # noqa: F401
    _pybind_state,
    onnxruntime_inference_collection,
    onnxruntime_pybind11_state,
    onnxruntime_validation,
)
