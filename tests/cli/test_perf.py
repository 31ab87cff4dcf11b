"""tenon perf: latency, throughput, memory, the table of steps, and other engines in comparison."""

import json
import os
import sys

import numpy as np
from onnx import TensorProto, helper

from . import models
from .conftest import CANNOT_LOAD, DONE, FAILED, USAGE


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


def test_counts_what_steps_compute_and_move(tenon, tmp_path):
    linear(tmp_path / "m.onnx")
    document = measured(tenon, "m.onnx", "--iterations", "2", "--dim", "n=5", "--threads", "1")
    machine = document["machine"]
    assert machine["threads"] == 1 and machine["flops_per_second"] > 0 and machine["bytes_per_second"] > 0
    product = next(step for step in document["steps"] if step["name"] == "multiply")
    assert product["flops"] == 2 * 5 * 3 * 4 and product["dims"] == [5, 4]
    assert product["bytes"] == 4 * (5 * 3 + 3 * 16 + 5 * 4), "the weight is packed in panels of 16 columns"
    least = max(product["flops"] / machine["flops_per_second"], product["bytes"] / machine["bytes_per_second"])
    assert np.isclose(product["share_of_peak"], least / product["seconds"])
    assert document["seconds_between_steps"] >= 0
    assert document["work"]["flops"] == sum(step["flops"] for step in document["steps"])


def test_writes_a_trace(tenon, tmp_path):
    linear(tmp_path / "m.onnx")
    arguments = ["perf", "m.onnx", "--iterations", "2", "--dim", "n=5", "--trace", "t.json"]
    assert tenon(*arguments).code == DONE
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    assert [event["name"] for event in events] == ["multiply", "bend"]
    assert events[0]["args"]["flops"] == 120 and events[0]["ts"] + events[0]["dur"] <= events[1]["ts"]
    again = tenon(*arguments)
    assert again.code == FAILED and "t.json" in again.err and "--overwrite" in again.err
    assert tenon(*arguments, "--overwrite").code == DONE
    assert tenon("perf", "m.onnx", "--trace", "m.onnx", "--overwrite").code == USAGE


def compared(tenon, *arguments, **options):
    return tenon("perf", *arguments, "--compare", "ort", "--iterations", "10", "--format", "json", **options)


def test_runs_another_engine_in_turn(tenon, tmp_path):
    linear(tmp_path / "m.onnx")
    result = compared(tenon, "m.onnx", "--dim", "n=5", "--threads", "1")
    assert result.code == DONE, result.err
    own, other = result.json["engines"]
    assert (own["engine"], other["engine"]) == ("tenon", "onnxruntime")
    assert own["seconds"] == result.json["seconds"] and own["runs"] == other["runs"] == 10
    assert other["agrees"] and other["outputs"][0]["mismatches"] == 0 and other["outputs"][0]["elements"] == 20
    assert np.isclose(other["ratio"]["min"], other["seconds"]["min"] / own["seconds"]["min"])
    text = tenon("perf", "m.onnx", "--compare", "ort", "--iterations", "5", "--dim", "n=5")
    assert text.code == DONE and "onnxruntime" in text.out and "same outputs" in text.out


def test_other_engines_run_what_a_model_was_compiled_from(tenon, tmp_path):
    linear(tmp_path / "m.onnx")
    assert tenon("compile", "-m", "m.onnx", "--output-dir", "out").code == DONE
    missing = compared(tenon, "out/m_ctx.onnx", "--dim", "n=5")
    assert missing.code == CANNOT_LOAD and "'m.onnx' was not found; name it with --source" in missing.err
    result = compared(tenon, "out/m_ctx.onnx", "--source", "m.onnx", "--dim", "n=5")
    assert result.code == DONE, result.err
    assert result.json["engines"][1]["agrees"]
    (tmp_path / "out" / "m.onnx").write_bytes((tmp_path / "m.onnx").read_bytes())
    assert compared(tenon, "out/m_ctx.onnx", "--dim", "n=5").code == DONE
    models.linear(tmp_path / "other.onnx")
    changed = compared(tenon, "out/m_ctx.onnx", "--source", "other.onnx", "--dim", "n=5")
    assert changed.code == CANNOT_LOAD and "'other.onnx' has changed" in changed.err
    of_a_model = compared(tenon, "m.onnx", "--source", "m.onnx", "--dim", "n=5")
    assert of_a_model.code == USAGE and "--source" in of_a_model.err


def with_python(tmp_path, *lines):
    """An environment in which python3 is this script."""
    folder = tmp_path / "bin"
    folder.mkdir(exist_ok=True)
    script = folder / "python3"
    script.write_text("\n".join(["#!/bin/sh", *lines]) + "\n")
    script.chmod(0o755)
    return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}


def test_says_what_to_install(tenon, tmp_path):
    linear(tmp_path / "m.onnx")
    bare = with_python(tmp_path, f'exec {sys.executable} -S "$@"')
    result = compared(tenon, "m.onnx", "--dim", "n=5", env=bare)
    assert result.code == FAILED
    assert "'numpy' is not installed" in result.err and "python3 -m pip install numpy" in result.err
    ended = compared(tenon, "m.onnx", "--dim", "n=5", env=with_python(tmp_path, "exit 3"))
    assert ended.code == FAILED and "'python3' ended" in ended.err


def test_shows_an_engine_that_cannot_run_the_model(tenon, tmp_path):
    linear(tmp_path / "m.onnx")
    refusing = with_python(tmp_path, """echo '{"version": "1"}'""", "read question",
                           """echo '{"error": "RuntimeError: no such operator"}'""")
    result = compared(tenon, "m.onnx", "--dim", "n=5", env=refusing)
    assert result.code == DONE, result.err
    own, other = result.json["engines"]
    assert own["runs"] == 10 and "seconds" not in other and "no such operator" in other["message"]


def test_other_outputs_are_no_comparison(tenon, tmp_path):
    linear(tmp_path / "m.onnx")
    np.savez(tmp_path / "wrong.npz", **{"0000": np.full((5, 4), 7, np.float32)})
    # The request is the last argument; in it are the names of files.
    wrong = with_python(
        tmp_path, """echo '{"version": "1"}'""", "read question", 'for request; do :; done',
        r"""outputs=$(printf %s "$request" | sed -n 's/.*"outputs": *"\([^"]*\)".*/\1/p')""",
        f'cp "{tmp_path}/wrong.npz" "$outputs"', """echo '{"create": 1, "first": 1}'""", "read question",
    )  # fmt: skip
    result = compared(tenon, "m.onnx", "--dim", "n=5", env=wrong)
    assert result.code == FAILED, result.err
    other = result.json["engines"][1]
    assert not other["agrees"] and "seconds" not in other and other["outputs"][0]["mismatches"] == 20


def test_refuses_engines_that_there_are_not(tenon, tmp_path):
    linear(tmp_path / "m.onnx")
    unknown = tenon("perf", "m.onnx", "--compare", "ort,openvine")
    assert unknown.code == USAGE and "did you mean 'openvino'" in unknown.err
    twice = tenon("perf", "m.onnx", "--compare", "ort,onnxruntime")
    assert twice.code == USAGE and "named twice" in twice.err
    assert tenon("perf", "m.onnx", "--source", "m.onnx").code == USAGE
