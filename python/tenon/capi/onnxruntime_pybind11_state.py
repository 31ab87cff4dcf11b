"""Names that onnxruntime has in its native module."""

# ruff: noqa: F401
from .._binding import IOBinding as SessionIOBinding
from .._devices import OrtArenaCfg, OrtDevice, OrtEpDevice, OrtHardwareDevice, OrtMemoryInfo, get_ep_devices
from .._enums import (
    ExecutionMode,
    ExecutionOrder,
    GraphOptimizationLevel,
    OrtAllocatorType,
    OrtCompileApiFlags,
    OrtDeviceMemoryType,
    OrtExecutionProviderDevicePolicy,
    OrtHardwareDeviceType,
    OrtMemoryInfoDeviceType,
    OrtMemType,
    OrtSparseFormat,
)
from .._errors import (
    DeviceReset,
    EngineError,
    EPFail,
    Fail,
    InvalidArgument,
    InvalidGraph,
    InvalidProtobuf,
    ModelLoadCanceled,
    ModelLoaded,
    ModelRequiresCompilation,
    NoModel,
    NoSuchFile,
    NotFound,
    NotImplemented,
    RuntimeException,
)
from .._info import (
    create_and_register_allocator,
    create_and_register_allocator_v2,
    disable_telemetry_events,
    enable_telemetry_events,
    get_build_info,
    get_version_string,
    has_collective_ops,
    register_execution_provider_library,
    set_default_logger_severity,
    set_default_logger_verbosity,
    set_global_thread_pool_sizes,
    set_seed,
    unregister_execution_provider_library,
)
from .._nodes import ModelMetadata, NodeArg, OrtEpAssignedNode, OrtEpAssignedSubgraph
from .._options import RunOptions, SessionOptions
from .._providers import get_all_providers, get_available_providers, get_device
from .._refused import LoraAdapter, OrtEpContextData, OrtEpContextDataBuffer, OrtExternalInitializerInfo, OrtSyncStream
from .._session import InferenceSession
from .._sparse import SparseTensor
from .._values import OrtValue, OrtValueVector, copy_tensors
