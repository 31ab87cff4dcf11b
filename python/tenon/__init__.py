"""Tenon: run ONNX models. `import tenon as ort` runs an onnxruntime script unchanged."""

from ._session import InferenceSession, Model, SessionOptions  # noqa: F401
from . import _tenon

__version__ = _tenon.version()
