"""Profiles are Chrome traces."""

import json
import threading

import numpy as np
import pytest
from python.models import add, state

import tenon

FEED = {"x": np.ones((1, 2), np.float32), "y": np.ones(2, np.float32)}


def profiled(ort, prefix):
    options = ort.SessionOptions()
    options.enable_profiling = True
    options.profile_file_prefix = str(prefix)
    return ort.InferenceSession(add(), options)


def test_a_profile_is_written(ort, tmp_path):
    session = profiled(ort, tmp_path / "profile")
    assert session.get_profiling_start_time_ns() > 0
    for _ in range(3):
        session.run(None, FEED)
    name = session.end_profiling()
    assert name.startswith(str(tmp_path / "profile_")) and name.endswith(".json")
    with open(name, encoding="utf-8") as file:
        events = json.load(file)
    runs = [e for e in events if e["name"] == "model_run"]
    nodes = [e for e in events if e["cat"] == "Node" and e["name"].endswith("_kernel_time")]
    assert len(runs) == len(nodes) == 3
    # Tenon computes elementwise ops together.
    assert {n["args"]["op_name"] for n in nodes} == {"Pointwise" if ort is tenon else "Add"}
    assert {n["args"]["provider"] for n in nodes} == {"CPUExecutionProvider"}
    for run, node in zip(runs, nodes):
        assert node["ph"] == "X" and node["dur"] >= 0 and run["dur"] >= node["dur"]


def test_steps_lie_inside_their_run(tmp_path):
    session = profiled(tenon, tmp_path / "profile")
    session.run(None, FEED)
    with open(session.end_profiling(), encoding="utf-8") as file:
        run, node = json.load(file)
    assert run["ts"] <= node["ts"] and node["ts"] + node["dur"] <= run["ts"] + run["dur"]


def test_threads_and_stops_with_a_profile(tmp_path):
    session = profiled(tenon, tmp_path / "profile")
    run = tenon.RunOptions()
    threads = [threading.Thread(target=session.run, args=(None, FEED, run)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    run.terminate = True
    with pytest.raises(state(tenon).Fail):
        session.run(None, FEED, run)
    with open(session.end_profiling(), encoding="utf-8") as file:
        events = json.load(file)
    assert sum(e["cat"] == "Node" for e in events) == 6
    assert session.end_profiling() == ""


@pytest.mark.parametrize("prefix", ["none/deeper/profile", "file/profile", "a\0b"])
def test_a_profile_that_cannot_be_written_is_refused_at_once(tmp_path, prefix):
    (tmp_path / "file").write_text("")
    with pytest.raises(state(tenon).Fail, match="profile_file_prefix"):
        profiled(tenon, tmp_path / prefix)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_session_leaves_no_file_before_its_profile_ends(tmp_path):
    session = profiled(tenon, tmp_path / "profile")
    assert list(tmp_path.iterdir()) == []
    session.end_profiling()
    assert len(list(tmp_path.iterdir())) == 1
