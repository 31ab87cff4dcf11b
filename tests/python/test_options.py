"""SessionOptions and RunOptions."""

import numpy as np
import onnx
import pytest
from python.models import FLOAT, add, model, node, state, tensor, weighted
from onnx import TensorProto

import tenon

Y = np.array([10, 20], np.float32)


def session_with(ort, data, configure):
    options = ort.SessionOptions()
    configure(options)
    return ort.InferenceSession(data, options)


SETTINGS = {
    "intra_op_num_threads": 3, "inter_op_num_threads": 2, "enable_cpu_mem_arena": False, "enable_mem_pattern": False,
    "enable_mem_reuse": False, "log_severity_level": 3, "log_verbosity_level": 1, "logid": "name",
    "use_deterministic_compute": True, "profile_file_prefix": "prefix",
}


def test_defaults_are_the_same():
    import onnxruntime

    for cls in ("SessionOptions", "RunOptions"):
        ours, theirs = getattr(tenon, cls)(), getattr(onnxruntime, cls)()
        for name in dir(theirs):
            value = getattr(theirs, name)
            if name.startswith("_") or callable(value) or name == "profile_file_prefix":
                continue
            mine = getattr(ours, name)
            assert getattr(mine, "name", mine) == getattr(value, "name", value), name
            assert type(mine).__name__ == type(value).__name__, name


def test_settings_without_meaning_are_kept(ort, no_warnings):
    def configure(options):
        for name, value in SETTINGS.items():
            setattr(options, name, value)
        options.execution_mode = ort.ExecutionMode.ORT_PARALLEL
        options.execution_order = ort.ExecutionOrder.PRIORITY_BASED
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        assert {name: getattr(options, name) for name in SETTINGS} == SETTINGS
        assert options.execution_mode == ort.ExecutionMode.ORT_PARALLEL
        assert options.graph_optimization_level.name == "ORT_DISABLE_ALL"

    session = session_with(ort, weighted(), configure)
    assert session.run(None, {"x": Y})[0].tolist() == [11, 21]


@pytest.mark.parametrize("name, value", [
    ("intra_op_num_threads", "x"), ("graph_optimization_level", 99), ("logid", 3), ("execution_mode", None),
])
def test_settings_have_types(ort, name, value):
    with pytest.raises(TypeError):
        setattr(ort.SessionOptions(), name, value)


def test_unknown_settings(ort):
    with pytest.raises(AttributeError):
        ort.SessionOptions().no_such_setting = 1
    with pytest.raises(AttributeError):
        ort.RunOptions().no_such_setting = 1


def test_configuration_entries(ort):
    options = ort.SessionOptions()
    options.add_session_config_entry("session.disable_prepacking", "1")
    assert options.get_session_config_entry("session.disable_prepacking") == "1"
    with pytest.raises(RuntimeError, match="does not have configuration with key: none"):
        options.get_session_config_entry("none")
    with pytest.raises(RuntimeError):
        options.add_session_config_entry("", "1")
    with pytest.raises(TypeError):
        options.add_session_config_entry("session.disable_prepacking", 1)
    run = ort.RunOptions()
    run.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
    assert run.get_run_config_entry("memory.enable_memory_arena_shrinkage") == "cpu:0"
    with pytest.raises(RuntimeError, match="does not have configuration with key: none"):
        run.get_run_config_entry("none")


@pytest.mark.parametrize("key, value, harmless", [
    ("ep.context_enable", "1", "0"), ("ep.context_file_path", "x.onnx", ""), ("gpu_graph_id", "4", "-1"),
    ("session.load_model_format", "ORT", "ONNX"), ("session.collect_node_memory_stats_to_file", "x.csv", ""),
])
def test_entries_that_would_change_results_are_refused(key, value, harmless, no_warnings):
    with pytest.raises(state(tenon).NotImplemented, match=key):
        tenon.SessionOptions().add_session_config_entry(key, value)
    tenon.SessionOptions().add_session_config_entry(key, harmless)


@pytest.mark.parametrize("key", ["session.x64quantprecision", "mlas.qnbit.force_fp32"])
@pytest.mark.parametrize("value", ["0", "1"])
def test_entries_that_ask_for_exact_results_hold_anyway(key, value, no_warnings):
    options = tenon.SessionOptions()
    options.add_session_config_entry(key, value)
    assert options.get_session_config_entry(key) == value


@pytest.mark.parametrize("key", ["optimization.enable_gelu_approximation", "no.key"])
def test_entries_that_are_not_silently_ignored(key):
    with pytest.warns(UserWarning, match=f"{key}.*no effect"):
        tenon.SessionOptions().add_session_config_entry(key, "1")


