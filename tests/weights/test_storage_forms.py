"""Where a model keeps its constants changes nothing: one plan, one set of packed weights, one result."""

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import tenon

from .shape_models import CASES, shape_model
from .storage_forms import FORMS, NODE_FORMS, as_tensor, external, raw, with_constant_nodes
from .zoo import FLOAT, ZOO, feed, floats, node, weight

PROVIDERS = ["cpu", "reference"]


def compiled(model, provider):
    return tenon.compile(model.SerializeToString() if isinstance(model, onnx.ModelProto) else model, provider=provider)


def plan_key(artifact):
    return artifact.describe()["models"][0]["plan_key"]


def packed_keys(artifact):
    return sorted(entry["key"] for entry in artifact.describe("packed")["packed"])


def same(left, right):
    assert len(left) == len(right)
    for a, b in zip(left, right):
        if isinstance(a, list):
            same(a, b)
        else:
            assert a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def check_same_plan(model, stored, provider):
    one, other = compiled(raw(model, None), provider), compiled(stored, provider)
    assert plan_key(other) == plan_key(one)
    assert packed_keys(other) == packed_keys(one)
    feeds = feed(model, np.random.default_rng(3))
    same(other.session().run(None, feeds), one.session().run(None, feeds))


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ZOO)
def test_one_plan_for_all_forms(name, form, provider, tmp_path):
    model = ZOO[name](np.random.default_rng(1))
    check_same_plan(model, FORMS[form](model, tmp_path), provider)


def made(nodes, initializers, opset, inputs=(("x", FLOAT, [2, 3, 4]),), outputs=(("y", FLOAT, None),)):
    values = [[helper.make_tensor_value_info(*value) for value in side] for side in (inputs, outputs)]
    graph = helper.make_graph(list(nodes), "forms", *values, initializer=list(initializers))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def ints(name, *values):
    return weight(name, np.array(values, np.int64))


def shape_constants():
    """What shapes follow from: a target, axes, bounds of a slice, repeats, pads; and the bounds of a Clip."""
    rng = np.random.default_rng(5)
    return made(
        [node("Reshape", ["x", "target"], ["a"]), node("MatMul", ["a", "w"], ["b"]),
         node("Clip", ["b", "low", "high"], ["c"]), node("Slice", ["c", "starts", "ends", "axes"], ["d"]),
         node("Tile", ["d", "repeats"], ["e"]), node("Pad", ["e", "pads"], ["f"]),
         node("ReduceSum", ["f", "axes"], ["g"]), node("Unsqueeze", ["g", "axes"], ["y"])],
        [ints("target", -1, 4), weight("w", floats(rng, 4, 20)), weight("low", np.float32(-0.5)),
         weight("high", np.float32(0.5)), ints("starts", 1), ints("ends", 9), ints("axes", 1), ints("repeats", 1, 2),
         ints("pads", 0, 1, 0, 1)], 18)


def old_tile():
    """Before version 6 the numbers are of the data's type, and import must know them."""
    return made([helper.make_node("Tile", ["x", "tiles", "axis"], ["y"])],
                [weight("tiles", np.array([2], np.float32)), weight("axis", np.array([1], np.float32))], 5)


def many_parts():
    """Sizes of more bytes than a rule may ask for, which the op cannot do without."""
    count = 300
    return made([node("Split", ["x", "sizes"], [f"part{i}" for i in range(count)]), node("Neg", ["part299"], ["y"])],
                [ints("sizes", *[1 + i % 2 for i in range(count)])], 13, inputs=[("x", FLOAT, [450, 3])])


MODELS = {f.__name__: f for f in (shape_constants, old_tile, many_parts)}


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", MODELS)
def test_one_plan_whatever_shapes_follow_from(name, form, provider, tmp_path):
    model = MODELS[name]()
    check_same_plan(model, FORMS[form](model, tmp_path), provider)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", CASES)
def test_one_plan_for_every_op_that_reads_shapes(name, form, tmp_path):
    model = shape_model(name)
    check_same_plan(model, FORMS[form](model, tmp_path), "cpu")


