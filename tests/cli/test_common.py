"""What every command does the same way: flags, streams, exit codes, messages."""

import json
import os
import pty
import signal
import subprocess

import pytest

from . import models
from .conftest import CANNOT_LOAD, CANNOT_RUN, DONE, FAILED, USAGE

COMMANDS = ["compile", "build", "optimize", "analyze", "weights", "run", "verify", "perf", "inspect", "sys"]


def command_line(command, model):
    return {
        "compile": ["compile", "-m", model],
        "build": ["build", "-m", model, "-o", "built"],
        "optimize": ["optimize", "-m", model, "--overwrite"],
        "analyze": ["analyze", model],
        "weights": ["weights", "list", model],
        "run": ["run", model, "--random"],
        "verify": ["verify", model],
        "perf": ["perf", model, "--iterations", "1"],
        "inspect": ["inspect", model],
        "sys": ["sys"],
    }[command]


def test_version(tenon):
    result = tenon("--version")
    assert (result.code, result.err) == (DONE, "")
    assert result.out.startswith("tenon 0.")


def test_help_lists_exactly_the_commands_there_are(tenon):
    result = tenon("--help")
    assert result.code == DONE
    listed = result.out.split("Commands:\n")[1].split("\n\n")[0]
    assert [line.split()[0] for line in listed.splitlines()] == COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_commands_has_examples(tenon, command):
    result = tenon(command, "--help")
    assert (result.code, result.err) == (DONE, "")
    assert f"Usage: tenon {command}" in result.out
    assert f"Examples:\n  tenon {command}" in result.out
    for flag in ["--format", "--verbose", "--quiet", "--no-color", "--threads"]:
        assert flag in result.out
    assert tenon(command, "-h").out == result.out


@pytest.mark.parametrize(
    "arguments, message",
    [
        ([], "no command"),
        (["rnu"], "did you mean 'run'"),
        (["dance"], "the commands are compile, build, optimize, analyze, weights, run, verify"),
        (["sys", "--frmat", "json"], "did you mean '--format'"),
        (["sys", "--format", "xml"], "one of text, json"),
        (["sys", "--format"], "--format needs a value"),
        (["sys", "-v", "-q"], "--verbose"),
        (["sys", "--threads", "-1"], "from 0 to 1024"),
        (["sys", "--threads", "1.5"], "from 0 to 1024"),
        (["sys", "--threads", "2000"], "from 0 to 1024"),
        (["sys", "--threads", "1", "--threads", "2"], "--threads may be given only once"),
        (["run", "a.onnx", "--random", "--seed", "1", "--seed", "2"], "--seed may be given only once"),
        (["sys", "extra"], "unexpected argument"),
        (["run"], "no model is given"),
        (["run", "a.onnx", "--seed", "3"], "--random"),
        (["run", "a.onnx", "--random=yes"], "--random"),
        (["inspect", "a.onnx", "--graph", "svg"], "one of text, dot, html"),
        (["inspect", "a.onnx", "--normal-form"], "unknown flag '--normal-form'"),
        (["verify", "a.onnx", "--samples", "0"], "--samples"),
        (["verify", "a.onnx", "--rtol", "-1"], "not negative"),
        (["verify", "a.onnx", "--atol", "nan"], "not negative"),
        (["verify", "a.onnx", "b.onnx", "c.onnx"], "unexpected argument"),
    ],
)
def test_wrong_command_lines(tenon, arguments, message):
    result = tenon(*arguments)
    assert (result.code, result.out) == (USAGE, "")
    assert result.err.startswith("tenon: ")
    assert message in result.err
    assert "--help" in result.err


def test_wrong_command_line_as_json(tenon):
    result = tenon("sys", "--format", "json", "--nonsense")
    assert result.code == USAGE
    assert result.json["exit_code"] == USAGE
    assert "--nonsense" in result.json["error"]


@pytest.mark.parametrize("command", COMMANDS)
def test_json_is_all_there_is_on_stdout(tenon, linear, command):
    for arguments in (["--format", "json"], ["--format=json", "-v"], ["--format", "json", "-q"]):
        result = tenon(*command_line(command, linear), *arguments)
        assert result.code == DONE, result.err
        assert isinstance(result.json, dict)


def test_common_flags_may_come_first(tenon):
    assert "version" in tenon("--format", "json", "sys").json


@pytest.mark.parametrize("command", ["run", "verify", "inspect"])
def test_models_that_cannot_be_loaded(tenon, tmp_path, command):
    (tmp_path / "bad.onnx").write_bytes(b"this is not a model")
    (tmp_path / "empty.onnx").write_bytes(b"")
    messages = {
        "missing.onnx": "No such file",
        "bad.onnx": "not an ONNX model, or it is damaged or truncated",
        "empty.onnx": "the file is empty",
        ".": "this folder contains no compiled model" if command == "verify" else "is a folder; name an ONNX file",
        "/etc/passwd": "not an ONNX model",
    }
    for name, message in messages.items():
        result = tenon(*command_line(command, name))
        assert (result.code, result.out) == (CANNOT_LOAD, ""), name
        assert message in result.err, result.err
        assert result.err.startswith("tenon: ") and result.err.count("\n") == 1
        assert name in result.err
        as_json = tenon(*command_line(command, name), "--format", "json")
        assert as_json.json["exit_code"] == CANNOT_LOAD


