"""The cache keeps what passes made of a model: as long as graph and capabilities are the same, no pass runs again."""

import json
import shutil
import subprocess

import numpy as np
import onnx
import pytest
from onnx import helper

from . import models
from .conftest import DONE
from .test_build import contents, large, messy, ran, stages
from .test_compile import names_in

KEPT = "the cache has its result"
# The optimized graph, and the analysis of it.
OF_A_MODEL = 2


@pytest.fixture
def build(tenon, tmp_path):
    """Builds with a cache in the folder of the test; `config` as build.json has it."""

    def run(folder="out", flags=("--cache-dir", "cache"), **config):
        (tmp_path / "build.json").write_text(json.dumps({"models": ["m.onnx"], "output": folder, **config}))
        result = tenon("build", "-c", "build.json", *flags, "--format", "json")
        assert result.code == DONE, result.err
        return result.json

    return run


def optimize_stage(report):
    stage = report["models"][0]["stages"]["optimize"]
    return stage["status"], stage["why"]


def graphs(tmp_path):
    return sorted((tmp_path / "cache").glob("*.graph"))


def check_same(build, tmp_path, **config):
    """The folder has what a build without a cache makes."""
    shutil.rmtree(tmp_path / "fresh", ignore_errors=True)
    report = build("fresh", flags=["--no-cache"], **config)
    assert ran(report) == ["optimize", "analyze", "compile"]
    assert contents(tmp_path / "out") == contents(tmp_path / "fresh")


def test_a_compile_option_runs_no_pass(build, tmp_path):
    messy(tmp_path / "m.onnx")
    assert ran(build()) == ["optimize", "analyze", "compile"]
    embedded = {"compile": {"sources": "embed"}}
    report = build(**embedded)
    assert ran(report) == ["compile"] and optimize_stage(report) == ("skipped", KEPT)
    assert report["report"]["models"][0]["optimize"]["changes"][0]["removed"] == ["Identity 'same'"]
    check_same(build, tmp_path, **embedded)


def test_new_weights_run_no_pass(build, tenon, tmp_path):
    large(tmp_path / "m.onnx")
    build()
    large(tmp_path / "m.onnx", scale=2)
    report = build()
    assert ran(report) == ["compile"] and optimize_stage(report) == ("skipped", KEPT)
    assert tenon("verify", "m.onnx", "out/m_ctx.onnx").code == DONE
    check_same(build, tmp_path)


def test_weights_in_a_data_file(build, tenon, tmp_path):
    large(tmp_path / "m.onnx", location="m.data")
    build()
    (tmp_path / "m.data").unlink()  # what is there is appended to
    large(tmp_path / "m.onnx", scale=2, location="m.data")
    report = build()
    assert ran(report) == ["compile"] and optimize_stage(report) == ("skipped", KEPT)
    check_same(build, tmp_path)


def test_the_graph_and_the_capabilities_count(build, tmp_path):
    messy(tmp_path / "m.onnx")
    build()
    assert "optimize" in ran(build(optimize={"disable": ["remove-no-ops"]}))
    messy(tmp_path / "m.onnx", op="Sigmoid")
    assert "optimize" in ran(build(optimize={"disable": ["remove-no-ops"]}))
    assert len(graphs(tmp_path)) == 3 * OF_A_MODEL
    messy(tmp_path / "m.onnx")
    assert optimize_stage(build()) == ("skipped", KEPT)


def test_fused_ops(build, tmp_path):
    """Nodes that passes wrote anew, in a domain that the model does not import."""
    nodes = [helper.make_node("Div", ["x", "root"], ["a"]), helper.make_node("Erf", ["a"], ["b"]),
             helper.make_node("Add", ["b", "one"], ["c"]), helper.make_node("Mul", ["x", "c"], ["d"]),
             helper.make_node("Mul", ["d", "half"], ["y"])]
    numbers = {name: np.float32(value) for name, value in (("root", 2**0.5), ("one", 1), ("half", 0.5))}
    models.save(tmp_path / "m.onnx", nodes, [models.tensor("x", [4])], [models.tensor("y", [4])], numbers)
    enabled = {"optimize": {"enable": ["fuse-gelu"]}}
    assert build(**enabled)["report"]["models"][0]["optimize"]["nodes"]["after"] == 1
    embedded = {**enabled, "compile": {"sources": "embed"}}
    assert optimize_stage(build(**embedded)) == ("skipped", KEPT)
    check_same(build, tmp_path, **embedded)


def test_a_model_that_is_normal_without_a_stamp(build, tenon, tmp_path):
    messy(tmp_path / "messy.onnx")
    assert tenon("optimize", "-m", "messy.onnx", "-o", "m.onnx").code == DONE
    model = onnx.load(tmp_path / "m.onnx")
    del model.metadata_props[:]
    onnx.save(model, tmp_path / "m.onnx")
    expected = "the model is in normal form: no pass changes it"
    assert optimize_stage(build()) == ("skipped", expected)
    report = build(compile={"sources": "embed"})
    assert optimize_stage(report) == ("skipped", KEPT)
    check = build("fresh", flags=["--no-cache"], compile={"sources": "embed"})
    assert optimize_stage(check) == ("skipped", expected)
    assert contents(tmp_path / "out") == contents(tmp_path / "fresh")