@pytest.mark.parametrize("value, kept", [("0", True), ("1", False), (None, False)])
def test_denormal_numbers_are_zero_or_kept(value, kept, no_warnings):
    options = tenon.SessionOptions()
    if value is not None:
        options.add_session_config_entry("session.set_denormal_as_zero", value)
    tiny = {"x": np.full((1, 2), 1e-39, np.float32), "y": np.zeros(2, np.float32)}
    (z,) = tenon.InferenceSession(add(), options).run(None, tiny)
    assert ((z > 0) == kept).all()


def test_the_cpu_cannot_be_forbidden(ort):
    with pytest.raises(state(ort).Fail):
        session_with(ort, add(), lambda o: o.add_session_config_entry("session.disable_cpu_ep_fallback", "1"))


def test_the_optimized_model_is_written(tmp_path):
    options = tenon.SessionOptions()
    options.optimized_model_filepath = str(tmp_path / "x.onnx")
    for _ in range(2):  # like onnxruntime, it replaces what was there
        tenon.InferenceSession(add(), options)
        assert (tmp_path / "x.onnx").read_bytes() == tenon.optimize(add())


def test_what_is_refused():
    refused = state(tenon).NotImplemented
    options = tenon.SessionOptions()
    with pytest.raises(refused, match="custom"):
        options.register_custom_ops_library("x.so")
    with pytest.raises(refused):
        options.set_provider_selection_policy_delegate(lambda *a: [])
    with pytest.raises(refused):
        options.set_ep_context_data_read_func(print)
    with pytest.raises(refused):
        tenon.RunOptions().training_mode = True
    with pytest.raises(refused):
        tenon.RunOptions().add_active_adapter(None)
    with pytest.raises(refused):
        tenon.InferenceSession(add()).set_ep_dynamic_options({"ep.dynamic.workload_type": "Default"})


def test_own_entries():
    with pytest.raises(state(tenon).InvalidArgument, match="no_such_option"):
        session_with(tenon, add(), lambda o: o.add_session_config_entry("tenon.no_such_option", "1"))
    limited = session_with(tenon, add(), lambda o: o.add_session_config_entry("tenon.memory_limit", "64"))
    with pytest.raises(state(tenon).RuntimeException):
        limited.run(None, {"x": np.ones((1000, 2), np.float32), "y": Y})


def random_model():
    return model([node("RandomNormal", "", "y", shape=[4])], [], [tensor("y", FLOAT, [4])])


def test_seed_of_a_session():
    def draw(seed):
        session = session_with(tenon, random_model(), lambda o: o.add_session_config_entry("tenon.seed", seed))
        return [session.run(None, {})[0].tolist() for _ in range(2)]

    assert draw("7") == draw("7") != draw("8")
    assert draw("7")[0] != draw("7")[1]


def test_seed_of_all_sessions():
    from tenon import _info

    before = _info._seed
    try:
        draws = []
        for seed in (7, 7, 8):
            tenon.set_seed(seed)
            draws.append(tenon.InferenceSession(random_model()).run(None, {})[0].tolist())
        assert draws[0] == draws[1] != draws[2]
    finally:
        _info._seed = before


def test_free_dimensions_by_name(ort):
    session = session_with(ort, add(), lambda o: o.add_free_dimension_override_by_name("n", 3))
    assert [i.shape for i in session.get_inputs()] == [[3, 2], [2]]
    assert session.get_outputs()[0].shape == [3, 2]
    assert session.run(None, {"x": np.ones((3, 2), np.float32), "y": Y})[0].tolist() == [[11, 21]] * 3
    with pytest.raises(state(ort).InvalidArgument):
        session.run(None, {"x": np.ones((1, 2), np.float32), "y": Y})


@pytest.mark.parametrize("named", [True, False])
def test_free_dimensions_by_denotation(ort, named):
    made = onnx.load_from_string(add())
    extent = made.graph.input[0].type.tensor_type.shape.dim[0]
    extent.denotation = "DATA_BATCH"
    if not named:
        extent.ClearField("dim_param")
    session = session_with(ort, made.SerializeToString(),
                           lambda o: o.add_free_dimension_override_by_denotation("DATA_BATCH", 3))
    assert session.get_inputs()[0].shape == [3, 2]
    with pytest.raises(state(ort).InvalidArgument):
        session.run(None, {"x": np.ones((1, 2), np.float32), "y": Y})


@pytest.mark.parametrize("by", ["name", "denotation"])
@pytest.mark.parametrize(("name", "value"), [("n", 1.5), ("n", "3"), ("n", None), (3, 3)])
def test_free_dimensions_of_wrong_types(ort, by, name, value):
    with pytest.raises(TypeError):
        getattr(ort.SessionOptions(), f"add_free_dimension_override_by_{by}")(name, value)


def test_loading_can_be_cancelled(ort):
    with pytest.raises(state(ort).ModelLoadCanceled):
        session_with(ort, add(), lambda o: o.set_load_cancellation_flag(True))
    session_with(ort, add(), lambda o: o.set_load_cancellation_flag(False))


