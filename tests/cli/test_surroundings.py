"""What commands find on a machine, without running anything of it."""

import os
import struct

import pytest

from . import models
from .conftest import DONE, FAILED, USAGE
from .test_compile import names_in

COMMANDS = [["sys"], ["compile", "--list"], ["compile", "-m", "m.onnx", "--compiler", "ort"]]


def plant_python(folder):
    """A python3 that tells when it runs, with an onnxruntime beside it."""
    (folder / "bin").mkdir(parents=True)
    (folder / "bin/python3").write_text("#!/bin/sh\ntouch '%s/ran'\n" % folder)
    (folder / "bin/python3").chmod(0o755)
    packages = folder / "lib/python3.11/site-packages"
    (packages / "onnxruntime").mkdir(parents=True)
    (packages / "onnxruntime/__init__.py").write_text("")
    (packages / "onnxruntime-9.8.7.dist-info").mkdir()


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("environment", [True, False])
def test_no_python_is_run(tenon, tmp_path, command, environment):
    models.linear(tmp_path / "m.onnx")
    plant_python(tmp_path / "venv")
    if environment:
        (tmp_path / "venv/pyvenv.cfg").write_text("home = /usr/bin\ninclude-system-site-packages = false\n")
    for name in ("csv.py", "site.py", "importlib.py", "sitecustomize.py"):
        (tmp_path / name).write_text(f"open({str(tmp_path / 'imported')!r}, 'w')\n")
    result = tenon(*command, env=dict(os.environ, PATH=f"{tmp_path}/venv/bin:{os.environ['PATH']}"))
    assert "onnxruntime 9.8.7 was found for python3" in result.out + result.err
    assert not (tmp_path / "venv/ran").exists() and not (tmp_path / "imported").exists()


def test_the_working_folder_is_no_place_to_look(tenon, tmp_path):
    plant_python(tmp_path)
    for path in ("bin", ":", "."):
        assert "9.8.7" not in tenon("sys", env=dict(os.environ, PATH=path, LD_LIBRARY_PATH="")).out


def test_an_environment_over_another_python(tenon, tmp_path):
    plant_python(tmp_path / "base")
    (tmp_path / "venv/bin").mkdir(parents=True)
    (tmp_path / "venv/bin/python3").symlink_to(tmp_path / "base/bin/python3")
    for shown in (False, True):
        settings = f"home = {tmp_path}/base/bin\ninclude-system-site-packages = {str(shown).lower()}\n"
        (tmp_path / "venv/pyvenv.cfg").write_text(settings)
        result = tenon("sys", env=dict(os.environ, PATH=f"{tmp_path}/venv/bin"))
        assert ("9.8.7" in result.out) == shown


class TestQairt:
    def state(self, tenon, folder):
        result = tenon("compile", "--list", "--format", "json", env=dict(os.environ, QNN_SDK_ROOT=str(folder)))
        return {entry["name"]: entry["reason"] for entry in result.json["compilers"]}["qairt"]

    def test_an_empty_folder_is_no_sdk(self, tenon, tmp_path):
        state = self.state(tenon, tmp_path)
        assert "not a complete SDK" in state and "found in" not in state
        for name in ("include/QNN/QnnInterface.h", "libQnnSystem.so", "qnn-context-binary-generator"):
            assert name in state

    def test_an_sdk(self, tenon, tmp_path):
        for name in ("include/QNN/QnnInterface.h", "lib/x86_64-linux-clang/libQnnSystem.so",
                     "bin/x86_64-linux-clang/qnn-context-binary-generator"):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text("")
        assert f"its SDK was found in '{tmp_path}'" in self.state(tenon, tmp_path)


class TestDeepAndStrangeFiles:
    @pytest.mark.parametrize("text", ['{"compile":' * 40_000 + "1" + "}" * 40_000, "[" * 3_000_000,
                                      '{"compile": {"models": ' + "[" * 40_000 + "]" * 40_000 + "}}"])
    def test_a_configuration(self, tenon, linear, tmp_path, text):
        (tmp_path / "c.json").write_text(text)
        result = tenon("compile", "-m", linear, "--config", "c.json")
        assert result.code == USAGE and "c.json" in result.err and "nested more than" in result.err

    @pytest.mark.parametrize("text", ["9" * 5_000_000, '"' + "x" * 5_000_000])
    def test_a_message_does_not_repeat_the_file(self, tenon, linear, tmp_path, text):
        (tmp_path / "c.json").write_text('{"compile": ' + text)
        result = tenon("compile", "-m", linear, "--config", "c.json")
        assert result.code == USAGE and "'c.json' is not JSON" in result.err and len(result.err) < 1000

    @pytest.mark.parametrize("kind", ["pipe", "folder", "missing", "large"])
    def test_what_is_no_configuration(self, tenon, linear, tmp_path, kind):
        path = tmp_path / "c.json"
        if kind == "pipe":
            os.mkfifo(path)
        elif kind == "folder":
            path.mkdir()
        elif kind == "large":
            with open(path, "wb") as file:
                file.truncate(1 << 40)
        result = tenon("compile", "-m", linear, "--config", "c.json")
        assert result.code == USAGE and "c.json" in result.err
        words = {"pipe": "is a named pipe", "folder": "is a folder", "missing": "No such file", "large": "the limit is"}
        assert words[kind] in result.err

    @pytest.mark.parametrize("header", [b'{"w":' + b"[" * 2_000_000 + b"]" * 2_000_000 + b"}",
                                        b'{"a":' * 500_000 + b"1" + b"}" * 500_000,
                                        b'{"__metadata__":' + b'{"a":' * 500_000 + b"1" + b"}" * 500_000 + b"}"])
    def test_the_header_of_safetensors(self, tenon, linear, tmp_path, header):
        tenon("compile", "-m", linear)
        (tmp_path / "w.safetensors").write_bytes(struct.pack("<Q", len(header)) + header)
        result = tenon("weights", "set", "linear_ctx.onnx", "--from", "w.safetensors", "-o", "new_ctx.onnx")
        # What metadata hold is nobody's business, so the last one is a file without tensors.
        assert result.code == FAILED and "w.safetensors" in result.err or header.startswith(b'{"__metadata__"')
        assert result.code in (DONE, FAILED)

    def test_a_value(self, tenon, linear, tmp_path):
        depth = 40_000
        result = tenon("run", linear, "-i", "x=" + "[" * depth + "1" + "]" * depth)
        assert result.code not in (DONE, -11) and "nested" in result.err


def test_names_stay(tenon, linear, tmp_path):
    before = names_in(tmp_path)
    for command in COMMANDS[:2]:
        assert tenon(*command).code == DONE
    assert names_in(tmp_path) == before
