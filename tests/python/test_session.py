"""InferenceSession: the same script with tenon and onnxruntime."""

import numpy as np
import pytest
from python.models import (
    FLOAT,
    add,
    identity,
    model,
    node,
    optional_type,
    passing,
    sequence_type,
    state,
    tensor,
    two_outputs,
    typed,
    weighted,
)
from onnx import TensorProto

import tenon

X = np.array([[1, 2], [3, 4]], np.float32)
Y = np.array([10, 20], np.float32)
SUM = X + Y


def test_run_gives_all_outputs_in_order(ort):
    session = ort.InferenceSession(two_outputs())
    s, r = session.run(None, {"x": Y, "y": -2 * Y})
    np.testing.assert_array_equal(s, -Y)
    np.testing.assert_array_equal(r, Y)


@pytest.mark.parametrize("names, expected", [
    ([], [[-1.0], [1.0]]), (["r"], [[1.0]]), (["r", "s"], [[1.0], [-1.0]]), (("s",), [[-1.0]]),
    (["s", "s"], [[-1.0], [-1.0]]),
])
def test_output_names_choose_and_order(ort, names, expected):
    session = ort.InferenceSession(two_outputs())
    x = np.ones(1, np.float32)
    assert [o.tolist() for o in session.run(names, {"x": x, "y": -2 * x})] == expected


def test_names_that_are_wrong(ort):
    session = ort.InferenceSession(add())
    feed = {"x": X, "y": Y}
    with pytest.raises(state(ort).InvalidArgument, match="Invalid output name: ?q"):
        session.run(["q"], feed)
    with pytest.raises(state(ort).InvalidArgument, match="Invalid input name: w"):
        session.run(None, {**feed, "w": Y})
    with pytest.raises(ValueError, match=r"Required inputs \(\['y'\]\) are missing from input feed \(\['x'\]\)."):
        session.run(None, {"x": X})
    with pytest.raises(TypeError):
        session.run("z", feed)
    with pytest.raises(AttributeError):
        session.run(None, [X, Y])


@pytest.mark.parametrize("x", [X.astype(np.float64), Y, np.ones((2, 3), np.float32), np.array([["a", "b"]])],
                         ids=["dtype", "rank", "extent", "strings"])
def test_inputs_that_do_not_fit(ort, x):
    session = ort.InferenceSession(add())
    with pytest.raises(state(ort).InvalidArgument):
        session.run(None, {"x": x, "y": Y})
    np.testing.assert_array_equal(session.run(None, {"x": X, "y": Y})[0], SUM)


def test_feed_may_be_any_mapping(ort):
    import types

    session = ort.InferenceSession(add())
    np.testing.assert_array_equal(session.run(None, types.MappingProxyType({"x": X, "y": Y}))[0], SUM)


def test_feed_may_hold_lists_and_values(ort):
    session = ort.InferenceSession(add())
    values = {"x": ort.OrtValue.ortvalue_from_numpy(X), "y": [10.0, 20.0]}
    np.testing.assert_array_equal(session.run(None, values)[0], SUM)


def test_descriptions(ort):
    session = ort.InferenceSession(model(
        [node("Identity", *names) for names in ("ab", "st", "op", "uv")],
        [tensor("a", FLOAT, [None, 3, "k"]), typed("s", sequence_type(TensorProto.INT64)),
         typed("o", optional_type(TensorProto.DOUBLE, [2])), tensor("u", TensorProto.STRING)],
        [tensor("b", FLOAT, [None, 3, "k"]), typed("t", sequence_type(TensorProto.INT64)),
         typed("p", optional_type(TensorProto.DOUBLE, [2])), tensor("v", TensorProto.STRING)]))
    types = [("tensor(float)", [None, 3, "k"]), ("seq(tensor(int64))", []), ("optional(tensor(double))", [2]),
             ("tensor(string)", [])]
    assert [(i.name, i.type, i.shape) for i in session.get_inputs()] == [(n, *t) for n, t in zip("asou", types)]
    assert [(i.name, i.type, i.shape) for i in session.get_outputs()] == [(n, *t) for n, t in zip("btpv", types)]
    assert str(session.get_inputs()[0]) == "NodeArg(name='a', type='tensor(float)', shape=[None, 3, 'k'])"


