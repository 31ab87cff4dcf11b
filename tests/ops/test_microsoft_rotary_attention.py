"""Attention that turns its queries and keys by their positions (do_rotary). onnxruntime has it on GPUs only and asks for
MultiHeadAttention and RotaryEmbedding instead, which are what it is compared with."""

import numpy as np
import pytest
from microsoft_models import ONNX_TYPES, assert_close, compare_with_onnxruntime, normal, run_tenon
from onnx import helper, numpy_helper
from oracles.peer import run_peer

BATCH, LENGTH, HEADS, SIZE, FEATURES = 2, 5, 2, 8, 6
WIDTH = HEADS * SIZE
POSITIONS = 32


@pytest.fixture
def rng():
    return np.random.default_rng(23)


def attention_inputs(rng, past=None, dtype=np.float32, length=LENGTH):
    return {
        "input": normal(rng, BATCH, length, FEATURES, dtype=dtype),
        "weights": (normal(rng, FEATURES, 3 * WIDTH) / 2).astype(dtype), "bias": normal(rng, 3 * WIDTH, dtype=dtype),
        "mask_index": None, "past": past,
    }  # fmt: skip


def angles(rotated):
    """Of every position and pair of features, as the attention has them built in."""
    return np.arange(POSITIONS)[:, None] / 10000.0 ** (np.arange(0, rotated, 2) / rotated)


def expected_of(inputs, rotated, unidirectional):
    """By onnxruntime, from separate ops."""
    past = inputs["past"]
    feeds = {"x": inputs["input"]} | ({} if past is None else {"past_key": past[0], "past_value": past[1]})
    table = angles(rotated).astype(np.float32)
    constants = {
        "w": inputs["weights"], "b": inputs["bias"], "cos": np.cos(table), "sin": np.sin(table),
        "start": np.array([0 if past is None else past.shape[3]]),
    }  # fmt: skip
    rotary = {"domain": "com.microsoft", "num_heads": HEADS, "rotary_embedding_dim": 0 if rotated == SIZE else rotated}
    caches = [] if past is None else ["", "", "", "past_key", "past_value"]
    attributes = {"domain": "com.microsoft", "num_heads": HEADS, "unidirectional": unidirectional}
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["product"]),
        helper.make_node("Add", ["product", "b"], ["sum"]),
        helper.make_node("Split", ["sum"], ["q", "k", "v"], axis=2, num_outputs=3),
        helper.make_node("RotaryEmbedding", ["q", "start", "cos", "sin"], ["rq"], **rotary),
        helper.make_node("RotaryEmbedding", ["k", "start", "cos", "sin"], ["rk"], **rotary),
        helper.make_node("MultiHeadAttention", ["rq", "rk", "v", *caches], ["y", "key", "value"], **attributes),
    ]
    declared = [helper.make_tensor_value_info(n, ONNX_TYPES[v.dtype], v.shape) for n, v in feeds.items()]
    results = [helper.make_tensor_value_info(name, 1, None) for name in ("y", "key", "value")]
    weights = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(helper.make_graph(nodes, "g", declared, results, weights), opset_imports=opsets, ir_version=9)
    y, key, value = run_peer(model.SerializeToString(), feeds)
    return y, np.stack([key, value])


@pytest.mark.parametrize("rotated", [SIZE, 4])
@pytest.mark.parametrize("past_length", [None, 3])
@pytest.mark.parametrize("unidirectional", [0, 1])
def test_rotary_attention(rng, rotated, past_length, unidirectional):
    past = None if past_length is None else normal(rng, 2, BATCH, HEADS, past_length, SIZE)
    inputs = attention_inputs(rng, past)
    attributes = {"num_heads": HEADS, "do_rotary": 1, "unidirectional": unidirectional}
    if rotated != SIZE:
        attributes["rotary_embedding_dim"] = rotated
    actual = run_tenon("Attention", inputs, 2, **attributes)
    for a, e in zip(actual, expected_of(inputs, rotated, unidirectional), strict=True):
        np.testing.assert_allclose(a, e, rtol=2e-5, atol=2e-5)  # a dozen features and keys are added up in float32
    without = run_tenon("Attention", inputs, 2, **(attributes | {"do_rotary": 0}))
    assert np.abs(actual[0] - without[0]).max() > 0.01


