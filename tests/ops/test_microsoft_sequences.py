"""RotaryEmbedding, MRotaryEmbedding, LinearAttention, LinearAttentionGate and CausalConvWithState of com.microsoft."""

import numpy as np
import pytest
from microsoft_models import assert_close, compare_with_onnxruntime, normal, run_tenon
from test_nn_attention import linear_attention, rotate

BATCH, HEADS, LENGTH, SIZE = 2, 3, 5, 8


@pytest.fixture
def rng():
    return np.random.default_rng(13)


def caches(rng, half, dtype=np.float32, positions=20):
    turn = rng.uniform(0, 6, (positions, half))
    return {"cos_cache": np.cos(turn).astype(dtype), "sin_cache": np.sin(turn).astype(dtype)}


@pytest.mark.parametrize("shape", [(BATCH, LENGTH, HEADS * SIZE), (BATCH, HEADS, LENGTH, SIZE)])
@pytest.mark.parametrize("interleaved", [0, 1])
@pytest.mark.parametrize("first_only", [False, True])
@pytest.mark.parametrize("rotated", [0, 4])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_rotary_embedding(rng, shape, interleaved, first_only, rotated, dtype):
    ids = np.array([7]) if first_only else rng.integers(0, 20, (BATCH, LENGTH))
    inputs = {"input": normal(rng, *shape, dtype=dtype), "position_ids": ids}
    inputs |= caches(rng, (rotated or SIZE) // 2, dtype)
    attributes = {"interleaved": interleaved, "scale": 1.0}
    if rotated:
        attributes |= {"num_heads": HEADS, "rotary_embedding_dim": rotated}
    compare_with_onnxruntime("RotaryEmbedding", inputs, **attributes)


def test_rotary_embedding_of_given_heads_and_of_nothing(rng):
    inputs = {
        "input": normal(rng, BATCH, LENGTH, HEADS * SIZE), "position_ids": np.zeros((BATCH, LENGTH), np.int64),
    } | caches(rng, SIZE // 2)  # fmt: skip
    compare_with_onnxruntime("RotaryEmbedding", inputs, num_heads=HEADS, is_packed_batching=1)
    inputs |= {"input": normal(rng, BATCH, 0, HEADS * SIZE), "position_ids": np.zeros((BATCH, 0), np.int64)}
    assert run_tenon("RotaryEmbedding", inputs)[0].shape == (BATCH, 0, HEADS * SIZE)


def test_rotary_embedding_refuses_what_does_not_fit(rng):
    ids = np.zeros((BATCH, LENGTH), np.int64)
    inputs = {"input": normal(rng, BATCH, LENGTH, HEADS * SIZE), "position_ids": ids} | caches(rng, SIZE // 2)

    def refused(message, changed=None, **attributes):
        with pytest.raises(Exception, match=message):
            run_tenon("RotaryEmbedding", inputs | (changed or {}), **attributes)

    refused("24 features cannot be divided evenly among 5", num_heads=5)
    refused("24 features cannot be divided evenly into heads of 10", caches(rng, 5))
    refused("num_heads", rotary_embedding_dim=4)
    refused("num_heads is -1", num_heads=-1)
    refused("position_ids must have the shape", {"position_ids": np.zeros((BATCH, 4), np.int64)})
    refused("position_ids is 16; the token 4 positions later", {"position_ids": np.array([16])})
    refused("position_ids is -1", {"position_ids": np.array([-1])})
    for bad in (-1, 20):
        ids[1, 2] = bad
        refused(rf"position_ids\[1, 2\] is {bad}")


@pytest.mark.parametrize("shape", [(BATCH, LENGTH, HEADS * SIZE), (BATCH, HEADS, LENGTH, SIZE)])
@pytest.mark.parametrize("interleaved", [0, 1])
@pytest.mark.parametrize("layout", [0, 1])
@pytest.mark.parametrize("sections", [[2, 1, 1], [0, 3, 1], [4, 0, 0], [0, 0, 4]])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_mrotary_embedding(rng, shape, interleaved, layout, sections, dtype):
    x, ids = normal(rng, *shape, dtype=dtype), rng.integers(0, 20, (3, BATCH, LENGTH))
    tables = caches(rng, SIZE // 2, dtype)
    attributes = {
        "mrope_section": sections, "mrope_layout": layout, "interleaved": interleaved, "num_heads": HEADS, "scale": 0.5,
    }  # fmt: skip
    inputs = {"input": x, "position_ids": ids} | tables
    (y,) = run_tenon("MRotaryEmbedding", inputs, **attributes)
    stream = np.repeat([0, 1, 2], sections)
    if layout == 1:
        stream = np.zeros(4, int)
        for k in (1, 2):
            stream[k : 3 * sections[k] : 3] = k
    columns = np.arange(4)
    cosines, sines = (
        0.5 * np.stack([t[ids[s], c] for s, c in zip(stream, columns, strict=True)], axis=-1).astype(np.float64)
        for t in tables.values()
    )
    by_head = x if x.ndim == 4 else x.reshape(BATCH, LENGTH, HEADS, SIZE).swapaxes(1, 2)
    expected = rotate(by_head, cosines[:, None], sines[:, None], interleaved, SIZE)
    if x.ndim == 3:
        expected = expected.swapaxes(1, 2).reshape(x.shape)
    assert_close(y, expected.astype(dtype))
    compare_with_onnxruntime("MRotaryEmbedding", inputs, **attributes)


def test_mrotary_embedding_refuses_what_does_not_fit(rng):
    ids = np.zeros((3, BATCH, LENGTH), np.int64)
    inputs = {"input": normal(rng, BATCH, HEADS, LENGTH, SIZE), "position_ids": ids} | caches(rng, SIZE // 2)

    def refused(message, changed=None, **attributes):
        with pytest.raises(Exception, match=message):
            run_tenon("MRotaryEmbedding", inputs | (changed or {}), **({"mrope_section": [2, 1, 1]} | attributes))

    refused("must have 3 numbers", mrope_section=[2, 2])
    refused("negative number -1", mrope_section=[4, 1, -1])
    refused("sum of mrope_section is 5", mrope_section=[3, 1, 1])
    refused("sum of mrope_section", mrope_section=[2**62, 2**62, 2**62])
    refused("mrope_layout is 2", mrope_layout=2)
    refused("position_ids must have the shape", {"position_ids": ids[:2]})
    ids[2, 1, 3] = 20
    refused(r"position_ids\[2, 1, 3\] is 20")


@pytest.mark.parametrize("rule", ["linear", "gated", "delta", "gated_delta"])
@pytest.mark.parametrize("heads", [(4, 2, 2), (2, 2, 1), (2, 4, 4), (2, 4, 2), (1, 4, 1)])
@pytest.mark.parametrize("wide_decay", [False, True])
@pytest.mark.parametrize("past", [False, True])
def test_linear_attention(rng, rule, heads, wide_decay, past):
    """heads: of query, value and key."""
    queries, values, keys = heads
    inputs = {
        "query": normal(rng, BATCH, LENGTH, queries * 4), "key": 0.5 * normal(rng, BATCH, LENGTH, keys * 4),
        "value": normal(rng, BATCH, LENGTH, values * 6),
        "past_state": normal(rng, BATCH, values, 4, 6) if past else None,
        "decay": -rng.uniform(0, 1, (BATCH, LENGTH, values * (4 if wide_decay else 1))).astype(np.float32),
        "beta": rng.uniform(0, 1, (BATCH, LENGTH, values if wide_decay else 1)).astype(np.float32),
    }  # fmt: skip
    attributes = {"update_rule": rule, "q_num_heads": queries, "kv_num_heads": values}
    actual = run_tenon("LinearAttention", inputs, 2, **attributes)
    compare_with_onnxruntime("LinearAttention", inputs, 2, scale=0.3, chunk_size=16, **attributes)
    # By the definition, with every head of key and query repeated for the values it serves.
    wide = {n: x if x is None else x.astype(np.float64) for n, x in inputs.items()}
    by_head = {n: wide[n].reshape(BATCH, LENGTH, h, -1) for n, h in zip(("query", "value", "key"), heads, strict=True)}
    by_head["key"] = by_head["key"].repeat(values // keys, axis=2)
    by_head["query"] = by_head["query"].repeat(max(1, values // queries), axis=2)
    expected, state = linear_attention(
        by_head["query"], by_head["key"], by_head["value"],
        wide["past_state"] if past else np.zeros((BATCH, values, 4, 6)),
        wide["decay"].reshape(BATCH, LENGTH, values, -1) if "gated" in rule else None,
        wide["beta"].reshape(BATCH, LENGTH, -1, 1) if "delta" in rule else None, 0.5,
    )  # fmt: skip
    assert_close(actual[0], expected.reshape(BATCH, LENGTH, -1).astype(np.float32))
    assert_close(actual[1], state.astype(np.float32))


@pytest.mark.parametrize("window", [1, 3, 8])
def test_linear_attention_keeps_its_last_states(rng, window):
    inputs = {
        "query": normal(rng, BATCH, LENGTH, 8), "key": 0.5 * normal(rng, BATCH, LENGTH, 8),
        "value": normal(rng, BATCH, LENGTH, 12), "past_state": normal(rng, BATCH, 2, 4, 6),
    }  # fmt: skip
    attributes = {"update_rule": "linear", "q_num_heads": 2, "kv_num_heads": 2}
    past = np.concatenate([normal(rng, window - 1, BATCH, 2, 4, 6), inputs["past_state"][None]])
    y, states = run_tenon("LinearAttention", inputs | {"past_state": past}, 2, state_window=window, **attributes)
    np.testing.assert_array_equal(y, run_tenon("LinearAttention", inputs, 2, **attributes)[0])
    assert states.shape == (window, BATCH, 2, 4, 6)
    for slot in range(window):
        steps = LENGTH - window + slot + 1
        prefix = {n: x[:, :steps].copy() for n, x in inputs.items() if n != "past_state"} if steps > 0 else None
        expected = np.zeros_like(states[0])
        if prefix:
            expected = run_tenon("LinearAttention", inputs | prefix, 2, **attributes)[1]
        np.testing.assert_array_equal(states[slot], expected)


def test_linear_attention_refuses_what_does_not_fit(rng):
    inputs = {"query": normal(rng, 1, 2, 8), "key": normal(rng, 1, 2, 8), "value": normal(rng, 1, 2, 12)}

    def refused(message, changed=None, **attributes):
        merged = {"update_rule": "linear", "q_num_heads": 2, "kv_num_heads": 2} | attributes
        with pytest.raises(Exception, match=message):
            run_tenon("LinearAttention", inputs | (changed or {}), 2, **merged)

    refused("2 query heads are not a multiple of the 3", kv_num_heads=3)
    refused("state_window is 9", state_window=9)
    refused("state_window is -1", state_window=-1)
    refused(r"key of shape \[1, 2, 12\]", {"key": normal(rng, 1, 2, 12)})
    refused(r"key of shape \[1, 2, 6\]", {"key": normal(rng, 1, 2, 6)})
    refused("past_state must have the shape", {"past_state": normal(rng, 1, 2, 4, 6)}, state_window=2)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("outputs", [1, 2])
def test_linear_attention_gate(rng, dtype, outputs):
    inputs = {
        "a": normal(rng, BATCH, LENGTH, HEADS, dtype=dtype), "dt_bias": normal(rng, HEADS),
        "decay_scale": -np.abs(normal(rng, HEADS)),
        "b": normal(rng, BATCH, LENGTH, HEADS, dtype=dtype) if outputs > 1 else None,
    }  # fmt: skip
    compare_with_onnxruntime("LinearAttentionGate", inputs, outputs)
    if outputs > 1:
        with pytest.raises(Exception, match="needs the input 'b'"):
            run_tenon("LinearAttentionGate", inputs | {"b": None}, 2)


@pytest.mark.parametrize("activation", [None, "none", "silu", "swish"])
@pytest.mark.parametrize("length", [1, 2, 6])
@pytest.mark.parametrize("optional", [(False, False), (True, False), (False, True), (True, True)])
def test_causal_convolution(rng, activation, length, optional):
    inputs = {
        "input": normal(rng, BATCH, 3, length), "weight": normal(rng, 3, 1, 4),
        "bias": normal(rng, 3) if optional[0] else None, "past_state": normal(rng, BATCH, 3, 3) if optional[1] else None,
    }  # fmt: skip
    attributes = {} if activation is None else {"activation": activation}
    compare_with_onnxruntime("CausalConvWithState", inputs, 2, ndim=1, **attributes)


@pytest.mark.parametrize("window", [1, 3, 8])
def test_causal_convolution_keeps_its_last_states(rng, window):
    inputs = {
        "input": normal(rng, BATCH, 3, LENGTH), "weight": normal(rng, 3, 1, 4), "bias": None,
        "past_state": normal(rng, BATCH, 3, 3),
    }  # fmt: skip
    past = np.concatenate([normal(rng, window - 1, BATCH, 3, 3), inputs["past_state"][None]])
    y, states = run_tenon("CausalConvWithState", inputs | {"past_state": past}, 2, state_window=window)
    np.testing.assert_array_equal(y, run_tenon("CausalConvWithState", inputs, 2)[0])
    virtual = np.concatenate([inputs["past_state"], inputs["input"]], axis=2)
    for slot in range(window):
        steps = LENGTH - window + slot + 1
        expected = virtual[:, :, steps : steps + 3] if steps > 0 else np.zeros((BATCH, 3, 3))
        np.testing.assert_array_equal(states[slot], expected)


def test_causal_convolution_refuses_what_does_not_fit(rng):
    inputs = {"input": normal(rng, BATCH, 3, LENGTH), "weight": normal(rng, 3, 1, 4)}
    compare_with_onnxruntime("CausalConvWithState", inputs, 2, dilation=1, channels_last=0)
    for attributes, message in [
        ({"ndim": 2}, "ndim is 2"), ({"state_window": 9}, "state_window is 9"), ({"dilation": 2}, "dilation is 2"),
        ({"channels_last": 1}, "channels_last is set"),
    ]:  # fmt: skip
        with pytest.raises(Exception, match=message):
            run_tenon("CausalConvWithState", inputs, 2, **attributes)
