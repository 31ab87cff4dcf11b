"""tenon inspect and tenon sys."""

import platform
import re

import pytest
from onnx import helper

from . import models
from .conftest import CANNOT_RUN, DONE, USAGE
from .pages import Drawing, Page


def test_summary(tenon, linear):
    result = tenon("inspect", linear)
    assert (result.code, result.err) == (DONE, "")
    assert "hand" in result.out
    assert re.search(r"nodes +3\n", result.out)
    assert re.search(r"weights +2, 24 B\n", result.out)
    assert re.search(r"\ninputs\n  x +float\[n, 2\]\n", result.out)
    assert re.search(r"\noutputs\n  y +float\[n, 2\]\n", result.out)


def test_summary_as_json(tenon, linear):
    summary = tenon("inspect", linear, "--format", "json").json["summary"]
    assert summary["nodes"] == 3
    assert summary["weights"] == {"count": 2, "bytes": 24}
    assert summary["inputs"] == [{"name": "x", "type": "float[n, 2]"}]


def test_ops(tenon, linear):
    assert re.search(r"\nops\n  op +count\n  Add +1\n  MatMul +1\n  Relu +1\n", tenon("inspect", linear, "--ops").out)
    assert tenon("inspect", linear, "--ops", "--format", "json").json["ops"] == {"Add": 1, "MatMul": 1, "Relu": 1}


def test_weights(tenon, linear):
    assert re.search(r"w +float +\[2, 2\] +16 B\n", tenon("inspect", linear, "--weights").out)
    weights = tenon("inspect", linear, "--weights", "--format", "json").json["weights"]
    assert weights[0] == {"name": "w", "dtype": "float", "shape": [2, 2], "bytes": 16}


def test_plan_and_kernels(tenon, linear):
    text = tenon("inspect", linear, "--plan", "--kernels").out
    assert re.search(r"0  cpu/PackedMatMul +multiply", text)
    document = tenon("inspect", linear, "--kernels", "--format", "json").json
    assert document["kernels"] == [{"kernel": "cpu/PackedMatMul", "variant": "", "nodes": ["multiply + shift + cut"],
                                    "reasons": []}]
    assert "depends on the shapes" in text
    assert "plan" not in document
    plan = tenon("inspect", linear, "--plan", "--format", "json").json["plan"]
    assert [step["node"] for step in plan["steps"]] == ["multiply + shift + cut"]


def test_kernels_say_why_there_is_no_better_one(tenon, tmp_path):
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"], "small"), helper.make_node("MatMul", ["c", "v"], ["y"], "fed")]
    models.save(tmp_path / "m.onnx", nodes, [models.tensor("x", [1, 2, 5, 5]), models.tensor("v", [3, 4])],
                [models.tensor("y", [1, 3, 3, 4])], models.weights_of({"w": (3, 2, 3, 3)}))
    assert tenon("compile", "-m", "m.onnx").code == 0
    conv = {"kernel": "cpu/PackedConv", "variant": "points", "nodes": ["small"],
            "reasons": ["depthwise: its weights are not packed for depthwise kernels",
                        "winograd: its weights are packed as panels16"]}
    product = {"kernel": "cpu/MatMul", "variant": "tiles", "nodes": ["fed"], "reasons": []}
    assert tenon("inspect", "m.onnx", "--kernels", "--format", "json").json["kernels"] == [conv, product]
    # Variants can be told of the compiled model, too.
    assert tenon("inspect", "m_ctx.onnx", "--kernels", "--format", "json").json["kernels"] == [conv, product]
    text = tenon("inspect", "m.onnx", "--kernels").out
    assert "why a faster kernel was not chosen" in text and "cpu/PackedConv (small): depthwise: its weights" in text


def test_graph_text(tenon, linear):
    text = tenon("inspect", linear, "--graph", "text").out
    assert "sum: float[n, 2] = Add(product, b)  # shift\n" in text
    graph = tenon("inspect", linear, "--graph", "text", "--format", "json").json["graph"]
    assert [node["op"] for node in graph["nodes"]] == ["MatMul", "Add", "Relu"]


