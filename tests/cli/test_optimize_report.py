"""What tenon optimize says about its changes: of each capability, of each change, and in the nodes themselves."""

import json
import os

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from oracles.peer import load_in_peer

from . import models
from .conftest import DONE, USAGE

KEY = "tenon.made_by"


@pytest.fixture
def gelu(tmp_path):
    """y = gelu(relu(x)), written out, behind an Identity."""
    nodes = [
        helper.make_node("Identity", ["x"], ["x1"], "same"),
        helper.make_node("Relu", ["x1"], ["r"], "cut", doc_string="kept"),
        helper.make_node("Div", ["r", "root"], ["d"], "divide"),
        helper.make_node("Erf", ["d"], ["e"], "error"),
        helper.make_node("Add", ["e", "one"], ["p"], "shift"),
        helper.make_node("Mul", ["r", "p"], ["q"], "gate"),
        helper.make_node("Mul", ["q", "half"], ["y"], "halve"),
    ]
    numbers = {"root": 2**0.5, "one": 1, "half": 0.5}
    weights = {name: np.float32(number) for name, number in numbers.items()}
    models.save(tmp_path / "gelu.onnx", nodes, [models.tensor("x", ["n", 4])], [models.tensor("y", ["n", 4])], weights)
    return tmp_path / "gelu.onnx"


def made_by(path):
    nodes = onnx.load(path).graph.node
    return {node.name: {p.key: p.value for p in node.metadata_props}.get(KEY) for node in nodes}


def test_nodes_say_what_made_them(tenon, gelu):
    assert tenon("optimize", "-m", "gelu.onnx", "-o", "fused.onnx", "--enable", "fuse-gelu").code == DONE
    fused = gelu.with_name("fused.onnx")
    onnx.checker.check_model(onnx.load(fused), full_check=True)
    names = made_by(fused)
    assert names.pop("cut") is None  # it was there before
    (text,) = names.values()
    rules, _, nodes = text.partition(" from ")
    assert rules == "fuse_gelu"
    assert set(nodes.split(", ")) == {"divide", "error", "shift", "gate", "halve"}
    load_in_peer(os.fspath(fused))
    # Nothing is added by looking again, and nothing lost.
    tenon("optimize", "-m", "fused.onnx", "-o", "again.onnx", "--enable", "fuse-gelu", "--force")
    assert gelu.with_name("again.onnx").read_bytes() == fused.read_bytes()


def test_what_made_a_node_is_passed_on_to_the_next_one(tenon, gelu):
    model = onnx.load(gelu)
    model.graph.node[1].CopyFrom(helper.make_node("Add", ["x1", "bias"], ["r"], "cut"))
    model.graph.initializer.append(numpy_helper.from_array(np.ones(4, np.float32), "bias"))
    onnx.save(model, gelu)
    tenon("optimize", "-m", "gelu.onnx", "-o", "once.onnx", "--enable", "fuse-gelu")
    result = tenon("optimize", "-m", "once.onnx", "-o", "twice.onnx", "--enable", "fuse-gelu", "--enable", "fuse-bias-gelu")
    assert result.code == DONE
    (text,) = made_by(gelu.with_name("twice.onnx")).values()
    rules, _, nodes = text.partition(" from ")
    assert rules == "fuse_gelu, fuse_bias_gelu"
    assert set(nodes.split(", ")) == {"divide", "error", "shift", "gate", "halve", "cut"}


def test_constants_that_are_computed_say_so_too(tenon, tmp_path):
    nodes = [
        helper.make_node("Shape", ["x"], ["s"], "shape of x"),
        helper.make_node("Gather", ["s", "zero"], ["i"], "rows"),
        helper.make_node("Concat", ["i", "rest"], ["t"], "target", axis=0),
        helper.make_node("Reshape", ["x", "t"], ["y"], "flatten"),
    ]
    weights = {"zero": np.array([0]), "rest": np.array([2, -1])}
    models.save(tmp_path / "m.onnx", nodes, [models.tensor("x", [3, 4])], [models.tensor("y", [3, 2, 2])], weights)
    tenon("optimize", "-m", "m.onnx")
    (constant, reshape) = onnx.load(tmp_path / "m_opt.onnx").graph.node
    assert constant.op_type == "Constant" and reshape.op_type == "Reshape"
    (entry,) = constant.metadata_props
    assert entry.key == KEY and entry.value.startswith("fold_constants from ")
    assert "target" in entry.value


