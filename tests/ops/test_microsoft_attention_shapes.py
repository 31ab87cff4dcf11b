"""Attention ops of com.microsoft when shapes are not known before the run, and shapes that are made to hurt."""

import ml_dtypes
import numpy as np
import pytest
from microsoft_models import feeds_of, microsoft_model, normal, run_tenon, session_without_shapes
from test_microsoft_attention import BATCH, HEADS, LENGTH, SIZE, WIDTH, attention_inputs, multi_head_inputs
from test_microsoft_group_query_attention import STEPS, angles, gqa_inputs


@pytest.fixture
def rng():
    return np.random.default_rng(14)


def check(op_type, inputs, outputs, keep_rank, **attributes):
    session = session_without_shapes(microsoft_model(op_type, inputs, outputs, **attributes), keep_rank)
    expected = run_tenon(op_type, inputs, outputs, **attributes)
    for a, e in zip(session.run(None, feeds_of(inputs)), expected, strict=True):
        np.testing.assert_array_equal(a, e)


@pytest.mark.parametrize("keep_rank", [False, True])
@pytest.mark.parametrize("mask_shape", [(BATCH,), (2 * BATCH,), (BATCH, LENGTH + 3), (BATCH, LENGTH, LENGTH + 3)])
def test_attention(rng, keep_rank, mask_shape):
    mask, past = np.ones(mask_shape, np.int32), normal(rng, 2, BATCH, HEADS, 3, SIZE)
    check("Attention", attention_inputs(rng, mask, past), 2, keep_rank, num_heads=HEADS, unidirectional=1)


@pytest.mark.parametrize("keep_rank", [False, True])
@pytest.mark.parametrize("packed", [0, 2, 3])
def test_multi_head_attention(rng, keep_rank, packed):
    inputs = multi_head_inputs(rng, key_padding_mask=np.full(BATCH, 2, np.int32))
    if packed:
        heads = normal(rng, BATCH, LENGTH, HEADS, packed, SIZE)
        inputs |= {"key": heads, "value": None} if packed == 2 else {"query": heads, "key": None, "value": None}
    check("MultiHeadAttention", inputs, 3, keep_rank, num_heads=HEADS)


@pytest.mark.parametrize("keep_rank", [False, True])
@pytest.mark.parametrize("by_heads", [False, True])
def test_a_bias_is_added_to_keys_that_are_not_split_into_heads(rng, keep_rank, by_heads):
    inputs = multi_head_inputs(rng, bias=normal(rng, 3 * WIDTH))
    inputs["bias"][WIDTH] = np.inf if by_heads else 1  # what belongs to keys by heads already must not be touched
    if by_heads:
        inputs |= {name: normal(rng, BATCH, HEADS, 7, SIZE) for name in ("key", "value")}
    check("MultiHeadAttention", inputs, 1, keep_rank, num_heads=HEADS)


@pytest.mark.parametrize("keep_rank", [False, True])
@pytest.mark.parametrize("weight_axes", [(0, 1), (0, 2), (1, 2), (2, 0), (1, 1), (-3, -1), (0, -1)])
@pytest.mark.parametrize("dtype", [np.uint8, ml_dtypes.int4])
def test_blocks_are_gathered_along_any_axis(rng, keep_rank, weight_axes, dtype):
    """Tables and indices of every rank, of numbers that are not packed."""
    gather_axis, quantize_axis = weight_axes
    shape = [4, 4, 4]
    shape[quantize_axis] = 32
    scale_shape = [2 if n == 32 else n for n in shape]
    inputs = {
        "data": rng.integers(-8 if dtype != np.uint8 else 0, 8, shape).astype(dtype), "indices": rng.integers(0, 4, (2, 3)),
        "scales": rng.uniform(0.1, 0.2, scale_shape).astype(np.float32),
        "zero_points": rng.integers(0, 8, scale_shape).astype(dtype),
    }  # fmt: skip
    attributes = {"gather_axis": gather_axis, "quantize_axis": quantize_axis, "block_size": 16}
    attributes |= {"bits": 8} if dtype == np.uint8 else {}
    check("GatherBlockQuantized", inputs, 1, keep_rank, **attributes)
    real = inputs["data"].astype(np.float64) - inputs["zero_points"].astype(np.float64).repeat(16, quantize_axis)
    real = real * inputs["scales"].astype(np.float64).repeat(16, quantize_axis)
    (y,) = run_tenon("GatherBlockQuantized", inputs, **attributes)
    np.testing.assert_allclose(y, real.take(inputs["indices"], gather_axis), rtol=1e-6)


