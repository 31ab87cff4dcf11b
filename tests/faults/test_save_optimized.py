"""Whatever happens while a model with a data file is replaced, the old or the new model is there with its weights."""

import os
import shutil
import signal
import sys

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import tenon

from .conftest import Faults

SAVE = "import sys, tenon; tenon.optimize(open(sys.argv[1], 'rb').read(), 'out/net.onnx', overwrite=True, file_bytes=0)"


def save_line(version):
    return ["-B", "-c", SAVE, f"{version}.onnx"]


@pytest.fixture
def replacing(tmp_path):
    """Saving version 2 over version 1, each y = x + its number."""
    folder = tmp_path / "work"
    (folder / "out").mkdir(parents=True)
    for version in (1, 2):
        inputs, outputs = ([helper.make_tensor_value_info(name, TensorProto.FLOAT, [400])] for name in "xy")
        weight = numpy_helper.from_array(np.full(400, version, np.float32), "w")
        graph = helper.make_graph([helper.make_node("Add", ["x", "w"], ["y"])], "net", inputs, outputs, [weight])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10),
                  folder / f"{version}.onnx")
    faults = Faults(sys.executable, folder)
    assert faults.plain(*save_line(1)).returncode == 0
    shutil.copytree(folder / "out", folder / "kept")
    return faults


def restore(folder):
    shutil.rmtree(folder / "out")
    shutil.copytree(folder / "kept", folder / "out")


def version(folder):
    (y,) = tenon.InferenceSession(folder / "out" / "net.onnx").run(None, {"x": np.zeros(400, np.float32)})
    assert (y == y[0]).all()
    return y[0]


@pytest.mark.parametrize("fault", ["signal=KILL", "error=ENOSPC"])
def test_a_fault_at_every_call(replacing, fault):
    faults, folder = replacing, replacing.folder
    calls = faults.calls(save_line(2))
    assert {"openat", "write", "fsync", "renameat"} <= {name for name, _ in calls} and version(folder) == 2
    for name, number in calls:
        where = f"{fault} at {name} {number}"
        restore(folder)
        result, _ = faults.run(save_line(2), "-e", f"inject={name}:{fault}:when={number}")
        now = version(folder)
        assert now in (1, 2), where
        if fault == "signal=KILL":
            assert result.returncode == -signal.SIGKILL, where
        elif now == 1:
            assert result.returncode == 1 and sorted(os.listdir(folder / "out")) == ["net.onnx", "net.onnx.data"], where
        # A clean run leaves nothing but the model and its data file, and what a killed process was writing.
        assert faults.plain(*save_line(2)).returncode == 0, where
        assert version(folder) == 2
        assert len([name for name in os.listdir(folder / "out") if not name.startswith(".tenon-")]) == 2, where
