"""Tenon: run ONNX models. `import tenon as ort` runs an onnxruntime script unchanged."""

from . import _tenon
from ._enums import *  # noqa: F401,F403
from ._errors import Error  # noqa: F401
from ._model import Model  # noqa: F401
from ._nodes import ModelMetadata, NodeArg  # noqa: F401
from ._options import RunOptions, SessionOptions  # noqa: F401
from ._providers import get_all_providers, get_available_providers, get_device  # noqa: F401
from ._session import InferenceSession  # noqa: F401

__version__ = _tenon.version()
