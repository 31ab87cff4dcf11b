"""tenon perf: latency, throughput, memory and the table of steps."""

import numpy as np
from onnx import TensorProto, helper

from . import models
from .conftest import DONE, USAGE


def linear(path):
    nodes = [helper.make_node("MatMul", ["x", "w"], ["p"], "multiply"), helper.make_node("Sin", ["p"], ["y"], "bend")]
    return models.save(path, nodes, [models.tensor("x", ["n", 3])], [models.tensor("y", ["n", 4])],
                       models.weights_of({"w": (3, 4)}))


def measured(tenon, *arguments):
    result = tenon("perf", *arguments, "--format", "json")
    assert result.code == DONE, result.err
    return result.json


def test_says_what_was_measured(tenon, tmp_path):
    linear(tmp_path / "m.onnx")
    document = measured(tenon, "m.onnx", "--iterations", "7", "--warmup", "2", "--dim", "n=5", "--threads", "1")
    assert document["runs"] == 7 and document["threads"] == 1
    seconds = document["seconds"]
    assert 0 < seconds["min"] <= seconds["p50"] <= seconds["p90"] <= seconds["p99"] <= seconds["max"]
    assert np.isclose(document["runs_per_second"], 1 / seconds["mean"])
    assert document["memory"]["run_peak"] > 0 and document["memory"]["process_peak"] > document["memory"]["run_peak"]
    steps = {step["name"]: step for step in document["steps"]}
    assert set(steps) == {"multiply", "bend"}
    assert (steps["multiply"]["kernel"], steps["multiply"]["variant"]) == ("cpu/PackedMatMul", "tiles")
    assert steps["bend"]["kernel"] == "cpu/Pointwise" and steps["bend"]["calls"] == 1
    assert np.isclose(sum(step["share"] for step in steps.values()), 1)


def test_compiled_models_and_text(tenon, tmp_path):
    linear(tmp_path / "m.onnx")
    assert tenon("compile", "-m", "m.onnx").code == DONE
    result = tenon("perf", "m_ctx.onnx", "--iterations", "3", "--steps", "1")
    assert result.code == DONE
    assert "m_ctx.onnx: 3 runs on" in result.out
    for word in ("latency", "p99", "throughput", "memory", "share", "and 1 more"):
        assert word in result.out


def test_steps_of_sub_graphs_are_counted_apart(tenon, tmp_path):
    body = helper.make_graph(
        [helper.make_node("Identity", ["c"], ["d"], "keep"), helper.make_node("Neg", ["v"], ["u"], "turn")], "body",
        [models.tensor("i", [], TensorProto.INT64), models.tensor("c", [], TensorProto.BOOL), models.tensor("v", [2])],
        [models.tensor("d", [], TensorProto.BOOL), models.tensor("u", [2])],
    )  # fmt: skip
    node = helper.make_node("Loop", ["m", "", "x"], ["y"], "loop", body=body)
    models.save(tmp_path / "m.onnx", [node], [models.tensor("x", [2])], [models.tensor("y", [2])],
                {"m": np.array(5, np.int64)})
    steps = {step["name"]: step for step in measured(tenon, "m.onnx", "--iterations", "2")["steps"]}
    assert steps["loop"]["depth"] == 0 and steps["loop"]["calls"] == 1
    assert steps["turn"]["depth"] == 1 and steps["turn"]["calls"] == 5
    assert np.isclose(sum(step["share"] for step in steps.values() if step["depth"] == 0), 1)


def test_refuses_what_contradicts_itself(tenon, tmp_path):
    linear(tmp_path / "m.onnx")
    result = tenon("perf", "m.onnx", "--iterations", "3", "--duration", "1")
    assert result.code == USAGE and "--duration" in result.err
