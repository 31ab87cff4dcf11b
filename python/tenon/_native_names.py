"""Names of onnxruntime's native module that only tools look for."""

import types

from ._devices import OrtHardwareDevice
from ._enums import ArenaExtendStrategy
from ._options import SessionOptions
from ._refused import refused_class, refused_function
from ._sparse import Indices

kNextPowerOfTwo, kSameAsRequested = ArenaExtendStrategy
SparseCooView = SparseCsrView = SparseBlockSparseView = Indices

_CONTEXTS = "EP context models are not supported here"
_LISTS = "Tenon does not list its operators; `Model.describe` lists those that a model uses"
_QUANTIZING = "onnxruntime does this in its native library, which Tenon does not load; quantize with onnxruntime itself"
_DLPACK = "pass the tensor to `OrtValue.from_dlpack`, which knows its type"

get_compatibility_info_from_model = refused_function("get_compatibility_info_from_model", _CONTEXTS)
get_compatibility_info_from_model_bytes = refused_function("get_compatibility_info_from_model_bytes", _CONTEXTS)
get_model_compatibility_for_ep_devices = refused_function("get_model_compatibility_for_ep_devices", _CONTEXTS)
get_all_operator_schema = refused_function("get_all_operator_schema", _LISTS)
get_all_opkernel_def = refused_function("get_all_opkernel_def", _LISTS)
get_registered_ep_kernel_defs = refused_function("get_registered_ep_kernel_defs", _LISTS)
is_dlpack_uint8_tensor = refused_function("is_dlpack_uint8_tensor", _DLPACK)
pack_fp4_weights_for_cuda_moe_gemm = refused_function("pack_fp4_weights_for_cuda_moe_gemm", _QUANTIZING)
quantize_matmul_2bits = refused_function("quantize_matmul_2bits", _QUANTIZING)
quantize_matmul_4bits = refused_function("quantize_matmul_4bits", _QUANTIZING)
quantize_matmul_8bits = refused_function("quantize_matmul_8bits", _QUANTIZING)
quantize_matmul_bnb4 = refused_function("quantize_matmul_bnb4", _QUANTIZING)
quantize_qdq_matmul_2bits = refused_function("quantize_qdq_matmul_2bits", _QUANTIZING)
quantize_qdq_matmul_4bits = refused_function("quantize_qdq_matmul_4bits", _QUANTIZING)

opkernel = types.SimpleNamespace(KernelDef=refused_class("KernelDef", _LISTS))
schemadef = types.SimpleNamespace(OpSchema=refused_class("OpSchema", _LISTS))


class SessionObjectInitializer:
    """Does nothing."""


def get_session_initializer():
    return SessionObjectInitializer()


def get_default_session_options():
    return SessionOptions()


def get_hardware_devices():
    return [OrtHardwareDevice()]


def get_hardware_device_ep_incompatibility_details(ep_name, device):
    """The CPU has no known problems."""
    return {"reasons_bitmask": 0, "notes": "", "error_code": 0}
