"""tenon optimize."""

import os

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from oracles.peer import load_in_peer

from . import models
from .conftest import CANNOT_LOAD, DONE, FAILED, USAGE


@pytest.fixture
def detour(tmp_path):
    """y = relu(x @ w) with an Identity, a shape that is known and a node that nothing needs."""
    nodes = [
        helper.make_node("Identity", ["x"], ["x1"], "same"),
        helper.make_node("Shape", ["x1"], ["shape"], "shape of x"),
        helper.make_node("Reshape", ["x1", "shape"], ["x2"], "as it was"),
        helper.make_node("MatMul", ["x2", "w"], ["product"], "multiply"),
        helper.make_node("Exp", ["product"], ["unused"], "for nothing"),
        helper.make_node("Relu", ["product"], ["y"], "cut"),
    ]
    path = tmp_path / "detour.onnx"
    models.save(path, nodes, [models.tensor("x", [3, 4])], [models.tensor("y", [3, 2])],
                models.weights_of({"w": (4, 2), "nobody's": (5,)}))
    return path


def results(path):
    session = load_in_peer(os.fspath(path))
    x = np.arange(12, dtype=np.float32).reshape(3, 4) - 5
    return session.run(None, {"x": x})[0]


def nodes_of(path):
    return [node.op_type for node in onnx.load(path).graph.node]


def test_the_result_is_beside_the_model(tenon, detour):
    result = tenon("optimize", "-m", "detour.onnx")
    assert (result.code, result.err) == (DONE, "")
    assert "detour_opt.onnx: 2 nodes, before 6" in result.out
    written = detour.with_name("detour_opt.onnx")
    assert nodes_of(written) == ["MatMul", "Relu"]
    model = onnx.load(written)
    onnx.checker.check_model(model, full_check=True)
    assert [tensor.name for tensor in model.graph.initializer] == ["w"]
    assert [info.name for info in model.graph.value_info] == ["product"]
    assert [d.dim_value for d in model.graph.value_info[0].type.tensor_type.shape.dim] == [3, 2]
    np.testing.assert_array_equal(results(written), results(detour))


def test_the_second_run_finds_nothing_to_do(tenon, detour):
    tenon("optimize", "-m", "detour.onnx", "-o", "once.onnx")
    before = detour.with_name("once.onnx").stat()
    result = tenon("optimize", "-m", "once.onnx", "-o", "once.onnx", "--overwrite")
    assert result.code == DONE
    assert result.out == "already normalized: once.onnx (by its stamp)\n"
    after = detour.with_name("once.onnx").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_a_run_that_is_forced_writes_the_same_bytes(tenon, detour):
    tenon("optimize", "-m", "detour.onnx", "-o", "once.onnx")
    result = tenon("optimize", "-m", "once.onnx", "-o", "twice.onnx", "--force", "--format", "json")
    assert result.json["changes"] == []
    assert detour.with_name("once.onnx").read_bytes() == detour.with_name("twice.onnx").read_bytes()


def test_a_skip_says_how_the_output_came_about(tenon, detour):
    tenon("optimize", "-m", "detour.onnx", "-o", "once.onnx")
    result = tenon("optimize", "-m", "once.onnx", "-o", "copy.onnx")
    assert result.out in ("already normalized: once.onnx (by its stamp); copy.onnx shares its blocks\n",
                          "already normalized: once.onnx (by its stamp); copied to copy.onnx\n")
    assert detour.with_name("copy.onnx").read_bytes() == detour.with_name("once.onnx").read_bytes()


def test_a_model_without_a_stamp_can_be_normal(tenon, detour):
    tenon("optimize", "-m", "detour.onnx", "-o", "once.onnx")
    model = onnx.load(detour.with_name("once.onnx"))
    del model.metadata_props[:]
    onnx.save(model, detour.with_name("bare.onnx"))
    report = tenon("optimize", "-m", "bare.onnx", "-o", "copy.onnx", "--format", "json").json
    assert (report["status"], report["evidence"]) == ("already normalized", "no pass changes it")
    assert report["written"] in ("copy", "reflink")
    assert detour.with_name("copy.onnx").read_bytes() == detour.with_name("bare.onnx").read_bytes()


