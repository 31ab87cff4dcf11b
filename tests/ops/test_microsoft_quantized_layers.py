"""Quantization of com.microsoft, and layers with quantized weights."""

import ml_dtypes
import numpy as np
import pytest
import tenon
from microsoft_models import (
    assert_close,
    compare_with_onnxruntime,
    feeds_of,
    microsoft_model,
    normal,
    run_onnxruntime,
    run_tenon,
)
from onnx import TensorProto, helper, numpy_helper
from oracles import exact_integers
from oracles.peer import run_peer
from oracles.saturation import safe_weights

BYTES = [np.uint8, np.int8]


@pytest.fixture
def rng():
    return np.random.default_rng(8)


def integers(rng, dtype, *shape):
    info = ml_dtypes.iinfo(dtype)
    return np.asarray(rng.integers(info.min, info.max + 1, shape)).astype(dtype)


def scalar(value, dtype=np.float32):
    return np.array(value, dtype)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int16])
@pytest.mark.parametrize("real", [np.float32, np.float16])
@pytest.mark.parametrize(("axis", "length"), [(None, ()), (0, (3,)), (1, (4,)), (-1, (5,))])
def test_quantize_and_dequantize(rng, dtype, real, axis, length):
    attributes = {} if axis is None else {"axis": axis}
    scale = np.asarray(rng.uniform(0.01, 0.1, length)).astype(real)
    zero = integers(rng, dtype, *length)
    x = (2 * normal(rng, 3, 4, 5)).astype(real)
    inputs = {"x": integers(rng, dtype, 3, 4, 5), "x_scale": scale, "x_zero_point": zero}
    constants = ["x_scale", "x_zero_point"]
    compare_with_onnxruntime("DequantizeLinear", inputs, constants=constants, **attributes)
    inputs = {"x": x, "y_scale": scale, "y_zero_point": zero}
    constants = ["y_scale", "y_zero_point"]
    if real == np.float32:
        compare_with_onnxruntime("QuantizeLinear", inputs, constants=constants, **attributes)
        return
    # The quotient is a float16 before it is rounded, so it may be the other neighbour of a half.
    (y,) = run_tenon("QuantizeLinear", inputs, constants=constants, **attributes)
    (theirs,) = run_onnxruntime("QuantizeLinear", inputs, constants=constants, **attributes)
    assert y.dtype == theirs.dtype
    assert np.abs(y.astype(int) - theirs.astype(int)).max() <= 1


def test_quantize_without_zero_point(rng):
    x, q = normal(rng, 3, 4), integers(rng, np.int8, 3, 4)
    compare_with_onnxruntime("QuantizeLinear", {"x": x, "y_scale": scalar(0.02)}, constants=["y_scale"])
    compare_with_onnxruntime("DequantizeLinear", {"x": q, "x_scale": scalar(0.02)}, constants=["x_scale"])
    big = rng.integers(-100000, 100000, (3, 4)).astype(np.int32)
    compare_with_onnxruntime("DequantizeLinear", {"x": big, "x_scale": scalar(0.02)}, constants=["x_scale"])


def four_bits(run, x, scale, zero, axis):
    """x -> QuantizeLinear -> DequantizeLinear, as 4-bit numbers do not leave onnxruntime otherwise."""
    attributes = {"domain": "com.microsoft"} | ({} if axis is None else {"axis": axis})
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "scale", "zero"], ["q"], **attributes),
        helper.make_node("DequantizeLinear", ["q", "scale", "zero"], ["y"], **attributes),
    ]
    weights = [numpy_helper.from_array(scale, "scale"), numpy_helper.from_array(zero, "zero")]
    declared = [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)]
    results = [helper.make_tensor_value_info("y", TensorProto.FLOAT, x.shape)]
    graph = helper.make_graph(nodes, "g", declared, results, weights)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()
    return run(model, {"x": x})[0]


