"""Limits, what they are called on the command line, and the exit codes of what goes over them."""

import io
import re
import subprocess
import zipfile

import numpy as np
import onnx
import pytest
from onnx import TensorProto

from . import models
from .conftest import CANNOT_LOAD, CANNOT_RUN, DONE, FAILED, USAGE


@pytest.mark.parametrize("command", ["run", "verify", "inspect"])
def test_options_are_listed(tenon, command):
    result = tenon(command, "--option", "help")
    assert (result.code, result.err) == (DONE, "")
    keys = set(re.findall(r"^  (\w+)=", result.out, re.M))
    assert {"max_nodes", "max_nesting", "freeze_inputs"} <= keys
    assert ("memory_limit" in keys) == ("loop_limit" in keys) == (command != "inspect")
    assert "--option KEY=VALUE" in tenon(command, "--help").out


@pytest.mark.parametrize("command", [["run", "--random"], ["verify"], ["inspect"]])
def test_the_library_knows_every_listed_option(tenon, linear, command):
    for key in re.findall(r"^  (\w+)=", tenon(command[0], "--option", "help").out, re.M):
        assert "unknown option" not in tenon(command[0], linear, *command[1:], "--option", f"{key}=1").err


@pytest.mark.parametrize(
    "option, message",
    [
        ("memory_limt=1", "did you mean 'memory_limit'"),
        ("colour=1", "'--option help' lists the keys"),
        ("memory_limit", "KEY=VALUE"),
        ("memory_limit=", "whole number of at least 1"),
        ("memory_limit=0", "whole number of at least 1"),
        ("memory_limit=8G", "whole number of at least 1"),
        ("freeze_inputs=yes", "1 or 0"),
    ],
)
def test_wrong_options(tenon, linear, option, message):
    result = tenon("run", linear, "--random", "--option", option)
    assert (result.code, result.out) == (USAGE, "")
    assert message in result.err


def test_an_option_is_given_once(tenon, linear):
    result = tenon("run", linear, "--random", "--option", "loop_limit=1", "--option", "loop_limit=2")
    assert result.code == USAGE and "'loop_limit' is given twice" in result.err


@pytest.mark.parametrize("command", ["run", "verify"])
def test_the_memory_limit_counts(tenon, linear, command):
    flags = [linear, "--dim", "n=1000", *(["--random"] if command == "run" else [])]
    assert tenon(command, *flags, "--option", "memory_limit=1000000").code == DONE
    result = tenon(command, *flags, "--option", "memory_limit=5000")
    assert (result.code, result.out) == (CANNOT_RUN, "")
    assert "raise --option memory_limit" in result.err


def test_options_for_loading(tenon, linear):
    for command in (["run", "--random"], ["verify"], ["inspect"]):
        assert tenon(command[0], linear, *command[1:], "--option", "max_nodes=3").code == DONE
        assert tenon(command[0], linear, *command[1:], "--option", "max_nodes=2").code == CANNOT_LOAD


def test_freeze_inputs_follows_the_advice_of_the_warning(tenon, tmp_path):
    path = models.save(tmp_path / "m.onnx", [models.helper.make_node("Add", ["x", "w"], ["y"])],
                       [models.tensor("x", [2]), models.tensor("w", [2])], [models.tensor("y", [2])],
                       {"w": np.ones(2, np.float32)})
    assert "freeze_inputs" in tenon("inspect", path).err
    result = tenon("inspect", path, "--option", "freeze_inputs=1")
    assert result.err == "" and "has a default" not in result.out


def test_random_inputs_beyond_memory_cannot_be_run(tenon, linear):
    result = tenon("run", linear, "--random", "--dim", "n=9999999999999")
    assert (result.code, result.out) == (CANNOT_RUN, "")
    assert "input 'x'" in result.err and "--option memory_limit" in result.err
    assert tenon("verify", linear, "--dim", "n=9999999999999").code == CANNOT_RUN
    result = tenon("run", linear, "-i", "x=1", "--dim", "n=9999999999999")
    assert (result.code, result.out) == (CANNOT_RUN, ""), result.err