def test_rotary_attention_in_a_shared_buffer(rng):
    buffer = normal(rng, 2, BATCH, HEADS, 12, SIZE)
    inputs = attention_inputs(rng, past=buffer[:, :, :, :3].copy())
    attributes = {"num_heads": HEADS, "do_rotary": 1}
    expected, present = run_tenon("Attention", inputs, 2, **attributes)
    for length in (np.array(3, np.int32), np.array([3], np.int32)):
        inputs |= {"past": buffer, "attention_bias": None, "past_sequence_length": length}
        y, cache = run_tenon("Attention", inputs, 2, past_present_share_buffer=1, **attributes)
        np.testing.assert_array_equal(y, expected)
        np.testing.assert_array_equal(cache[:, :, :, : 3 + LENGTH], present)


def test_rotary_attention_in_half_precision(rng):
    inputs = attention_inputs(rng, dtype=np.float16)
    wide = {name: value if value is None else value.astype(np.float32) for name, value in inputs.items()}
    (expected,) = run_tenon("Attention", wide, num_heads=HEADS, do_rotary=1)
    (y,) = run_tenon("Attention", inputs, num_heads=HEADS, do_rotary=1)
    # The projection, its bias, the rotation and the attention are rounded one after the other.
    error = 32 * float(np.finfo(np.float16).eps)
    np.testing.assert_allclose(y.astype(np.float32), expected, rtol=error, atol=error)


def test_rotations_that_do_not_fit(rng):
    inputs = attention_inputs(rng)
    for size, message in [(3, "it must be even"), (SIZE + 2, "rotary_embedding_dim is 10")]:
        with pytest.raises(Exception, match=message):
            run_tenon("Attention", inputs, num_heads=HEADS, do_rotary=1, rotary_embedding_dim=size)


def test_an_attention_bias_covers_past_and_new_keys(rng):
    """One that is sized for the new keys alone leaves open which ones it means; onnxruntime refuses it, too."""
    q, k, v = (normal(rng, BATCH, LENGTH, WIDTH) for _ in range(3))
    past = {name: normal(rng, BATCH, HEADS, 3, SIZE) for name in ("past_key", "past_value")}
    inputs = {"query": q, "key": k, "value": v, "bias": None, "key_padding_mask": None, "attention_bias": None} | past
    plain = run_tenon("MultiHeadAttention", inputs, num_heads=HEADS)
    inputs["attention_bias"] = np.zeros((1, 1, LENGTH, 3 + LENGTH), np.float32)
    assert_close(run_tenon("MultiHeadAttention", inputs, num_heads=HEADS)[0], plain[0])
    for shape in ((1, 1), (BATCH, 1), (1, HEADS), (BATCH, HEADS)):
        inputs["attention_bias"] = normal(rng, *shape, LENGTH, 3 + LENGTH)
        compare_with_onnxruntime("MultiHeadAttention", inputs, 3, num_heads=HEADS)
    padding = np.ones((BATCH, 3 + LENGTH), np.int32)
    for mask, message in ((None, r", which does not broadcast to \[2, 2, 5, 8\]"),
                          (padding, " does not match 2 sequences of 5 queries and 8 keys")):
        inputs |= {"attention_bias": np.zeros((1, 1, LENGTH, LENGTH), np.float32), "key_padding_mask": mask}
        with pytest.raises(Exception, match=r"shape \[1, 1, 5, 5\]" + message):
            run_tenon("MultiHeadAttention", inputs, num_heads=HEADS)