def test_nodes_of_functions_say_which_call_they_were(tenon, tmp_path):
    opset = helper.make_opsetid("", 21)
    function = helper.make_function("own", "Twice", ["a"], ["b"], [helper.make_node("Add", ["a", "a"], ["b"])], [opset])
    value = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Twice", ["x"], ["y"], "call", domain="own")], "g", value[:1], value[1:])
    onnx.save(helper.make_model(graph, functions=[function], opset_imports=[opset, helper.make_opsetid("own", 1)], ir_version=10),
              tmp_path / "f.onnx")
    tenon("optimize", "-m", "f.onnx")
    assert list(made_by(tmp_path / "f_opt.onnx").values()) == ["inline_functions from call"]


def test_each_change_names_its_capability_and_its_bytes(tenon, gelu):
    report = tenon("optimize", "-m", "gelu.onnx", "--enable", "fuse-gelu", "--format", "json").json
    (same, fused) = report["changes"]
    assert (same["pass"], same["rule"], same["node"], same["bytes"]) == ("remove-no-ops", "remove_identity", "same", 0)
    # Three numbers of four bytes are not read any more.
    assert (fused["pass"], fused["rule"], fused["bytes"]) == ("fuse-gelu", "fuse_gelu", -12)
    assert len(fused["removed"]) == 5 and fused["added"] == ["Gelu"]
    assert "drift" not in fused and "drift" not in report


def test_changes_can_go_to_a_file(tenon, gelu):
    result = tenon("optimize", "-m", "gelu.onnx", "--explain", "changes.json")
    assert result.code == DONE and "Identity" not in result.out
    written = json.loads(gelu.with_name("changes.json").read_text())
    assert [change["rule"] for change in written["changes"]] == ["remove_identity"]
    assert tenon("optimize", "-m", "gelu.onnx", "-o", "b.onnx", "--explain", "gelu.onnx").code == USAGE


def test_checking_tells_the_effect_of_each_capability_alone(tenon, gelu):
    result = tenon("optimize", "-m", "gelu.onnx", "--enable", "fuse-gelu", "--check", "--format", "json")
    effects = {effect["capability"]: effect for effect in result.json["effects"]}
    assert effects["fuse-gelu"] == {"capability": "fuse-gelu", "changes": 1, "nodes": {"before": 7, "after": 3}, "bytes": -12}
    assert effects["remove-no-ops"]["nodes"] == {"before": 7, "after": 6}
    assert effects["merge-equal-nodes"]["changes"] == 0
    assert result.json["nodes"] == {"before": 7, "after": 2}
    assert set(effects) == set(result.json["capabilities"]["on"])
    text = tenon("optimize", "-m", "gelu.onnx", "--enable", "fuse-gelu", "--check").out
    assert "fuse-gelu                    1 changes, 3 nodes, before 7, -12 bytes\n" in text
    assert os.listdir(gelu.parent) == ["gelu.onnx"]


def test_checking_tells_why_a_rule_does_not_fire(tenon, gelu):
    model = onnx.load(gelu)
    model.graph.output.append(helper.make_tensor_value_info("e", TensorProto.FLOAT, None))
    onnx.save(model, gelu)
    result = tenon("optimize", "-m", "gelu.onnx", "--enable", "fuse-gelu", "--check", "--format", "json")
    expected = {"pass": "fuse-gelu", "rule": "fuse_gelu", "node": "halve", "reason": "something else reads 'e' as well"}
    assert expected in result.json["misses"]
    text = tenon("optimize", "-m", "gelu.onnx", "--enable", "fuse-gelu", "--check", "--explain").out
    assert "fuse_gelu  halve stays: something else reads 'e' as well\n" in text
    text = tenon("optimize", "-m", "gelu.onnx", "--enable", "fuse-gelu", "--check").out
    assert "fuse-gelu leaves halve: something else reads 'e' as well; and 1 more, which --explain lists\n" in text
    tenon("optimize", "-m", "gelu.onnx", "--enable", "fuse-gelu", "--check", "--explain", "changes.json")
    assert expected in json.loads(gelu.with_name("changes.json").read_text())["misses"]