@pytest.mark.parametrize("edit", ["node", "weight values", "metadata", "declaration"])
def test_a_stamp_counts_only_for_what_it_was_made_for(tenon, detour, edit):
    tenon("optimize", "-m", "detour.onnx", "-o", "once.onnx")
    path = detour.with_name("once.onnx")
    model = onnx.load(path)
    if edit == "node":
        model.graph.node.insert(0, helper.make_node("Identity", ["x"], ["copy of x"]))
        model.graph.node[1].input[0] = "copy of x"
    elif edit == "weight values":
        tensor = numpy_helper.from_array(np.full((4, 2), 3, np.float32), "w")
        model.graph.initializer[0].CopyFrom(tensor)
    elif edit == "metadata":
        model.metadata_props.add(key="author", value="somebody")
    else:
        del model.graph.value_info[:]
    onnx.save(model, path)
    report = tenon("optimize", "-m", "once.onnx", "-o", "twice.onnx", "--format", "json").json
    # The weight is small enough for rules to ask about, so the stamp does not cover other values of it.
    expected = {"node": ("optimized", None), "weight values": ("already normalized", "no pass changes it"),
                "metadata": ("already normalized", "stamp"), "declaration": ("optimized", None)}
    assert (report["status"], report.get("evidence")) == expected[edit]


def test_checking_writes_nothing(tenon, detour, tmp_path):
    result = tenon("optimize", "-m", "detour.onnx", "--check")
    assert result.code == DONE
    assert "would be 2 nodes, before 6; nothing was written" in result.out
    assert os.listdir(tmp_path) == ["detour.onnx"]


def test_explaining_names_rule_node_and_reason(tenon, detour):
    result = tenon("optimize", "-m", "detour.onnx", "--explain")
    assert "remove_identity  same: it hands on its only operand\n    removed Identity 'same'\n" in result.out
    assert "remove_unused  for nothing: no output depends on it" in result.out


def test_capabilities_can_be_listed_and_switched(tenon, detour):
    names = [item["name"] for item in tenon("optimize", "--list-capabilities", "--format", "json").json]
    assert "remove-no-ops" in names
    assert "remove-no-ops" in tenon("optimize", "--list-capabilities").out
    tenon("optimize", "-m", "detour.onnx", "-o", "kept.onnx", "--disable", "remove-no-ops")
    assert "Identity" in nodes_of(detour.with_name("kept.onnx"))
    # More can be done than the stamp says.
    report = tenon("optimize", "-m", "kept.onnx", "-o", "all.onnx", "--format", "json").json
    assert report["status"] == "optimized"


def test_a_capability_that_is_off_is_enabled_by_name(tenon, tmp_path):
    nodes = [
        helper.make_node("Add", ["x", "bias"], ["sum"], "shift"),
        helper.make_node("Sigmoid", ["sum"], ["gate"], "open"),
        helper.make_node("Mul", ["sum", "gate"], ["y"], "pass"),
    ]
    models.save(tmp_path / "gated.onnx", nodes, [models.tensor("x", [3, 4])], [models.tensor("y", [3, 4])],
                models.weights_of({"bias": (4,)}))
    tenon("optimize", "-m", "gated.onnx", "-o", "plain.onnx")
    assert nodes_of(tmp_path / "plain.onnx") == ["Add", "Sigmoid", "Mul"]
    result = tenon("optimize", "-m", "gated.onnx", "-o", "fused.onnx", "--enable", "fuse-quick-gelu", "--explain")
    assert result.code == DONE
    assert "fuse_quick_gelu  pass: together the nodes compute x * sigmoid(alpha * x)\n" in result.out
    assert nodes_of(tmp_path / "fused.onnx") == ["Add", "QuickGelu"]
    expected = results(tmp_path / "gated.onnx")
    rounding = np.finfo(np.float32).eps * len(nodes) * np.abs(expected).max()
    np.testing.assert_allclose(results(tmp_path / "fused.onnx"), expected, rtol=0, atol=rounding)
    again = tenon("optimize", "-m", "fused.onnx", "-o", "fused.onnx", "--overwrite", "--enable", "fuse-quick-gelu")
    assert again.out == "already normalized: fused.onnx (by its stamp)\n"


