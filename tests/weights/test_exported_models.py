"""Swapped is fresh for models of real exporters too: every weight that is a number is changed a little."""

import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, numpy_helper

import tenon

from .test_swap import packed_keys, same

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "exporters"))
from fixture_case import FIXTURES, feeds, fixture_folders, load_case  # noqa: E402

FLOATS = (TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16)
# Attributes that hold what was learned. The rest of a tree or model is its structure.
LEARNED = {"coefficients", "intercepts", "offset", "scale", "nodes_values", "leaf_weights", "target_weights",
           "class_weights", "base_values", "rho"}  # fmt: skip


def changed(model, structural):
    """A copy with other weights of the same shapes and types, but for those that the plan was built on."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    rng = np.random.default_rng(1)

    def shake(array):
        return (array * (1 + 0.01 * rng.standard_normal(array.shape))).astype(array.dtype)

    for graph in graphs_of(copy.graph):
        for tensor in graph.initializer:
            if tensor.data_type in FLOATS and not any(f"/{name}".endswith(f"/{tensor.name}") for name in structural):
                tensor.CopyFrom(numpy_helper.from_array(shake(numpy_helper.to_array(tensor)), tensor.name))
        for node in graph.node:
            for attribute in node.attribute:
                if node.domain == "ai.onnx.ml" and attribute.name in LEARNED and attribute.floats:
                    attribute.floats[:] = shake(np.array(attribute.floats, np.float32)).tolist()
    return copy


def graphs_of(graph):
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            for inner in [attribute.g, *attribute.graphs] if attribute.HasField("g") else attribute.graphs:
                yield from graphs_of(inner)


def flat(values):
    """The arrays in what a run returns."""
    for value in values:
        if isinstance(value, np.ndarray):
            yield value if value.dtype != object else np.array([str(v).encode() for v in value.ravel()])
        elif isinstance(value, dict):
            yield from flat([np.array([str(k).encode() for k in value]), np.array(list(value.values()))])
        elif isinstance(value, list):
            yield from flat(value)
        elif value is not None:
            yield np.asarray(value)


@pytest.mark.parametrize("folder", fixture_folders(), ids=lambda f: str(f.relative_to(FIXTURES)))
def test_swapped_is_fresh(folder, tmp_path):
    case = load_case(folder)
    model = onnx.load(case.model_path)
    artifact = tenon.compile(str(case.model_path), ["net"])
    sources = artifact.describe("sources")["sources"]
    structural = {source["name"] for source in sources if not source["swappable"]}
    other = tmp_path / "other.onnx"
    onnx.save(changed(model, structural), other)
    fresh = tenon.compile(str(other), ["net"])
    assert artifact.describe()["models"][0]["plan_key"] == fresh.describe()["models"][0]["plan_key"]
    inputs = feeds(case)
    session = artifact.session()
    before = list(flat(session.run(None, inputs)))
    session.set_weights(other)
    same(list(flat(session.run(None, inputs))), list(flat(fresh.session().run(None, inputs))))
    session.set_weights(case.model_path)
    same(list(flat(session.run(None, inputs))), before)
    assert sorted(packed_keys(artifact.bake(other)[0])) == sorted(packed_keys(fresh))
