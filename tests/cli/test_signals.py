"""Ctrl-C and its like: what was staged goes, children end, and a shell sees the signal."""

import contextlib
import fcntl
import os
import signal
import subprocess

import pytest
from onnx import helper

from . import models
from .conftest import DONE, FAILED
from .test_compile import flags, names_in
from .test_compile_faults import traced  # noqa: F401

ENDING = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.fixture(autouse=True)
def signals_that_count():
    """Programs inherit what is ignored, as shells do for commands in the background."""
    before = {number: signal.signal(number, signal.default_int_handler) for number in ENDING}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def slow(path, times=60, size=1500):
    """Products that take the reference minutes."""
    nodes = [helper.make_node("MatMul", [f"x{i}" if i else "x", "x"], [f"x{i + 1}"]) for i in range(times)]
    return models.save(path, nodes, [models.tensor("x", [size, size])], [models.tensor(f"x{times}", [size, size])])


def start(program, folder, *arguments, **options):
    return subprocess.Popen([program, *map(str, arguments)], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, **options)


def children_of(pid):
    found = []
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/children") as file:
            found += [int(child) for child in file.read().split()]
    return found


def wait_for_child(process):
    while not children_of(process.pid):
        assert process.poll() is None, process.communicate()
    return children_of(process.pid)


def wait_for_end(pid):
    """A process that somebody else reaps is gone, or a zombie until then."""
    while True:
        try:
            with open(f"/proc/{pid}/stat") as file:
                if file.read().rsplit(")")[1].split()[0] == "Z":
                    return
        except (FileNotFoundError, ProcessLookupError):
            return


@pytest.mark.parametrize("number", ENDING)
def test_while_a_result_is_tried(program, tmp_path, number):
    slow(tmp_path / "m.onnx")
    process = start(program, tmp_path, "compile", "-m", "m.onnx", "--output-dir", "out")
    (child,) = wait_for_child(process)
    os.kill(process.pid, number)
    out, errors = process.communicate(timeout=60)
    assert process.returncode == -number and out == "" and "tenon:" not in errors
    wait_for_end(child)
    assert names_in(tmp_path) == ["m.onnx"]


def test_a_child_ends_with_a_parent_that_is_killed(program, tmp_path):
    slow(tmp_path / "m.onnx")
    process = start(program, tmp_path, "compile", "-m", "m.onnx", "--output-dir", "out")
    (child,) = wait_for_child(process)
    # The child asks for it first of all; until then it is not this program yet.
    while "--check-staged" not in open(f"/proc/{child}/cmdline").read():
        pass
    process.kill()
    process.communicate(timeout=60)
    wait_for_end(child)


@pytest.mark.parametrize("number", ENDING)
@pytest.mark.parametrize("folder_is_there", [False, True])
def test_while_files_are_written(traced, tmp_path, number, folder_is_there):  # noqa: F811
    paths = [models.head(tmp_path / f"{name}.onnx", name) for name in ("cat", "dog")]
    if folder_is_there:
        (tmp_path / "out").mkdir()
    before = names_in(tmp_path)
    # A write of the weights takes a second, in which the signal comes.
    process = traced("pwrite64:delay_enter=1000000:when=1", "compile", *flags(paths), "--output-dir", "out",
                     "--no-validate")
    place = tmp_path / "out" if folder_is_there else tmp_path
    while not [name for name in names_in(place) if name.startswith(".tenon-staging")]:
        assert process.poll() is None
    (child,) = wait_for_child(process)
    os.kill(child, number)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == -number and out == ""
    assert names_in(tmp_path) == before
    assert not folder_is_there or names_in(tmp_path / "out") == []