@pytest.mark.parametrize("command", ["run", "verify"])
def test_models_that_cannot_be_run(tenon, tmp_path, command):
    path = models.unknown_op(tmp_path / "odd.onnx")
    result = tenon(*command_line(command, path))
    assert (result.code, result.out) == (CANNOT_RUN, "")
    assert result.err.startswith(f"tenon: {path}: node 'odd': ")
    assert "NoSuchOp" in result.err


def test_verbose_and_quiet(tenon, linear):
    usual, verbose, quiet = (tenon("run", linear, "--random", *flags) for flags in ([], ["-v"], ["--quiet"]))
    assert usual.out == verbose.out == quiet.out
    assert "loaded" in verbose.err and "loaded" not in usual.err
    assert "ran" in usual.err and quiet.err == ""


def test_threads(tenon):
    assert tenon("sys", "--threads", "1", "--format", "json").json["threads_used"] == 1
    every = tenon("sys", "--threads", "0", "--format", "json").json
    assert every["threads_used"] == max(1, int(every["threads"]["quota"]))


def on_terminal(program, *arguments, **environment):
    """What the command writes when its standard output is a terminal."""
    primary, secondary = pty.openpty()
    variables = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    process = subprocess.Popen(
        [program, *map(str, arguments)], stdout=secondary, stderr=secondary, env={**variables, **environment}
    )
    os.close(secondary)
    text = b""
    while True:
        try:
            piece = os.read(primary, 4096)
        except OSError:
            break
        if not piece:
            break
        text += piece
    os.close(primary)
    process.wait(timeout=60)
    return text.decode()


def test_colors_only_on_a_terminal(program, tenon, linear):
    escape = "\x1b["
    assert escape in on_terminal(program, "verify", linear)
    assert escape not in on_terminal(program, "verify", linear, "--no-color")
    assert escape not in on_terminal(program, "verify", linear, NO_COLOR="1")
    assert escape in on_terminal(program, "verify", linear, NO_COLOR="")
    result = tenon("verify", linear)
    assert escape not in result.out + result.err


def test_names_in_a_model_cannot_steer_the_terminal(tenon, tmp_path):
    path = models.identity(tmp_path / "a.onnx", name="x\x1b[31m\u009b2Jred")
    for result in [tenon("inspect", path), tenon("inspect", path, "--graph", "text"), tenon("run", path)]:
        assert "\x1b" not in result.out + result.err
        assert "\u009b" not in result.out + result.err


def test_bytes_that_are_no_text_cannot_steer_the_terminal(program, tmp_path):
    """A lone 0x9b is what some terminals take for the beginning of a sequence; whole characters stay."""
    path = os.fsencode(tmp_path) + "/\u00e9".encode() + b"\x9b2J\xc3"
    result = subprocess.run([program, "inspect", path], capture_output=True, timeout=60)
    assert result.returncode != 0
    assert "\u00e9\\x9b2J\\xc3'".encode() in result.stderr


def test_closed_pipe_ends_quietly(program, linear):
    read, write = os.pipe()
    os.close(read)
    process = subprocess.Popen([program, "inspect", linear], stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    _, err = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGPIPE
    assert err == b""


def test_closed_stdout_is_a_failure(program, linear, tmp_path):
    out = tmp_path / "out.npz"
    process = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", program, "run", linear, "--random", "-o", out],
        stderr=subprocess.PIPE, timeout=60,
    )  # fmt: skip
    assert process.returncode == FAILED
    assert b"standard output" in process.stderr
    assert out.read_bytes()[:2] == b"PK", "the archive took the place of standard output"


def test_full_disk_is_a_failure(program, linear):
    with open("/dev/full", "w") as full:
        process = subprocess.run([program, "inspect", linear], stdout=full, stderr=subprocess.PIPE, timeout=60)
    assert process.returncode == FAILED
    assert b"No space left" in process.stderr


def test_messages_do_not_repeat_the_file(tenon, tmp_path):
    path = tmp_path / "bad.onnx"
    path.write_bytes(b"\x08")
    assert tenon("inspect", path).err.count(str(path)) == 1


def test_error_document_is_json_with_any_bytes(program, tmp_path):
    name = os.fsencode(tmp_path) + b"/\xff.onnx"
    process = subprocess.run([program, "inspect", name, "--format", "json"], capture_output=True, timeout=60)
    assert process.returncode == CANNOT_LOAD
    assert json.loads(process.stdout)["exit_code"] == CANNOT_LOAD
