"""Configuration entries of sessions and runs, and what Tenon does with each key.

Tenon honours a key; ignores it because it only concerns speed or memory, or requests what is always so; warns because
onnxruntime's results could differ in the last digits; or refuses it because ignoring it would change results or files.
"""

from ._errors import Fail, NotImplemented
from ._warnings import warn

# Given to the native session as options of the same name without the prefix.
NATIVE_PREFIX = "tenon."
EXTERNAL_FOLDER = "session.model_external_initializers_file_folder_path"
RECORD_ASSIGNMENT = "session.record_ep_graph_assignment_info"
DENORMALS = "session.set_denormal_as_zero"
HONOURED = (EXTERNAL_FOLDER, RECORD_ASSIGNMENT, DENORMALS)

WITHOUT_EFFECT = frozenset(
    """
    disable_synchronize_execution_providers memory.enable_memory_arena_shrinkage
    optimization.constant_folding_max_output_size_in_bytes optimization.disable_specified_optimizers
    optimization.enable_cast_chain_elimination optimization.memory_optimizer_config
    optimization.minimal_build_optimizations session.allow_released_opsets_only session.debug_layout_transformation
    session.disable_aot_function_inlining session.disable_double_qdq_remover session.disable_model_compile
    session.disable_prepacking session.disable_qdq_constant_folding session.disable_quant_qdq
    session.dynamic_block_base session.enable_dq_matmulnbits_fusion session.enable_quant_qdq_cleanup
    session.force_spinning_stop session.function_expansion_byte_limit session.function_expansion_node_limit
    session.graph_optimizations_loop_level session.inter_op.allow_spinning session.inter_op.spin_backoff_max
    session.inter_op.spin_duration_us session.intra_op.allow_spinning session.intra_op.spin_backoff_max
    session.intra_op.spin_duration_us session.intra_op_thread_affinities session.max_shape_override
    session.prepack.enable_parallel session.strict_shape_type_inference session.strict_workspace_verification
    session.use_device_allocator_for_initializers session.use_env_allocators
    session.use_external_initializer_file_buffers_directly session.use_ort_model_bytes_directly
    session.use_ort_model_bytes_for_initializers
    """.split()
)

# They make onnxruntime compute exactly, or in float, what Tenon computes so whatever the value is.
ALWAYS_HOLD = frozenset(["session.x64quantprecision", "mlas.qnbit.force_fp32"])

# Key -> what Tenon does whatever the value is.
INEXACT = {
    "optimization.enable_gelu_approximation": "Gelu is not approximated",
    "session.qdqisint8allowed": "quantized types are those of the model",
    "session.qdq_matmulnbits_accuracy_level": "the computation is done as the model states it",
    "session.qdq_matmulnbits_block_size": "the computation is done as the model states it",
    "mlas.enable_gemm_fastmath_arm64_bfloat16": "float products are computed in float",
    "mlas.use_lut_gemm": "the computation is done as the model states it",
}

DATA_FILES_ARE_NOT_CHOSEN = "Tenon decides which weights of an optimized model get a data file, and how it is called"

# Key -> (values that ask for nothing, why other values are refused).
REFUSED = {
    "session.load_model_format": (("", "ONNX"), "only ONNX models can be loaded"),
    "session.save_model_format": (("", "ONNX"), "optimized models are written as ONNX"),
    "session.optimized_model_external_initializers_file_name": (("",), DATA_FILES_ARE_NOT_CHOSEN),
    "session.optimized_model_external_initializers_min_size_in_bytes": (("",), DATA_FILES_ARE_NOT_CHOSEN),
    "session.save_external_prepacked_constant_initializers": (("", "0"), "optimized models have no packed weights"),
    "session.collect_node_memory_stats_to_file": (("",), "Tenon does not collect such statistics"),
    "session.compile_only": (("", "0"), "sessions do not write models"),
    "session.node_partition_config_file": (("",), "nodes are not assigned to partitions"),
    "session.gqa_value_layout": (("",), "the layout of the cache cannot be chosen"),
    "gpu_graph_id": (("", "-1", "0"), "Tenon does not capture graphs"),
}


def check_session_entry(key, value):
    """Raises or warns if Tenon cannot honour an entry."""
    if key.startswith(NATIVE_PREFIX) or key in HONOURED:
        return
    if key == "session.disable_cpu_ep_fallback":
        if value == "1":
            raise Fail("Tenon runs models on the CPU; session.disable_cpu_ep_fallback forbids that")
        return
    if key.startswith("ep.context_") or key.startswith("ep.share_ep_contexts"):
        if value not in ("", "0"):
            raise NotImplemented(f"session configuration entry '{key}': EP context models are not supported here")
        return
    _check(key, value, "session")


def check_run_entry(key, value):
    _check(key, value, "run")


def _check(key, value, what):
    if key in REFUSED:
        harmless, reason = REFUSED[key]
        if value not in harmless:
            raise NotImplemented(f"{what} configuration entry '{key}' = '{value}': {reason}")
    elif key in INEXACT:
        if value not in ("", "0"):
            warn(f"{what} configuration entry '{key}' has no effect: {INEXACT[key]}")
    elif key not in WITHOUT_EFFECT | ALWAYS_HOLD:
        warn(f"{what} configuration entry '{key}' is unknown to Tenon and has no effect")