def test_folders_made_on_the_way_go_too(program, tmp_path):
    slow(tmp_path / "m.onnx")
    process = start(program, tmp_path, "compile", "-m", "m.onnx", "--output-dir", "a/b/out")
    wait_for_child(process)
    os.kill(process.pid, signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGTERM and names_in(tmp_path) == ["m.onnx"]


def test_folders_that_somebody_uses_meanwhile_stay(program, tmp_path):
    slow(tmp_path / "m.onnx")
    process = start(program, tmp_path, "compile", "-m", "m.onnx", "--output-dir", "a/b/out")
    wait_for_child(process)
    (tmp_path / "a/mine").write_text("mine")
    os.kill(process.pid, signal.SIGTERM)
    process.communicate(timeout=60)
    assert names_in(tmp_path) == ["a", "m.onnx"] and names_in(tmp_path / "a") == ["mine"]


def test_while_one_file_is_written(traced, tmp_path):  # noqa: F811
    models.linear(tmp_path / "m.onnx")
    process = traced("fsync:delay_enter=1000000:when=1", "run", "m.onnx", "--random", "-o", "y.npz")
    while not [name for name in names_in(tmp_path) if name.endswith(".tmp")]:
        assert process.poll() is None
    (child,) = wait_for_child(process)
    os.kill(child, signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGTERM and names_in(tmp_path) == ["m.onnx"]


def test_while_another_process_has_the_folder(program, tmp_path):
    models.linear(tmp_path / "m.onnx")
    (tmp_path / "out").mkdir()
    folder = os.open(tmp_path / "out", os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    process = start(program, tmp_path, "compile", "-m", "m.onnx", "--output-dir", "out", "--no-validate")
    assert "waiting for the folder" in process.stderr.readline()
    os.kill(process.pid, signal.SIGINT)
    process.communicate(timeout=60)
    os.close(folder)
    assert process.returncode == -signal.SIGINT and names_in(tmp_path / "out") == []


def test_a_signal_that_was_ignored_stays_so(program, tmp_path):
    models.linear(tmp_path / "m.onnx")
    process = start(program, tmp_path, "compile", "-m", "m.onnx", "--output-dir", "out",
                    preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    os.kill(process.pid, signal.SIGHUP)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == DONE, errors


class TestTimeLimit:
    def test_a_slow_reference_is_inconclusive(self, tenon, tmp_path):
        slow(tmp_path / "m.onnx")
        result = tenon("compile", "-m", "m.onnx", "--validate-timeout", "1", "--format", "json")
        assert result.code == DONE, result.err
        validation = result.json["models"][0]["validation"]
        assert validation["verdict"] == "inconclusive"
        assert "the reference needs more than 1 s" in validation["message"] and "--validate-timeout" in result.err
        assert (tmp_path / "m_ctx.onnx").exists()

    def written(self, pid):
        """Bytes that a process has written; after the first one only the compiled model is left to try."""
        try:
            with open(f"/proc/{pid}/io") as file:
                return int(file.read().split("wchar: ")[1].split()[0])
        except OSError:
            return 1 << 60

    def test_a_compiled_model_that_hangs_has_failed(self, program, tmp_path):
        slow(tmp_path / "m.onnx", times=40, size=300)
        while True:
            process = start(program, tmp_path, "compile", "-m", "m.onnx", "--overwrite", "--validate-timeout", "5")
            (child,) = wait_for_child(process)
            while self.written(child) == 0:
                pass
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGSTOP)
                if self.written(child) == 1:
                    break
                # It was faster than this test.
                os.kill(child, signal.SIGCONT)
            process.communicate(timeout=60)
            (tmp_path / "m_ctx.onnx").unlink(missing_ok=True)
        _, errors = process.communicate(timeout=60)
        assert process.returncode == FAILED and "the compiled model needs more than 5 s" in errors
        assert not (tmp_path / "m_ctx.onnx").exists()

    @pytest.mark.parametrize("more", ["--no-validate", "--defer-weights"])
    def test_without_a_try(self, tenon, tmp_path, more):
        models.linear(tmp_path / "m.onnx")
        result = tenon("compile", "-m", "m.onnx", "--validate-timeout", "1", more)
        assert result.code == 2 and more in result.err
