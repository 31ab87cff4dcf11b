"""The same names as onnxruntime_pybind11_state."""

from .onnxruntime_pybind11_state import *  # noqa: F401,F403
