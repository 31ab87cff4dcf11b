"""Ops that ONNX once had as experiments, against onnxruntime where it still has them."""

import numpy as np
import pytest
import tenon
from onnx import TensorProto, helper
from oracles.peer import run_peer

FLOATS = [np.float32, np.float64, np.float16]


def model_of(op_type, inputs, opset, **attributes):
    declared = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape)
        for name, v in inputs.items()
    ]
    node = helper.make_node(op_type, list(inputs), ["y"], **attributes)
    results = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    if inputs:
        results[0].type.tensor_type.elem_type = declared[0].type.tensor_type.elem_type
    graph = helper.make_graph([node], "g", declared, results)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=4).SerializeToString()


def run(op_type, inputs, opset=6, **attributes):
    return tenon.InferenceSession(model_of(op_type, inputs, opset, **attributes)).run(None, inputs)[0]


def compare(op_type, inputs, opset=7, **attributes):
    (expected,) = run_peer(model_of(op_type, inputs, opset, **attributes), inputs)
    actual = run(op_type, inputs, opset, **attributes)
    assert actual.dtype == expected.dtype and actual.shape == expected.shape
    np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-6)


@pytest.fixture
def image():
    return np.random.default_rng(10).normal(size=(2, 3, 5, 6)).astype(np.float32)


def test_elementwise(image):
    compare("Affine", {"x": image}, alpha=2.0, beta=-1.0)
    compare("Affine", {"x": image})
    compare("Scale", {"x": image}, scale=2.5)
    compare("Scale", {"x": image})
    compare("ScaledTanh", {"x": image}, alpha=2.0, beta=0.5)
    compare("ParametricSoftplus", {"x": image * 30}, alpha=2.0, beta=0.5)
    compare("ThresholdedRelu", {"x": image}, alpha=0.5)
    compare("ThresholdedRelu", {"x": image})


@pytest.mark.parametrize("dtype", FLOATS)
def test_elementwise_of_every_type(image, dtype):
    x = image.astype(dtype)
    wide, error = x.astype(np.float64), 4 * float(np.finfo(dtype).eps)
    expected = {
        "Affine": 0.5 * wide + 0.25, "ScaledTanh": 0.5 * np.tanh(0.25 * wide),
        "ParametricSoftplus": 0.5 * np.logaddexp(0, 0.25 * wide),
    }  # fmt: skip
    for op, value in expected.items():
        y = run(op, {"x": x}, alpha=0.5, beta=0.25)
        assert y.dtype == dtype
        np.testing.assert_allclose(y.astype(np.float64), value, rtol=error, atol=error)
    y = run("Scale", {"x": x}, scale=0.5)
    np.testing.assert_array_equal(y, x * dtype(0.5))


@pytest.mark.parametrize("op", ["ScaledTanh", "ParametricSoftplus"])
def test_numbers_without_a_default_must_be_given(image, op):
    with pytest.raises(Exception, match="attribute 'beta' is missing"):
        run(op, {"x": image}, alpha=1.0)
    with pytest.raises(Exception, match="attribute 'alpha' is missing"):
        run(op, {"x": image}, beta=1.0)


def test_images(image):
    compare("ImageScaler", {"x": image}, scale=3.0, bias=[1.0, -1.0, 0.5])
    compare("Crop", {"x": image}, border=[1, 2, 0, 1])
    compare("Crop", {"x": image}, border=[1, 2, 0, 0], scale=[2, 3])
    compare("Crop", {"x": image}, border=[3, 2, 3, 3])
    for attributes in ({"border": [0, 3, 0, 3]}, {"border": [0, 3, 0, 0], "scale": [3, 1]}):
        with pytest.raises(Exception, match="border and scale need 6 rows, but the image has 5"):
            run("Crop", {"x": image}, **attributes)
    with pytest.raises(Exception, match="need 7 columns, but the image has 6"):
        run("Crop", {"x": image}, border=[4, 0, 0, 0], scale=[1, 3])
    with pytest.raises(Exception, match="an image must have 4 axes, but this one has 3"):
        run("Crop", {"x": image[0]}, border=[0, 0, 0, 0])
    compare("MeanVarianceNormalization", {"x": image})
    compare("MeanVarianceNormalization", {"x": image}, across_channels=1)
    compare("MeanVarianceNormalization", {"x": image}, normalize_variance=0)
    compare("MeanVarianceNormalization", {"x": image}, across_channels=1, normalize_variance=0)


@pytest.mark.parametrize("index_type", [np.int32, np.int64])
def test_dynamic_slice(image, index_type):
    def index(*values):
        return np.array(values, index_type)

    compare("DynamicSlice", {"x": image, "starts": index(1, -4), "ends": index(3, -1), "axes": index(1, 3)})
    compare("DynamicSlice", {"x": image, "starts": index(0, 1, 0, 2), "ends": index(1, 3, 1000, -1)})


def test_given_tensor_fill(image):
    values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    expected = np.array(values, np.float32)
    np.testing.assert_array_equal(run("GivenTensorFill", {}, values=values, shape=[2, 3]), expected.reshape(2, 3))
    like = np.zeros((2, 3), np.float32)
    np.testing.assert_array_equal(run("GivenTensorFill", {"x": like}, values=values), expected.reshape(2, 3))
    y = run("GivenTensorFill", {"x": like[:, 0]}, values=values, extra_shape=[3, 1])
    np.testing.assert_array_equal(y, expected.reshape(2, 3, 1))
    assert run("GivenTensorFill", {}, shape=[2, 0]).shape == (2, 0)
    with pytest.raises(Exception, match="a shape has the extent -1"):
        run("GivenTensorFill", {}, values=values, shape=[2, -1])
    with pytest.raises(Exception, match="6"):
        run("GivenTensorFill", {}, values=values, shape=[2, 2])


def test_constant_fill():
    np.testing.assert_array_equal(run("ConstantFill", {}, value=2.5, shape=[2, 3]), np.full((2, 3), 2.5, np.float32))
    assert run("ConstantFill", {}, shape=[2]).tolist() == [0, 0]
    model = model_of("ConstantFill", {"x": np.array([2, 1])}, 1, value=3.0, dtype=7, input_as_shape=1, extra_shape=[2])
    (y,) = tenon.InferenceSession(model).run(None, {"x": np.array([2, 1])})
    assert y.dtype == np.int64 and y.tolist() == [[[3, 3]], [[3, 3]]]
    with pytest.raises(Exception, match="a shape has the extent -2"):
        run("ConstantFill", {}, shape=[-2])
