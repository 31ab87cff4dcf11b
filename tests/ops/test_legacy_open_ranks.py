"""Old forms whose meaning depends on a rank, in models that do not say it: binding settles them."""

import numpy as np
import pytest
import tenon
from onnx import helper, numpy_helper


def run(op_type, inputs, version, weights=(), **attributes):
    """A node over inputs of which only the element type is declared; `weights` are initializers."""
    node = helper.make_node(op_type, list(inputs), ["y"], name="node", **attributes)
    declared = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), None)
        for name, x in inputs.items()
        if name not in weights
    ]
    initializers = [numpy_helper.from_array(inputs[name], name) for name in weights]
    graph = helper.make_graph([node], "g", declared, [helper.make_empty_tensor_value_info("y")], initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=4)
    feeds = {name: x for name, x in inputs.items() if name not in weights}
    return tenon.InferenceSession(model.SerializeToString()).run(None, feeds)[0]


def floats(*shape):
    return np.random.default_rng(31).normal(size=shape).astype(np.float32)


A = floats(2, 3, 4, 5)


@pytest.mark.parametrize("weights", [(), ("b",)])
@pytest.mark.parametrize(
    ("axis", "shape"), [(0, (2,)), (1, (3,)), (1, (3, 4)), (-3, (3, 4)), (2, (4, 5)), (-1, (5,)), (0, (2, 3, 4, 5)), (3, ())]
)
def test_the_old_broadcast_at_an_axis(axis, shape, weights):
    b = floats(*shape)
    first = axis % 4
    expected = A + b.reshape((1,) * first + shape + (1,) * (4 - first - len(shape)))
    np.testing.assert_array_equal(run("Add", {"a": A, "b": b}, 6, weights, broadcast=1, axis=axis), expected)


def test_an_old_broadcast_that_does_not_align():
    with pytest.raises(Exception, match="node"):
        run("Add", {"a": A, "b": floats(4, 5)}, 6, broadcast=1, axis=3)


@pytest.mark.parametrize("weights", [(), ("slope",)])
@pytest.mark.parametrize("shape", [(3,), (1,), (3, 1, 1), (3, 4, 5)])
def test_an_old_slope_belongs_to_the_channels(shape, weights):
    slope = floats(*shape)
    per_channel = slope.reshape(-1, 1, 1) if len(shape) == 1 else slope
    expected = np.where(A < 0, A * per_channel, A)
    np.testing.assert_array_equal(run("PRelu", {"x": A, "slope": slope}, 6, weights), expected)
    if shape == (3,):
        x = A[:, :, 0, 0]
        np.testing.assert_array_equal(run("PRelu", {"x": x, "slope": slope}, 6, weights), np.where(x < 0, x * slope, x))


@pytest.mark.parametrize("axis", [0, 1, 3])
def test_an_old_tile_repeats_one_axis(axis):
    inputs = {"x": A, "tiles": np.array(3, np.float32), "axis": np.array(axis, np.float32)}
    repeats = [3 if i == axis else 1 for i in range(4)]
    np.testing.assert_array_equal(run("Tile", inputs, 1, ("tiles", "axis")), np.tile(A, repeats))


@pytest.mark.parametrize("axis", [1, 2, -1, -2])
def test_an_old_softmax_takes_axes_together(axis):
    flat = A.reshape(int(np.prod(A.shape[: axis % 4])), -1).astype(np.float64)
    expected = np.exp(flat) / np.exp(flat).sum(-1, keepdims=True)
    np.testing.assert_allclose(run("Softmax", {"x": A}, 11, axis=axis), expected.reshape(A.shape), rtol=1e-6)
