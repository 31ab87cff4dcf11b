"""Functions of the module, the exceptions, and Model."""

import numpy as np
import pytest
from python.models import add, state, weighted

import tenon


def test_functions_without_effect(ort, no_warnings):
    ort.set_default_logger_severity(3)
    with pytest.raises(RuntimeError):
        ort.set_default_logger_severity(9)
    ort.set_default_logger_verbosity(0)
    ort.disable_telemetry_events()
    ort.preload_dlls()
    assert ort.has_collective_ops() is False
    assert ort.get_version_string() == ort.__version__ == ort.version
    assert isinstance(ort.get_build_info(), str)
    with pytest.raises(state(ort).Fail):
        ort.unregister_execution_provider_library("none")


def test_functions_that_differ():
    tenon.set_global_thread_pool_sizes(1, 1)
    info = tenon.OrtMemoryInfo("Cpu", tenon.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, tenon.OrtMemType.DEFAULT)
    tenon.create_and_register_allocator(info, None)
    tenon.create_and_register_allocator_v2("CPUExecutionProvider", info, {}, None)
    assert tenon.system()["version"] == tenon.__version__


def test_debug_information(capsys):
    tenon.print_debug_info()
    assert tenon.__version__ in capsys.readouterr().out


def test_enumerations_have_the_same_members():
    import onnxruntime

    for name in dir(onnxruntime):
        theirs = getattr(onnxruntime, name)
        members = getattr(theirs, "__members__", None)
        if members:
            ours = getattr(tenon, name).__members__
            assert {n: m.value for n, m in members.items()} == {n: m.value for n, m in ours.items()}, name


def test_exceptions_have_one_base():
    errors = state(tenon)
    for name in ("Fail", "InvalidArgument", "NoSuchFile", "NotImplemented", "InvalidProtobuf", "RuntimeException"):
        assert issubclass(getattr(errors, name), tenon.Error)
    with pytest.raises(tenon.Error) as caught:
        tenon.InferenceSession(b"garbage")
    assert caught.value.code == "invalid model"
    for name in ("InvalidProtobuf", "InvalidGraph", "Fail"):
        assert isinstance(caught.value, getattr(errors, name))
    with pytest.raises(errors.NotImplemented) as caught:
        tenon.SessionOptions().register_custom_ops_library("x")
    assert caught.value.code == "unsupported"
    with pytest.raises(errors.NoSuchFile) as caught:
        tenon.Model.load("no/such/file.onnx")
    assert caught.value.code == "not found" and "no/such/file.onnx" in str(caught.value)


def test_exceptions_can_be_pickled():
    import pickle

    error = pickle.loads(pickle.dumps(state(tenon).InvalidArgument("message")))
    assert (str(error), error.code) == ("message", "invalid argument")


def unary(op, **attributes):
    from python.models import FLOAT, model, node, tensor

    return model([node(op, "x", "y", **attributes)], [tensor("x", FLOAT, [1])], [tensor("y", FLOAT, [1])])


@pytest.mark.parametrize("data, text", [
    (unary("NoSuchOperator"), "NoSuchOperator"), (unary("NoSuchOperator", domain="no.such"), "no.such"),
    (unary("Relu", no_such_attribute=1), "no_such_attribute"), (unary("Resize_", domain="com.microsoft"), "Resize_"),
], ids=["operator", "domain", "attribute", "contributed"])
def test_what_nobody_knows_is_caught_under_every_name(ort, data, text):
    """onnxruntime raises one of the three, Tenon a class that is all of them."""
    errors = state(ort)
    caught_as = []
    for names in (("Fail", "InvalidGraph", "NotImplemented"), ("Fail",), ("InvalidGraph",), ("NotImplemented",)):
        try:
            ort.InferenceSession(data)
        except tuple(getattr(errors, name) for name in names) as error:
            assert text in str(error)
            caught_as.append(len(names))
        except Exception:
            pass
    assert caught_as == ([3, 1, 1, 1] if ort is tenon else [3, 1])


@pytest.mark.parametrize("data", [b"", bytearray(), memoryview(b"")])
def test_no_bytes_are_an_argument_that_is_wrong(ort, data):
    with pytest.raises(state(ort).InvalidArgument):
        ort.InferenceSession(bytes(data) if ort is not tenon else data)


@pytest.mark.parametrize("field, text", [
    ("optional_type", "optional(unknown)"), ("sequence_type", "seq(unknown)"), ("map_type", "map("),
])
def test_types_that_do_not_say_what_is_inside(ort, field, text):
    import onnx
    from python.models import passing

    empty, nested, untyped = onnx.TypeProto(), onnx.TypeProto(), onnx.TypeProto()
    getattr(empty, field).SetInParent()
    nested.sequence_type.elem_type.CopyFrom(empty)
    if field != "map_type":
        getattr(untyped, field).elem_type.tensor_type.SetInParent()
    for broken in (empty, nested, untyped):
        if broken.WhichOneof("value") is None:
            continue
        with pytest.raises((state(ort).InvalidArgument, state(ort).Fail)) as caught:
            ort.InferenceSession(passing(broken))
        if ort is tenon:
            message = str(caught.value)
            assert "the type of the input 'x' does not say what its elements are" in message
            assert caught.value.code == "invalid model"
            assert text in message or broken is untyped


def test_models(tmp_path):
    model = tenon.Model.load(weighted())
    description = model.describe(["summary", "ops", "weights"])
    assert description["ops"] == {"Add": 1}
    assert [w["name"] for w in description["weights"]] == ["w"]
    assert description["summary"]["graph"] == "graph" and model.warnings == []
    assert set(model.describe()) == {"summary"}
    model.save(tmp_path / "saved.onnx")
    assert (tmp_path / "saved.onnx").read_bytes() == model.to_bytes() == weighted()
    respelled, report = model.respelled()
    assert tenon.Model.load(respelled).describe(["ops", "weights"]) == model.describe(["ops", "weights"])
    assert report == {"respelled": 1, "kept": []}
    again = tenon.Model.load(tmp_path / "saved.onnx", map=False)
    assert again.to_bytes() == weighted()
    with pytest.raises(tenon.Error, match="no_such_option"):
        tenon.Model.load(add(), no_such_option=1)
    with pytest.raises(tenon.Error, match="nothing"):
        model.describe("nothing")


def test_frozen_inputs():
    described = tenon.Model.load(weighted(listed=True), freeze_inputs=True).describe()
    assert [i["name"] for i in described["summary"]["inputs"]] == ["x"]


def test_script_of_the_readme_of_onnxruntime(ort, tmp_path):
    """What most scripts do."""
    path = tmp_path / "model.onnx"
    path.write_bytes(add())
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(str(path), sess_options=options, providers=["CPUExecutionProvider"])
    names = [i.name for i in session.get_inputs()]
    feed = {name: np.ones([2 if isinstance(s, str) else s for s in i.shape], np.float32)
            for name, i in zip(names, session.get_inputs())}
    try:
        (z,) = session.run([session.get_outputs()[0].name], feed)
    except ort.capi.onnxruntime_pybind11_state.InvalidArgument:
        raise AssertionError("the feed fits") from None
    assert z.shape == (2, 2) and (z == 2).all()