def test_graph_dot(tenon, linear):
    text = tenon("inspect", linear, "--graph", "dot").out
    assert text.startswith("digraph ") and text.endswith("}\n")
    assert text.count("{") == text.count("}")
    assert 'label="Add\\nshift"' in text
    assert len(re.findall(r"n\d+ -> n\d+", text)) == 4


def test_graph_html_is_self_contained(tenon, tmp_path):
    path = models.identity(tmp_path / "m.onnx", name="</script><b>")
    html = tenon("inspect", path, "--graph", "html").out
    page = Page(html)
    assert html.startswith("<!doctype html>") and page.scripts == 0 and page.loads == []
    assert "<b>" not in html and any("</script><b>" in text for text in page.texts)
    assert page.links and page.links <= page.ids


def test_graph_html_draws_every_node(tenon, linear):
    html = tenon("inspect", linear, "--graph", "html").out
    drawing = Drawing(html)
    assert [(box.kind, box.texts[0]) for box in drawing.boxes] == [
        ("input", "x"), ("node", "MatMul"), ("node", "Add"), ("node", "Relu"), ("output", "y")]
    assert len(drawing.lines) == 4 and not drawing.overlaps()
    assert "<td>Add</td>" in html and "sum: float[n, 2]" in html


def test_graph_html_of_bodies(tenon, tmp_path):
    branch = models.helper.make_graph(
        [models.helper.make_node("Relu", ["first"], ["inside"], name="inner")], "b", [], [models.tensor("inside", [2])]
    )
    nodes = [models.helper.make_node("Abs", ["x"], ["first"], name="before"),
             models.helper.make_node("If", ["c"], ["y"], name="choose", then_branch=branch, else_branch=branch)]
    inputs = [models.tensor("c", [], models.TensorProto.BOOL), models.tensor("x", [2])]
    path = models.save(tmp_path / "m.onnx", nodes, inputs, [models.tensor("y", [2])])
    html = tenon("inspect", path, "--graph", "html").out
    assert html.count(">inner</td>") == 2
    # From x to Abs, from c and Abs to If, since a body reads it, and to y.
    assert len(Drawing(html).lines) == 4


@pytest.mark.parametrize("page", ["dot", "html"])
@pytest.mark.parametrize("flags", [["--ops"], ["--weights"], ["--plan"], ["--kernels"], ["--format", "json"]])
def test_pages_exclude_other_sections(tenon, linear, page, flags):
    result = tenon("inspect", linear, "--graph", page, *flags)
    assert (result.code, "cannot be combined" in result.err) == (USAGE, True)


def test_models_with_unknown_ops_can_be_looked_at(tenon, tmp_path):
    path = models.unknown_op(tmp_path / "m.onnx")
    result = tenon("inspect", path, "--ops", "--graph", "text")
    assert result.code == DONE
    assert "com.microsoft.NoSuchOp" in result.out
    assert tenon("inspect", path, "--plan").code == CANNOT_RUN


def test_bodies(tenon, tmp_path):
    branch = models.helper.make_graph(
        [models.helper.make_node("Relu", ["x"], ["inside"], name="inner")], "b", [], [models.tensor("inside", [2])]
    )
    nodes = [models.helper.make_node("If", ["c"], ["y"], name="choose", then_branch=branch, else_branch=branch)]
    inputs = [models.tensor("c", [], models.TensorProto.BOOL), models.tensor("x", [2])]
    path = models.save(tmp_path / "m.onnx", nodes, inputs, [models.tensor("y", [2])])
    assert tenon("inspect", path, "--ops", "--format", "json").json["ops"] == {"If": 1, "Relu": 2}
    assert tenon("inspect", path, "--graph", "text").out.count("inside: float[2] = Relu(x)  # inner") == 2
    assert tenon("inspect", path, "--graph", "dot").out.count("subgraph cluster_") == 2
    assert tenon("inspect", path, "--plan").code == DONE


def test_sys(tenon):
    document = tenon("sys", "--format", "json").json
    assert document["cpu"]["architecture"] == platform.machine()
    assert document["providers"] == ["cpu", "cpu_exact", "reference"]
    assert set(document["libraries"]) >= {"fmt", "nlohmann-json", "xxhash", "zlib"}
    text = tenon("sys").out
    for word in ["version", "cpu", "features", "threads", "memory", "providers", "libraries"]:
        assert re.search(rf"^  {word} ", text, re.MULTILINE)
