"""The oracles are right on every CPU, and no test can ask one that is not."""

import ast
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper, parser

from oracles import exact_integers
from oracles.peer import InexactOracle, run_peer
from oracles.rounding import assert_product
from oracles.saturation import SAFE_HIGH, SAFE_LOW, WEIGHT_INPUTS

TESTS = Path(__file__).parents[1]
# Who may import onnxruntime besides the oracle: the module that scripts for it are tried with, an engine that the tests
# can be run on, a reader of its list of ops, and those who measure its speed. None of them takes its results for right.
NOT_AS_ORACLE = {"conformance/engines.py", "bad_input/test_input_counts.py", "tools/test_model_benchmark.py"}
NOT_AS_ORACLE_FOLDERS = {"python"}


def product_model(op_type, weights, constant, weight_index=1):
    names = ["x"] + [f"i{i}" for i in range(1, weight_index)] + ["w"]
    node = helper.make_node(op_type, names, ["y"])
    declared = [helper.make_tensor_value_info("x", TensorProto.UINT8, [None, None])]
    declared += [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in names[1:-1]]
    if not constant:
        declared.append(helper.make_tensor_value_info("w", TensorProto.INT8, weights.shape))
    initializers = [numpy_helper.from_array(weights, "w")] if constant else []
    graph = helper.make_graph([node], "g", declared, [helper.make_empty_tensor_value_info("y")], initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9).SerializeToString()


@pytest.mark.parametrize("op_type", WEIGHT_INPUTS)
@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("value", [SAFE_LOW - 1, SAFE_HIGH + 1])
def test_the_peer_is_not_asked_for_products_that_saturate(op_type, constant, value):
    weights = np.array([[0], [value], [0], [0]], np.int8)
    model = product_model(op_type, weights, constant, WEIGHT_INPUTS[op_type][-1])
    feeds = {"x": np.full((1, 4), 255, np.uint8)} | ({} if constant else {"w": weights})
    with pytest.raises(InexactOracle, match=f"{op_type} with operand 'w'"):
        run_peer(model, feeds)


@pytest.mark.parametrize("constant", [False, True])
def test_signed_images_with_unsigned_weights_count(constant):
    x, w = np.full((1, 2, 3, 3), SAFE_HIGH + 1, np.int8), np.full((1, 2, 1, 1), 255, np.uint8)
    declared = [helper.make_tensor_value_info("x", TensorProto.INT8, x.shape)]
    if not constant:
        declared.append(helper.make_tensor_value_info("w", TensorProto.UINT8, w.shape))
    weights = [numpy_helper.from_array(w, "w")] if constant else []
    node = helper.make_node("ConvInteger", ["x", "w"], ["y"])
    graph = helper.make_graph([node], "g", declared, [helper.make_empty_tensor_value_info("y")], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9).SerializeToString()
    with pytest.raises(InexactOracle, match="ConvInteger with operand 'x'"):
        run_peer(model, {"x": x} | ({} if constant else {"w": w}))


NESTED = """<ir_version: 9, opset_import: ["" : 18]>
g (bool c, uint8[1, 4] x) => (int32[1, 1] y) {
  y = If (c) <
    then_branch = a () => (int32[1, 1] t) {
      w = Constant <value = int8[4, 1] {100, 100, 100, 100}> ()
      t = MatMulInteger (x, w)
    },
    else_branch = b () => (int32[1, 1] e) {
      q = Cast <to = 3> (x)
      v = Transpose (q)
      e = MatMulInteger (x, v)
    }
  >
}
"""


def test_products_in_bodies_and_of_computed_weights_count():
    model = parser.parse_model(NESTED).SerializeToString()
    with pytest.raises(InexactOracle) as caught:
        run_peer(model, {"c": np.array(True), "x": np.full((1, 4), 255, np.uint8)})
    assert "'w', which lie in [100, 100]" in str(caught.value)
    assert "'v', which are computed" in str(caught.value)


def test_block_quantized_products_in_bytes_count():
    node = helper.make_node("MatMulNBits", ["x", "w"], ["y"], domain="com.microsoft", accuracy_level=4)
    graph = helper.make_graph([node], "g", [], [helper.make_empty_tensor_value_info("y")])
    with pytest.raises(InexactOracle, match="MatMulNBits with accuracy_level 4"):
        run_peer(helper.make_model(graph).SerializeToString(), {})