@pytest.mark.parametrize("form", NODE_FORMS)
@pytest.mark.parametrize("name", CASES)
def test_one_plan_for_all_attributes_of_constant_nodes(name, form, tmp_path):
    """A constant of a node differs from an initializer in this alone: new weights need not mention it. The key of a
    plan covers that; all else is the same."""
    model = shape_model(name)
    initializers, nodes = compiled(raw(model, None), "cpu"), compiled(with_constant_nodes(model, as_tensor), "cpu")
    other = compiled(NODE_FORMS[form](model, tmp_path), "cpu")
    assert plan_key(other) == plan_key(nodes)
    assert packed_keys(other) == packed_keys(nodes) == packed_keys(initializers)
    feeds = feed(model, np.random.default_rng(3))
    sessions = [artifact.session() for artifact in (initializers, nodes, other)]
    expected = sessions[0].run(None, feeds)
    for session in sessions[1:]:
        assert output_shapes(session) == output_shapes(sessions[0])
        same(session.run(None, feeds), expected)


def output_shapes(session):
    return [(output.type, output.shape) for output in session.get_outputs()]


def values_in_place_of_initializers(model):
    """Given as onnxruntime's scripts give them, for constants that the file has as well."""
    options = tenon.SessionOptions()
    kept = [numpy_helper.to_array(tensor) for tensor in model.graph.initializer]
    for tensor, array in zip(model.graph.initializer, kept):
        options.add_initializer(tensor.name, tenon.OrtValue.ortvalue_from_numpy(array))
    return model.SerializeToString(), options, kept


def values_in_place_of_files(model):
    """For constants whose file is nowhere."""
    options, data = tenon.SessionOptions(), onnx.ModelProto.FromString(model.SerializeToString())
    kept = [numpy_helper.to_array(tensor) for tensor in model.graph.initializer]
    onnx.external_data_helper.convert_model_to_external_data(data, location="nowhere.data", size_threshold=0)
    for tensor in data.graph.initializer:
        if tensor.HasField("raw_data"):
            tensor.ClearField("raw_data")
    names = [tensor.name for tensor in data.graph.initializer]
    options.add_external_initializers(names, [tenon.OrtValue.ortvalue_from_numpy(array) for array in kept])
    return data.SerializeToString(), options, kept


def values_in_place_of_sparse_ones(model):
    data, options, kept = values_in_place_of_initializers(model)
    return FORMS["sparse"](model, None).SerializeToString(), options, kept


GIVEN = [values_in_place_of_initializers, values_in_place_of_files, values_in_place_of_sparse_ones]


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("name", [*MODELS, *CASES])
def test_values_that_the_caller_gives(name, given):
    model = raw(MODELS[name]() if name in MODELS else shape_model(name), None)
    data, options, kept = given(model)
    feeds = feed(model, np.random.default_rng(3))
    session = tenon.InferenceSession(data, options)
    plain = tenon.InferenceSession(model.SerializeToString())
    assert output_shapes(session) == output_shapes(plain)
    same(session.run(None, feeds), plain.run(None, feeds))
    session.use_weights(plain.weights)  # refused for any other plan


def test_values_given_for_sparse_ones_count():
    model = FORMS["sparse"](shape_model("reshape"), None).SerializeToString()
    feeds = {"x": floats(np.random.default_rng(3), 2, 3, 4)}
    options = tenon.SessionOptions()
    options.add_initializer("c1", tenon.OrtValue.ortvalue_from_numpy(np.array([3, 8])))
    np.testing.assert_array_equal(tenon.InferenceSession(model, options).run(None, feeds)[0], feeds["x"].reshape(3, 8))
    options = tenon.SessionOptions()
    options.add_initializer("c1", tenon.OrtValue.ortvalue_from_numpy(np.array([3, 8, 1])))
    with pytest.raises(tenon.Error, match=r"(?s)'c1'.*int64\[2\] in the model.*int64\[3\]"):
        tenon.InferenceSession(model, options)


def test_shapes_are_known_from_external_constants(tmp_path):
    session = tenon.InferenceSession(external(shape_constants(), tmp_path))
    assert session.get_outputs()[0].shape == tenon.InferenceSession(
        raw(shape_constants(), None).SerializeToString()).get_outputs()[0].shape


class TestMissingFile:
    """Elements that cannot be read leave a model readable; it cannot be compiled, and the reason names them."""

    def test_a_shape_that_a_plan_follows_from(self, tmp_path):
        path = external(shape_constants(), tmp_path)
        (tmp_path / "weights.data").unlink()
        model = tenon.Model.load(path)
        assert model.describe("weights")["weights"]
        with pytest.raises(tenon.Error, match=r"weights\.data.*(?s:.)*target|target(?s:.)*weights\.data"):
            tenon.compile(model)

    def test_numbers_that_import_needs(self, tmp_path):
        path = external(old_tile(), tmp_path)
        (tmp_path / "weights.data").unlink()
        with pytest.raises(tenon.Error, match=r"tiles(?s:.)*weights\.data"):
            tenon.Model.load(path)
