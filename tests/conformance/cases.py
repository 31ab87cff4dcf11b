"""The ONNX backend test cases of the installed onnx package, generated once and kept in build/conformance/<onnx version>/."""

import json
import os
import pickle
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

SUITES = ("node", "simple", "light", "pytorch-converted", "pytorch-operator")
CACHE_FORMAT = 1
REPO_ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Case:
    suite: str
    name: str
    model: bytes
    data_sets: list  # of (feeds: {input name: value}, expected: [value])
    rtol: float
    atol: float


def load_suite(suite):
    """All cases of a suite in a fixed order."""
    cache = REPO_ROOT / "build" / "conformance" / onnx.__version__ / f"{suite}.v{CACHE_FORMAT}.pickle"
    if cache.exists():
        return pickle.loads(cache.read_bytes())
    cases = sorted(generate_suite(suite), key=lambda case: case.name)
    cache.parent.mkdir(parents=True, exist_ok=True)
    # Parallel test processes may generate at the same time: the rename makes the file appear complete.
    unfinished = cache.with_suffix(f".{os.getpid()}")
    unfinished.write_bytes(pickle.dumps(cases))
    unfinished.replace(cache)
    return cases


def generate_suite(suite):
    if suite == "node":
        return generate_node_cases()
    if suite == "light":
        return generate_light_cases()
    return generate_stored_cases(suite)


def generate_node_cases():
    # With pillow the jpeg2000 case is encoded by that pillow's codec; without it onnx uses stored bytes.
    sys.modules.setdefault("PIL", None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from onnx.backend.test.loader import load_model_tests

        tests = load_model_tests(kind="node")
    for test in tests:
        names = fed_input_names(test.model)
        data_sets = [
            (dict(zip(names, map(plain_value, inputs), strict=True)), [plain_value(value) for value in outputs])
            for inputs, outputs in test.data_sets
        ]
        yield Case("node", test.name, test.model.SerializeToString(), data_sets, test.rtol, test.atol)


def generate_stored_cases(suite):
    for folder in sorted((backend_data() / suite).glob("test_*")):
        model_bytes = (folder / "model.onnx").read_bytes()
        model = onnx.load_from_string(model_bytes)
        names = fed_input_names(model)
        types = {value.name: value.type for value in [*model.graph.input, *model.graph.output]}
        output_names = [value.name for value in model.graph.output]
        data_sets = []
        for data in sorted(folder.glob("test_data_set_*")):
            feeds = {name: read_value(data / f"input_{i}.pb", types[name]) for i, name in enumerate(names)}
            expected = [read_value(data / f"output_{i}.pb", types[name]) for i, name in enumerate(output_names)]
            data_sets.append((feeds, expected))
        yield Case(suite, folder.name, model_bytes, data_sets, *tolerances(folder))


def generate_light_cases():
    for model_path in sorted((backend_data() / "light").glob("light_*.onnx")):
        name = model_path.stem.replace("light_", "test_")
        model_bytes = model_path.read_bytes()
        model = onnx.load_from_string(model_bytes)
        types = {value.name: value.type for value in model.graph.input}
        feeds = {name: counting_values(types[name]) for name in fed_input_names(model)}
        expected = [
            read_value(model_path.with_name(f"{model_path.stem}_output_{i}.pb"), output.type)
            for i, output in enumerate(model.graph.output)
        ]
        yield Case("light", name, model_bytes, [(feeds, expected)], *tolerances(backend_data() / "real" / name))


def backend_data():
    return Path(onnx.__file__).parent / "backend" / "test" / "data"


def tolerances(folder):
    stated = folder / "data.json"
    values = json.loads(stated.read_text()) if stated.exists() else {}
    return values.get("rtol", 1e-3), values.get("atol", 1e-7)


def fed_input_names(model):
    """IR 3 lists initializers as inputs too, not always after the real ones; the data has only the real ones."""
    initializers = {tensor.name for tensor in model.graph.initializer}
    return [value.name for value in model.graph.input if value.name not in initializers]


def counting_values(type_proto):
    shape = [dim.dim_value or 1 for dim in type_proto.tensor_type.shape.dim]
    count = int(np.prod(shape))
    return (np.arange(count).reshape(shape) / count).astype(np.float32)


def read_value(path, type_proto):
    if type_proto.HasField("sequence_type"):
        return numpy_helper.to_list(onnx.SequenceProto.FromString(path.read_bytes()))
    if type_proto.HasField("optional_type"):
        return numpy_helper.to_optional(onnx.OptionalProto.FromString(path.read_bytes()))
    return plain_value(onnx.TensorProto.FromString(path.read_bytes()))


def plain_value(value):
    """onnx stores arrays, numpy scalars, TensorProtos, lists and None: here only arrays, lists and None remain."""
    if value is None:
        return None
    if isinstance(value, (list, tuple)):
        return [plain_value(item) for item in value]
    if isinstance(value, onnx.TensorProto):
        value = numpy_helper.to_array(value)
    array = np.asarray(value)
    return array.astype(object) if array.dtype.kind in "US" else array
