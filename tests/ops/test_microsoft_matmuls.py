"""Matrix products of com.microsoft, inverses and complex products."""

import numpy as np
import pytest
from microsoft_models import (
    assert_close,
    compare_with_onnxruntime,
    microsoft_model,
    normal,
    run_tenon,
    session_without_shapes,
)
from oracles import exact_integers
from oracles.saturation import safe_weights


@pytest.fixture
def rng():
    return np.random.default_rng(3)


@pytest.mark.parametrize("op", ["FusedMatMul", "TransposeMatMul"])
@pytest.mark.parametrize("trans_a", [0, 1])
@pytest.mark.parametrize("trans_b", [0, 1])
@pytest.mark.parametrize("alpha", [1.0, 0.25])
@pytest.mark.parametrize("batch", [(), (2,), (2, 3)])
def test_fused_matmul(rng, op, trans_a, trans_b, alpha, batch):
    a = normal(rng, *batch, *((4, 5) if not trans_a else (5, 4)))
    b = normal(rng, *((5, 6) if not trans_b else (6, 5)))
    compare_with_onnxruntime(op, {"A": a, "B": b}, transA=trans_a, transB=trans_b, alpha=alpha)


@pytest.mark.parametrize("trans_a", [0, 1])
@pytest.mark.parametrize("trans_b", [0, 1])
def test_fused_matmul_of_batches_behind_rows(rng, trans_a, trans_b):
    """transBatch: the first axis belongs to the matrix, the ones after it to the batch."""
    a = normal(rng, 4, 2, 3, 5) if not trans_a else normal(rng, 5, 2, 3, 4)
    b = normal(rng, 5, 2, 3, 6) if not trans_b else normal(rng, 6, 2, 3, 5)
    flags = {"transA": trans_a, "transB": trans_b, "transBatchA": 1, "transBatchB": 1}
    compare_with_onnxruntime("FusedMatMul", {"A": a, "B": b}, **flags)


@pytest.mark.parametrize("keep_ranks", [False, True])
@pytest.mark.parametrize("flags", [(0, 1), (1, 0), (1, 1)])
def test_fused_matmul_of_unknown_shapes(rng, keep_ranks, flags):
    batch, matrix = flags
    inputs = {
        "A": normal(rng, 2, 4, 5) if not batch else normal(rng, 5 if matrix else 4, 2, 4 if matrix else 5),
        "B": normal(rng, 6, 5),
    }  # fmt: skip
    attributes = {"transBatchA": batch, "transA": matrix, "transB": 1}
    if matrix and not batch:
        inputs["A"] = normal(rng, 2, 5, 4)
    model = microsoft_model("FusedMatMul", inputs, **attributes)
    (y,) = session_without_shapes(model, keep_ranks).run(None, inputs)
    np.testing.assert_array_equal(y, run_tenon("FusedMatMul", inputs, **attributes)[0])


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
def test_fused_matmul_of_other_types(rng, dtype):
    a, b = normal(rng, 3, 4, dtype=dtype), normal(rng, 5, 4, dtype=dtype)
    (y,) = run_tenon("FusedMatMul", {"A": a, "B": b}, transB=1, alpha=0.5)
    assert_close(y, (0.5 * (a.astype(np.float64) @ b.T.astype(np.float64))).astype(dtype))


@pytest.mark.parametrize(
    ("activation", "numbers"),
    [
        ("Relu", {}), ("Sigmoid", {}), ("Tanh", {}), ("Softplus", {}), ("Softsign", {}),
        ("LeakyRelu", {"activation_alpha": 0.3}), ("Elu", {"activation_alpha": 0.7}),
        ("ThresholdedRelu", {"activation_alpha": 0.4}),
        ("HardSigmoid", {"activation_alpha": 0.3, "activation_beta": 0.4}),
        ("Selu", {"activation_alpha": 1.5, "activation_gamma": 1.1}),
    ],
)  # fmt: skip
def test_fused_gemm(rng, activation, numbers):
    inputs = {"A": normal(rng, 4, 5), "B": normal(rng, 6, 5), "C": normal(rng, 6)}
    compare_with_onnxruntime("FusedGemm", inputs, activation=activation, transB=1, alpha=0.5, beta=2.0, **numbers)


def test_fused_gemm_refuses_unknown_activations(rng):
    with pytest.raises(Exception, match="unknown activation 'Erf'"):
        run_tenon("FusedGemm", {"A": normal(rng, 2, 2), "B": normal(rng, 2, 2)}, activation="Erf")


def integers(rng, dtype, *shape):
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max + 1, shape).astype(dtype)


@pytest.mark.parametrize("a_type", [np.uint8, np.int8])
@pytest.mark.parametrize("b_type", [np.uint8, np.int8])
@pytest.mark.parametrize("per_column", [False, True])
@pytest.mark.parametrize("zero_points", [False, True])
@pytest.mark.parametrize("with_bias", [False, True])
def test_matmul_integer_to_float(rng, a_type, b_type, per_column, zero_points, with_bias):
    columns = (6,) if per_column else ()
    inputs = {
        "A": integers(rng, a_type, 2, 4, 5), "B": integers(rng, b_type, 5, 6),
        "a_scale": np.array(0.02, np.float32), "b_scale": rng.uniform(0.01, 0.1, columns).astype(np.float32),
        "a_zero_point": integers(rng, a_type) if zero_points else None,
        "b_zero_point": integers(rng, b_type, *columns) if zero_points else None,
        "bias": normal(rng, 6) if with_bias else None,
    }  # fmt: skip
    inputs = {k: np.asarray(v) if v is not None else None for k, v in inputs.items()}
    expected = expected_product(inputs, inputs["A"], inputs["a_scale"], inputs["a_zero_point"])
    (y,) = run_tenon("MatMulIntegerToFloat", inputs)
    assert_close(y, expected.astype(np.float32))
    if a_type == np.uint8:
        constants = [k for k in inputs if k != "A" and inputs[k] is not None]
        inputs["B"] = safe_weights(inputs["B"])
        compare_with_onnxruntime("MatMulIntegerToFloat", inputs, constants=constants)


