"""Whatever happens while results are published, a folder holds old models or new ones, each with its weights."""

import os
import resource
import shutil
import signal
import subprocess

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

NAMES = ["cat_ctx.onnx", "dog_ctx.onnx"]
KILL, NO_SPACE = "signal=KILL", "error=ENOSPC"


def compile_line(*more):
    return ["compile", "-m", "cat.onnx", "-m", "dog.onnx", "--output-dir", "out", "--threads", "1", "--no-validate", *more]


def outputs(faults, path):
    result = faults.plain("run", path, "--random", "--threads", "1", "-o", "y.npz", "--overwrite")
    assert result.returncode == 0, result.stderr
    with np.load(faults.folder / "y.npz") as arrays:
        return arrays["y"].tobytes()


def state(faults, versions):
    """Which version of each model is in the folder; every model there must be whole. The same files tell the same."""
    out = faults.folder / "out"
    content = tuple((path.name, path.read_bytes()) for path in sorted(out.glob("*")) if path.is_file())
    if content not in faults.known:
        faults.known[content] = read_state(faults, versions)
    return faults.known[content]


def read_state(faults, versions):
    found = {}
    for name in NAMES:
        path = faults.folder / "out" / name
        if path.exists():
            (found[name],) = [v for v, values in versions.items() if values[name] == outputs(faults, f"out/{name}")]
    if found:
        result = faults.plain("verify", "out", "--threads", "1")
        half_replaced = len(set(found.values())) > 1
        assert result.returncode == (1 if half_replaced else 0), result.stdout
        assert ("only a part of this group was replaced" in result.stdout) == half_replaced, result.stdout
    return found


def expected_outputs(faults):
    return {name: outputs(faults, name.replace("_ctx", "")) for name in NAMES}


def strays(folder):
    """Names that do not belong into a folder with one group."""
    names = sorted(os.listdir(folder))
    weights = [name for name in names if name.endswith(".bin")]
    return [name for name in names if name not in NAMES and name not in weights] + weights[1:]


def restore(faults, kept):
    for name in ("out", *[n for n in os.listdir(faults.folder) if n.startswith(".tenon")]):
        shutil.rmtree(faults.folder / name, ignore_errors=True)
    if kept is not None:
        shutil.copytree(kept, faults.folder / "out")


def check_every_call(faults, line, fault, before, kept, versions, clean_line):
    """Injects the fault at each call in turn; afterwards everything is whole, and a clean run completes it."""
    restore(faults, kept)
    calls = faults.calls(line)
    assert len(calls) > 15
    for name, number in calls:
        where = f"{fault} at {name} {number}"
        restore(faults, kept)
        result, _ = faults.run(line, "-e", f"inject={name}:{fault}:when={number}")
        if fault == KILL:
            assert result.returncode == -signal.SIGKILL, where
        found = state(faults, versions)
        assert set(found.values()) <= {before, "new"}, where
        if before is None:
            assert list(found.values()) in ([], ["new", "new"]), where
        else:
            assert len(found) == len(NAMES), where
        if result.returncode == 0:
            assert list(found.values()) == ["new", "new"], where
        elif fault != KILL:
            assert result.stderr.startswith("tenon: "), where
        clean = faults.plain(*clean_line)
        assert clean.returncode == 0, f"{where}: {clean.stderr}"
        assert list(state(faults, versions).values()) == ["new", "new"], where
        assert strays(faults.folder / "out") == [], where
        assert not [n for n in os.listdir(faults.folder) if n.startswith(".tenon")], where


@pytest.mark.parametrize("fault", [KILL, NO_SPACE])
def test_into_a_new_folder(faults, heads, fault):
    heads(0)
    versions = {"new": expected_outputs(faults)}
    check_every_call(faults, compile_line(), fault, None, None, versions, compile_line())


@pytest.mark.parametrize("fault", [KILL, NO_SPACE])
def test_over_an_old_group(faults, heads, tmp_path, fault):
    heads(0)
    versions = {"old": expected_outputs(faults)}
    assert faults.plain(*compile_line()).returncode == 0
    shutil.copytree(faults.folder / "out", tmp_path / "kept")
    heads(1)
    versions["new"] = expected_outputs(faults)
    line = compile_line("--overwrite")
    check_every_call(faults, line, fault, "old", tmp_path / "kept", versions, line)