def test_declared_names_of_output_extents(ort):
    session = ort.InferenceSession(model([node("Identity", "x", "y")], [tensor("x", FLOAT, ["n"])],
                                         [tensor("y", FLOAT, ["m"])]))
    assert session.get_outputs()[0].shape == ["m"]


@pytest.mark.parametrize("dtype, text", [
    (TensorProto.BFLOAT16, "bfloat16"), (TensorProto.BOOL, "bool"), (TensorProto.FLOAT16, "float16"),
    (TensorProto.UINT64, "uint64"), (TensorProto.INT8, "int8"), (TensorProto.DOUBLE, "double"),
])
def test_type_texts(ort, dtype, text):
    session = ort.InferenceSession(identity(dtype, []))
    assert [session.get_inputs()[0].type, session.get_inputs()[0].shape] == [f"tensor({text})", []]


def test_metadata(ort):
    import onnx

    made = onnx.load_from_string(model([node("Relu", "x", "y")], [tensor("x", FLOAT, [1])], [tensor("y", FLOAT, [1])],
                                       producer_name="maker", domain="org.example", doc_string="about",
                                       model_version=7))
    made.graph.doc_string = "inside"
    onnx.helper.set_model_props(made, {"key": "value", "other": "ä"})
    meta = ort.InferenceSession(made.SerializeToString()).get_modelmeta()
    assert (meta.producer_name, meta.graph_name, meta.domain) == ("maker", "graph", "org.example")
    assert (meta.description, meta.graph_description, meta.version) == ("about", "inside", 7)
    assert meta.custom_metadata_map == {"key": "value", "other": "ä"}


def test_overridable_initializers_are_not_inputs(ort):
    session = ort.InferenceSession(weighted(listed=True))
    assert [i.name for i in session.get_inputs()] == ["x"]
    assert [(i.name, i.type, i.shape) for i in session.get_overridable_initializers()] == [("w", "tensor(float)", [2])]
    assert session.run(None, {"x": Y})[0].tolist() == [11, 21]
    assert session.run(None, {"x": Y, "w": Y})[0].tolist() == [20, 40]
    assert session.run(None, {"x": Y})[0].tolist() == [11, 21]
    with pytest.raises(state(ort).InvalidArgument):
        session.run(None, {"x": Y, "w": np.ones(3, np.float32)})


def test_models_come_from_bytes_and_paths(ort, tmp_path):
    path = tmp_path / "add.onnx"
    path.write_bytes(add())
    for source in (add(), str(path), path):
        np.testing.assert_array_equal(ort.InferenceSession(source).run(None, {"x": X, "y": Y})[0], SUM)


def test_models_that_cannot_be_loaded(ort, tmp_path):
    errors = state(ort)
    with pytest.raises(errors.NoSuchFile):
        ort.InferenceSession(str(tmp_path / "none.onnx"))
    with pytest.raises(errors.InvalidProtobuf):
        ort.InferenceSession(b"garbage")
    with pytest.raises(TypeError, match="Unable to load from type '<class 'int'>'"):
        ort.InferenceSession(3)
    with pytest.raises((errors.Fail, errors.InvalidArgument, errors.InvalidGraph)):
        ort.InferenceSession(model([node("Add", "x q", "z")], [tensor("x", FLOAT, [1])], [tensor("z", FLOAT, [1])]))


def test_small_functions_of_a_session(ort):
    session = ort.InferenceSession(add())
    assert isinstance(session.get_session_options(), ort.SessionOptions)
    assert session.end_profiling() == ""
    assert session.get_profiling_start_time_ns() == 0
    assert session.get_tuning_results() == []
    assert session.set_tuning_results([]) is None
    assert session.release_captured_graph() is None
    assert [i.name for i in session.get_input_memory_infos()] == ["Cpu", "Cpu"]
    assert [i.name for i in session.get_output_memory_infos()] == ["Cpu"]
    assert [d.ep_name for d in session.get_input_epdevices()] == ["CPUExecutionProvider"] * 2
    assert session.create_ortvalue_from_shape_and_type([2], np.float32, "cpu").shape() == [2]
    with pytest.raises(state(ort).Fail, match="record_ep_graph_assignment_info"):
        session.get_provider_graph_assignment_info()