@pytest.mark.parametrize("constant", [False, True])
def test_the_peer_is_exact_up_to_the_range_it_is_allowed(constant):
    weights = np.tile(np.array([[SAFE_LOW, SAFE_HIGH]], np.int8), (64, 1))
    model = product_model("MatMulInteger", weights, constant)
    x = np.full((3, 64), 255, np.uint8)
    (y,) = run_peer(model, {"x": x} | ({} if constant else {"w": weights}))
    np.testing.assert_array_equal(y, exact_integers.matmul(x, weights))


def test_the_optimizer_of_the_peer_makes_no_integer_products():
    """Between DequantizeLinear and QuantizeLinear it would, with 8-bit weights of any range."""
    model = parser.parse_model("""<ir_version: 9, opset_import: ["" : 18]>
    g (uint8[1, 4] x) => (float[1, 1] y) <float one = {1.0}, uint8 x_zero = {0}, int8 w_zero = {0}> {
      w = Constant <value = int8[4, 1] {127, 127, 127, 127}> ()
      a = DequantizeLinear (x, one, x_zero)
      b = DequantizeLinear (w, one, w_zero)
      y = MatMul (a, b)
    }
    """)
    (y,) = run_peer(model.SerializeToString(), {"x": np.full((1, 4), 255, np.uint8)})
    assert y == 4 * 255 * 127


def imports_onnxruntime(path):
    tree = ast.parse(path.read_text())
    names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return any(name.split(".")[0] == "onnxruntime" for name in names)


def test_only_the_oracle_asks_onnxruntime():
    files = {path.relative_to(TESTS) for path in TESTS.rglob("*.py") if imports_onnxruntime(path)}
    files = {path.as_posix() for path in files if path.parts[0] not in NOT_AS_ORACLE_FOLDERS}
    assert files == NOT_AS_ORACLE | {"oracles/peer.py"}


def test_integer_products():
    a, b = np.array([[255, 0], [1, 2]], np.uint8), np.array([[-128, 127], [3, 4]], np.int8)
    np.testing.assert_array_equal(exact_integers.matmul(a, b), [[-32640, 32385], [-122, 135]])
    rows, columns = np.array([255, 1], np.uint8), np.array([-128, 0], np.int8)
    np.testing.assert_array_equal(exact_integers.matmul(a, b, rows, columns), [[-33405, -1020], [131, 4]])


def test_integer_convolutions():
    x = np.array([[[[1, 2, 3], [4, 5, 6]], [[7, 8, 9], [10, 11, 255]]]], np.uint8)
    w = np.array([[[[1, -1]]], [[[-128, 2]]]], np.int8)
    y = exact_integers.conv(x, w, 1, np.array([0, 2], np.int8), group=2, pads=(0, 1, 0, 0), strides=(1, 2))
    np.testing.assert_array_equal(y, [[[[0, -1], [-3, -1]], [[0, -910], [0, -1300]]]])


def test_dynamic_quantization():
    values, scale, zero_point = exact_integers.dynamically_quantized(np.array([-1, 0, 1.55], np.float32))
    assert scale == np.float32(0.01) and zero_point == 100 and values.tolist() == [0, 100, 255]


def test_the_nearest_integer_is_wanted():
    exact_integers.assert_quantized(np.array([3, 255], np.uint8), np.array([0.5, 200.0]), 0.25, 1)
    for wrong in ([4, 255], [3, 254]):
        with pytest.raises(AssertionError, match="1 of 2 values are not the nearest"):
            exact_integers.assert_quantized(np.array(wrong, np.uint8), np.array([0.5, 200.0]), 0.25, 1)


def test_products_may_be_off_by_a_rounding_of_each_term():
    a, b = np.array([[1, -1, 1]], np.float32), np.array([[1], [1], [2.0**-20]], np.float32)
    exact = np.array([[2.0**-20]], np.float32)
    assert_product(exact, a, b)
    assert_product(exact + np.float32(4 * 2.0**-23), a, b)  # terms that cancel leave their roundings behind
    with pytest.raises(AssertionError, match="is allowed"):
        assert_product(exact + np.float32(7 * 2.0**-23), a, b)
    assert_product(np.zeros((1, 1), np.float32), a, b, lambda y: np.minimum(y, 0))