@pytest.mark.parametrize("dtype", [ml_dtypes.int4, ml_dtypes.uint4])
@pytest.mark.parametrize(("axis", "length"), [(None, ()), (0, (3,)), (1, (5,))])
def test_four_bits_there_and_back(rng, dtype, axis, length):
    x, scale = 2 * normal(rng, 3, 5), np.asarray(rng.uniform(0.1, 0.3, length), np.float32)
    zero = integers(rng, dtype, *length)
    y = four_bits(lambda model, feeds: tenon.InferenceSession(model).run(None, feeds), x, scale, zero, axis)
    theirs = four_bits(run_peer, x, scale, zero, axis)
    np.testing.assert_array_equal(y, theirs)


def test_quantize_refuses(rng):
    x = normal(rng, 3, 4)
    with pytest.raises(Exception, match="must be a scalar or have one entry for each of the 4 positions"):
        run_tenon("QuantizeLinear", {"x": x, "s": np.ones(3, np.float32), "z": np.ones(3, np.uint8)}, axis=1)
    with pytest.raises(Exception, match="block_size"):
        run_tenon("QuantizeLinear", {"x": x, "s": scalar(1)}, block_size=2)


def gemm_inputs(rng, a_type, b_type, per_column, bias, quantized, trans_a=0, trans_b=0):
    columns = (6,) if per_column else ()
    a, b = integers(rng, a_type, 4, 5), integers(rng, b_type, 5, 6)
    inputs = {
        "A": np.ascontiguousarray(a.T) if trans_a else a, "a_scale": scalar(0.02), "a_zero": integers(rng, a_type),
        "B": np.ascontiguousarray(b.T) if trans_b else b,
        "b_scale": np.asarray(rng.uniform(0.01, 0.1, columns), np.float32), "b_zero": integers(rng, b_type, *columns),
        "C": None if bias is None else rng.integers(-9000, 9000, bias).astype(np.int32),
        "y_scale": scalar(0.3) if quantized else None, "y_zero": scalar(9, a_type) if quantized else None,
    }  # fmt: skip
    return inputs


@pytest.mark.parametrize(("a_type", "b_type"), [(np.uint8, np.uint8), (np.uint8, np.int8), (np.int8, np.int8)])
@pytest.mark.parametrize("per_column", [False, True])
@pytest.mark.parametrize("bias", [None, (6,), (4, 6), (4, 1), (1,)])
@pytest.mark.parametrize("quantized", [False, True])
def test_q_gemm(rng, a_type, b_type, per_column, bias, quantized):
    inputs = gemm_inputs(rng, a_type, b_type, per_column, bias, quantized)
    constants = [k for k in inputs if k != "A" and inputs[k] is not None]
    sums = exact_integers.matmul(inputs["A"], inputs["B"], inputs["a_zero"], inputs["b_zero"])
    sums = sums if bias is None else sums + inputs["C"]
    expected = exact_integers.scaled(sums, np.float32(0.7), inputs["a_scale"], inputs["b_scale"])
    (y,) = run_tenon("QGemm", inputs, alpha=0.7)
    if quantized:
        assert y.dtype == a_type
        exact_integers.assert_quantized(y, expected, inputs["y_scale"], 9)
    else:
        assert_close(y, expected.astype(np.float32))
    inputs["B"] = safe_weights(inputs["B"])
    compare_with_onnxruntime("QGemm", inputs, constants=constants, alpha=0.7)


@pytest.mark.parametrize("trans_a", [0, 1])
@pytest.mark.parametrize("trans_b", [0, 1])
def test_q_gemm_of_transposed_operands(rng, trans_a, trans_b):
    inputs = gemm_inputs(rng, np.uint8, np.int8, True, (6,), True, trans_a, trans_b)
    plain = inputs | {"A": inputs["A"].T if trans_a else inputs["A"], "B": inputs["B"].T if trans_b else inputs["B"]}
    sums = exact_integers.matmul(plain["A"], plain["B"], inputs["a_zero"], inputs["b_zero"]) + inputs["C"]
    expected = exact_integers.scaled(sums, inputs["a_scale"], inputs["b_scale"])
    (y,) = run_tenon("QGemm", inputs, transA=trans_a, transB=trans_b)
    exact_integers.assert_quantized(y, expected, inputs["y_scale"], 9)
    inputs["B"] = safe_weights(inputs["B"])
    compare_with_onnxruntime("QGemm", inputs, transA=trans_a, transB=trans_b)


