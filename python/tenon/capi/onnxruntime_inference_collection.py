"""Names that onnxruntime has in its Python module of sessions."""

# ruff: noqa: F401
from collections.abc import Callable as _Callable

from .._binding import IOBinding
from .._devices import OrtDevice
from .._devices import device_type_number as get_ort_device_type
from .._devices import vendor_of_device_type as get_vendor_id_for_device_type
from .._enums import OrtDeviceVendorId
from .._providers import check_and_normalize_provider_args
from .._refused import AdapterFormat, ModelCompiler, refused_function
from .._session import InferenceSession
from .._session import InferenceSession as Session
from .._sparse import SparseTensor
from .._values import OrtValue, copy_tensors
from . import _pybind_state as C

GetInitializerLocationFunc = GetInitializerLocationWrapperFunc = _Callable
make_get_initializer_location_func_wrapper = refused_function(
    "make_get_initializer_location_func_wrapper", "it serves ModelCompiler, which Tenon does not have")