def test_what_is_not_part_of_the_graph_is_that_of_the_model(build, tmp_path):
    messy(tmp_path / "m.onnx")
    build()
    model = onnx.load(tmp_path / "m.onnx")
    model.producer_name, model.doc_string, model.graph.doc_string = "somebody", "about the model", "about the graph"
    helper.set_model_props(model, {"who": "me"})
    onnx.save(model, tmp_path / "m.onnx")
    assert optimize_stage(build()) == ("skipped", KEPT)
    check_same(build, tmp_path)
    props = {entry.key: entry.value for entry in onnx.load(tmp_path / "out" / "m_ctx.onnx").metadata_props}
    assert props["who"] == "me"


def test_new_weights_that_passes_compute_are_not_kept(build, tmp_path):
    nodes = [helper.make_node("Transpose", ["w"], ["t"]), helper.make_node("MatMul", ["x", "t"], ["y"])]
    for scale in (1, 2):
        weights = {"w": np.arange(2048, dtype=np.float32).reshape(32, 64) * np.float32(scale)}
        models.save(tmp_path / "m.onnx", nodes, [models.tensor("x", [2, 64])], [models.tensor("y", [2, 32])], weights)
        assert "optimize" in ran(build(optimize={"enable": ["fold-weights"]}))
        check_same(build, tmp_path, optimize={"enable": ["fold-weights"]})
    assert graphs(tmp_path) == []


@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "header", "text"])
def test_damaged_files_are_made_again(build, tmp_path, damage):
    messy(tmp_path / "m.onnx")
    build()
    paths = graphs(tmp_path)
    wholes = [path.read_bytes() for path in paths]
    assert len(paths) == OF_A_MODEL
    for path, whole in zip(paths, wholes):
        middle = len(whole) // 2
        path.write_bytes({"flip": whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1:],
                          "cut": whole[:middle], "empty": b"", "header": whole[:20],
                          "text": b"tenon graph 1\n" + b"f" * 48}[damage])
    (tmp_path / "out" / "analysis.json").unlink()
    assert ran(build(compile={"sources": "embed"})) == ["optimize", "analyze", "compile"]
    check_same(build, tmp_path, compile={"sources": "embed"})
    assert [path.read_bytes() for path in paths] == wholes
    assert optimize_stage(build(compile={"sources": "none"})) == ("skipped", KEPT)


def test_rebuild_and_force_run_the_passes(build, tmp_path):
    messy(tmp_path / "m.onnx")
    build()
    assert optimize_stage(build(flags=["--cache-dir", "cache", "--rebuild"]))[0] == "ran"
    flags = ["--cache-dir", "cache", "--force"]
    assert optimize_stage(build(flags=flags, compile={"sources": "embed"}))[0] == "ran"


def test_they_count_as_parts_of_the_cache(build, tenon, tmp_path):
    messy(tmp_path / "m.onnx")
    build(flags=["--cache-dir", "cache", "--no-compile"])
    size = sum(path.stat().st_size for path in graphs(tmp_path))
    shown = tenon("sys", "--cache-dir", "cache", "--format", "json").json["cache"]
    assert (shown["graphs"], shown["models"], shown["bytes"]) == (OF_A_MODEL, 0, size)
    assert "0 compiled models, 2 graphs" in tenon("sys", "--cache-dir", "cache").out
    tenon("sys", "--clear-cache", "--cache-dir", "cache")
    assert names_in(tmp_path / "cache") == []


def test_many_processes_at_once(program, tmp_path):
    messy(tmp_path / "m.onnx")
    command = [program, "build", "-m", "m.onnx", "--no-validate", "--format", "json"]
    subprocess.run([*command, "-o", "expected", "--no-cache"], cwd=tmp_path, check=True, capture_output=True, timeout=60)
    for _ in range(3):
        shutil.rmtree(tmp_path / "cache", ignore_errors=True)
        started = [subprocess.Popen([*command, "-o", f"out{i}", "--cache-dir", "cache"], cwd=tmp_path,
                                    stdout=subprocess.PIPE, text=True) for i in range(8)]
        for i, process in enumerate(started):
            report = json.loads(process.communicate(timeout=60)[0])
            assert process.returncode == DONE and stages(report)["optimize"] in ("ran", "skipped")
            assert contents(tmp_path / f"out{i}") == contents(tmp_path / "expected")
            shutil.rmtree(tmp_path / f"out{i}")
        assert len(graphs(tmp_path)) == OF_A_MODEL


def test_another_folder_gets_its_analysis_too(build, tmp_path):
    messy(tmp_path / "m.onnx")
    build()
    report = build("second")
    assert ran(report) == []
    assert report["models"][0]["stages"]["analyze"]["why"] == KEPT
    assert contents(tmp_path / "out") == contents(tmp_path / "second")
