"""What commands say of compiled models: defaults, inputs and outputs, weights that are open or cannot be written."""

import os
import pty
import subprocess

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from . import models
from .conftest import DONE, FAILED, USAGE


@pytest.fixture
def with_default(tmp_path):
    """y = x * scale, where scale is an input that may be left out."""
    path = models.save(tmp_path / "m.onnx", [helper.make_node("Mul", ["x", "scale"], ["y"])],
                       [models.tensor("x", ["n"]), models.tensor("scale", [1])], [models.tensor("y", ["n"])],
                       {"scale": np.array([3], np.float32)})
    return path


class TestDefaults:
    @pytest.fixture(autouse=True)
    def compiled(self, tenon, with_default):
        assert tenon("compile", "-m", with_default).code == DONE

    def test_run(self, tenon):
        result = tenon("run", "m_ctx.onnx", "-i", "x=[1, 2]", "--format", "json")
        assert result.code == DONE, result.err
        assert result.json["outputs"][0]["elements"] == [3, 6]
        given = tenon("run", "m_ctx.onnx", "-i", "x=[1, 2]", "-i", "scale=[5]", "--format", "json").json
        assert given["outputs"][0]["elements"] == [5, 10]
        missing = tenon("run", "m_ctx.onnx", "-i", "scale=[5]")
        assert missing.code == USAGE and "'x'" in missing.err and "'scale'" not in missing.err

    def test_random_inputs_leave_defaults_alone(self, tenon):
        runs = [tenon("run", name, "--random", "--dim", "n=4", "--format", "json").json["outputs"]
                for name in ("m.onnx", "m_ctx.onnx")]
        assert runs[0] == runs[1]

    def test_inspect_shows_inputs_and_outputs(self, tenon):
        text = tenon("inspect", "m_ctx.onnx").out
        assert "inputs\n" in text and "has a default" in text and "outputs\n" in text
        (model,) = tenon("inspect", "m_ctx.onnx", "--format", "json").json["models"]
        assert model["inputs"] == [{"name": "x", "type": "float[n]"},
                                   {"name": "scale", "type": "float[1]", "default": True}]
        assert model["outputs"] == [{"name": "y", "type": "float[n]"}]


def test_inspect_shows_weights_when_asked(tenon, linear):
    tenon("compile", "-m", linear)
    plain = tenon("inspect", "linear_ctx.onnx", "--format", "json").json
    assert "packed" not in plain and "sources" not in plain
    full = tenon("inspect", "linear_ctx.onnx", "--weights", "--format", "json").json
    assert {s["name"] for s in full["sources"]} == {"w", "b"} and full["packed"]
    assert "\nsources\n" in tenon("inspect", "linear_ctx.onnx", "--weights").out
    assert "\nsources\n" not in tenon("inspect", "linear_ctx.onnx").out


def test_shared_weights_are_counted_once(tenon, tmp_path):
    """Two weights of equal elements are one packed tensor."""
    nodes = [helper.make_node("MatMul", ["x", "a"], ["h"]), helper.make_node("MatMul", ["h", "b"], ["y"])]
    weight = models.weights_of({"a": (16, 16)})["a"]
    models.save(tmp_path / "m.onnx", nodes, [models.tensor("x", ["n", 16])], [models.tensor("y", ["n", 16])],
                {"a": weight, "b": weight})
    tenon("compile", "-m", "m.onnx")
    document = tenon("inspect", "m_ctx.onnx", "--weights", "--format", "json").json
    assert len(document["packed"]) == 1
    assert document["models"][0]["packed_bytes"] == document["packed"][0]["bytes"]


class TestOpenWeights:
    @pytest.fixture(autouse=True)
    def stripped(self, tenon, linear):
        tenon("compile", "-m", linear)
        tenon("weights", "strip", "linear_ctx.onnx", "-o", "empty_ctx.onnx")

    def test_verify_says_so(self, tenon):
        result = tenon("verify", "empty_ctx.onnx")
        assert result.code == DONE and "not set" in result.err and "tenon weights set" in result.err
        assert "not set" in tenon("verify", "empty_ctx.onnx", "--format", "json").err

    def test_strip_says_what_is_left(self, tenon, linear, tmp_path):
        result = tenon("weights", "strip", "linear_ctx.onnx", "-o", "other_ctx.onnx")
        (left,) = tmp_path.glob("other_ctx-*.bin")
        assert f"2 packed weights removed, {left.stat().st_size / 1024:.1f} KiB left" in result.out

    def test_weights_set_says_so(self, tenon, tmp_path):
        np.savez(tmp_path / "part.npz", b=np.zeros(2, np.float32))
        for extra in ([], ["--format", "json", "--overwrite"]):
            result = tenon("weights", "set", "empty_ctx.onnx", "--from", "part.npz", "-o", "part_ctx.onnx", *extra)
            assert result.code == DONE and "1 weight is not set" in result.err, result.err


