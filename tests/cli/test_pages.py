"""The commands of docs/optimize.md and docs/build.md, in order and as they are written there, with what they print where the
page shows it."""

import json
import pathlib
import re
import shlex
import subprocess
import sys

import onnx
import pytest
from onnx import helper

from . import models
from .conftest import DONE

ROOT = pathlib.Path(__file__).parents[2]


def commands(page):
    """(command, what the page shows below it) of each command."""
    text = (ROOT / "docs" / page).read_text()
    found = []
    for block in re.findall(r"(?:^    .*\n)+", text, re.M):
        for part in re.split(r"^    \$ ", block, flags=re.M)[1:]:
            command, *shown = [re.sub(r"^    ", "", line) for line in part.rstrip().split("\n")]
            found.append((shlex.split(command), "".join(f"{line}\n" for line in shown)))
    return found


def python_of(page):
    return "".join(re.findall(r"```python\n(.*?)```", (ROOT / "docs" / page).read_text(), re.S))


@pytest.fixture
def exported(tmp_path):
    subprocess.run([sys.executable, ROOT / "examples" / "make_exported_model.py", tmp_path], check=True)
    return (tmp_path / "exported.onnx").rename(tmp_path / "model.onnx")


def run_page(page, tenon, folder):
    outputs = []
    for (program, *arguments), shown in commands(page):
        assert program == "tenon"
        result = tenon(*arguments)
        assert result.code == DONE, (arguments, result.err)
        if shown:
            assert result.out == shown, arguments
        outputs.append(result.out)
    subprocess.run([sys.executable, "-c", python_of(page)], cwd=folder, check=True, timeout=120)
    return outputs


def test_optimize(tenon, exported, tmp_path):
    tenon("optimize", "-m", "model.onnx", "-o", "plain.onnx")
    plain = onnx.load(tmp_path / "plain.onnx")
    del plain.metadata_props[:]
    onnx.save(plain, tmp_path / "plain.onnx")
    outputs = run_page("optimize.md", tenon, tmp_path)
    assert len(outputs) == 7
    assert outputs[3].endswith("nothing was written\n") and "removed" in outputs[4]
    assert "fuse-gelu" in outputs[5]
    fused = [node.op_type for node in onnx.load(tmp_path / "fused.onnx").graph.node]
    assert "Gelu" in fused and "Erf" not in fused


def test_build(tenon, exported, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    for name, rows in (("prefill", 12), ("decode", 1)):
        nodes = [helper.make_node("Identity", ["x"], ["same"]), helper.make_node("MatMul", ["same", "w"], ["y"])]
        models.save(tmp_path / f"{name}.onnx", nodes, [models.tensor("x", [rows, 16])], [models.tensor("y", [rows, 8])],
                    models.weights_of({"w": (16, 8)}))
    (tmp_path / "build.json").write_text(json.dumps({"models": ["prefill.onnx"], "output": "configured"}))
    outputs = run_page("build.md", tenon, tmp_path)
    assert len(outputs) == 8
    assert "built in" in outputs[0] and "up to date in" in outputs[1] and "would run" in outputs[2]
    assert (tmp_path / "configured" / "prefill_ctx.onnx").exists() and (tmp_path / "analysis.html").exists()
    assert "graphs, " in outputs[6] and "freed" in outputs[7]
