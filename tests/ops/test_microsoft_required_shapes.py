"""What an op of com.microsoft requires of shapes that a model leaves open is decided when a run brings them."""

import numpy as np
import onnx
import pytest
import tenon
from microsoft_models import feeds_of, microsoft_model, normal, without_shapes
from onnx import TensorProto, helper, numpy_helper

ATTRIBUTES = {"N": 5, "K": 40, "bits": 4, "block_size": 16}


@pytest.fixture
def rng():
    return np.random.default_rng(8)


def product_inputs(rng):
    return {
        "A": normal(rng, 3, 40), "B": rng.integers(0, 256, (5, 3, 8)).astype(np.uint8),
        "scales": rng.uniform(0.01, 0.1, (5, 3)).astype(np.float32), "zero_points": None,
        "g_idx": (np.arange(40) // 16).astype(np.int32),
    }  # fmt: skip


def opened(model, form, folder):
    if form == "respelled":
        model, _ = tenon.Model.load(model).respelled()
    artifact = tenon.compile(model)
    return (tenon.Artifact.load(*artifact.save(str(folder))) if form == "reloaded" else artifact).session()


@pytest.mark.parametrize("form", ["compiled", "reloaded", "respelled"])
@pytest.mark.parametrize("keep_ranks", [False, True])
@pytest.mark.parametrize("constants", [(), ("B", "scales"), ("g_idx",)])
def test_a_run_with_wrong_shapes_is_refused_and_others_go_on(rng, tmp_path, form, keep_ranks, constants):
    inputs = product_inputs(rng)
    model = without_shapes(microsoft_model("MatMulNBits", inputs, constants=constants, **ATTRIBUTES), keep_ranks)
    session = opened(model, form, tmp_path)
    feeds = feeds_of(inputs, constants)
    (y,) = session.run(None, feeds)
    wrong = {"A": (np.zeros((3, 41), np.float32), r"A has the shape \[3, 41\]; it must be \[..., 40\]")}
    if "g_idx" not in constants:  # longer than K, and shorter than the padded rows: its start would do
        wrong["g_idx"] = np.zeros(41, np.int32), r"g_idx has the shape \[41\]; it must be \[40\] or \[48\]"
    for name, (value, message) in wrong.items():
        with pytest.raises(tenon.Error, match=rf"\(MatMulNBits\): {message}"):
            session.run(None, feeds | {name: value})
        np.testing.assert_array_equal(session.run(None, feeds)[0], y)


@pytest.mark.parametrize("form", ["compiled", "reloaded", "respelled"])
def test_a_branch_that_is_not_taken_requires_nothing(tmp_path, form):
    pool = helper.make_node("NhwcMaxPool", ["x"], ["p"], "pool", domain="com.microsoft", kernel_shape=[2])
    same = helper.make_node("Identity", ["x"], ["s"])
    open_result = [helper.make_tensor_value_info(name, TensorProto.UINT8, None) for name in "psy"]
    branches = {
        "then_branch": helper.make_graph([pool], "then", [], [open_result[0]]),
        "else_branch": helper.make_graph([same], "else", [], [open_result[1]]),
    }
    inputs = [
        helper.make_tensor_value_info("c", TensorProto.BOOL, []),
        helper.make_tensor_value_info("x", TensorProto.UINT8, None),
    ]
    graph = helper.make_graph([helper.make_node("If", ["c"], ["y"], **branches)], "g", inputs, [open_result[2]])
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString()
    session = opened(model, form, tmp_path)
    no_image, image = np.arange(6, dtype=np.uint8).reshape(2, 3), np.arange(8, dtype=np.uint8).reshape(1, 4, 2)
    np.testing.assert_array_equal(session.run(None, {"c": np.array(False), "x": no_image})[0], no_image)
    with pytest.raises(tenon.Error, match=r"node 'pool' \(NhwcMaxPool\): X has the shape \[2, 3\]; it must be"):
        session.run(None, {"c": np.array(True), "x": no_image})
    np.testing.assert_array_equal(session.run(None, {"c": np.array(True), "x": image})[0], image[:, 1:])


def test_weights_are_not_kept_for_their_shapes(rng):
    """What is required of a constant together with an open shape needs the constant's shape alone."""
    inputs = {"query": normal(rng, 2, 3, 8), "key": normal(rng, 2, 5, 8), "value": normal(rng, 2, 5, 8)}
    bias = normal(rng, 24)
    model = onnx.load_from_string(without_shapes(microsoft_model("MultiHeadAttention", inputs, num_heads=2)))
    model.graph.node[0].input.append("bias")
    model.graph.initializer.append(numpy_helper.from_array(bias, "bias"))
    session = tenon.compile(model.SerializeToString()).session()
    session.run(None, inputs)
    with pytest.raises(tenon.Error, match=r"\(MultiHeadAttention\): bias has the shape \[24\]; it must be \[22\]"):
        session.run(None, inputs | {"value": normal(rng, 2, 5, 6)})