def test_weights_set_that_replaces_nothing(tenon, linear, tmp_path):
    tenon("compile", "-m", linear)
    before = sorted(os.listdir(tmp_path))
    np.savez(tmp_path / "new.npz", ww=np.zeros((2, 2), np.float32))
    result = tenon("weights", "set", "linear_ctx.onnx", "--from", "new.npz", "-o", "t_ctx.onnx")
    assert result.code == FAILED and "no weight of these models is replaced" in result.err and "'ww'; did you mean 'w'?" in result.err
    assert sorted(os.listdir(tmp_path)) == sorted([*before, "new.npz"])
    result = tenon("weights", "set", "linear_ctx.onnx", "--from", "new.npz", "--in-place")
    assert result.code == FAILED and "no weight of these models is replaced" in result.err


def test_export_names_what_it_cannot_write(tenon, tmp_path):
    nodes = [helper.make_node("StringConcat", ["x", "suffix"], ["y"]), helper.make_node("Add", ["a", "w"], ["b"])]
    path = models.save(tmp_path / "m.onnx", nodes,
                       [models.tensor("x", ["n"], TensorProto.STRING), models.tensor("a", [2])],
                       [models.tensor("y", ["n"], TensorProto.STRING), models.tensor("b", [2])],
                       {"w": np.ones(2, np.float32)})
    model = onnx.load(path)
    model.graph.initializer.append(helper.make_tensor("suffix", TensorProto.STRING, [1], [b"!"]))
    onnx.save(model, path)
    assert tenon("compile", "-m", "m.onnx").code == DONE
    result = tenon("weights", "export", "m_ctx.onnx", "-o", "w.safetensors")
    assert result.code == FAILED and "'suffix': string" in result.err and "'w'" not in result.err
    assert not (tmp_path / "w.safetensors").exists()


def terminal_text(program, folder, *arguments):
    """What a command writes to a terminal as its standard error, showing progress from the start."""
    primary, secondary = pty.openpty()
    process = subprocess.Popen([program, *arguments], stdout=subprocess.DEVNULL, stderr=secondary, cwd=folder,
                               env={**os.environ, "TENON_PROGRESS_DELAY": "0"})
    os.close(secondary)
    text = b""
    try:
        while piece := os.read(primary, 4096):
            text += piece
    except OSError:
        pass  # the other end is closed
    os.close(primary)
    assert process.wait(timeout=120) == 0
    return text.decode()


def test_progress_says_what_is_being_done(program, tenon, tmp_path):
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"])]
    models.save(tmp_path / "m.onnx", nodes, [models.tensor("x", [2, 3])], [models.tensor("y", [2, 4])],
                models.weights_of({"w": (3, 4)}))
    assert "comparing m.onnx" in terminal_text(program, tmp_path, "compile", "-m", "m.onnx")
    compared = terminal_text(program, tmp_path, "verify", "m_ctx.onnx", "--samples", "1")
    assert "comparing m_ctx.onnx with m.onnx" in compared
    assert "comparing m.onnx: set 1 of 1" in terminal_text(program, tmp_path, "verify", "m.onnx", "--samples", "1")
    assert terminal_text(program, tmp_path, "verify", "m.onnx", "--samples", "1", "-q") == ""
    assert "optimizing m.onnx" in terminal_text(program, tmp_path, "optimize", "-m", "m.onnx")
    assert "optimizing m.onnx" in terminal_text(program, tmp_path, "optimize", "-m", "m.onnx", "--check")
    written = terminal_text(program, tmp_path, "run", "m.onnx", "--random", "-o", "y.npz")
    assert "running m.onnx" in written and "writing y.npz" in written
    assert "writing" not in terminal_text(program, tmp_path, "run", "m.onnx", "--random")
    assert "comparing" not in tenon("verify", "m.onnx", "--samples", "1").err
