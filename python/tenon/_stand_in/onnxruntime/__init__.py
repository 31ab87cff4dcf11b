"""Tenon under the name of onnxruntime. The version is that of the interface; `tenon.__version__` is Tenon's own."""

import importlib.util as _util
import os as _os
import sys as _sys

# Child processes inherit PYTHONPATH, and may be of another Python installation.
if _util.find_spec("tenon") is None:
    raise ImportError(
        f"Tenon stands in for onnxruntime, because PYTHONPATH names '{_os.path.dirname(__path__[0])}', but the package "
        f"tenon is not installed in '{_sys.prefix}'. Install it there, or take that folder out of PYTHONPATH to use "
        "onnxruntime itself.", name="onnxruntime")

from tenon import (  # noqa: F401
    AdapterFormat,
    ExecutionMode,
    ExecutionOrder,
    GraphOptimizationLevel,
    InferenceSession,
    IOBinding,
    LoraAdapter,
    ModelCompiler,
    ModelMetadata,
    NodeArg,
    OrtAllocatorType,
    OrtArenaCfg,
    OrtCompileApiFlags,
    OrtDevice,
    OrtDeviceMemoryType,
    OrtDeviceVendorId,
    OrtEpAssignedNode,
    OrtEpAssignedSubgraph,
    OrtEpContextData,
    OrtEpContextDataBuffer,
    OrtEpDevice,
    OrtExecutionProviderDevicePolicy,
    OrtExternalInitializerInfo,
    OrtHardwareDevice,
    OrtHardwareDeviceType,
    OrtMemoryInfo,
    OrtMemoryInfoDeviceType,
    OrtMemType,
    OrtSparseFormat,
    OrtSyncStream,
    OrtValue,
    RunOptions,
    SessionIOBinding,
    SessionOptions,
    SparseTensor,
    _onnxruntime_name,
    copy_tensors,
    create_and_register_allocator,
    create_and_register_allocator_v2,
    disable_telemetry_events,
    enable_telemetry_events,
    get_all_providers,
    get_available_providers,
    get_build_info,
    get_device,
    get_ep_devices,
    has_collective_ops,
    import_capi_exception,
    preload_dlls,
    print_debug_info,
    register_execution_provider_library,
    set_default_logger_severity,
    set_default_logger_verbosity,
    set_global_thread_pool_sizes,
    set_seed,
    unregister_execution_provider_library,
)

from . import capi
from .capi import onnxruntime_validation
from .capi._pybind_state import get_version_string  # noqa: F401

__author__ = "Tenon"
package_name, version, cuda_version = onnxruntime_validation.get_package_name_and_version_info()
__version__ = version

# What is not in this folder is looked for in an installed onnxruntime: its parts in plain Python.
__path__ += _onnxruntime_name.installed_package()
_sys.meta_path.append(_onnxruntime_name.ExplainMissing())
