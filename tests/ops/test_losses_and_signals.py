"""Losses, optimizers, windows, mel matrices and determinants beyond the conformance suite."""

import numpy as np
import pytest
from math_models import FLOATS, check, numbers, run
from onnx import TensorProto, helper

TRAINING = {"domain": "ai.onnx.preview.training", "version": 1}


def log_softmax(x):
    shifted = x - x.max(1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(1, keepdims=True))


def expected_loss(log_p, labels, weights, reduction, ignored):
    picked = np.take_along_axis(log_p, np.where(labels == ignored, 0, labels)[:, None], 1)[:, 0]
    w = np.where(labels == ignored, 0.0, 1.0 if weights is None else weights[np.where(labels == ignored, 0, labels)])
    loss = -picked * w
    return {"none": loss, "sum": loss.sum(), "mean": loss.sum() / w.sum()}[reduction]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("label_type", [np.int32, np.int64])
@pytest.mark.parametrize("shape", [(4, 5), (2, 5, 3), (2, 5, 3, 2)])
def test_losses(dtype, reduction, weighted, label_type, shape):
    x = numbers(dtype, shape, low=-2, high=2)
    labels = np.random.default_rng(1).integers(0, 5, (shape[0], *shape[2:])).astype(label_type)
    labels.flat[0] = -7
    extra = [numbers(dtype, (5,), low=0.5, high=2, seed=2)] if weighted else []
    weights = extra[0].astype(np.float64) if weighted else None
    attributes = {"reduction": reduction, "ignore_index": -7}
    wide = x.astype(np.float64)
    # Sums of a few terms lose a few digits.
    rtol = 16 * 2.0 ** -{np.float64: 52, np.float32: 23, np.float16: 10}.get(dtype, 7)
    loss = run("NegativeLogLikelihoodLoss", x, labels, *extra, **attributes)
    check(loss, np.asarray(expected_loss(wide, labels, weights, reduction, -7)).astype(dtype), rtol=rtol)
    loss, log_p = run("SoftmaxCrossEntropyLoss", x, labels, *extra, outputs=2, **attributes)
    check(log_p, log_softmax(wide).astype(dtype), rtol=rtol)
    check(loss, np.asarray(expected_loss(log_softmax(wide), labels, weights, reduction, -7)).astype(dtype), rtol=rtol)


def test_loss_errors():
    x, labels = np.zeros((2, 3), np.float32), np.array([0, 3])
    with pytest.raises(Exception, match="label 3 at position 1 is outside the range of 3 classes"):
        run("NegativeLogLikelihoodLoss", x, labels)
    with pytest.raises(Exception, match="'reduction' is 'max'; it must be 'none', 'sum' or 'mean'"):
        run("SoftmaxCrossEntropyLoss", x, labels, reduction="max")
    with pytest.raises(Exception, match=r"labels for scores of shape \[2, 3\] must have the shape \[2\], but their shape is \[3\]"):
        run("NegativeLogLikelihoodLoss", x, np.zeros(3, np.int64), dynamic=False)
    with pytest.raises(Exception, match=r"weights must hold one number per class, but their shape is \[2\]"):
        run("NegativeLogLikelihoodLoss", x, labels, np.ones(2, np.float32), dynamic=False)