def test_assignment_of_nodes(ort):
    options = ort.SessionOptions()
    options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    session = ort.InferenceSession(add(), options)
    (part,) = session.get_provider_graph_assignment_info()
    assert (part.ep_name, [(n.op_type, n.domain) for n in part.get_nodes()]) == ("CPUExecutionProvider", [("Add", "")])
    assert session.get_session_options().get_session_config_entry("session.record_ep_graph_assignment_info") == "1"


def test_sequences_and_optionals(ort):
    session = ort.InferenceSession(passing(sequence_type()))
    out = session.run(None, {"x": [X, Y]})[0]
    assert isinstance(out, list) and [o.tolist() for o in out] == [X.tolist(), Y.tolist()]
    session = ort.InferenceSession(passing(optional_type()))
    assert session.run(None, {"x": X})[0].tolist() == X.tolist()
    assert session.run(None, {"x": None})[0] is None


def test_maps(ort):
    session = ort.InferenceSession(maps_model())
    assert session.get_outputs()[0].type == "seq(map(int64,tensor(float)))"
    out = session.run(None, {"x": np.array([[0.25, 0.75]], np.float32)})[0]
    assert out == [{5: 0.25, 9: 0.75}]


def maps_model():
    from onnx import helper

    zip_map = helper.make_node("ZipMap", ["x"], ["y"], domain="ai.onnx.ml", classlabels_int64s=[5, 9])
    entry = helper.make_map_type_proto(TensorProto.INT64, helper.make_tensor_type_proto(FLOAT, []))
    graph = helper.make_graph([zip_map], "graph", [tensor("x", FLOAT, [None, 2])],
                              [typed("y", helper.make_sequence_type_proto(entry))])
    return helper.make_model(graph, ir_version=10, opset_imports=[
        helper.make_opsetid("", 21), helper.make_opsetid("ai.onnx.ml", 3)]).SerializeToString()


def test_maps_as_inputs(ort):
    from onnx import helper

    vectorize = helper.make_node("DictVectorizer", ["x"], ["y"], domain="ai.onnx.ml", string_vocabulary=["a", "b", "c"])
    entry = helper.make_map_type_proto(TensorProto.STRING, helper.make_tensor_type_proto(FLOAT, []))
    graph = helper.make_graph([vectorize], "graph", [typed("x", entry)], [tensor("y", FLOAT)])
    data = helper.make_model(graph, ir_version=10, opset_imports=[
        helper.make_opsetid("", 21), helper.make_opsetid("ai.onnx.ml", 3)]).SerializeToString()
    session = ort.InferenceSession(data)
    assert session.get_inputs()[0].type == "map(string,tensor(float))"
    assert session.run(None, {"x": {"c": 3.0, "a": 1.0}})[0].ravel().tolist() == [1, 0, 3]


def test_branches(ort):
    from onnx import helper

    then = helper.make_graph([node("Identity", "a", "t")], "then", [], [tensor("t", FLOAT, [2])])
    other = helper.make_graph([node("Relu", "a", "e")], "else", [], [tensor("e", FLOAT, [2])])
    session = ort.InferenceSession(model(
        [node("If", "c", "y", then_branch=then, else_branch=other)],
        [tensor("c", TensorProto.BOOL, []), tensor("a", FLOAT, [2])], [tensor("y", FLOAT, [2])]))
    a = np.array([-1, 1], np.float32)
    assert session.run(None, {"c": np.array(True), "a": a})[0].tolist() == [-1, 1]
    assert session.run(None, {"c": np.array(False), "a": a})[0].tolist() == [0, 1]


def test_extents_that_disagree_are_the_callers_mistake():
    inputs = [tensor(name, FLOAT, ["n", 2]) for name in "xy"]
    added = model([node("Add", "x y", "z")], inputs, [tensor("z", FLOAT, ["n", 2])])
    feed = {"x": np.ones((2, 2), np.float32), "y": np.ones((3, 2), np.float32)}
    with pytest.raises(state(tenon).InvalidArgument, match="n' is 2 in input 'x' but 3 in input 'y'"):
        tenon.InferenceSession(added).run(None, feed)
    # A name that means nothing to the nodes is no reason to refuse.
    feed["y"] = np.ones((1, 2), np.float32)
    assert tenon.InferenceSession(added).run(None, feed)[0].shape == (2, 2)
