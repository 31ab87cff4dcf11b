"""Where a model keeps its constants changes nothing: one plan, one set of packed weights, one result."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import tenon

from .zoo import FLOAT, ZOO, feed, floats, node, weight

PROVIDERS = ["cpu", "reference"]


def with_initializers(model, change):
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    del changed.graph.initializer[:]
    changed.graph.initializer.extend(change(tensor) for tensor in model.graph.initializer)
    return changed


def raw(model, folder):
    return with_initializers(model, lambda t: numpy_helper.from_array(numpy_helper.to_array(t), t.name))


def typed(model, folder):
    def change(tensor):
        array = numpy_helper.to_array(tensor)
        return helper.make_tensor(tensor.name, tensor.data_type, array.shape, array.ravel())

    return with_initializers(model, change)


def external(model, folder):
    changed = raw(model, folder)
    onnx.external_data_helper.convert_model_to_external_data(
        changed, all_tensors_to_one_file=True, location="weights.data", size_threshold=0, convert_attribute=False)
    path = folder / "external.onnx"
    onnx.save(changed, path)
    reread = onnx.load(path, load_external_data=False)
    assert all(tensor.data_location == TensorProto.EXTERNAL for tensor in reread.graph.initializer)
    return path


def sparse(model, folder):
    """Every initializer that sparse tensors can express: at least one dimension, no listed input."""
    changed = raw(model, folder)
    inputs = {value.name for value in model.graph.input}
    kept = []
    for tensor in changed.graph.initializer:
        array = numpy_helper.to_array(tensor)
        if array.ndim == 0 or tensor.name in inputs or tensor.data_type not in (FLOAT, TensorProto.INT64):
            kept.append(tensor)
            continue
        places = np.flatnonzero(array)
        made = onnx.SparseTensorProto(dims=array.shape)
        made.values.CopyFrom(numpy_helper.from_array(array.ravel()[places], tensor.name))
        made.indices.CopyFrom(numpy_helper.from_array(places.astype(np.int64)))
        changed.graph.sparse_initializer.append(made)
    del changed.graph.initializer[:]
    changed.graph.initializer.extend(kept)
    return changed


def external_in_memory(model, folder):
    path = external(model, folder)
    return tenon.Model.load(path.read_bytes(), files={"weights.data": (folder / "weights.data").read_bytes()})


FORMS = {form.__name__: form for form in (typed, external, sparse, external_in_memory)}


def compiled(model, provider):
    return tenon.compile(model.SerializeToString() if isinstance(model, onnx.ModelProto) else model, provider=provider)


def plan_key(artifact):
    return artifact.describe()["models"][0]["plan_key"]


def packed_keys(artifact):
    return sorted(entry["key"] for entry in artifact.describe("packed")["packed"])


def same(left, right):
    assert len(left) == len(right)
    for a, b in zip(left, right):
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


@pytest.mark.parametrize("name", MODELS)
def test_values_that_the_caller_gives(name):
    """Given as onnxruntime's scripts give them, for constants that the file has as well."""
    model = raw(MODELS[name](), None)
    options = tenon.SessionOptions()
    kept = [numpy_helper.to_array(tensor) for tensor in model.graph.initializer]
    for tensor, array in zip(model.graph.initializer, kept):
        options.add_initializer(tensor.name, tenon.OrtValue.ortvalue_from_numpy(array))
    feeds = feed(model, np.random.default_rng(3))
    session = tenon.InferenceSession(model.SerializeToString(), options)
    plain = tenon.InferenceSession(model.SerializeToString())
    assert [output.shape for output in session.get_outputs()] == [output.shape for output in plain.get_outputs()]
    same(session.run(None, feeds), plain.run(None, feeds))


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
