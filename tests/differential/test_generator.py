"""What the generator, the comparison and the reduction promise, checked with onnxruntime alone."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from conformance.engines import prepare_onnxruntime
from differential.compare import compare, oracle_values
from differential.generator import MAX_STEPS, MIN_STEPS, OPSETS, generate
from differential.registry import TABLE
from differential.shrink import Shrinker
from differential.storage import load, save
from differential.values import FLOATS
from oracles.peer import InexactOracle


def test_a_seed_gives_the_same_model_every_time():
    first, second = generate(7), generate(7)
    assert first.model == second.model
    for a, b in zip(first.feeds, second.feeds):
        assert a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)
    assert generate(8).model != first.model


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_claims_about_values_hold(first):
    """Type, shape for every binding, and range of each tensor are what the generator believes."""
    for seed in range(first, first + 50):
        generated = generate(seed)
        for binding, feeds in enumerate(generated.feeds):
            values = oracle_values(generated.model, feeds)
            for value in generated.values:
                if value.name in values:
                    check_claim(f"seed {seed} {value.name}", value, values[value.name], binding)


def check_claim(where, value, array, binding):
    assert list(array.shape) == [dim[binding] for dim in value.shape], where
    assert array.dtype == (np.dtype(object) if value.dtype == "str" else np.dtype(value.dtype)), where
    if array.size and value.dtype != "str":
        slack = 1e-2 * max(1.0, value.magnitude) if value.dtype in FLOATS else 0
        assert np.isfinite(array.astype(np.float64)).all(), where
        assert value.low - slack <= float(array.min()) and float(array.max()) <= value.high + slack, where
    if value.distinct and array.size:
        assert len(np.unique(array)) == array.size, where


def test_every_table_entry_opset_and_size_occurs():
    entries, opsets, lengths = set(), set(), set()
    for seed in range(1500):
        generated = generate(seed)
        entries.update(generated.entries)
        lengths.add(len(generated.entries))
        opsets.add(onnx.load_from_string(generated.model).opset_import[0].version)
    assert entries == {entry.name for entry in TABLE}
    assert opsets == set(OPSETS)
    assert lengths == set(range(MIN_STEPS, MAX_STEPS + 1))


def chain():
    """Abs -> Tanh -> Add -> Relu on two inputs; the Tanh is in the middle."""
    nodes = [
        helper.make_node("Abs", ["x"], ["a"]), helper.make_node("Tanh", ["a"], ["t"]),
        helper.make_node("Add", ["t", "y"], ["s"]), helper.make_node("Relu", ["s"], ["r"]),
        helper.make_node("Neg", ["a"], ["n"]),
    ]
    infos = {name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [4, 6]) for name in "xyrn"}
    graph = helper.make_graph(nodes, "g", [infos["x"], infos["y"]], [infos["r"], infos["n"]])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    generator = np.random.default_rng(0)
    return model.SerializeToString(), {name: generator.random((4, 6), np.float32) + 1 for name in "xy"}


def prepare_with_wrong_tanh(model_bytes):
    model = onnx.load_from_string(model_bytes)
    for node in model.graph.node:
        if node.op_type == "Tanh":
            node.op_type = "Sigmoid"
    return prepare_onnxruntime(model.SerializeToString())


def prepare_with_noise_in(output):
    def prepare(model_bytes):
        run = prepare_onnxruntime(model_bytes)
        noise = np.float32(1 + 2**-23)
        return lambda feeds: [value * noise if i == output else value for i, value in enumerate(run(feeds))]

    return prepare


def prepare_that_refuses(model_bytes):
    raise RuntimeError("not today")


def test_comparison_tells_errors_from_rounding():
    model, feeds = chain()
    assert compare(model, [feeds], prepare_onnxruntime) is None
    assert compare(model, [feeds], prepare_with_noise_in(output=0)) is None
    # The other output is only moved and negated: there is nothing to round.
    assert compare(model, [feeds], prepare_with_noise_in(output=1)).kind == "values"
    assert compare(model, [feeds], prepare_with_wrong_tanh).kind == "values"
    assert compare(model, [feeds], prepare_that_refuses).kind == "engine refuses"
    assert compare(b"not a model", [feeds], prepare_that_refuses) is None
    assert compare(b"not a model", [feeds], lambda _: lambda _: []).kind == "oracle refuses"


def test_models_that_the_oracle_gets_wrong_on_some_cpus_are_an_error():
    text = """<ir_version: 9, opset_import: ["" : 18]>
    g (uint8[2, 4] x, int8[4, 3] w) => (int32[2, 3] y) { y = MatMulInteger (x, w) }
    """
    model = onnx.parser.parse_model(text).SerializeToString()
    feeds = {"x": np.full((2, 4), 255, np.uint8), "w": np.full((4, 3), 63, np.int8)}
    assert compare(model, [feeds], prepare_onnxruntime) is None
    with pytest.raises(InexactOracle, match="MatMulInteger with operand 'w'"):
        compare(model, [feeds | {"w": np.full((4, 3), 64, np.int8)}], prepare_onnxruntime)


def test_shrinking_finds_the_wrong_operator(tmp_path):
    model, feeds = chain()
    shrinker = Shrinker(
        lambda task: (True, compare(task[0], [task[1]], prepare_with_wrong_tanh)),
        lambda task: (True, oracle_values(*task)),
    )
    small, small_feeds = shrinker.shrink(model, feeds)
    assert [node.op_type for node in onnx.load_from_string(small).graph.node] == ["Tanh"]
    assert [value.size for value in small_feeds.values()] == [1]
    again, again_feeds = load(save(small, small_feeds, tmp_path))
    assert again == small and again_feeds.keys() == small_feeds.keys()
    assert compare(again, [again_feeds], prepare_with_wrong_tanh).kind == "values"


def test_strings_survive_storage(tmp_path):
    feeds = {"s": np.array(["", "ä€", "a b"], dtype=object)}
    _, again = load(save(b"model", feeds, tmp_path))
    assert again["s"].dtype == object and again["s"].tolist() == feeds["s"].tolist()
