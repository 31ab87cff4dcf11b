"""The examples in C and C++ compile against the public headers and print what they should."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
LIBRARIES = ROOT / "build" / "release" / "src"


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    subprocess.run([sys.executable, EXAMPLES / "make_models.py", folder], check=True, capture_output=True)
    return folder


def output_of(source, model, folder):
    """What an example prints, compiled with the flags a careful user has."""
    compiler = ["gcc", "-std=c11"] if source.endswith(".c") else ["g++", "-std=c++20"]
    program = folder / "example"
    flags = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror", f"-I{ROOT / 'include'}"]
    link = [f"-L{LIBRARIES}", "-ltenon", "-ltenon_runtime", f"-Wl,-rpath,{LIBRARIES}", "-pthread"]
    made = subprocess.run([*compiler, *flags, EXAMPLES / source, "-o", program, *link], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    result = subprocess.run([program, model], capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


def test_c(models, tmp_path):
    assert output_of("run_model.c", models / "mlp.onnx", tmp_path) == [
        "input x float[batch, 16]",
        "output probabilities float[batch, 10]",
        "row 0 sums to 1.000",
        "row 1 sums to 1.000",
    ]


def test_cpp(models, tmp_path):
    *lines, refused = output_of("run_model.cpp", models / "mlp.onnx", tmp_path)
    assert lines == [
        "graph mlp, IR 10",
        "made for: examples",
        "x is float[batch, 16]: any batch, 16 features",
        "Tenon's output has 30 elements",
        "own output begins with the same number: 1",
        "profiled: 1",
        "peak memory is known: 1",
        "cancelled: 1",
    ]
    assert refused.startswith("refused: ") and "input 'x'" in refused and "16" in refused


def test_collections(models, tmp_path):
    assert output_of("collections.cpp", models / "collections.onnx", tmp_path) == [
        "words is string[n]",
        "parts is seq(float[k])",
        "maybe is optional(float[m])",
        "features is map(int64, float[])",
        "words: oak! ash!",
        "joined: 1 2 3",
        "given: 1",
        "reversed: float[1] float[2]",
        "dense: 0 0.5 0 0.25",
        "scores: ash=6 oak=6",
        "given: 0",
    ]


def test_building_in_c(models, tmp_path):
    assert output_of("build_model.c", shutil.copy(models / "cnn.onnx", tmp_path), tmp_path) == [
        "optimize: done",
        "optimize: already normalized",
        "analyze: the reference runs 0 node(s)",
        "build: done",
        "build: up to date",
    ]


def test_building_in_cpp(models, tmp_path):
    assert output_of("build_model.cpp", shutil.copy(models / "cnn.onnx", tmp_path), tmp_path) == [
        "optimized: 1",
        "again: 1",
        "the reference runs 0 node(s)",
        "model_ctx.onnx: done",
        "model_ctx.onnx: up to date",
    ]
