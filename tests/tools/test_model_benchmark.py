"""The benchmark of models: what it generates, when results agree, and what it makes of times."""

import sys
from pathlib import Path
from xml.dom import minidom

import numpy as np
import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))
from models import cache, measure, picture, profile, report  # noqa: E402
from models.agreement import ALLOWED, agreeing, difference  # noqa: E402
from models.families import all_models  # noqa: E402

SMALL = ["wake_word", "voice_activity", "vocoder", "unet_3d", "pointwise_broadcasts", "cnn_depthwise_dynamo"]


@pytest.mark.parametrize("name", SMALL)
def test_generated_models_run_alike_everywhere(name, tmp_path, monkeypatch):
    import onnxruntime

    import tenon

    monkeypatch.setattr(cache, "FOLDER", tmp_path)
    subject = cache.subject(name, all_models()[name])
    feeds = subject.feeds()
    theirs = onnxruntime.InferenceSession(subject.path, providers=["CPUExecutionProvider"]).run(None, feeds)
    ours = tenon.InferenceSession(subject.path).run(None, feeds)
    assert difference(ours, theirs) == ""
    written = subject.path.stat().st_mtime_ns
    assert cache.subject(name, all_models()[name]).path.stat().st_mtime_ns == written


def test_older_files_of_a_model_go(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "FOLDER", tmp_path)
    for name in ("wake_word-0123456789ab.onnx", "wake_word-0123456789ab.npz", "wake_word-other-0123456789ab.onnx"):
        (tmp_path / name).touch()
    subject = cache.subject("wake_word", all_models()["wake_word"])
    assert sorted(tmp_path.iterdir()) == sorted(
        [subject.path, subject.inputs, tmp_path / "wake_word-other-0123456789ab.onnx"])


def test_outputs_agree_within_rounding():
    wanted = np.array([0, 1, 100], np.float32)
    near, far = (wanted + np.float32(100 * ALLOWED * factor) for factor in (0.9, 1.1))
    assert difference([near], [wanted]) == "" and "differs by" in difference([far], [wanted])
    assert "1 of 3" in difference([np.array([1, 2, 4])], [np.array([1, 2, 3])])
    assert "shape" in difference([wanted[:2]], [wanted]) and "1 outputs" in difference([wanted], [wanted, wanted])
    assert "finite" in difference([np.full(3, np.nan, np.float32)], [wanted])


def test_most_engines_are_right():
    right, wrong = [np.ones(3, np.float32)], [np.zeros(3, np.float32)]
    found = agreeing({"a": wrong, "b": right, "c": right})
    assert found["a"] and not found["b"] and not found["c"]
    assert agreeing({}) == {}


def times(*rounds):
    return {"version": "1", **measure.summary([[second] for second in rounds])}


def document():
    runs = {"tenon": times(0.004, 0.002, 0.002), "onnxruntime": times(0.003, 0.004, 0.008),
            "openvino": {"problem": "a reason"}}
    step = {"name": "multiply", "kernel": "cpu/MatMul", "variant": "tiles", "dims": [2, 3], "seconds": 0.001,
            "share": 0.5, "share_of_peak": 0.25}
    profiled = {"machine": {"flops_per_second": 1e9, "bytes_per_second": 2e9}, "flops": 1e6, "steps": [step]}
    profiled["share_of_peak"] = profile.share_of_peak(profiled, runs)
    models = [{"name": "small", "runs": {"2": runs}, "ratios": {"2": report.ratio(runs)},
               "profiles": {"2": profiled}, "loads": {
        "tenon": {"total": 0.01, "beyond_run": 0.008, "anonymous": 3e6, "resident": 5e6}}}]
    means = {"2": {key: report.geometric_mean(models, "2", key) for key in ("min", "median")}}
    return {"machine": {"cpu": "A & B", "isa": "avx2", "cores": 2, "real_time": False}, "isa": "avx2", "threads": [2],
            "engines": ["tenon", "onnxruntime", "openvino"], "versions": {"tenon": "1"}, "models": models,
            "geometric_means": means}


def test_ratios_are_against_the_fastest_peer():
    found = document()["models"][0]["ratios"]["2"]
    assert found == {"peer": "onnxruntime", "min": 1.5, "median": 2.0}
    runs = {"tenon": times(0.002), "onnxruntime": times(0.003), "openvino": times(0.001)}
    assert report.ratio(runs)["peer"] == "openvino" and report.ratio(runs)["min"] == 0.5
    assert report.ratio({"onnxruntime": times(0.003)}) is None


def test_reports_in_text_and_as_a_page():
    text = report.text(document())
    assert "2.000 / 2.000" in text and "1.50" in text and "small, 2 threads, openvino: a reason" in text
    assert "10.0 / 8.000 / 3.0 / 5.0" in text
    assert "50.0 %" in text and "computes 1 GFLOP/s and moves 2 GB/s" in text
    assert "small: 50 % 1.000 ms cpu/MatMul (tiles) 2x3, 25 % of peak, multiply" in text
    page = picture.page(document())
    drawn = minidom.parseString(page[page.index("<svg"): page.index("</svg>") + 6])
    assert len(drawn.getElementsByTagName("rect")) == 2, "the model and the mean"
    assert "A &amp; B" in page and "http" not in page and page.count("<table>") == 2