def test_a_model_without_changes_tells_why_a_capability_does_nothing(tenon, gelu):
    model = onnx.load(gelu)
    model.graph.output.append(helper.make_tensor_value_info("e", TensorProto.FLOAT, None))
    onnx.save(model, gelu)
    tenon("optimize", "-m", "gelu.onnx", "-o", "normal.onnx")
    flags = ["-m", "normal.onnx", "--enable", "fuse-gelu", "--check"]
    reason = "something else reads 'e' as well"
    last = "already normalized: normal.onnx (no pass changes it)\n"
    assert tenon("optimize", *flags).out == f"fuse-gelu leaves halve: {reason}; and 1 more, which --explain lists\n{last}"
    text = tenon("optimize", *flags, "--explain").out
    assert f"fuse_gelu  halve stays: {reason}\n" in text and text.endswith(last)
    # What is on for everybody is not worth a line.
    assert tenon("optimize", "-m", "normal.onnx", "--check", "--force").out.count(" leaves ") == 0


def test_drift_of_rounding_is_explained(tenon, gelu):
    result = tenon("optimize", "-m", "gelu.onnx", "-o", "f.onnx", "--enable", "fuse-gelu", "--drift", "--seed", "3", "--format", "json")
    (same, fused) = result.json["changes"]
    assert "drift" not in same
    assert fused["drift"]["output"] == "y" and fused["drift"]["within"]
    (total,) = result.json["drift"]["outputs"]
    assert total["name"] == "y" and total["within"] and total["max_abs"] == fused["drift"]["max_abs"] <= total["allowed"]
    assert result.json["drift"]["seed"] == 3
    text = tenon("optimize", "-m", "gelu.onnx", "-o", "g.onnx", "--enable", "fuse-gelu", "--drift", "--explain").out
    assert "    drift   y " in text and "drift of all changes together, with inputs of seed 0:\n  y " in text
    assert gelu.with_name("f.onnx").read_bytes() == gelu.with_name("g.onnx").read_bytes()
    assert tenon("optimize", "-m", "gelu.onnx", "-o", "h.onnx", "--seed", "3").code == USAGE


def test_drift_of_what_is_not_rounding_is_told(tenon, tmp_path):
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "scale", "zero"], ["q"], "coarse"),
        helper.make_node("DequantizeLinear", ["q", "scale", "zero"], ["d"], "back"),
        helper.make_node("Neg", ["d"], ["y"], "negate"),
    ]
    weights = {"scale": np.float32(0.5), "zero": np.int8(0)}
    models.save(tmp_path / "m.onnx", nodes, [models.tensor("x", [64])], [models.tensor("y", [64])], weights)
    report = tenon("optimize", "-m", "m.onnx", "--enable", "remove-quantize-rounding", "--drift", "--format", "json").json
    (change,) = report["changes"]
    assert 0.05 < change["drift"]["max_abs"] <= 0.25  # half of a step
    (total,) = report["drift"]["outputs"]
    assert total["max_abs"] == change["drift"]["max_abs"]


def test_a_configuration_switches_capabilities_and_flags_override_it(tenon, gelu):
    config = gelu.with_name("c.json")
    config.write_text(json.dumps({"optimize": {"enable": ["fuse-gelu"], "keep_functions": True}, "output": "elsewhere"}))
    on = tenon("optimize", "-m", "gelu.onnx", "--config", "c.json", "--format", "json").json["capabilities"]["on"]
    assert "fuse-gelu" in on and "inline-functions" not in on
    overridden = tenon("optimize", "-m", "gelu.onnx", "-o", "b.onnx", "--config", "c.json", "--disable", "fuse-gelu",
                       "--enable", "inline-functions", "--format", "json").json["capabilities"]["on"]
    assert "fuse-gelu" not in overridden and "inline-functions" in overridden
    config.write_text(json.dumps({"optimise": {}, "optimize": {"enable": ["no-such-thing"], "disable": 3}}))
    wrong = tenon("optimize", "-m", "gelu.onnx", "-o", "d.onnx", "--config", "c.json")
    assert wrong.code == USAGE
    assert "optimise" in wrong.err and "no-such-thing" in wrong.err and "optimize.disable" in wrong.err


def test_what_is_switched_on_with_another_one_is_said(tenon, gelu):
    result = tenon("optimize", "-m", "gelu.onnx", "--enable", "fuse-group-query-attention")
    assert "enabled fuse-rotary-embedding as well: fuse-group-query-attention needs it\n" in result.out