def zeros_archive(path, elements):
    """A compressed archive of zeros: a thousandth of their size."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f4", "fortran_order": False, "shape": (elements // 2, 2)})
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", header.getvalue() + bytes(4 * elements))


def test_compressed_inputs_meet_the_limit(tenon, linear, tmp_path):
    zeros_archive(tmp_path / "in.npz", 1_000_000)
    assert (tmp_path / "in.npz").stat().st_size < 10_000
    result = tenon("run", linear, "--inputs", "in.npz", "--option", "memory_limit=1000000")
    assert (result.code, result.out) == (CANNOT_RUN, "")
    assert "in.npz" in result.err and "array 'x'" in result.err and "--option memory_limit" in result.err
    assert tenon("run", linear, "--inputs", "in.npz").code == DONE


@pytest.mark.parametrize("command", [["run", "--random"], ["verify"]])
def test_missing_external_data_is_a_model_that_cannot_be_loaded(tenon, tmp_path, command):
    path = models.external(tmp_path / "m.onnx", "weights.bin")
    assert tenon(command[0], path, *command[1:]).code == DONE
    (tmp_path / "weights.bin").write_bytes(b"short")
    result = tenon(command[0], path, *command[1:])
    assert (result.code, result.out) == (CANNOT_LOAD, "")
    assert "'w'" in result.err and "weights.bin" in result.err
    (tmp_path / "weights.bin").unlink()
    result = tenon(command[0], path, *command[1:])
    assert (result.code, result.out) == (CANNOT_LOAD, "")
    assert "'w'" in result.err and "weights.bin" in result.err


def test_outputs_that_cannot_be_written_are_found_before_the_run(tenon, tmp_path):
    path = models.embedding(tmp_path / "m.onnx")
    locked = tmp_path / "file"
    locked.write_text("")
    for flag, name in (("-o", "out.npz"), ("--profile", "steps.json")):
        # The index is outside the table: the run would fail with another exit code.
        for folder in ("/proc", locked):
            result = tenon("run", path, "-i", "ids=[77]", flag, f"{folder}/{name}")
            assert (result.code, result.out) == (FAILED, ""), result.err
            assert name in result.err
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["file", "m.onnx"]


def test_many_warnings_do_not_flood(tenon, tmp_path):
    nodes = [models.helper.make_node("Identity", ["x"], [f"y{i}"]) for i in range(30)]
    outputs = [models.tensor(f"y{i}", [3]) for i in range(30)]
    path = models.save(tmp_path / "m.onnx", nodes, [models.tensor("x", [2])], outputs)
    usual, verbose = tenon("inspect", path), tenon("inspect", path, "-v")
    assert usual.err.count("is declared as") == 10 and "20 more" in usual.err
    assert verbose.err.count("is declared as") == 30


def test_a_summary_stays_short(tenon, linear, tmp_path):
    model = onnx.load(linear)
    for i in range(50_000):
        model.metadata_props.add(key=f"key{i:05}", value="v" * (1_000 if i == 0 else 10))
    for i in range(300):
        model.graph.input.append(models.tensor(f"extra{i}", [1], TensorProto.FLOAT))
    onnx.save(model, tmp_path / "m.onnx")
    result = tenon("inspect", "m.onnx")
    assert result.code == DONE and len(result.out) < 20_000
    assert "... 49980 more; --format json shows all" in result.out
    assert "... 201 more" in result.out
    summary = tenon("inspect", "m.onnx", "--format", "json").json["summary"]
    assert len(summary["metadata"]) == 50_000 and len(summary["inputs"]) == 301


@pytest.mark.parametrize("line", ["run m.onnx --random", "inspect m.onnx", "verify m.onnx", "compile -m m.onnx --output-dir out",
                                  "compile -m m.onnx -m n.onnx --output-dir out --jobs 2 --no-validate"])
def test_a_system_that_gives_no_threads(program, tmp_path, line):
    """Threads that want more stack than there is room for: everything is done by one."""
    for name in ("m", "n"):
        models.linear(tmp_path / f"{name}.onnx")
    command = f"ulimit -s 4000000; ulimit -v 1000000; exec '{program}' {line}"
    process = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert process.returncode == DONE, process.stderr


def test_names_of_the_longest_allowed_length(tenon, linear, tmp_path):
    name = "n" * 251 + ".npz"
    assert tenon("run", linear, "--random", "-o", name).code == DONE
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["linear.onnx", name]
