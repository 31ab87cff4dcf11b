"""Only regular files are ever replaced: not devices, pipes, links or folders, whatever command writes."""

import os
import stat

import pytest

from . import models
from .conftest import DONE, FAILED
from .test_compile import names_in

KINDS = {"pipe": "is a named pipe", "link": "is a symbolic link", "folder": "is a folder", "device": "is a device"}


def occupy(path, kind):
    """What the path is then, told by its mode and where a link leads."""
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "link":
        (path.parent / "target").write_text("mine")
        path.symlink_to("target")
    elif kind == "folder":
        path.mkdir()
    else:
        try:
            os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        except PermissionError:
            pytest.skip("only root makes devices")
    return stat.S_IFMT(path.lstat().st_mode)


@pytest.fixture
def compiled(tenon, tmp_path):
    models.convolution(tmp_path / "m.onnx")
    assert tenon("compile", "-m", "m.onnx", "--no-validate").code == DONE


COMMANDS = {
    "compile": ("x_ctx.onnx", ["compile", "-m", "m.onnx", "--no-validate", "-o"]),
    "set": ("x_ctx.onnx", ["weights", "set", "m_ctx.onnx", "--from", "m.onnx", "-o"]),
    "strip": ("x_ctx.onnx", ["weights", "strip", "m_ctx.onnx", "-o"]),
    "export": ("x.safetensors", ["weights", "export", "m_ctx.onnx", "-o"]),
    "run": ("x.npz", ["run", "m.onnx", "--random", "-o"]),
    "profile": ("x.json", ["run", "m.onnx", "--random", "--profile"]),
    "report": ("x.json", ["compile", "-m", "m.onnx", "--no-validate", "--output-dir", "out", "--report"]),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("command", COMMANDS)
def test_by_a_command(tenon, compiled, tmp_path, command, kind):
    name, line = COMMANDS[command]
    before = occupy(tmp_path / name, kind)
    names = names_in(tmp_path)
    result = tenon(*line, name, "--overwrite")
    assert result.code == FAILED and KINDS[kind] in result.err and name in result.err, result.err
    assert stat.S_IFMT((tmp_path / name).lstat().st_mode) == before
    assert names_in(tmp_path) == names
    if kind == "link":
        assert (tmp_path / "target").read_text() == "mine"


@pytest.mark.parametrize("kind", KINDS)
def test_in_the_place_of_a_weights_file(tenon, compiled, tmp_path, kind):
    (weights,) = [name for name in names_in(tmp_path) if name.endswith(".bin")]
    (tmp_path / weights).unlink()
    (tmp_path / "m_ctx.onnx").unlink()
    before = occupy(tmp_path / weights, kind)
    result = tenon("compile", "-m", "m.onnx", "--no-validate", "--overwrite")
    assert result.code == FAILED and KINDS[kind] in result.err and weights in result.err, result.err
    assert stat.S_IFMT((tmp_path / weights).lstat().st_mode) == before


def test_in_place_through_a_link(tenon, compiled, tmp_path):
    os.rename(tmp_path / "m_ctx.onnx", tmp_path / "real_ctx.onnx")
    (tmp_path / "m_ctx.onnx").symlink_to("real_ctx.onnx")
    before = (tmp_path / "real_ctx.onnx").read_bytes()
    models.convolution(tmp_path / "m.onnx", seed=1)
    result = tenon("weights", "set", "m_ctx.onnx", "--from", "m.onnx", "--in-place")
    assert result.code == FAILED and "'m_ctx.onnx' is a symbolic link" in result.err
    assert (tmp_path / "m_ctx.onnx").is_symlink() and (tmp_path / "real_ctx.onnx").read_bytes() == before


def test_a_model_that_is_a_pipe(tenon, tmp_path):
    os.mkfifo(tmp_path / "m.onnx")
    for line in (["run", "m.onnx", "--random"], ["compile", "-m", "m.onnx"], ["verify", "m.onnx"], ["inspect", "m.onnx"],
                 ["weights", "list", "m.onnx"]):
        result = tenon(*line)
        assert result.code != DONE and "'m.onnx' is a named pipe" in result.err, line
