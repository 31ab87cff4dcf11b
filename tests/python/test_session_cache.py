"""Sessions with the compile cache, which is off unless a program asks for it."""

import subprocess
import sys

import numpy as np
import onnx
import pytest
from python.models import model, node, tensor

import tenon

X = {"x": np.arange(6, dtype=np.float32).reshape(3, 2)}
Y = X["x"] @ np.array([[1, 2], [3, 4]], np.float32) + np.array([5, 6], np.float32)


@pytest.fixture
def path(tmp_path):
    weights = {"w": np.array([[1, 2], [3, 4]], np.float32), "b": np.array([5, 6], np.float32)}
    content = model([node("MatMul", "x w", "p"), node("Add", "p b", "y")], [tensor("x", shape=["n", 2])],
                    [tensor("y", shape=["n", 2])], weights)
    (tmp_path / "net.onnx").write_bytes(content)
    return tmp_path / "net.onnx"


def options(folder):
    made = tenon.SessionOptions()
    made.add_session_config_entry("tenon.cache", "1")
    made.add_session_config_entry("tenon.cache_dir", str(folder))
    return made


def run(given, made=None):
    return tenon.InferenceSession(given, made).run(None, X)[0]


def models(folder):
    return sorted(file.stem for file in folder.glob("*.model"))


def test_it_is_off_unless_asked_for(path, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    assert np.array_equal(run(path), Y) and not (tmp_path / "home").exists()
    made = tenon.SessionOptions()
    made.add_session_config_entry("tenon.cache", "1")
    assert np.array_equal(run(path, made), Y) and len(models(tmp_path / "home" / "tenon")) == 1


def test_models_in_memory_share_it(path, tmp_path):
    for given in (path.read_bytes(), path.read_bytes()):
        assert np.array_equal(run(given, options(tmp_path / "cache")), Y)
    assert len(models(tmp_path / "cache")) == 1


def test_a_changed_model_is_another_one(path, tmp_path):
    assert np.array_equal(run(path, options(tmp_path / "cache")), Y)
    changed = onnx.load(path)
    changed.graph.initializer[1].raw_data = np.array([6, 7], np.float32).tobytes()
    path.unlink()
    onnx.save(changed, path)
    assert np.array_equal(run(path, options(tmp_path / "cache")), Y + 1)
    assert len(models(tmp_path / "cache")) == 2


@pytest.mark.parametrize("session_first", [True, False])
def test_builds_and_sessions_find_what_the_other_left(path, tmp_path, session_first):
    """The keys are the same, so that nothing is compiled twice."""
    def session():
        assert np.array_equal(run(path, options(tmp_path / "cache")), Y)

    def build():
        return tenon.build(path, output_dir=tmp_path / "out", cache_dir=tmp_path / "cache")["models"][0]["cached"]

    if session_first:
        session()
        known = models(tmp_path / "cache")
        assert build() is True
    else:
        assert build() is False
        known = models(tmp_path / "cache")
        session()
    assert len(known) == 1 and models(tmp_path / "cache") == known


def test_weights_of_a_session_from_the_cache(path, tmp_path):
    """Partial swaps read the other weights from the model, as ever."""
    for _ in range(2):
        session = tenon.InferenceSession(path, options(tmp_path / "cache"))
        session.set_weights({"b": np.zeros(2, np.float32)}, partial=True)
        assert np.array_equal(session.run(None, X)[0], Y - np.array([5, 6]))
        session.set_weights({"w": np.zeros((2, 2), np.float32)}, partial=True)
        assert not session.run(None, X)[0].any()


def test_recompiling_for_other_weights(tmp_path):
    content = model([node("Reshape", "x shape", "y")], [tensor("x", shape=[3, 2])], [tensor("y")],
                    {"shape": np.array([2, 3], np.int64)})
    for _ in range(2):
        session = tenon.InferenceSession(content, options(tmp_path / "cache"))
        assert session.run(None, X)[0].shape == (2, 3)
        session.set_weights({"shape": np.array([6, 1], np.int64)}, recompile=True)
        assert session.run(None, X)[0].shape == (6, 1)


def test_processes_share_it(path, tmp_path):
    program = """
import sys, numpy, tenon
options = tenon.SessionOptions()
options.add_session_config_entry("tenon.cache", "1")
options.add_session_config_entry("tenon.cache_dir", sys.argv[2])
for _ in range(5):
    y = tenon.InferenceSession(sys.argv[1], options).run(None, {"x": numpy.ones([1, 2], numpy.float32)})[0]
    assert y.tolist() == [[9, 12]], y
"""
    started = [subprocess.Popen([sys.executable, "-c", program, path, tmp_path / "cache"]) for _ in range(4)]
    assert [process.wait() for process in started] == [0] * 4
    assert len(models(tmp_path / "cache")) == 1