@pytest.mark.parametrize("keep_rank", [False, True])
def test_decoding_in_a_shared_buffer(rng, keep_rank):
    inputs = {name: normal(rng, BATCH, 1, WIDTH) for name in ("query", "key", "value")}
    inputs |= {"mask_index": None, "attention_bias": None}
    inputs |= {name: normal(rng, BATCH, HEADS, 9, SIZE) for name in ("past_key", "past_value")}
    inputs["past_sequence_length"] = np.array([4], np.int32)
    check("DecoderMaskedMultiHeadAttention", inputs, 3, keep_rank, num_heads=HEADS, past_present_share_buffer=1)


@pytest.mark.parametrize("keep_rank", [False, True])
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("packed", [False, True])
def test_group_query_attention(rng, keep_rank, step, packed):
    inputs = gqa_inputs(rng, *STEPS[step], packed=packed) | angles(rng)
    check("GroupQueryAttention", inputs, 3, keep_rank, num_heads=4, kv_num_heads=2, do_rotary=1)


@pytest.mark.parametrize("keep_rank", [False, True])
def test_embeddings_and_running_states(rng, keep_rank):
    turns = angles(rng, size=SIZE)
    inputs = {"input": normal(rng, BATCH, LENGTH, WIDTH), "position_ids": np.array([3])} | turns
    check("RotaryEmbedding", inputs, 1, keep_rank)
    inputs["position_ids"] = rng.integers(0, 9, (3, BATCH, LENGTH))
    check("MRotaryEmbedding", inputs, 1, keep_rank, num_heads=HEADS, mrope_section=[1, 1, 0])
    inputs = {name: normal(rng, BATCH, LENGTH, WIDTH) for name in ("query", "key", "value")}
    heads = {"q_num_heads": HEADS, "kv_num_heads": HEADS, "update_rule": "linear"}
    check("LinearAttention", inputs, 2, keep_rank, state_window=2, **heads)
    inputs = {"input": normal(rng, BATCH, 3, LENGTH), "weight": normal(rng, 3, 1, 4)}
    check("CausalConvWithState", inputs, 2, keep_rank)


HUGE = 2**62


def test_more_heads_than_there_are_features(rng):
    """Empty tensors have room for any number of heads; nothing may count to it."""
    empty = np.zeros((1, 2, 0), np.float32)
    inputs = {"query": empty, "key": empty, "value": empty}
    (y,) = run_tenon("MultiHeadAttention", inputs, num_heads=2**30)
    assert y.shape == (1, 2, 0)
    lengths = {"seqlens_k": np.array([1], np.int32), "total_sequence_length": np.array([2], np.int32)}
    inputs |= {"past_key": None, "past_value": None} | lengths
    (y,) = run_tenon("GroupQueryAttention", inputs, num_heads=2**30, kv_num_heads=2**30)
    assert y.shape == (1, 2, 0)
    inputs = {"query": empty, "key": empty, "value": empty}
    heads = {"q_num_heads": 2**30, "kv_num_heads": 2**30, "update_rule": "linear"}
    y, state = run_tenon("LinearAttention", inputs, 2, **heads)
    assert y.shape == (1, 2, 0) and state.shape == (1, 2**30, 0, 0)


@pytest.mark.parametrize("heads", [HUGE, 2**63 - 1, -(2**63)])
def test_numbers_of_heads_that_overflow(rng, heads):
    x = normal(rng, 1, 2, 16)
    lengths = {"seqlens_k": np.array([1], np.int32), "total_sequence_length": np.array([2], np.int32)}
    packed = {"query": x, "key": None, "value": None, "past_key": None, "past_value": None} | lengths
    heads_5d = {"query": normal(rng, 1, 2, 2, 3, 4)}
    turns = {"input": x, "position_ids": np.array([0])} | angles(rng, size=8)
    for op_type, inputs, attributes in [
        ("GroupQueryAttention", packed, {"kv_num_heads": heads}),
        ("MultiHeadAttention", {"query": x, "key": x, "value": x}, {}),
        ("MultiHeadAttention", heads_5d, {}),
        ("Attention", {"input": x, "weights": normal(rng, 16, 24)}, {}),
        ("RotaryEmbedding", turns, {}),
    ]:
        with pytest.raises(Exception, match="heads|num_heads|features|query has the shape"):
            run_tenon(op_type, inputs, num_heads=heads, **attributes)


def test_a_total_length_that_no_memory_holds(rng):
    inputs = gqa_inputs(rng, [5, 5], 5, 0, total=2**31 - 1)
    with pytest.raises(Exception, match="memory"):
        run_tenon("GroupQueryAttention", inputs, 3, num_heads=4, kv_num_heads=2)