def test_initializers_from_memory(ort):
    array = np.array([5, 6], np.float32)
    value = ort.OrtValue.ortvalue_from_numpy(array)
    session = session_with(ort, weighted(), lambda o: o.add_initializer("w", value))
    assert session.run(None, {"x": Y})[0].tolist() == [15, 26]


def test_initializers_that_decide_shapes():
    data = model([node("Reshape", "x shape", "y")], [tensor("x", FLOAT, [6])], [tensor("y", FLOAT)],
                 {"shape": np.array([2, 3], np.int64)})
    value = tenon.OrtValue.ortvalue_from_numpy(np.array([3, 2], np.int64))
    session = session_with(tenon, data, lambda o: o.add_initializer("shape", value))
    assert session.get_outputs()[0].shape == [3, 2]
    assert session.run(None, {"x": np.zeros(6, np.float32)})[0].shape == (3, 2)


def test_initializers_that_do_not_fit():
    small = tenon.OrtValue.ortvalue_from_numpy(np.ones(3, np.float32))
    with pytest.raises(state(tenon).InvalidArgument, match="initializer 'w'"):
        session_with(tenon, weighted(), lambda o: o.add_initializer("w", small))
    with pytest.warns(UserWarning, match="no initializer named 'other'"):
        session = session_with(tenon, weighted(), lambda o: o.add_initializer("other", small))
    assert session.run(None, {"x": Y})[0].tolist() == [11, 21]
    with pytest.raises(state(tenon).NotFound, match="'other'"):
        session_with(tenon, weighted(), lambda o: o.add_external_initializers(["other"], [small]))
    with pytest.raises(RuntimeError):
        tenon.SessionOptions().add_initializer("w", np.ones(2, np.float32))


def external_model(location="weights.bin", count=64):
    made = onnx.load_from_string(model([node("Add", "x w", "z")], [tensor("x", FLOAT, [count])],
                                       [tensor("z", FLOAT, [count])], {"w": np.ones(count, np.float32)}))
    weight = made.graph.initializer[0]
    weight.ClearField("raw_data")
    weight.data_location = TensorProto.EXTERNAL
    for key, value in {"location": location, "offset": "0", "length": str(4 * count)}.items():
        weight.external_data.add(key=key, value=value)
    return made.SerializeToString()


def test_external_initializers_as_values(ort):
    value = ort.OrtValue.ortvalue_from_numpy(np.arange(64, dtype=np.float32))
    session = session_with(ort, external_model(), lambda o: o.add_external_initializers(["w"], [value]))
    assert session.run(None, {"x": np.ones(64, np.float32)})[0].tolist() == list(range(1, 65))


@pytest.mark.parametrize("kind", [bytes, bytearray])
def test_external_files_in_memory(ort, kind):
    content = kind(np.arange(64, dtype=np.float32).tobytes())
    session = session_with(ort, external_model(), lambda o: o.add_external_initializers_from_files_in_memory(
        ["weights.bin"], [content], [len(content)]))
    assert session.run(None, {"x": np.ones(64, np.float32)})[0].tolist() == list(range(1, 65))


def test_files_in_memory_live_as_long_as_the_session():
    import gc

    def make():
        content = bytes(np.arange(1 << 16, dtype=np.float32))
        options = tenon.SessionOptions()
        options.add_external_initializers_from_files_in_memory(["weights.bin"], [content], [len(content)])
        session = tenon.InferenceSession(external_model(count=1 << 16), options)
        session._sess_options = None
        return session

    session = make()
    gc.collect()
    filler = [bytes(1 << 18) for _ in range(20)]
    assert session.run(None, {"x": np.zeros(1 << 16, np.float32)})[0][-1] == (1 << 16) - 1 and len(filler) == 20


def test_external_folder_of_models_from_memory(ort, tmp_path):
    (tmp_path / "weights.bin").write_bytes(np.arange(64, dtype=np.float32).tobytes())
    session = session_with(ort, external_model(), lambda o: o.add_session_config_entry(
        "session.model_external_initializers_file_folder_path", str(tmp_path)))
    assert session.run(None, {"x": np.ones(64, np.float32)})[0].tolist() == list(range(1, 65))


def test_termination(ort):
    session = ort.InferenceSession(add())
    run = ort.RunOptions()
    feed = {"x": np.ones((1, 2), np.float32), "y": Y}
    run.terminate = True
    with pytest.raises(state(ort).Fail):
        session.run(None, feed, run)
    run.terminate = False
    assert session.run(None, feed, run)[0].tolist() == [[11, 21]]


def test_own_run_settings():
    run = tenon.RunOptions()
    run.tag, run.training_mode = "name", False
    assert (run.tag, run.training_mode) == ("name", False)
