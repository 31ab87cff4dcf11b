"""Makes tests/fuzz/corpus/seeds.zip: few small models that reach what all conformance cases and op tests reach.

Needs the fuzzers (`./dev build fuzz`) and the wheel in the environment it runs in (`./dev test python` leaves both).
"""

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import onnx

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from conformance.cases import SUITES, load_suite  # noqa: E402
from fuzz.embedded_inputs import with_inputs, without_shapes  # noqa: E402

MOST_BYTES = 4096
HALVES = 2


def write_conformance_models(folder):
    for suite in SUITES:
        for case in load_suite(suite):
            if len(case.model) > MOST_BYTES:
                continue
            feeds = case.data_sets[0][0]
            variants = [
                onnx.load_from_string(case.model),
                with_inputs(onnx.load_from_string(case.model), feeds, constant=True),
                with_inputs(onnx.load_from_string(case.model), feeds, constant=False),
                without_shapes(with_inputs(onnx.load_from_string(case.model), feeds, constant=False)),
            ]
            for model in variants:
                data = model.SerializeToString()
                (folder / hashlib.sha1(data).hexdigest()).write_bytes(data)


def write_tested_models(folder):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "fuzz.record_models", f"--record-models={folder}", "tests/ops"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tests")}
    # Tests that fail have recorded their models all the same.
    subprocess.run(command, cwd=ROOT, env=environment, check=False, stdout=subprocess.DEVNULL)


def signature(model):
    """What decides which code a model reaches, more or less."""
    nodes = tuple(
        (node.domain, node.op_type, len(node.input), len(node.output))
        + tuple((a.name, a.type, a.i, a.s, len(a.ints), len(a.floats)) for a in node.attribute)
        for node in model.graph.node
    )
    values = tuple((v.type.WhichOneof("value"), v.type.tensor_type.elem_type) for v in model.graph.input)
    weights = tuple((tensor.data_type, len(tensor.dims)) for tensor in model.graph.initializer)
    return nodes, values, weights, tuple((opset.domain, opset.version) for opset in model.opset_import)


def drop_similar(folder):
    """Keeps the smallest of the models that differ in numbers only."""
    known = set()
    for path in sorted(folder.iterdir(), key=lambda path: (path.stat().st_size, path.name)):
        try:
            like = signature(onnx.load_from_string(path.read_bytes()))
        except Exception:  # not a model: a test of just that
            continue
        if path.stat().st_size > MOST_BYTES or like in known:
            path.unlink()
        known.add(like)


def smallest_cover(fuzzer, candidates, folder):
    """The candidates that together reach every part of the code that all of them reach."""
    options = ["-set_cover_merge=1", "-use_counters=0", "-rss_limit_mb=2048", "-timeout=20", f"-artifact_prefix={folder.parent}/"]
    subprocess.run([fuzzer, *options, folder, candidates], check=True)
    return sorted(folder.iterdir())


def add_to(archive, subject, models):
    for index, model in enumerate(models):
        entry = zipfile.ZipInfo(f"{subject}/{index % HALVES}/{model.name}")  # of a fixed date, so that runs agree
        archive.writestr(entry, model.read_bytes(), zipfile.ZIP_DEFLATED, 9)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fuzzers", type=Path, default=ROOT / "build/asan/fuzz")
    parser.add_argument("--output", type=Path, default=ROOT / "tests/fuzz/corpus/seeds.zip")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        candidates = Path(name) / "candidates"
        candidates.mkdir()
        write_conformance_models(candidates)
        write_tested_models(candidates)
        drop_similar(candidates)
        arguments.output.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(arguments.output, "w") as archive:
            for fuzzer in sorted(arguments.fuzzers.glob("*_fuzz")):
                subject = fuzzer.name.removesuffix("_fuzz")
                folder = Path(name) / subject
                folder.mkdir()
                models = smallest_cover(fuzzer, candidates, folder)
                print(f"{subject}: {len(models)} of {len(list(candidates.iterdir()))} models")
                add_to(archive, subject, models)


if __name__ == "__main__":
    main()
