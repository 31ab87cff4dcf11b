"""tenon compile when models, files or its own processes misbehave."""

import os
import shutil
import subprocess

import numpy as np
import pytest
from onnx import helper

from . import models
from .conftest import DONE, FAILED
from .test_compile import flags, names_in


@pytest.fixture
def traced(program, tmp_path):
    """The command under strace with an injected fault."""
    strace = shutil.which("strace")
    assert strace, "these tests need strace"

    def start(inject, *arguments, follow=False):
        command = [strace, "-qq", *(["-f"] if follow else []), "-o", "/dev/null", "-e", f"inject={inject}", program]
        return subprocess.Popen([*command, *map(str, arguments)], cwd=tmp_path, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    return start


def unstable(path):
    """The difference of two sums of the same large numbers in another order: rounding alone."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["a"]),
        helper.make_node("MatMul", ["x", "v"], ["b"]),
        helper.make_node("Gather", ["x", "order"], ["turned"], axis=1),
        helper.make_node("MatMul", ["turned", "v"], ["c"]),
        helper.make_node("Sub", ["a", "c"], ["y"]),
    ]
    count = 4096
    w = np.random.default_rng(0).standard_normal((count, 1)).astype(np.float32) * np.float32(1e4)
    weights = {"w": w, "v": w[::-1].copy(), "order": np.arange(count, dtype=np.int64)[::-1].copy()}
    outputs = [models.tensor("y", [4, 1])]
    return models.save(path, nodes, [models.tensor("x", [4, count])], outputs, weights)


def test_a_mismatch_fails_the_model_and_shows_the_numbers(tenon, tmp_path):
    good = models.convolution(tmp_path / "good.onnx")
    result = tenon("compile", "-m", unstable(tmp_path / "bad.onnx"), "-m", good, "--output-dir", "out", "--format", "json")
    assert result.code == FAILED
    bad, fine = result.json["models"]
    assert (bad["status"], fine["status"]) == ("failed", "compiled")
    assert bad["validation"]["verdict"] == "different" and bad["output"] is None
    assert bad["validation"]["outputs"][0]["max_abs"] > bad["validation"]["outputs"][0]["allowed_abs"]
    assert "'y':" in result.err and "max abs" in result.err
    assert "bad_ctx.onnx" not in names_in(tmp_path / "out") and len(names_in(tmp_path / "out")) == 2
    assert tenon("compile", "-m", "bad.onnx", "--no-validate").code == DONE


def test_a_crash_while_trying_a_result_fails_the_model(traced, tmp_path):
    models.convolution(tmp_path / "m.onnx")
    process = traced("dup2:signal=KILL", "compile", "-m", "m.onnx", "--output-dir", "out", follow=True)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == FAILED and "crashed" in errors and "m.onnx" in errors
    assert names_in(tmp_path) == ["m.onnx"]


def test_a_model_that_changes_meanwhile_is_refused(traced, tmp_path):
    paths = [models.head(tmp_path / f"{name}.onnx", name) for name in ("cat", "dog")]
    models.head(tmp_path / "new.onnx", "cat", backbone_seed=4)
    # Its first durable write takes a second, in which the model is replaced.
    process = traced("fsync:delay_enter=1000000:when=1", "compile", *flags(paths), "--output-dir", "out")
    while not [name for name in os.listdir(tmp_path) if name.startswith(".tenon-staging")]:
        assert process.poll() is None
    os.replace(tmp_path / "new.onnx", tmp_path / "cat.onnx")
    _, errors = process.communicate(timeout=60)
    assert process.returncode == FAILED and "cat.onnx: the file changed while it was being compiled" in errors
    assert [name for name in names_in(tmp_path / "out") if name.endswith(".onnx")] == ["dog_ctx.onnx"]


def test_standard_output_that_is_full(program, linear, tmp_path):
    with open("/dev/full", "w") as full:
        process = subprocess.run([program, "compile", "-m", linear], cwd=tmp_path, stdout=full, stderr=subprocess.PIPE)
    assert process.returncode == FAILED


def test_inputs_are_never_changed(tenon, tmp_path):
    path = models.convolution(tmp_path / "m.onnx")
    before = (path.read_bytes(), path.stat().st_mtime_ns)
    assert tenon("compile", "-m", path).code == DONE
    assert tenon("weights", "set", "m_ctx.onnx", "--from", path, "--in-place").code == DONE
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before


@pytest.mark.parametrize("cut", [0, 1, 100, 5000])
def test_cut_weights_files_are_refused_not_run(tenon, tmp_path, cut):
    path = models.convolution(tmp_path / "m.onnx")
    tenon("compile", "-m", path)
    (weights,) = [name for name in names_in(tmp_path) if name.endswith(".bin")]
    os.truncate(tmp_path / weights, cut)
    result = tenon("run", "m_ctx.onnx", "--random")
    assert result.code not in (DONE,) and result.code > 0 and "m_ctx.onnx" in result.err or weights in result.err
    assert tenon("compile", "-m", path, "--overwrite").code == DONE
    assert tenon("verify", "m_ctx.onnx").code == DONE