def test_q_gemm_refuses(rng):
    inputs = gemm_inputs(rng, np.uint8, np.int8, True, (6,), True)
    with pytest.raises(Exception, match="must be given together"):
        run_tenon("QGemm", inputs | {"y_scale": None})
    with pytest.raises(Exception, match="C has the shape .*, which does not broadcast to"):
        run_tenon("QGemm", inputs | {"C": np.zeros((2, 4, 6), np.int32)})
    with pytest.raises(Exception, match="has 3 axes"):
        run_tenon("QGemm", inputs | {"A": inputs["A"][None]})
    with pytest.raises(Exception, match="inner dimensions"):
        run_tenon("QGemm", gemm_inputs(rng, np.uint8, np.int8, False, (6,), True), transB=1)


def lstm_inputs(rng, dtype, directions, per_gate, optional):
    steps, batch, size, hidden = 4, 3, 5, 6
    gates = 4 * hidden

    def weights(name, rows):
        shape = (directions, gates) if per_gate else (directions,)
        zero = np.zeros(shape, dtype) if dtype == np.int8 else np.full(shape, 130, dtype)
        return {name: integers(rng, dtype, directions, rows, gates)}, {
            f"{name}_scale": rng.uniform(0.002, 0.006, shape).astype(np.float32), f"{name}_zero": zero
        }  # fmt: skip

    (w, w_numbers), (r, r_numbers) = weights("W", size), weights("R", hidden)
    inputs = {"X": normal(rng, steps, batch, size)} | w | r
    inputs["B"] = normal(rng, directions, 2 * gates) if optional else None
    inputs["lens"] = np.array([4, 2, 3], np.int32) if optional else None
    for name in ("initial_h", "initial_c"):
        inputs[name] = normal(rng, directions, batch, hidden) if optional else None
    inputs["P"] = normal(rng, directions, 3 * hidden) if optional else None
    return inputs | w_numbers | r_numbers


@pytest.mark.parametrize("dtype", BYTES)
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("per_gate", [False, True])
@pytest.mark.parametrize("optional", [False, True])
def test_dynamic_quantize_lstm(rng, dtype, direction, per_gate, optional):
    inputs = lstm_inputs(rng, dtype, 2 if direction == "bidirectional" else 1, per_gate, optional)
    attributes = {"hidden_size": 6, "direction": direction}
    constants = [k for k in inputs if k[:2] in ("W", "R", "W_", "R_")]
    actual = run_tenon("DynamicQuantizeLSTM", inputs, 3, constants, **attributes)
    for y, expected in zip(actual, float_lstm(inputs, attributes), strict=True):
        np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-6)
    # onnxruntime also quantizes inputs and states: steps of 1/255 of their range, in sums of 5 and 6 products.
    inputs |= {name: safe_weights(inputs[name]) for name in ("W", "R")}
    actual = run_tenon("DynamicQuantizeLSTM", inputs, 3, constants, **attributes)
    quantized = run_onnxruntime("DynamicQuantizeLSTM", inputs, 3, constants, **attributes)
    for y, theirs in zip(actual, quantized, strict=True):
        np.testing.assert_allclose(y, theirs, atol=0.02)


