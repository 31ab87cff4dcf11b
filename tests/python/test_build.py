"""tenon.build: models to files, with validation by the installed program."""

import os
import subprocess
import sys

import numpy as np
import pytest
from python.models import model, node, tensor

import tenon


def scaled(path, scale=2.0):
    path.write_bytes(model([node("MatMul", "x w", "y")], [tensor("x", shape=["rows", 2])],
                           [tensor("y", shape=["rows", 2])], {"w": np.full([2, 2], scale, np.float32)}))
    return path


@pytest.fixture
def pair(tmp_path):
    return [scaled(tmp_path / "a.onnx"), scaled(tmp_path / "b.onnx")]


def test_a_group_is_written_and_tried(pair, tmp_path):
    report = tenon.build(pair, output_dir=tmp_path / "out")
    assert report.ok and report["status"] == "compiled"
    assert [m["validation"]["verdict"] for m in report["models"]] == ["same", "same"]
    assert sorted(os.listdir(tmp_path / "out")) == ["a_ctx.onnx", "b_ctx.onnx", report["group"]["weights_file"]]
    y = tenon.InferenceSession(report["models"][1]["output"]).run(None, {"x": np.ones([3, 2], np.float32)})[0]
    assert np.array_equal(y, np.full([3, 2], 4, np.float32))
    assert tenon.build(pair, output_dir=tmp_path / "out")["status"] == "up to date"


def test_one_file(tmp_path):
    report = tenon.build(scaled(tmp_path / "a.onnx"), tmp_path / "app.onnx", embed=True)
    assert report["written"] == [str(tmp_path / "app.onnx")]


def test_failures_raise_after_the_others_are_done(pair, tmp_path):
    bad = tmp_path / "bad.onnx"
    bad.write_bytes(b"no model")
    with pytest.raises(tenon.BuildFailed, match="bad.onnx") as raised:
        tenon.build([bad, *pair], output_dir=tmp_path / "out")
    assert [m["status"] for m in raised.value.report["models"]] == ["failed", "compiled", "compiled"]
    assert list(raised.value.report.errors) == [str(bad)]
    report = tenon.build([bad, *pair], output_dir=tmp_path / "out", check=False)
    assert not report.ok
    assert [m["status"] for m in report["models"]] == ["failed", "up to date", "up to date"]


def test_events_come_with_the_position_of_the_model(pair, tmp_path):
    (tmp_path / "other").mkdir()
    events = []
    tenon.build([pair[0], scaled(tmp_path / "other" / "a.onnx")], output_dir=tmp_path / "out", validate=False,
                on_event=lambda *event: events.append(event))
    assert ("warning", 1, "another model is named 'a'; this one becomes 'a_1'") in events
    assert ("progress", None, "reading 2 models") in events


def test_what_a_listener_raises_ends_the_build(pair, tmp_path):
    def refuse(event, model, text):
        if text.startswith("packing"):
            raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        tenon.build(pair, output_dir=tmp_path / "out", on_event=refuse)
    assert not (tmp_path / "out").exists()


def test_results_are_tried_with_what_is_given(pair, tmp_path):
    report = tenon.build(pair[0], tmp_path / "c.onnx", dims={"rows": 5})
    assert [t["inputs"]["x"] for t in report["models"][0]["validation"]["tried"]] == ["float[5, 2]"]
    with pytest.raises(tenon.Error, match="option 'dim': no model has an open dimension of this name: 'rwos=5'"):
        tenon.build(pair[0], tmp_path / "d.onnx", dims={"rwos": 5})


def test_a_missing_program_is_refused_by_its_result(pair, tmp_path):
    with pytest.raises(tenon.BuildFailed, match="could not be started"):
        tenon.build(pair[0], tmp_path / "c.onnx", program=tmp_path / "none")
    assert not (tmp_path / "c.onnx").exists()


FAILING = """
import sys
import tenon

try:
    tenon.build(sys.argv[1], sys.argv[2], program=sys.argv[3])
except tenon.BuildFailed as failed:
    print(failed)
"""


def test_a_model_that_failed_is_not_looked_at_again(pair, tmp_path):
    """Memory that was given back is filled with other bytes at once."""
    result = subprocess.run([sys.executable, "-c", FAILING, pair[0], tmp_path / "c.onnx", tmp_path / "none"], text=True,
                            capture_output=True, timeout=60, env=os.environ | {
                                "MALLOC_PERTURB_": "165", "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"})
    assert result.returncode == 0 and "could not be started" in result.stdout, result.stderr


def test_wrong_options(pair, tmp_path):
    with pytest.raises(ValueError, match="no model"):
        tenon.build([])
    with pytest.raises(ValueError, match="none of the models"):
        tenon.build(pair[0], provider={"c.onnx": "cpu"})
    with pytest.raises(tenon.Error, match="2 models need the option 'output_dir'"):
        tenon.build(pair)
    with pytest.raises(tenon.Error, match="the compiler 'qairt' cannot be used"):
        tenon.build(pair[0], tmp_path / "c.onnx", compiler="qairt")


def test_the_page_shows_the_report(pair, tmp_path):
    html = tenon.build(pair, output_dir=tmp_path / "out", validate=False).html()
    assert "<h1>Compile report: compiled</h1>" in html and str(pair[0]) in html


def test_compilers():
    compilers = {compiler["name"]: compiler for compiler in tenon.compilers()}
    assert list(compilers) == ["tenon", "ort", "ort_session", "qairt"]
    assert compilers["tenon"]["usable"] and compilers["tenon"]["reason"] is None
    assert compilers["ort_session"]["alias"] == "ort_jit"


INTERRUPTED = """
import os, signal, sys
import tenon

signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where tests run in the background

def listen(event, model, text):
    if text.startswith("comparing"):
        os.kill(os.getpid(), signal.SIGINT)

try:
    tenon.build(sys.argv[1], sys.argv[2], program=sys.argv[3], on_event=listen)
except KeyboardInterrupt:
    print("interrupted")
"""


def test_ctrl_c_ends_the_build_and_its_child(tmp_path):
    hangs = tmp_path / "hangs"
    hangs.write_text("#!/bin/sh\nexec sleep 1000000\n")
    hangs.chmod(0o755)
    (tmp_path / "out").mkdir()
    output = tmp_path / "out" / "c.onnx"
    process = subprocess.run([sys.executable, "-c", INTERRUPTED, scaled(tmp_path / "a.onnx"), output, hangs],
                             capture_output=True, text=True, timeout=60)
    assert process.stdout == "interrupted\n", process.stderr
    assert os.listdir(tmp_path / "out") == []
