"""Tenon: run ONNX models. `import tenon as ort` runs an onnxruntime script unchanged."""

from . import _signals, _tenon
from ._artifact import Artifact, compile, describe_context_file, is_context_file
from ._binding import IOBinding
from ._binding import IOBinding as SessionIOBinding
from ._build import BuildFailed, BuildReport, build, compilers
from ._devices import (
    OrtArenaCfg,
    OrtDevice,
    OrtEpDevice,
    OrtHardwareDevice,
    OrtMemoryInfo,
    get_ep_devices,
)
from ._enums import (
    ExecutionMode,
    ExecutionOrder,
    GraphOptimizationLevel,
    OrtAllocatorType,
    OrtCompileApiFlags,
    OrtDeviceMemoryType,
    OrtDeviceVendorId,
    OrtExecutionProviderDevicePolicy,
    OrtHardwareDeviceType,
    OrtMemoryInfoDeviceType,
    OrtMemType,
    OrtSparseFormat,
)
from ._errors import Error
from ._info import (
    create_and_register_allocator,
    create_and_register_allocator_v2,
    disable_telemetry_events,
    enable_telemetry_events,
    get_build_info,
    get_version_string,
    has_collective_ops,
    preload_dlls,
    print_debug_info,
    register_execution_provider_library,
    set_default_logger_severity,
    set_default_logger_verbosity,
    set_global_thread_pool_sizes,
    set_seed,
    system,
    unregister_execution_provider_library,
)
from ._model import Model, capabilities, optimize_file
from ._nodes import ModelMetadata, NodeArg, OrtEpAssignedNode, OrtEpAssignedSubgraph
from ._onnxruntime_name import install_as_onnxruntime
from ._optimize import Analysis, analyze, optimize
from ._options import RunOptions, SessionOptions
from ._pytorch import export_pytorch
from ._providers import get_all_providers, get_available_providers, get_device
from ._refused import (
    AdapterFormat,
    LoraAdapter,
    ModelCompiler,
    OrtEpContextData,
    OrtEpContextDataBuffer,
    OrtExternalInitializerInfo,
    OrtSyncStream,
)
from ._session import InferenceSession
from ._sparse import SparseTensor
from ._values import OrtValue, copy_tensors
from ._weights import Weights, set_weights, use_weights
from . import capi
from .capi import onnxruntime_validation

__version__ = _tenon.version()
__author__ = "Tenon"
package_name, version, cuda_version = "tenon", __version__, ""
import_capi_exception = None

__all__ = [name for name in dir() if not name.startswith("_")]
