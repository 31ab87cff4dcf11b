"""The examples of docs/weights.md, as they are written there."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import tenon

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "weights.md").read_text()
TASKS = re.split(r"^## (?=\d)", TEXT, flags=re.M)[1:]
LIBRARIES = Path(tenon.__file__).parent


def block(task, language):
    return re.search(rf"```{language}\n(.*?)```", task, re.S).group(1)


def stage(rows, rng):
    """A net of two layers at one static shape: prefill and decode differ in nothing but that."""
    weights = {name: rng.standard_normal(shape, dtype=np.float32) for name, shape in (
        ("body.weight", (16, 16)), ("body.bias", (16,)), ("head.weight", (16, 8)), ("head.bias", (8,)))}
    nodes = [helper.make_node("MatMul", ["x", "body.weight"], ["a"]), helper.make_node("Add", ["a", "body.bias"], ["b"]),
             helper.make_node("Relu", ["b"], ["c"]), helper.make_node("MatMul", ["c", "head.weight"], ["d"]),
             helper.make_node("Add", ["d", "head.bias"], ["y"])]
    graph = helper.make_graph(nodes, "stage", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [rows, 16])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [rows, 8])],
                              [numpy_helper.from_array(array, name) for name, array in weights.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("docs")
    for name, rows in (("prefill", 12), ("decode", 1)):
        onnx.save(stage(rows, np.random.default_rng(1)), folder / f"{name}.onnx")
    onnx.save(stage(1, np.random.default_rng(2)), folder / "tuned.onnx")
    tenon.compile(str(folder / "tuned.onnx"), sources="embed").export(folder / "tuned.safetensors")
    return folder


@pytest.fixture(scope="module")
def programs(folder):
    """One program with a function per task, since compiling takes most of the time."""
    functions = "".join(f"void task{i}() {{\n{block(task, 'cpp')}}}\n" for i, task in enumerate(TASKS))
    calls = "".join(f"if (argv[1][0] == '{i}') task{i}();\n" for i in range(len(TASKS)))
    source = f"#include <tenon/tenon.hpp>\n{functions}int main(int, char** argv) {{\n{calls}}}\n"
    (folder / "tasks.cpp").write_text(source)
    libraries = [str(LIBRARIES / f"lib{name}.so.0") for name in ("tenon", "tenon_runtime")]
    subprocess.run(["g++", "-std=c++20", "-O0", f"-I{ROOT / 'include'}", "tasks.cpp", "-o", "tasks", *libraries,
                    f"-Wl,-rpath,{LIBRARIES}"], cwd=folder, check=True)
    return folder / "tasks"


def test_there_are_five_tasks():
    assert len(TASKS) == 5


@pytest.mark.parametrize("number", range(5))
def test_task(number, folder, programs):
    """Command, C++ and Python of a task, in the order of the page: later tasks use the files of earlier ones."""
    for line in block(TASKS[number], "console").splitlines():
        if Path(folder / "compiled").exists() and line.startswith("$ tenon compile"):
            line += " --overwrite"
        subprocess.run(line.removeprefix("$ "), shell=True, cwd=folder, check=True, capture_output=True)
    subprocess.run([programs, str(number)], cwd=folder, check=True)
    code = f"import numpy, tenon\n{block(TASKS[number], 'python')}"
    subprocess.run([sys.executable, "-c", code], cwd=folder, check=True, capture_output=True)


def test_examples_are_short():
    for task in TASKS:
        assert len(block(task, "cpp").splitlines()) <= 8
        assert len(block(task, "python").splitlines()) <= 6