def test_optimizer_errors():
    rate, count, x = np.array(0.1, np.float32), np.array(0), np.zeros(2, np.float32)
    momentum = {"alpha": 0.9, "beta": 1.0, "norm_coefficient": 0.0, **TRAINING}
    with pytest.raises(Exception, match="'mode' is 'fast'; it must be 'standard' or 'nesterov'"):
        run("Momentum", rate, count, x, x, x, outputs=2, mode="fast", **momentum)
    with pytest.raises(Exception, match="4 tensors; it needs 3 for each tensor to optimize"):
        run("Momentum", rate, count, x, x, x, x, outputs=2, mode="standard", **momentum)
    with pytest.raises(Exception, match="3 outputs for 1 optimized tensors; it needs 2"):
        run("Adagrad", rate, count, x, x, x, outputs=3, **TRAINING)
    with pytest.raises(Exception, match="input 4 is .*, but the tensor it belongs to is"):
        run("Adagrad", rate, count, x, x, np.zeros(3, np.float32), outputs=2, dynamic=False, **TRAINING)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_adam_of_two_tensors(dtype):
    shapes = [(3,), (2, 2)]
    x, g, v, h = ([numbers(dtype, s, low=0.1, high=1, seed=i) for s in shapes] for i in range(4))
    inputs = [np.array(0.1, dtype), np.array(3), *x, *g, *v, *h]
    actual = run("Adam", *inputs, outputs=6, norm_coefficient=0.01, **TRAINING)
    alpha, beta, epsilon, norm = (float(np.float32(k)) for k in (0.9, 0.999, 1e-6, 0.01))
    rate = float(np.array(0.1, dtype)) * np.sqrt(1 - beta**3) / (1 - alpha**3)
    for i in range(2):
        grad = norm * x[i].astype(np.float64) + g[i]
        v_new = alpha * v[i].astype(np.float64) + (1 - alpha) * grad
        h_new = beta * h[i].astype(np.float64) + (1 - beta) * grad**2
        x_new = x[i] - rate * v_new / (np.sqrt(h_new) + epsilon)
        for result, expected in ((actual[i], x_new), (actual[2 + i], v_new), (actual[4 + i], h_new)):
            check(result, expected.astype(dtype), rtol=1e-12 if dtype == np.float64 else None)


WINDOWS = {
    "HannWindow": lambda t: 0.5 - 0.5 * np.cos(t),
    "HammingWindow": lambda t: 25 / 46 - 21 / 46 * np.cos(t),
    "BlackmanWindow": lambda t: 0.42 - 0.5 * np.cos(t) + 0.08 * np.cos(2 * t),
}


@pytest.mark.parametrize("name", WINDOWS)
@pytest.mark.parametrize("periodic", [0, 1])
@pytest.mark.parametrize("code", [TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.BFLOAT16])
@pytest.mark.parametrize("size_type", [np.int32, np.int64])
def test_windows(name, periodic, code, size_type):
    size = 9
    t = 2 * np.pi * np.arange(size) / (size if periodic else size - 1)
    expected = WINDOWS[name](t)
    actual = run(name, np.array(size, size_type), periodic=periodic, output_datatype=code)
    assert actual.dtype == helper.tensor_dtype_to_np_dtype(code)
    np.testing.assert_allclose(actual.astype(np.float64), expected, rtol=0, atol=0.004 if code == 16 else 0.0005)
    if code == TensorProto.DOUBLE:
        np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-15)


@pytest.mark.parametrize("name", WINDOWS)
def test_short_windows(name):
    assert run(name, np.array(0)).shape == (0,)
    assert run(name, np.array(1)).shape == (1,) and run(name, np.array(1), periodic=0).tolist() == [1]
    with pytest.raises(Exception, match="the size of a window is -1"):
        run(name, np.array(-1))


def test_mel_matrix():
    inputs = [np.array(8), np.array(16), np.array(8192), np.array(0, np.float32), np.array(8192 / 2, np.float32)]
    matrix = run("MelWeightMatrix", *inputs)
    assert matrix.shape == (9, 8) and matrix.max() == 1 and matrix.min() == 0
    assert run("MelWeightMatrix", *inputs, output_datatype=TensorProto.DOUBLE).tolist() == matrix.tolist()
    with pytest.raises(Exception, match="the edge frequencies need bin"):
        run("MelWeightMatrix", *inputs[:4], np.array(1e6, np.float32))
    with pytest.raises(Exception, match="the sample rate is 0"):
        run("MelWeightMatrix", inputs[0], inputs[1], np.array(0), *inputs[3:])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (2, 4, 4), (2, 3, 5, 5), (0, 3, 3), (2, 0, 0)])
def test_determinant(dtype, shape):
    x = numbers(dtype, shape)
    check(run("Det", x), np.linalg.det(x.astype(np.float64)).astype(dtype), rtol=1e-9 if dtype == np.float64 else None)


def test_determinant_of_singular_and_odd_matrices():
    assert run("Det", np.ones((3, 3), np.float32)) == 0
    assert run("Det", np.array([[0, 1], [1, 0]], np.float32)) == -1
    with pytest.raises(Exception, match=r"a determinant needs square matrices, but the input is \[2, 3\]"):
        run("Det", np.zeros((2, 3), np.float32), dynamic=False)
    with pytest.raises(Exception, match="a determinant needs a matrix"):
        run("Det", np.zeros(3, np.float32))
