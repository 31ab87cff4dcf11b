"""What objects say before anybody sets anything, and what scripts look for below the surface."""

import inspect

import numpy as np
import onnx
import onnxruntime
import pytest
from python.models import FLOAT, add, identity, model, node, state, tensor, two_outputs, weighted

import tenon

# Tenon's own name in a default.
OWN = {"profile_file_prefix"}


def settings(thing):
    values = {name: getattr(thing, name) for name in dir(thing) if not name.startswith("_")}
    return {name: value for name, value in values.items() if not callable(value)}


def plain(value):
    """Enumerations of two packages, by name."""
    return value.name if hasattr(value, "name") and not isinstance(value, str) else value


@pytest.mark.parametrize("name", ["SessionOptions", "RunOptions"])
def test_options_have_the_same_defaults(name):
    ours, theirs = (settings(getattr(module, name)()) for module in (tenon, onnxruntime))
    for key, value in theirs.items():
        if key not in OWN:
            assert (key, plain(ours[key])) == (key, plain(value))


def described(**fields):
    made = onnx.load_from_string(identity())
    for key, value in fields.items():
        setattr(made, key, value)
    return made.SerializeToString()


@pytest.mark.parametrize("data", [
    described(),
    described(model_version=0),
    described(model_version=7, producer_name="p", producer_version="1", domain="d", doc_string="text"),
    described(model_version=-1),
], ids=["nothing", "zero", "all", "negative"])
def test_metadata_is_the_same(data):
    ours, theirs = (settings(module.InferenceSession(data).get_modelmeta()) for module in (tenon, onnxruntime))
    assert ours == theirs


def concatenated(declared):
    return model([node("Concat", "x y", "z", axis=0)],
                 [tensor("x", FLOAT, ["n", 2]), tensor("y", FLOAT, ["m", None])], [tensor("z", FLOAT, declared)])


@pytest.mark.parametrize("data", [
    add(), add((None, 2)), two_outputs(), weighted(listed=True), identity(shape=("_0", "_1x", None)),
    concatenated(None), concatenated(["k", 2]), concatenated([None, 2]),
    model([node("Flatten", "x", "y")], [tensor("x", FLOAT, ["n", 2, "m"])], [tensor("y", FLOAT, None)]),
    model([node("Flatten", "x", "y")], [tensor("x", FLOAT, ["n", 2, None])], [tensor("y", FLOAT, ["n", None])]),
    model([node("Relu", "x", "y")], [tensor("x", FLOAT, None)], [tensor("y", FLOAT, None)]),
    model([node("NonZero", "x", "y")], [tensor("x", FLOAT, ["n", 2])], [tensor("y", onnx.TensorProto.INT64, None)]),
], ids=lambda data: "")
def test_node_args_are_the_same(data):
    def told(module):
        session = module.InferenceSession(data)
        args = session.get_inputs() + session.get_outputs() + session.get_overridable_initializers()
        return [(arg.name, arg.type, arg.shape) for arg in args]

    assert told(tenon) == told(onnxruntime)


def test_signatures_take_what_onnxruntime_takes():
    for name in ["run", "run_async", "run_with_iobinding", "run_with_ort_values", "io_binding", "end_profiling"]:
        ours, theirs = (list(inspect.signature(getattr(module.InferenceSession, name)).parameters)
                        for module in (tenon, onnxruntime))
        assert ours[:len(theirs)] == theirs, name


def test_what_is_below_the_surface(ort, tmp_path):
    path = tmp_path / "m.onnx"
    path.write_bytes(add())
    session = ort.InferenceSession(path)
    assert session._model_path == str(path)
    assert ort.InferenceSession(add())._model_path is None
    inner = session._sess
    assert [arg.name for arg in inner.inputs_meta] == ["x", "y"]
    assert [arg.name for arg in inner.outputs_meta] == ["z"]
    assert inner.model_meta.graph_name == "graph"
    assert inner.get_providers() == ["CPUExecutionProvider"]
    feed = {"x": np.ones((1, 2), np.float32), "y": np.ones(2, np.float32)}
    np.testing.assert_array_equal(inner.run(["z"], feed, None)[0], [[2, 2]])
    values = {name: ort.OrtValue.ortvalue_from_numpy(array)._ortvalue for name, array in feed.items()}
    np.testing.assert_array_equal(inner.run_with_ort_values(values, ["z"], None)[0].numpy(), [[2, 2]])
    binding = session.io_binding()
    for name, array in feed.items():
        binding.bind_cpu_input(name, array)
    binding.bind_output("z")
    inner.run_with_iobinding(binding._iobinding, None)
    np.testing.assert_array_equal(binding.copy_outputs_to_cpu()[0], [[2, 2]])


def test_paths_that_are_no_files(ort, tmp_path):
    with pytest.raises(state(ort).InvalidProtobuf):
        ort.InferenceSession(tmp_path)
    with pytest.raises(state(ort).NoSuchFile):
        ort.InferenceSession(str(tmp_path / "a\0b.onnx"))
    with pytest.raises(state(ort).NoSuchFile):
        ort.InferenceSession(tmp_path / "none.onnx")


def test_zero_characters_are_refused_everywhere(tmp_path):
    with pytest.raises(state(tenon).InvalidArgument, match="zero character"):
        tenon.Model.load(add()).save(str(tmp_path / "a\0b.onnx"))
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(state(tenon).InvalidArgument, match="zero character"):
        tenon.Model.load(add(), external_folder="a\0b")


def test_names_that_are_not_utf8_are_shown_replaced():
    data = model([node("Identity", "x", "y")], [tensor("x", FLOAT, ["n"])], [tensor("y", FLOAT, ["n"])],
                 doc_string="QQQQ").replace(b"QQQQ", b"Q\xffQQ")
    metadata = tenon.InferenceSession(data).get_modelmeta()
    assert metadata.description == "Q\ufffdQQ"


def test_overrides_of_dimensions_the_model_lacks_are_passed_over(ort):
    options = ort.SessionOptions()
    options.add_free_dimension_override_by_name("no_such", 3)
    if ort is tenon:
        with pytest.warns(UserWarning, match="no input of the model has a dimension named 'no_such'"):
            session = ort.InferenceSession(add(), options)
    else:
        session = ort.InferenceSession(add(), options)
    assert session.get_inputs()[0].shape == ["n", 2]