def float_lstm(inputs, attributes):
    """The LSTM of the default domain with dequantized weights, by onnxruntime."""

    def real(name):
        axes = (1,) if inputs[f"{name}_scale"].ndim == 2 else (1, 2)
        scale, zero = (np.expand_dims(inputs[f"{name}_{part}"], axes) for part in ("scale", "zero"))
        weights = exact_integers.dequantized(inputs[name], scale, zero).astype(np.float32)
        return np.ascontiguousarray(weights.transpose(0, 2, 1))

    names = ["X", "W", "R", "B", "lens", "initial_h", "initial_c", "P"]
    plain = {name: inputs[name] for name in names} | {"W": real("W"), "R": real("R")}
    model = microsoft_model("LSTM", plain, 3, domain="", **attributes)
    return run_peer(model, feeds_of(plain))


def test_dynamic_quantize_lstm_refuses(rng):
    inputs = lstm_inputs(rng, np.int8, 1, True, False)
    with pytest.raises(Exception, match="has no attribute 'layout'"):
        run_tenon("DynamicQuantizeLSTM", inputs, 3, hidden_size=6, layout=1)
    with pytest.raises(Exception, match="hidden_size is 7"):
        run_tenon("DynamicQuantizeLSTM", inputs, 3, hidden_size=7)
    with pytest.raises(Exception, match="the scale of W has 3 axes"):
        run_tenon("DynamicQuantizeLSTM", inputs | {"W_scale": np.ones((1, 1, 24), np.float32)}, 3, hidden_size=6)
    with pytest.raises(Exception, match="they must be the same"):
        run_tenon("DynamicQuantizeLSTM", inputs | {"W_scale": np.ones((1, 23), np.float32)}, 3, hidden_size=6)
    with pytest.raises(Exception, match="does not match"):
        short = {"W_scale": np.ones((1, 23), np.float32), "W_zero": np.zeros((1, 23), np.int8)}
        run_tenon("DynamicQuantizeLSTM", inputs | short, 3, hidden_size=6)


def embed_inputs(rng, dtype, segments, mask):
    hidden, tables = 8, {"word": 11, "position": 7, "segment": 2, "gamma": None, "beta": None}
    if not segments:
        tables["segment"] = 0
    shapes = {k: None if rows == 0 else (hidden,) if rows is None else (rows, hidden) for k, rows in tables.items()}
    inputs = {
        "ids": rng.integers(0, 11, (2, 5)).astype(np.int32),
        "segment_ids": rng.integers(0, 2, (2, 5)).astype(np.int32) if segments else None,
    }
    inputs |= {k: None if s is None else integers(rng, dtype, *s) for k, s in shapes.items()}
    inputs["mask"] = rng.integers(0, 2, (2, 5)).astype(np.int32) if mask else None
    inputs |= {f"{k}_scale": None if s is None else scalar(rng.uniform(0.01, 0.1)) for k, s in shapes.items()}
    return inputs | {f"{k}_zero": None if s is None else integers(rng, dtype) for k, s in shapes.items()}


@pytest.mark.parametrize("dtype", BYTES)
@pytest.mark.parametrize("segments", [False, True])
@pytest.mark.parametrize("mask", [False, True])
def test_q_embed_layer_normalization(rng, dtype, segments, mask):
    inputs = embed_inputs(rng, dtype, segments, mask)
    actual = run_tenon("QEmbedLayerNormalization", inputs, 2, epsilon=1e-6)
    expected = run_onnxruntime("QEmbedLayerNormalization", inputs, 2, epsilon=1e-6)
    np.testing.assert_allclose(actual[0], expected[0], rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(actual[1], expected[1])


def test_q_embed_layer_normalization_refuses(rng):
    inputs = embed_inputs(rng, np.uint8, True, False)
    with pytest.raises(Exception, match="must be given together"):
        run_tenon("QEmbedLayerNormalization", inputs | {"segment_scale": None}, 2)
    with pytest.raises(Exception, match="input 11 is missing; it is the scale of input 5"):
        run_tenon("QEmbedLayerNormalization", inputs | {"gamma_scale": None}, 2)
    with pytest.raises(Exception, match="index|indices"):
        run_tenon("QEmbedLayerNormalization", inputs | {"ids": np.full((2, 5), 11, np.int32)}, 2)