def weights_of_both(faults, paths):
    """Every weight of both models in one file, so that nothing stays in the old one."""
    arrays = {}
    for path in paths:
        arrays |= {tensor.name: numpy_helper.to_array(tensor) for tensor in onnx.load(path).graph.initializer}
    np.savez(faults.folder / "from.npz", **arrays)
    return "from.npz"


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("complete", [False, True], ids=["some weights", "all weights"])
@pytest.mark.parametrize("fault", [KILL, NO_SPACE])
def test_weights_in_place(faults, heads, tmp_path, fault, complete):
    heads(0)
    versions = {"old": expected_outputs(faults)}
    assert faults.plain(*compile_line()).returncode == 0
    shutil.copytree(faults.folder / "out", tmp_path / "kept")
    paths = heads(1)
    versions["new"] = expected_outputs(faults)
    source = weights_of_both(faults, paths) if complete else "cat.onnx"
    line = ["weights", "set", "out", "--from", source, "--in-place", "--threads", "1"]
    restore(faults, tmp_path / "kept")
    calls = faults.calls(line)
    # What the command leaves when nothing stops it: one group.
    undisturbed = contents(faults.folder / "out")
    assert len([name for name in undisturbed if name.endswith(".bin")]) == (1 if complete else 2)
    for name, number in calls:
        where = f"{fault} at {name} {number}"
        restore(faults, tmp_path / "kept")
        result, _ = faults.run(line, "-e", f"inject={name}:{fault}:when={number}")
        found = state(faults, versions)
        assert set(found.values()) <= {"old", "new"} and len(found) == 2, where
        if fault != KILL:
            assert result.returncode in (0, 1) and result.stderr.startswith("tenon: ") == (result.returncode == 1), where
            assert result.returncode == 1 or list(found.values()) == ["new", "new"], where
        clean = faults.plain(*line)
        assert clean.returncode == 0, f"{where}: {clean.stderr}"
        assert contents(faults.folder / "out") == undisturbed, where


@pytest.mark.parametrize("fault", [KILL, NO_SPACE])
def test_without_overwrite_the_same_compile_completes_a_group(faults, heads, fault):
    """A folder that is there already, so that files get their names one by one."""
    heads(0)
    versions = {"new": expected_outputs(faults)}
    (faults.folder / "out").mkdir()
    renames = len([name for name, _ in faults.calls(compile_line()) if name == "rename"])
    for number in range(1, renames + 1):
        restore(faults, None)
        (faults.folder / "out").mkdir()
        result, _ = faults.run(compile_line(), "-e", f"inject=rename:{fault}:when={number}")
        assert result.returncode != 0, number
        clean = faults.plain(*compile_line())
        assert clean.returncode == 0, f"{number}: {clean.stderr}"
        assert list(state(faults, versions).values()) == ["new", "new"], number
        assert strays(faults.folder / "out") == [], number


def test_short_writes(faults, heads, tmp_path):
    """A file that may not grow further takes a part of what is written, and then nothing."""
    heads(0)
    versions = {"old": expected_outputs(faults)}
    assert faults.plain(*compile_line()).returncode == 0
    shutil.copytree(faults.folder / "out", tmp_path / "kept")
    largest = max(path.stat().st_size for path in (faults.folder / "out").iterdir())
    heads(1)
    versions["new"] = expected_outputs(faults)
    line = compile_line("--overwrite")
    for limit in [*range(0, largest, largest // 20 + 1), largest - 1, largest]:
        restore(faults, tmp_path / "kept")
        result = faults.plain(*line, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),  # noqa: B023
                              restore_signals=False)
        assert result.returncode == (0 if limit >= largest else 1), (limit, result.stderr)
        version = "old" if result.returncode else "new"
        assert list(state(faults, versions).values()) == [version, version], limit
        assert strays(faults.folder / "out") == [], limit


@pytest.mark.parametrize("call, fault", [("mkdirat", "error=EACCES"), ("mkdirat", "error=EROFS"), ("fsync", "error=EIO"),
                                         ("rename", "error=EACCES")])
def test_folders_that_refuse(faults, heads, call, fault):
    heads(0)
    result, _ = faults.run(compile_line(), "-e", f"inject={call}:{fault}")
    assert result.returncode == 1 and "tenon: " in result.stderr
    assert not (faults.folder / "out").exists()
    assert not [n for n in os.listdir(faults.folder) if n.startswith(".tenon")]


def test_a_file_in_the_place_of_the_folder(faults, heads):
    heads(0)
    (faults.folder / "out").write_text("mine")
    result = faults.plain(*compile_line())
    assert result.returncode == 1 and "'out' is a file" in result.stderr
    assert (faults.folder / "out").read_text() == "mine"


def test_two_compiles_into_one_folder_at_once(faults, heads):
    heads(0)
    expected = expected_outputs(faults)
    for _ in range(5):
        restore(faults, None)
        lines = [["compile", "-m", f"{name}.onnx", "--output-dir", "out", "--threads", "1", "--no-validate"]
                 for name in ("cat", "dog")] * 2
        running = [subprocess.Popen([faults.program, *line, "--overwrite"], cwd=faults.folder, stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, text=True) for line in lines]
        for process in running:
            _, errors = process.communicate(timeout=60)
            assert process.returncode == 0, errors
        assert {name: outputs(faults, f"out/{name}") for name in NAMES} == expected
        assert faults.plain("verify", "out").returncode == 0
        assert len(os.listdir(faults.folder / "out")) == 4
        assert not [n for n in os.listdir(faults.folder) if n.startswith(".tenon")]
