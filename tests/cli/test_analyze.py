"""tenon analyze: providers, kernels, fallbacks with their reasons, suggestions, reports."""

import json

import numpy as np
import pytest
from onnx import helper

from . import models
from .conftest import CANNOT_LOAD, DONE, FAILED, USAGE
from .pages import Drawing, Page


def mixed(path):
    """A product, an op that only the reference has, and a constant expression."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["product"], name="multiply"),
        helper.make_node("Relu", ["product"], ["cut"], name="cut"),
        helper.make_node("Det", ["cut"], ["y"], name="determinant"),
        helper.make_node("Mul", ["w", "w"], ["squares"], name="square"),
        helper.make_node("Add", ["y", "squares"], ["z"], name="shift"),
    ]
    return models.save(path, nodes, [models.tensor("x", [2, 2])], [models.tensor("z", [2, 2])],
                       {"w": np.eye(2, dtype=np.float32)})


def helped(path):
    """The reference runs the If until its condition is folded."""
    branches = {}
    for name, op in (("then_branch", "Relu"), ("else_branch", "Det")):
        node = helper.make_node(op, ["x"], [f"{name}_y"], name=name)
        branches[name] = helper.make_graph([node], name, [], [helper.make_tensor_value_info(f"{name}_y", 1, None)])
    nodes = [helper.make_node("If", ["condition"], ["y"], name="choose", **branches)]
    return models.save(path, nodes, [models.tensor("x", [2, 2])], [models.tensor("y", None)],
                       {"condition": np.array(True)})


def analysis(tenon, path, *arguments):
    result = tenon("analyze", path, "--format", "json", *arguments)
    assert result.code == DONE, result.err
    return result.json


def by_name(found):
    return {node["name"]: node for node in found["nodes"]}


class TestPlacement:
    def test_every_node_has_its_provider(self, tenon, tmp_path):
        found = analysis(tenon, mixed(tmp_path / "m.onnx"))
        nodes = by_name(found)
        assert {name: node["provider"] for name, node in nodes.items()} == {
            "multiply": "cpu", "cut": "cpu", "determinant": "reference", "square": "weights", "shift": "cpu"}
        assert nodes["multiply"]["kernel"] == nodes["cut"]["kernel"] == "cpu/PackedMatMul"
        assert nodes["multiply"]["with"] == ["cut"] and nodes["cut"]["with"] == ["multiply"]
        assert nodes["determinant"]["kernel"] == "reference/Det"
        assert nodes["determinant"]["reasons"] == ["the provider 'cpu' has no kernel for Det"]
        summary = found["summary"]
        assert summary["nodes"] == 5 and summary["fallbacks"] == 1
        assert summary["providers"] == {"cpu": 3, "reference": 1, "weights": 1}
        assert sum(kernel["nodes"] for kernel in summary["kernels"]) == 4

    def test_parts_of_a_function_that_a_kernel_computes_whole_are_in_its_step(self, tenon, tmp_path):
        numbers = {"root": 2**0.5, "one": 1.0, "half": 0.5}
        nodes = [
            *(helper.make_node("Constant", [], [name], value_float=number) for name, number in numbers.items()),
            helper.make_node("MatMul", ["x", "w"], ["m"], name="multiply"),
            helper.make_node("Div", ["m", "root"], ["d"], name="divide"),
            helper.make_node("Erf", ["d"], ["e"], name="error"),
            helper.make_node("Add", ["e", "one"], ["p"], name="shift"),
            helper.make_node("Mul", ["m", "p"], ["q"], name="gate"),
            helper.make_node("Mul", ["q", "half"], ["y"], name="halve"),
        ]
        path = models.save(tmp_path / "m.onnx", nodes, [models.tensor("x", [2, 4])], [models.tensor("y", [2, 4])],
                           {"w": np.eye(4, dtype=np.float32)})
        found = analysis(tenon, path, "--fail-on", "reference")
        assert found["summary"]["fallbacks"] == 0 and found["summary"]["steps"] == 1 and found["suggestions"] == []
        names = {node["name"] for node in found["nodes"]}
        for node in found["nodes"]:
            assert (node["kernel"], node["reasons"]) == ("cpu/PackedMatMul", [])
            assert set(node["with"]) == names - {node["name"]}

    def test_kernels_are_those_that_inspect_shows(self, tenon, tmp_path):
        path = mixed(tmp_path / "m.onnx")
        shown = tenon("inspect", path, "--kernels", "--format", "json").json["kernels"]
        found = {kernel["kernel"] for kernel in analysis(tenon, path)["summary"]["kernels"]}
        assert found == {entry["kernel"] for entry in shown}

    def test_reference_as_target(self, tenon, tmp_path):
        found = analysis(tenon, mixed(tmp_path / "m.onnx"), "--target", "reference")
        assert {node["provider"] for node in found["nodes"]} == {"reference"}

    def test_bodies(self, tenon, tmp_path):
        found = analysis(tenon, helped(tmp_path / "m.onnx"), "--no-optimize")
        nodes = by_name(found)
        assert nodes["choose"]["provider"] == "control" and nodes["choose"]["depth"] == 0
        assert nodes["else_branch"]["depth"] == 1 and nodes["else_branch"]["provider"] == "reference"

    def test_the_normal_form_is_what_counts(self, tenon, tmp_path):
        path = models.save(tmp_path / "m.onnx", [helper.make_node("Identity", ["x"], ["a"], name="same"),
                                                 helper.make_node("Relu", ["a"], ["y"], name="cut")],
                           [models.tensor("x", [2])], [models.tensor("y", [2])])
        assert set(by_name(analysis(tenon, path))) == {"cut"}
        assert set(by_name(analysis(tenon, path, "--no-optimize"))) == {"same", "cut"}

    def test_unknown_ops(self, tenon, tmp_path):
        found = analysis(tenon, models.unknown_op(tmp_path / "m.onnx"))
        assert found["error"] and found["summary"]["providers"] == {"none": 1}
        assert found["nodes"][0]["reasons"] == ["Tenon does not know the op"]

    def test_weights_that_are_missing_are_named(self, tenon, tmp_path):
        path = models.external(tmp_path / "m.onnx", "m.data", shape=(2000,))
        (tmp_path / "m.data").write_bytes(b"")
        result = tenon("analyze", path)
        assert result.code == 1 and "initializer 'w'" in result.err and "'m.data', which has only 0 bytes" in result.err


class TestSuggestions:
    def test_what_would_remove_a_fallback(self, tenon, tmp_path):
        path = helped(tmp_path / "m.onnx")
        found = analysis(tenon, path, "--disable", "inline-constant-if")
        assert found["summary"]["fallbacks"] == 1
        suggestion, = found["suggestions"]
        assert suggestion["capability"] == "inline-constant-if" and suggestion["nodes"] == ["else_branch"]
        assert suggestion["fires"] == 1
        assert analysis(tenon, path)["suggestions"] == []

    def test_nothing_is_suggested_that_helps_nothing(self, tenon, linear):
        assert analysis(tenon, linear, "--disable", "inline-constant-if")["suggestions"] == []

    def test_for_another_consumer_everything_helps_that_applies(self, tenon, tmp_path):
        path = models.save(tmp_path / "m.onnx", [helper.make_node("Identity", ["x"], ["a"], name="same"),
                                                 helper.make_node("Relu", ["a"], ["y"], name="cut")],
                           [models.tensor("x", [2])], [models.tensor("y", [2])])
        found = analysis(tenon, path, "--disable", "remove-no-ops", "--consumer", "onnxruntime")
        assert "remove-no-ops" in [suggestion["capability"] for suggestion in found["suggestions"]]


class TestReports:
    def test_text(self, tenon, tmp_path):
        result = tenon("analyze", mixed(tmp_path / "m.onnx"))
        assert "determinant (Det): the provider 'cpu' has no kernel for Det" in result.out
        assert "square" not in result.out and "square" in tenon("analyze", "m.onnx", "--nodes").out

    def test_json(self, tenon, tmp_path):
        path = mixed(tmp_path / "m.onnx")
        assert tenon("analyze", path, "--report", "a.json").code == DONE
        assert json.loads((tmp_path / "a.json").read_text()) == analysis(tenon, path)

    def test_html_needs_nothing_else_and_no_scripts(self, tenon, tmp_path):
        assert tenon("analyze", mixed(tmp_path / "m<b>.onnx"), "--report", "a.html").code == DONE
        text = (tmp_path / "a.html").read_text()
        page = Page(text)
        assert page.scripts == 0 and page.loads == []
        assert any(part.endswith("m<b>.onnx") for part in page.texts)
        assert page.links and page.links <= page.ids
        drawing = Drawing(text)
        assert [box.kind for box in drawing.boxes] == ["cpu", "cpu", "reference", "weights", "cpu"]
        assert len(drawing.lines) == 4 and not drawing.overlaps()

    def test_long_lines_pass_no_box(self, tenon, tmp_path):
        """A chain with a value that is read again far below, and three branches."""
        nodes = [helper.make_node("Det", ["x"], ["v0"], "top")]
        nodes += [helper.make_node("Sin", [f"v{i}"], [f"v{i + 1}"], f"link {i}") for i in range(6)]
        nodes += [helper.make_node("Cos", ["v1"], [f"b{i}"], f"branch {i}") for i in range(3)]
        nodes += [helper.make_node("Sum", ["v6", "v0", "b0", "b1", "b2"], ["y"], "all")]
        path = models.save(tmp_path / "m.onnx", nodes, [models.tensor("x", [2, 2, 2])], [models.tensor("y", [2])], {})
        assert tenon("analyze", path, "--no-optimize", "--target", "reference", "--report", "a.html").code == DONE
        drawing = Drawing((tmp_path / "a.html").read_text())
        assert len(drawing.boxes) == 11 and len(drawing.lines) == 14
        assert not drawing.overlaps() and not drawing.crossed_boxes()

    def test_existing_reports_stay(self, tenon, linear, tmp_path):
        (tmp_path / "a.json").write_text("mine")
        assert tenon("analyze", linear, "--report", "a.json").code == FAILED
        assert (tmp_path / "a.json").read_text() == "mine"
        assert tenon("analyze", linear, "--report", "a.json", "--overwrite").code == DONE

    def test_fail_on_reference(self, tenon, linear, tmp_path):
        path = mixed(tmp_path / "m.onnx")
        assert tenon("analyze", path, "--fail-on", "reference").code == FAILED
        assert tenon("analyze", linear, "--fail-on", "reference").code == DONE


@pytest.mark.parametrize("arguments", [["--report", "x.txt"], ["--enable", "no-such"], ["--target", "gpu"],
                                       ["--no-optimize", "--disable", "fold-constants"],
                                       ["--enable", "fold-constants", "--disable", "fold-constants"]], ids=str)
def test_wrong_flags(tenon, linear, arguments):
    assert tenon("analyze", linear, *arguments).code == USAGE


def test_what_cannot_be_analyzed(tenon, linear, tmp_path):
    assert tenon("analyze", "missing.onnx").code == CANNOT_LOAD
    tenon("compile", "-m", linear)
    result = tenon("analyze", "linear_ctx.onnx")
    assert result.code == CANNOT_LOAD and "already compiled; name 'linear.onnx', from which it was made" in result.err


def test_a_change_of_the_shape_alone_is_no_fallback(tenon, tmp_path):
    nodes = [helper.make_node("Relu", ["x"], ["a"], "cut"), helper.make_node("Reshape", ["a", "shape"], ["b"], "reshape"),
             helper.make_node("Squeeze", ["b", "axis"], ["c"], "squeeze"), helper.make_node("Exp", ["c"], ["y"], "grow")]
    path = models.save(tmp_path / "m.onnx", nodes, [models.tensor("x", [2, 2])], [models.tensor("y", [4])],
                       {"shape": np.array([1, 4]), "axis": np.array([0])})
    found = tenon("analyze", path, "--fail-on", "reference", "--format", "json")
    assert found.code == DONE and found.json["summary"]["fallbacks"] == 0
    assert [node["provider"] for node in found.json["nodes"]] == ["cpu", "view", "view", "cpu"]
    found = tenon("analyze", path, "--target", "reference", "--format", "json").json
    assert {node["provider"] for node in found["nodes"]} == {"reference"}
