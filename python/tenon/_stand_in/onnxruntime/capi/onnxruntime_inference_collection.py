"""The names of onnxruntime's Python module of sessions."""

from tenon.capi.onnxruntime_inference_collection import *  # noqa: F401,F403

from . import _pybind_state as C  # noqa: F401
