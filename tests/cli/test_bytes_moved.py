"""The bytes that a manifest counts are those that the system sees."""

import json
import os
import re
import resource
import subprocess

import numpy as np
import onnx
import pytest
from normal_form.large_models import bytes_in_memory
from onnx import helper

from . import models
from .test_build import ran, settle

ROWS = COLUMNS = 1024
WEIGHT = ROWS * COLUMNS * 4
# Graphs, plans, analyses and the like.
REST = WEIGHT // 8


def products(path, *names):
    """y = x @ a @ b ..., with a weight of 4 MB of its own for each name."""
    nodes = [helper.make_node("Identity", ["x"], ["v"])]
    for name in names:
        nodes.append(helper.make_node("MatMul", [nodes[-1].output[0], name], [f"v{name}"]))
    nodes[-1].output[0] = "y"
    weights = {name: np.random.default_rng(sum(name.encode())).standard_normal((ROWS, COLUMNS), np.float32) / 32
               for name in names}
    io = [models.tensor(name, [1, ROWS]) for name in "xy"]
    return models.save(path, nodes, io[:1], io[1:], weights)


def inline(folder):
    products(folder / "m.onnx", "a", "b")
    return ["m.onnx"], 2


def external(folder):
    products(folder / "m.onnx", "a", "b")
    onnx.save(onnx.load(folder / "m.onnx"), folder / "m.onnx", save_as_external_data=True, location="m.data")
    return ["m.onnx"], 2


def shared(folder):
    """Two models over one data file, one of which has a part of it."""
    external(folder)
    model = onnx.load(folder / "m.onnx", load_external_data=False)
    del model.graph.node[2], model.graph.initializer[1]
    model.graph.node[1].output[0] = "y"
    (folder / "part.onnx").write_bytes(model.SerializeToString())
    return ["m.onnx", "part.onnx"], 2


@pytest.fixture(params=[inline, external, shared], ids=lambda make: make.__name__)
def made(request, tmp_path):
    """(the models, how many weights they have)"""
    paths, count = request.param(tmp_path)
    settle(tmp_path)
    return paths, count


def arguments(program, paths, *more):
    return [program, "build", *(part for path in paths for part in ("-m", path)), "-o", "out", "--cache-dir", "cache",
            *more]


def manifest_in(folder):
    return json.loads((folder / "out" / "manifest.json").read_text())


def in_memory(folder):
    return sum(bytes_in_memory(path) for path in folder.rglob("*") if path.is_file() and path.stat().st_size > 0)


def forget(folder):
    """Takes files out of memory, where they are somewhere else as well."""
    for path in folder.rglob("*"):
        if path.is_file():
            with open(path, "rb") as file:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return in_memory(folder) < REST


def test_every_byte_that_is_written_counts(program, made, tmp_path):
    paths, count = made
    log = tmp_path / "log"
    calls = "write,pwrite64,writev,pwritev,copy_file_range,sendfile,renameat"
    for more in ([], ["--keep", "optimized"]):
        subprocess.run(["strace", "-f", "-y", "-qq", "-e", f"trace={calls}", "-o", log, *arguments(program, paths, *more)],
                       cwd=tmp_path, check=True, timeout=60, capture_output=True)
        text = log.read_text()
        manifests = set(re.findall(r'renameat\(.*"(.*?)",.*"manifest.json"\)', text))
        seen = sum(int(size) for path, size in re.findall(r"write\w*\(\d+<([^>]*)>.* = (\d+)$", text, re.M)
                   if path.startswith(str(tmp_path)) and os.path.basename(path) not in manifests)
        seen += sum(int(size) for path, size in re.findall(r"(?:range|sendfile)\(\d+<([^>]*)>.* = (\d+)$", text, re.M)
                    if path.startswith(str(tmp_path)))
        manifest = manifest_in(tmp_path)
        assert manifests and manifest["bytes_written"] == seen
        if not more:
            assert count * WEIGHT < manifest["bytes_written"] < count * WEIGHT + REST


def test_weights_are_fetched_once(program, made, tmp_path):
    """From storage, by all stages and by the process that validates."""
    paths, count = made
    is_forgotten = forget(tmp_path)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_inblock
    subprocess.run(arguments(program, paths), cwd=tmp_path, check=True, timeout=60, capture_output=True)
    fetched = (resource.getrusage(resource.RUSAGE_CHILDREN).ru_inblock - before) * 512
    manifest = manifest_in(tmp_path)
    assert count * WEIGHT <= manifest["bytes_read"] < count * WEIGHT + REST
    # Where files are nowhere but in memory, nothing is fetched.
    if is_forgotten:
        assert fetched < manifest["bytes_read"] + REST
        assert fetched > manifest["bytes_read"] - REST


def test_a_build_that_is_up_to_date_reads_no_weight(program, made, tmp_path):
    paths, _ = made
    subprocess.run(arguments(program, paths), cwd=tmp_path, check=True, timeout=60, capture_output=True)
    is_forgotten = forget(tmp_path)
    subprocess.run(arguments(program, paths), cwd=tmp_path, check=True, timeout=60, capture_output=True)
    assert manifest_in(tmp_path)["status"] in ("built", "up to date")
    if is_forgotten:
        assert in_memory(tmp_path) < REST


def test_a_later_stage_reads_what_no_earlier_one_did(program, made, tmp_path):
    paths, count = made
    for expected, more in (("built", []), ("up to date", []), ("built", ["--no-optimize"])):
        subprocess.run(arguments(program, paths, *more), cwd=tmp_path, check=True, timeout=60, capture_output=True)
        manifest = manifest_in(tmp_path)
        stages = manifest["models"][0]["stages"]
        if more:
            # The files are known by the manifest, but the weights are not.
            assert "compile" in ran(manifest) and stages["import"]["bytes_read"] == 0
            assert count * WEIGHT <= stages["compile"]["bytes_read"] < count * WEIGHT + REST
        elif expected == "built":
            assert stages["compile"]["bytes_read"] == 0
    assert manifest["status"] == "built"
