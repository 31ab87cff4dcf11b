"""Names that onnxruntime has in its Python module of sessions."""

# ruff: noqa: F401
from .._binding import IOBinding
from .._devices import OrtDevice
from .._enums import OrtDeviceVendorId
from .._refused import AdapterFormat, ModelCompiler
from .._session import InferenceSession
from .._sparse import SparseTensor
from .._values import OrtValue, copy_tensors