def external(path, folder, nodes=("Identity", "Relu")):
    w = np.arange(4096, dtype=np.float32)
    names = ["x", *(f"v{i}" for i in range(len(nodes)))]
    made = [helper.make_node(op, [names[i]], [names[i + 1]]) for i, op in enumerate(nodes)]
    made.append(helper.make_node("Add", [names[-1], "w"], ["y"]))
    graph = helper.make_graph(made, "g", [models.tensor("x", [4096])], [models.tensor("y", [4096])],
                              [numpy_helper.from_array(w, "w")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    folder.mkdir(exist_ok=True)
    onnx.save(model, folder / path, save_as_external_data=True, location="weights.data", size_threshold=1024)


def test_external_data_stays_where_it_is(tenon, tmp_path):
    external("m.onnx", tmp_path / "here")
    inode = (tmp_path / "here/weights.data").stat().st_ino
    report = tenon("optimize", "-m", "here/m.onnx", "--format", "json").json
    assert report["data_files"] == [{"name": "weights.data", "written": "nothing"}]
    assert sorted(os.listdir(tmp_path / "here")) == ["m.onnx", "m_opt.onnx", "weights.data"]
    assert (tmp_path / "here/weights.data").stat().st_ino == inode
    assert nodes_of(tmp_path / "here/m_opt.onnx") == ["Relu", "Add"]


@pytest.mark.parametrize("nodes", [("Identity", "Relu"), ("Relu",)])
def test_external_data_goes_along_to_another_folder(tenon, tmp_path, nodes):
    external("m.onnx", tmp_path / "here", nodes)
    (tmp_path / "there").mkdir()
    report = tenon("optimize", "-m", "here/m.onnx", "-o", "there/n.onnx", "--format", "json").json
    assert report["data_files"][0]["written"] in ("copy", "reflink")
    text = tenon("optimize", "-m", "here/m.onnx", "-o", "there/n.onnx", "--overwrite").out
    assert "data file weights.data: " in text
    assert (tmp_path / "there/weights.data").read_bytes() == (tmp_path / "here/weights.data").read_bytes()
    session = load_in_peer(os.fspath(tmp_path / "there/n.onnx"))
    y, = session.run(None, {"x": np.zeros(4096, np.float32)})
    np.testing.assert_array_equal(y, np.arange(4096))


def test_data_that_is_there_is_not_replaced(tenon, tmp_path):
    external("m.onnx", tmp_path / "here")
    (tmp_path / "there").mkdir()
    (tmp_path / "there/weights.data").write_bytes(b"somebody else's")
    result = tenon("optimize", "-m", "here/m.onnx", "-o", "there/n.onnx")
    assert result.code == FAILED
    assert "weights.data" in result.err
    assert (tmp_path / "there/weights.data").read_bytes() == b"somebody else's"
    assert not (tmp_path / "there/n.onnx").exists()


def test_models_that_share_a_data_file_share_it_elsewhere(tenon, tmp_path):
    external("a.onnx", tmp_path / "here")
    (tmp_path / "here/b.onnx").write_bytes((tmp_path / "here/a.onnx").read_bytes())
    (tmp_path / "there").mkdir()
    assert tenon("optimize", "-m", "here/a.onnx", "-o", "there/a.onnx").code == DONE
    before = (tmp_path / "there/weights.data").stat()
    report = tenon("optimize", "-m", "here/b.onnx", "-o", "there/b.onnx", "--format", "json").json
    assert report["data_files"] == [{"name": "weights.data", "written": "nothing"}]
    after = (tmp_path / "there/weights.data").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    # One byte, and it is another file.
    data = bytearray((tmp_path / "there/weights.data").read_bytes())
    data[-1] ^= 1
    (tmp_path / "there/weights.data").write_bytes(data)
    assert tenon("optimize", "-m", "here/b.onnx", "-o", "there/c.onnx").code == FAILED


def test_listing_capabilities_takes_nothing_else(tenon, detour):
    for more in (["-m", "detour.onnx"], ["--check"], ["--enable", "fuse-gelu"], ["--config", "none.json"], ["--explain"]):
        assert tenon("optimize", "--list-capabilities", *more).code == USAGE


def test_mistakes_have_their_exit_codes(tenon, detour, tmp_path):
    assert tenon("optimize").code == USAGE
    assert tenon("optimize", "-m", "detour.onnx", "--enable", "no-such-thing").code == USAGE
    both = tenon("optimize", "-m", "detour.onnx", "--enable", "remove-no-ops", "--disable", "remove-no-ops")
    assert both.code == USAGE
    unknown = tenon("optimize", "-m", "detour.onnx", "--enable", "fuse-gelux")
    assert unknown.code == USAGE and "unknown capability 'fuse-gelux'; did you mean 'fuse-gelu'?" in unknown.err
    assert tenon("optimize", "-m", "missing.onnx").code == CANNOT_LOAD
    assert tenon("optimize", "-m", ".").code == CANNOT_LOAD
    (tmp_path / "broken.onnx").write_bytes(b"\xff\xff\xff")
    assert tenon("optimize", "-m", "broken.onnx").code == CANNOT_LOAD
    (tmp_path / "detour_opt.onnx").write_bytes(b"mine")
    existing = tenon("optimize", "-m", "detour.onnx")
    assert existing.code == FAILED and "--overwrite" in existing.err
    assert (tmp_path / "detour_opt.onnx").read_bytes() == b"mine"
    own = tenon("optimize", "-m", "detour.onnx", "-o", "detour.onnx")
    assert own.code == FAILED and "--overwrite" in own.err


def test_constant_nodes_with_large_values_become_initializers(tenon, tmp_path):
    value = numpy_helper.from_array(np.arange(1000, dtype=np.float32), "inside")
    nodes = [helper.make_node("Constant", [], ["table"], value=value), helper.make_node("Add", ["x", "table"], ["y"])]
    models.save(tmp_path / "m.onnx", nodes, [models.tensor("x", [1000])], [models.tensor("y", [1000])], [])
    tenon("optimize", "-m", "m.onnx")
    graph = onnx.load(tmp_path / "m_opt.onnx").graph
    assert [node.op_type for node in graph.node] == ["Add"]
    assert [tensor.name for tensor in graph.initializer] == ["table"]
    np.testing.assert_array_equal(numpy_helper.to_array(graph.initializer[0]), np.arange(1000))


def test_constant_nodes_with_values_in_data_files_become_initializers_at_once(tenon, tmp_path):
    value = numpy_helper.from_array(np.array([0]), "value")
    value.ClearField("raw_data")
    value.data_location = TensorProto.EXTERNAL
    for key, text in (("location", "m.data"), ("offset", "0"), ("length", "8")):
        value.external_data.add(key=key, value=text)
    (tmp_path / "m.data").write_bytes(np.array([0]).tobytes())
    nodes = [helper.make_node("Constant", [], ["axes"], value=value),
             helper.make_node("Slice", ["x", "start", "end", "axes"], ["y"])]
    start, end = (numpy_helper.from_array(np.array([n]), name) for name, n in (("start", 0), ("end", 2)))
    graph = helper.make_graph(nodes, "g", [models.tensor("x", [3])], [models.tensor("y", [2])], [start, end])
    (tmp_path / "m.onnx").write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)],
                                                        ir_version=10).SerializeToString())
    assert tenon("optimize", "-m", "m.onnx", "-o", "once.onnx").code == DONE
    tenon("optimize", "-m", "once.onnx", "-o", "twice.onnx", "--force")
    assert (tmp_path / "once.onnx").read_bytes() == (tmp_path / "twice.onnx").read_bytes()
    assert list(onnx.load(tmp_path / "once.onnx").graph.node[0].input) == ["x", "start", "end", "start"]