def expected_product(inputs, a, a_scale, a_zero_point):
    sums = exact_integers.matmul(a, inputs["B"], a_zero_point, inputs["b_zero_point"])
    y = exact_integers.scaled(sums, a_scale, inputs["b_scale"])
    return y if inputs["bias"] is None else y + inputs["bias"]


@pytest.mark.parametrize("b_type", [np.uint8, np.int8])
@pytest.mark.parametrize("per_column", [False, True])
@pytest.mark.parametrize("with_bias", [False, True])
def test_dynamic_quantize_matmul(rng, b_type, per_column, with_bias):
    columns = (6,) if per_column else ()
    inputs = {
        "A": normal(rng, 4, 5), "B": integers(rng, b_type, 5, 6),
        "b_scale": np.asarray(rng.uniform(0.01, 0.1, columns), np.float32),
        "b_zero_point": np.asarray(integers(rng, b_type, *columns)), "bias": normal(rng, 6) if with_bias else None,
    }  # fmt: skip
    constants = [k for k in inputs if k != "A" and inputs[k] is not None]
    a, a_scale, a_zero_point = exact_integers.dynamically_quantized(inputs["A"])
    (y,) = run_tenon("DynamicQuantizeMatMul", inputs, constants=constants)
    assert_close(y, expected_product(inputs, a, a_scale, a_zero_point).astype(np.float32))
    inputs["B"] = safe_weights(inputs["B"])
    compare_with_onnxruntime("DynamicQuantizeMatMul", inputs, constants=constants)


@pytest.mark.parametrize("a_type", [np.int16, np.uint16])
@pytest.mark.parametrize("b_type", [np.int16, np.uint16])
def test_matmul_integer16(rng, a_type, b_type):
    a, b = integers(rng, a_type, 2, 3, 4), integers(rng, b_type, 4, 5)
    (y,) = run_tenon("MatMulInteger16", {"A": a, "B": b})
    wide = np.uint32 if a_type == b_type == np.uint16 else np.int32
    assert y.dtype == wide
    np.testing.assert_array_equal(y, (a.astype(np.int64) @ b.astype(np.int64)).astype(wide))
    if a_type == b_type == np.int16:
        compare_with_onnxruntime("MatMulInteger16", {"A": a // 8, "B": b // 8})


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize("shape", [(3, 3), (2, 4, 4), (2, 3, 1, 1), (0, 3, 3)])
def test_inverse(rng, dtype, shape):
    x = normal(rng, *shape, dtype=dtype) + 3 * np.eye(shape[-1], dtype=dtype)
    (y,) = run_tenon("Inverse", {"X": x})
    assert_close(y, np.linalg.inv(x.astype(np.float64)).astype(dtype))


def test_inverse_needs_pivots_and_refuses_what_has_none():
    x = np.array([[0, 1], [2, 0]], np.float32)
    assert run_tenon("Inverse", {"X": x})[0].tolist() == [[0, 0.5], [1, 0]]
    with pytest.raises(Exception, match="matrix 1 has no inverse"):
        run_tenon("Inverse", {"X": np.stack([x, np.ones((2, 2), np.float32)])})
    with pytest.raises(Exception, match="only square matrices"):
        run_tenon("Inverse", {"X": np.ones((2, 3), np.float32)})


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize("shapes", [((3, 4, 2), (3, 4, 2)), ((3, 1, 2), (4, 2)), ((2,), (5, 2))])
@pytest.mark.parametrize("op", ["ComplexMul", "ComplexMulConj"])
def test_complex_mul(rng, dtype, shapes, op):
    a, b = (normal(rng, *shape, dtype=dtype) for shape in shapes)
    x, y = (v.astype(np.float64) @ [1, 1j] for v in (a, b))
    product = x * (y.conj() if op == "ComplexMulConj" else y)
    expected = np.stack([product.real, product.imag], axis=-1).astype(dtype)
    assert_close(run_tenon(op, {"A": a, "B": b})[0], expected)


def test_complex_mul_refuses_what_is_not_complex(rng):
    with pytest.raises(Exception, match="must be \\(real, imaginary\\)"):
        run_tenon("ComplexMul", {"A": normal(rng, 3, 4), "B": normal(rng, 3, 4)})


@pytest.mark.parametrize("shape", [(8,), (2, 3, 6)])
def test_rfft_and_back(rng, shape):
    x = normal(rng, *shape)
    (spectrum,) = run_tenon("Rfft", {"X": x}, signal_ndim=1, normalized=0, onesided=1)
    expected = np.fft.rfft(x)
    assert_close(spectrum, np.stack([expected.real, expected.imag], axis=-1).astype(np.float32))
    (back,) = run_tenon("Irfft", {"X": spectrum}, signal_ndim=1, normalized=0, onesided=1)
    assert_close(back, x)
    with pytest.raises(Exception, match="signal_ndim"):
        run_tenon("Rfft", {"X": x}, signal_ndim=2)
