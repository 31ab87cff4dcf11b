"""Names that onnxruntime has in its native module."""

# ruff: noqa: F401
from .._binding import IOBinding as SessionIOBinding
from .._devices import OrtArenaCfg, OrtDevice, OrtEpDevice, OrtHardwareDevice, OrtMemoryInfo, get_ep_devices
from .._enums import (
    ArenaExtendStrategy,
    ExecutionMode,
    ExecutionOrder,
    GraphOptimizationLevel,
    OrtAllocatorType,
    OrtCompileApiFlags,
    OrtCompiledModelCompatibility,
    OrtDeviceEpIncompatibilityReason,
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
from .._native_names import (
    SessionObjectInitializer,
    SparseBlockSparseView,
    SparseCooView,
    SparseCsrView,
    get_all_operator_schema,
    get_all_opkernel_def,
    get_compatibility_info_from_model,
    get_compatibility_info_from_model_bytes,
    get_default_session_options,
    get_hardware_device_ep_incompatibility_details,
    get_hardware_devices,
    get_model_compatibility_for_ep_devices,
    get_registered_ep_kernel_defs,
    get_session_initializer,
    is_dlpack_uint8_tensor,
    kNextPowerOfTwo,
    kSameAsRequested,
    opkernel,
    pack_fp4_weights_for_cuda_moe_gemm,
    quantize_matmul_2bits,
    quantize_matmul_4bits,
    quantize_matmul_8bits,
    quantize_matmul_bnb4,
    quantize_qdq_matmul_2bits,
    quantize_qdq_matmul_4bits,
    schemadef,
)
from .._nodes import ModelMetadata, NodeArg, OrtEpAssignedNode, OrtEpAssignedSubgraph
from .._options import RunOptions, SessionOptions
from .._providers import get_all_providers, get_available_providers, get_device
from .._refused import (
    AdapterFormat,
    LoraAdapter,
    ModelCompiler,
    OrtEpContextData,
    OrtEpContextDataBuffer,
    OrtExternalInitializerInfo,
    OrtSyncStream,
)
from .._session import InferenceSession
from .._sparse import SparseTensor
from .._values import OrtValue, OrtValueVector, copy_tensors