def test_what_a_removed_node_declared_is_known_of_what_it_handed_on(tenon, tmp_path):
    nodes = [helper.make_node("SequenceConstruct", ["x"], ["s"]), helper.make_node("SequenceAt", ["s", "zero"], ["a"]),
             helper.make_node("Identity", ["a"], ["y"]), helper.make_node("Relu", ["a"], ["r"]), helper.make_node("Neg", ["r"], ["z"])]
    models.save(tmp_path / "m.onnx", nodes, [models.tensor("x", None)], [models.tensor("y", [2, 3]), models.tensor("z", None)],
                {"zero": np.int64(0)})
    assert tenon("optimize", "-m", "m.onnx", "-o", "once.onnx").code == DONE
    (declared,) = [v for v in onnx.load(tmp_path / "once.onnx").graph.value_info if v.name == "r"]
    assert [d.dim_value for d in declared.type.tensor_type.shape.dim] == [2, 3]
    tenon("optimize", "-m", "once.onnx", "-o", "twice.onnx", "--force")
    assert (tmp_path / "once.onnx").read_bytes() == (tmp_path / "twice.onnx").read_bytes()


def test_functions_become_nodes(tenon, tmp_path):
    function = helper.make_function("own", "Twice", ["a"], ["b"], [helper.make_node("Add", ["a", "a"], ["b"])],
                                    [helper.make_opsetid("", 21)])
    unused = helper.make_function("own", "Never", ["a"], ["b"], [helper.make_node("Neg", ["a"], ["b"])],
                                  [helper.make_opsetid("", 21)])
    graph = helper.make_graph([helper.make_node("Twice", ["x"], ["y"], domain="own")], "g",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])])
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("own", 1)]
    onnx.save(helper.make_model(graph, functions=[function, unused], opset_imports=opsets, ir_version=10),
              tmp_path / "f.onnx")
    tenon("optimize", "-m", "f.onnx")
    model = onnx.load(tmp_path / "f_opt.onnx")
    assert [node.op_type for node in model.graph.node] == ["Add"]
    assert len(model.functions) == 0
    tenon("optimize", "-m", "f.onnx", "-o", "calls.onnx", "--disable", "inline-functions")
    model = onnx.load(tmp_path / "calls.onnx")
    assert [node.op_type for node in model.graph.node] == ["Twice"]
    assert [f.name for f in model.functions] == ["Twice"]


MICROSOFT_NODES = {
    "SkipLayerNormalization": (["x", "x", "w", "b"], {}),
    "BiasGelu": (["x", "b"], {}),
    "FusedMatMul": (["x", "x"], {"alpha": 0.5, "transB": 1}),
    "MultiHeadAttention": (["x", "x", "x"], {"num_heads": 2}),
    "RotaryEmbedding": (["x", "p", "c", "c"], {"num_heads": 2}),
}


@pytest.mark.parametrize("place", ["branch", "function"])
@pytest.mark.parametrize("op_type", MICROSOFT_NODES)
def test_nodes_of_onnxruntime_stay_whole_when_what_is_around_them_goes(tenon, tmp_path, op_type, place):
    inputs, attributes = MICROSOFT_NODES[op_type]
    rng = np.random.default_rng(0)
    weights = {"w": rng.normal(size=8), "b": rng.normal(size=8), "c": rng.normal(size=(4, 2))}
    weights = {name: values.astype(np.float32) for name, values in weights.items()}
    weights |= {"go": np.array(True), "p": np.array([0])}

    def inner(name):
        return [helper.make_node(op_type, inputs, [name], name, domain="com.microsoft", **attributes)]

    def branch(name):
        return helper.make_graph(inner(name), name, [], [helper.make_tensor_value_info(name, TensorProto.FLOAT, None)])

    opsets = [helper.make_opsetid("", 23), helper.make_opsetid("com.microsoft", 1), helper.make_opsetid("own", 1)]
    arguments = list(dict.fromkeys(inputs))
    nodes, functions = [helper.make_node("If", ["go"], ["y"], then_branch=branch("t"), else_branch=branch("e"))], []
    if place == "function":
        nodes = [helper.make_node("Inner", arguments, ["y"], domain="own")]
        functions = [helper.make_function("own", "Inner", arguments, ["r"], inner("r"), opsets[:2])]
    graph = helper.make_graph(nodes, "g", [models.tensor("x", [1, 4, 8])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
                              [numpy_helper.from_array(values, name) for name, values in weights.items()])
    onnx.save(helper.make_model(graph, functions=functions, opset_imports=opsets, ir_version=10), tmp_path / "m.onnx")
    assert tenon("optimize", "-m", "m.onnx").code == DONE
    (node,) = onnx.load(tmp_path / "m_opt.onnx").graph.node
    assert (node.domain, node.op_type) == ("com.microsoft", op_type)
    assert {a.name for a in node.attribute} == set(attributes)
    feeds = {"x": rng.normal(size=(1, 4, 8)).astype(np.float32)}
    before, after = (load_in_peer(os.fspath(tmp_path / name)).run(None, feeds)[0] for name in ("m.onnx", "m_opt.onnx"))
    np.testing.assert_array_equal(after, before)
    assert tenon("optimize", "-m", "m_opt.onnx", "--check", "--force").out.endswith("would be 1 nodes, before 1; nothing was written\n")


def test_a_call_that_stays_one_keeps_its_branch(tenon, tmp_path):
    function = helper.make_function("own", "Twice", ["a"], ["b"], [helper.make_node("Add", ["a", "a"], ["b"])],
                                    [helper.make_opsetid("", 21)])

    def branch(name):
        return helper.make_graph([helper.make_node("Twice", ["x"], [name], domain="own")], name, [],
                                 [helper.make_tensor_value_info(name, TensorProto.FLOAT, None)])

    graph = helper.make_graph([helper.make_node("If", ["go"], ["y"], then_branch=branch("t"), else_branch=branch("e"))], "g",
                              [models.tensor("x", [2])], [models.tensor("y", [2])], [numpy_helper.from_array(np.array(True), "go")])
    onnx.save(helper.make_model(graph, functions=[function], ir_version=10,
                                opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("own", 1)]), tmp_path / "m.onnx")
    result = tenon("optimize", "-m", "m.onnx", "-o", "calls.onnx", "--disable", "inline-functions")
    assert result.code == DONE and nodes_of(tmp_path / "calls.onnx") == ["If"]
    tenon("optimize", "-m", "m.onnx", "-o", "nodes.onnx")
    assert nodes_of(tmp_path / "nodes.onnx") == ["Add"]


def test_compiled_models_are_refused(tenon, detour):
    tenon("compile", "-m", "detour.onnx")
    result = tenon("optimize", "-m", "detour_ctx.onnx")
    assert result.code == FAILED and "already compiled; name 'detour.onnx', from which it was made" in result.err
    assert not detour.with_name("detour_ctx_opt.onnx").exists()


def test_data_files_are_replaced_when_asked(tenon, detour, tmp_path):
    onnx.save(onnx.load(detour), tmp_path / "outside.onnx", save_as_external_data=True, location="w.data", size_threshold=0)
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "w.data").write_text("somebody's")
    line = ["optimize", "-m", "outside.onnx", "-o", "there/outside.onnx"]
    result = tenon(*line)
    assert result.code == FAILED and "w.data' exists" in result.err and "add --overwrite to replace it" in result.err
    assert (tmp_path / "there" / "w.data").read_text() == "somebody's"
    assert tenon(*line, "--overwrite").code == DONE
    np.testing.assert_array_equal(results(tmp_path / "there" / "outside.onnx"), results(detour))
