"""GroupQueryAttention of com.microsoft."""

import ml_dtypes
import numpy as np
import pytest
from microsoft_models import assert_close, compare_with_onnxruntime, normal, run_onnxruntime, run_tenon

SIZE = 16  # onnxruntime wants multiples of 16


@pytest.fixture
def rng():
    return np.random.default_rng(12)


NAMES = (
    "query key value past_key past_value seqlens_k total_sequence_length cos_cache sin_cache position_ids "
    "attention_bias head_sink k_scale v_scale q_norm_weight k_norm_weight"
).split()


def angles(rng, positions=40, size=SIZE, dtype=np.float32):
    turn = rng.uniform(0, 6, (positions, size // 2))
    return {"cos_cache": np.cos(turn).astype(dtype), "sin_cache": np.sin(turn).astype(dtype)}


def gqa_inputs(rng, lengths, queries, capacity=0, heads=(4, 2), dtype=np.float32, packed=False, total=None, **change):
    """lengths: how many positions each sequence has after this step."""
    batch = len(lengths)
    rows = {"query": heads[0], "key": heads[1], "value": heads[1]}
    rows = {name: normal(rng, batch, queries, count * SIZE, dtype=dtype) for name, count in rows.items()}
    if packed:
        rows = {"query": np.concatenate(list(rows.values()), axis=2), "key": None, "value": None}
    past = {}
    if capacity is not None:
        past = {name: normal(rng, batch, heads[1], capacity, SIZE, dtype=dtype) for name in ("past_key", "past_value")}
    inputs = dict.fromkeys(NAMES) | rows | past
    inputs["seqlens_k"] = np.array(lengths, np.int32) - 1
    inputs["total_sequence_length"] = np.array([total or max(lengths)], np.int32)
    return inputs | change


def compare(inputs, outputs=3, heads=(4, 2), **attributes):
    compare_with_onnxruntime(
        "GroupQueryAttention", inputs, outputs, num_heads=heads[0], kv_num_heads=heads[1], **attributes
    )


# The lengths after the step, new positions, and room of the past: prompts (also padded), single steps with lengths
# that differ, into a past that is exactly long enough or longer, and several new positions at once.
STEPS = {
    "prompt": ([5, 5], 5, 0), "padded prompt": ([5, 3], 5, 0), "prompt in a buffer": ([5, 2], 5, 9),
    "step": ([7, 7], 1, 6), "step in a buffer": ([7, 4], 1, 12), "later prompt": ([9], 4, 5),
    "later prompt in a buffer": ([9], 4, 11),
}  # fmt: skip


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("rotary", [None, 0, 1])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_group_query_attention(rng, step, packed, rotary, dtype):
    inputs = gqa_inputs(rng, *STEPS[step], packed=packed, dtype=dtype)
    if rotary is None:
        return compare(inputs)
    compare(inputs | angles(rng, dtype=dtype), do_rotary=1, rotary_interleaved=rotary)


@pytest.mark.parametrize("heads", [(1, 1), (4, 4), (6, 2), (8, 1)])
@pytest.mark.parametrize("step", ["padded prompt", "step in a buffer"])
@pytest.mark.parametrize("packed", [False, True])
def test_groups_of_every_size(rng, heads, step, packed):
    inputs = gqa_inputs(rng, *STEPS[step], heads=heads, packed=packed)
    compare(inputs, heads=heads, scale=0.2)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("window", [1, 3, 100])
@pytest.mark.parametrize("softcap", [0.0, 2.0])
def test_local_windows(rng, step, window, softcap):
    inputs = gqa_inputs(rng, *STEPS[step])
    attributes = {"num_heads": 4, "kv_num_heads": 2, "local_window_size": window, "softcap": softcap}
    actual = run_tenon("GroupQueryAttention", inputs, 3, **attributes)
    expected = run_onnxruntime("GroupQueryAttention", inputs, 3, **attributes)
    lengths, queries, _ = STEPS[step]
    for b, length in enumerate(lengths):  # onnxruntime has two answers for queries that are padding
        real = min(length, queries)
        assert_close(actual[0][b, :real], expected[0][b, :real])
    for a, e in zip(actual[1:], expected[1:], strict=True):
        assert_close(a, e)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("kind", ["smooth", "sink", "both"])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_sinks(rng, step, kind, dtype):
    sink = None if kind == "smooth" else normal(rng, 4, dtype=dtype)
    inputs = gqa_inputs(rng, *STEPS[step], dtype=dtype, head_sink=sink)
    compare(inputs, smooth_softmax=int(kind != "sink"), local_window_size=3)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("shared", [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_bias_of_scores(rng, step, shared, dtype):
    lengths, queries, capacity = STEPS[step]
    shape = (1 if shared[0] else len(lengths), 1 if shared[1] else 4, queries, max(lengths))
    inputs = gqa_inputs(rng, lengths, queries, capacity, dtype=dtype, attention_bias=normal(rng, *shape, dtype=dtype))
    compare(inputs, softcap=5.0)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("mode", [1, 2])
def test_scores_as_output(rng, step, mode):
    lengths, queries, capacity = STEPS[step]
    inputs = gqa_inputs(rng, lengths, queries, capacity)
    attributes = {"num_heads": 4, "kv_num_heads": 2, "qk_output": mode, "local_window_size": 4, "softcap": 1.5}
    actual = run_tenon("GroupQueryAttention", inputs, 4, **attributes)
    expected = run_onnxruntime("GroupQueryAttention", inputs, 4, **attributes)
    for a, e in zip(actual[:3], expected[:3], strict=True):
        assert_close(a, e)
    for b, length in enumerate(lengths):  # what follows a shorter sequence is whatever was in memory
        assert_close(actual[3][b, :, :, :length], expected[3][b, :, :, :length])
        assert not actual[3][b, :, :, length:].any()


@pytest.mark.parametrize("step", ["prompt", "step", "step in a buffer", "later prompt"])
def test_position_ids(rng, step):
    lengths, queries, capacity = STEPS[step]
    ids = rng.integers(0, 30, (len(lengths), queries))
    if step == "prompt":
        ids[0] = np.arange(7, 7 + queries)  # only the first counts
    inputs = gqa_inputs(rng, lengths, queries, capacity, position_ids=ids) | angles(rng)
    compare(inputs, do_rotary=1)


def test_rotation_of_a_part_of_the_head(rng):
    inputs = gqa_inputs(rng, *STEPS["step"], heads=(2, 1))
    compare(inputs, heads=(2, 1))
    turns = {name: cache[:, :8].copy() for name, cache in angles(rng, size=32).items()}
    wide = {name: value if value is None else value.repeat(2, axis=-1) for name, value in inputs.items()}
    wide |= {name: inputs[name] for name in ("seqlens_k", "total_sequence_length")} | turns
    compare(wide, heads=(2, 1), do_rotary=1)
    compare(wide, heads=(2, 1), do_rotary=1, rotary_interleaved=1)


@pytest.mark.parametrize("causal", [0, 1])
@pytest.mark.parametrize("step", STEPS)
def test_attention_in_both_directions(rng, causal, step):
    compare(gqa_inputs(rng, *STEPS[step]), causal=causal)


def test_keys_that_are_all_in_the_past(rng):
    none = normal(rng, 2, 0, 2 * SIZE)
    compare(gqa_inputs(rng, [6, 4], 1, 9, key=none, value=none))
    compare(gqa_inputs(rng, [6, 6], 1, 6, key=none, value=none), softcap=3.0)
    inputs = gqa_inputs(rng, [6, 6], 1, 5, key=none, value=none)
    with pytest.raises(Exception, match=r"seqlens_k\[0\] is 5, but there are 5 past and 0 new"):
        run_tenon("GroupQueryAttention", inputs, 3, num_heads=4, kv_num_heads=2)


def test_outputs_that_nobody_asks_for(rng):
    inputs = gqa_inputs(rng, *STEPS["step in a buffer"])
    everything = run_tenon("GroupQueryAttention", inputs, 3, num_heads=4, kv_num_heads=2)
    (y,) = run_tenon("GroupQueryAttention", inputs, 1, num_heads=4, kv_num_heads=2)
    np.testing.assert_array_equal(y, everything[0])


def test_without_a_past(rng):
    compare(gqa_inputs(rng, [5, 5], 5, None))
    compare(gqa_inputs(rng, [5, 3], 5, None, packed=True))


def quantized_past(rng, inputs, bits, channels):
    shape = inputs["past_key"].shape
    steps = (0.01, 0.02) if bits == 8 else (0.1, 0.3)  # so that caches have numbers of about 1, as new rows do
    scales = {n: rng.uniform(*steps, (shape[1], 1, SIZE) if channels else 1) for n in ("k_scale", "v_scale")}
    inputs |= {name: scale.astype(np.float32) for name, scale in scales.items()}
    low, dtype, size = (-128, np.int8, SIZE) if bits == 8 else (0, np.uint8, SIZE // 2)
    for name in ("past_key", "past_value"):
        inputs[name] = rng.integers(low, low + 256, (*shape[:3], size)).astype(dtype)
    return inputs


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("kind", ["PER_TENSOR", "PER_CHANNEL"])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_quantized_caches(rng, step, bits, kind, dtype):
    inputs = quantized_past(rng, gqa_inputs(rng, *STEPS[step], dtype=dtype), bits, kind == "PER_CHANNEL")
    attributes = {
        "num_heads": 4, "kv_num_heads": 2, "k_quant_type": kind, "v_quant_type": kind, "kv_cache_bit_width": bits,
    }  # fmt: skip
    actual = run_tenon("GroupQueryAttention", inputs, 3, **attributes)
    _, *caches = run_onnxruntime("GroupQueryAttention", inputs, 3, **attributes)
    for a, e in zip(actual[1:], caches, strict=True):
        assert a.dtype == e.dtype
        np.testing.assert_array_equal(a, e)
    # On some CPUs onnxruntime rounds queries and probabilities to 8 bits too, so it is asked with real caches.
    real = {name: real_cache(inputs[name], inputs[f"{name[5]}_scale"], bits) for name in ("past_key", "past_value")}
    real |= {name: rounded_rows(inputs[name], inputs[f"{name[0]}_scale"], bits) for name in ("key", "value")}
    real |= {"query": inputs["query"].astype(np.float32), "k_scale": None, "v_scale": None}
    # Without its other outputs it would leave the past out.
    expected, *_ = run_onnxruntime("GroupQueryAttention", inputs | real, 3, num_heads=4, kv_num_heads=2)
    assert_close(actual[0], expected.astype(dtype))


def real_cache(stored, scale, bits):
    """What [batch, heads, positions, size] of a cache stands for; 4-bit numbers are pairs in a byte, 8 is their 0."""
    if bits == 4:
        stored = np.stack([stored & 15, stored >> 4], axis=-1).reshape(*stored.shape[:3], SIZE).astype(np.int64) - 8
    return (stored * scale.astype(np.float64)).astype(np.float32)


def rounded_rows(rows, scale, bits):
    """New keys or values [batch, positions, heads * size] as the cache will have them."""
    heads = rows.astype(np.float32).reshape(*rows.shape[:2], -1, SIZE)
    scale = np.moveaxis(scale, 0, 1) if scale.ndim == 3 else scale
    steps = np.clip(np.rint(heads / scale), -(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return (steps * scale.astype(np.float64)).astype(np.float32).reshape(rows.shape)


def test_a_cache_of_float8(rng):
    """As if the past and the new rows had been rounded before."""
    lengths, queries, capacity = STEPS["step in a buffer"]
    inputs = gqa_inputs(rng, lengths, queries, capacity)
    scales = {"k_scale": np.array([0.5], np.float32), "v_scale": np.array([0.25], np.float32)}
    coded = {
        name: (inputs[name] / (0.5 if "key" in name else 0.25)).astype(ml_dtypes.float8_e4m3fn)
        for name in ("key", "value", "past_key", "past_value")
    }
    plain = {name: (x.astype(np.float32) * (0.5 if "key" in name else 0.25)) for name, x in coded.items()}
    expected = run_tenon("GroupQueryAttention", inputs | plain, 3, num_heads=4, kv_num_heads=2)
    caches = {name: coded[name] for name in ("past_key", "past_value")}
    kinds = {"k_quant_type": "PER_TENSOR", "v_quant_type": "PER_TENSOR", "kv_cache_bit_width": 8}
    actual = run_tenon("GroupQueryAttention", inputs | caches | scales, 3, num_heads=4, kv_num_heads=2, **kinds)
    assert_close(actual[0], expected[0])
    for a, e, scale in zip(actual[1:], expected[1:], (0.5, 0.25), strict=True):
        np.testing.assert_array_equal(a.view(ml_dtypes.float8_e4m3fn).astype(np.float32) * scale, e)


@pytest.mark.parametrize("queries", [1, 2, 6])
@pytest.mark.parametrize("capacity", [4, 5, 8])
def test_a_cache_that_slides(rng, queries, capacity):
    """Step by step: every step's present is the next one's past, in both engines."""
    window, position = 4, 0
    caches = {name: np.zeros((1, 2, capacity, SIZE), np.float32) for name in ("past_key", "past_value")}
    turns = angles(rng)
    attributes = {
        "num_heads": 4, "kv_num_heads": 2, "local_window_size": window, "sliding_window_cache": 1, "do_rotary": 1,
    }  # fmt: skip
    whole = {name: np.zeros((1, 2, 0, SIZE), np.float32) for name in caches}
    for _ in range(12 // queries + 2):
        position += queries
        inputs = gqa_inputs(rng, [position], queries) | turns
        actual = run_tenon("GroupQueryAttention", inputs | caches, 3, **attributes)
        expected = run_onnxruntime("GroupQueryAttention", inputs | caches, 3, **attributes)
        assert_close(actual[0], expected[0])
        filled = np.flatnonzero(actual[1][0, 0].any(axis=1)).size
        for a, e in zip(actual[1:], expected[1:], strict=True):
            assert_close(a[:, :, :filled], e[:, :, :filled])
        caches = dict(zip(caches, actual[1:], strict=True))
        plain = {key: value for key, value in attributes.items() if key != "sliding_window_cache"}
        full = run_tenon("GroupQueryAttention", inputs | whole, 3, **plain)
        assert_close(actual[0], full[0])
        whole = dict(zip(whole, full[1:], strict=True))


def rms(x, weight, epsilon):
    heads = x.reshape(*x.shape[:2], -1, SIZE).astype(np.float64)
    y = heads / np.sqrt((heads**2).mean(axis=-1, keepdims=True) + epsilon) * weight
    return y.reshape(x.shape).astype(x.dtype)


def test_normalized_heads(rng):
    weights = {"q_norm_weight": normal(rng, SIZE), "k_norm_weight": normal(rng, SIZE)}
    inputs = gqa_inputs(rng, *STEPS["step"]) | angles(rng)
    attributes = {"num_heads": 4, "kv_num_heads": 2, "do_rotary": 1}
    actual = run_tenon("GroupQueryAttention", inputs | weights, 3, qk_norm_epsilon=0.01, **attributes)
    for name, weight in zip(("query", "key"), weights.values(), strict=True):
        inputs[name] = rms(inputs[name], weight, 0.01)
    for a, e in zip(actual, run_tenon("GroupQueryAttention", inputs, 3, **attributes), strict=True):
        assert_close(a, e)


def test_group_query_attention_refuses_what_does_not_fit(rng):
    inputs = gqa_inputs(rng, *STEPS["step in a buffer"]) | angles(rng, positions=7)
    rotary = {"do_rotary": 1}

    def refused(message, changed=None, **attributes):
        merged = {"num_heads": 4, "kv_num_heads": 2} | attributes
        with pytest.raises(Exception, match=message):
            run_tenon("GroupQueryAttention", inputs | (changed or {}), 3, **merged)

    refused("must be positive", num_heads=0)
    refused("are not a multiple of the 3", kv_num_heads=3)
    refused("64 features cannot be divided evenly among 5", num_heads=5, kv_num_heads=5)
    refused("local_window_size is -2", local_window_size=-2)
    refused("but a window needs causal", causal=0, local_window_size=3)
    refused("qk_output is 3", qk_output=3)
    refused("k_quant_type is 'X'", k_quant_type="X")
    refused("must be the same", k_quant_type="PER_TENSOR")
    refused("kv_cache_bit_width is 8", kv_cache_bit_width=8)
    refused("kv_cache_bit_width is 2", k_quant_type="PER_TENSOR", v_quant_type="PER_TENSOR", kv_cache_bit_width=2)
    refused("needs k_scale", k_quant_type="PER_TENSOR", v_quant_type="PER_TENSOR", kv_cache_bit_width=8)
    refused("positive local_window_size", sliding_window_cache=1)
    refused("cannot hold a window of 13", sliding_window_cache=1, local_window_size=13)
    refused("key and value must be given together", {"value": None})
    refused("past_key and past_value must be given together", {"past_value": None})
    refused("do_rotary needs", {"cos_cache": None, "sin_cache": None}, **rotary)
    refused("past_value must have the shape", {"past_value": normal(rng, 2, 2, 12, 8)})
    refused("there are 1 queries and 2 keys", {n: normal(rng, 2, 2, 2 * SIZE) for n in ("key", "value")})
    refused("seqlens_k must have 2", {"seqlens_k": np.zeros(3, np.int32)})
    refused("total_sequence_length must be one", {"total_sequence_length": np.ones(2, np.int32)})
    refused("attention_bias has the shape", {"attention_bias": normal(rng, 2, 4, 1, 6)})
    refused("head_sink must have the shape", {"head_sink": normal(rng, 3)})
    refused("position_ids of shape", {"position_ids": np.zeros((2, 0), np.int64)})
    for bad in (0, -5):
        refused(f"total_sequence_length is {bad}", {"total_sequence_length": np.array([bad], np.int32)})
    refused(r"seqlens_k\[1\] is -1", {"seqlens_k": np.array([6, -1], np.int32)})
    refused(r"seqlens_k\[0\] is 7, but total", {"seqlens_k": np.array([7, 3], np.int32)})
    longer = {"total_sequence_length": np.array([20], np.int32), "seqlens_k": np.array([13, 3], np.int32)}
    refused(r"seqlens_k\[0\] is 13, but there are 12 past", longer)
    later = gqa_inputs(rng, *STEPS["later prompt"]) | {"seqlens_k": np.array([1], np.int32)}
    with pytest.raises(Exception, match=r"seqlens_k\[0\] is 1, which is too small for 4"):
        run_tenon("GroupQueryAttention", later, 3, num_heads=4, kv_num_heads=2)
    refused(r"token \[1, 0\] is 0 after position 7", {"position_ids": np.array([[0], [7]])}, **rotary)
    refused(r"token \[0, 0\] is 0 after position -1", {"position_ids": np.array([[-1], [7]])}, **rotary)


def test_empty_sequences(rng):
    inputs = gqa_inputs(rng, [3, 2], 0, 4)
    y, key, _ = run_tenon("GroupQueryAttention", inputs, 3, num_heads=4, kv_num_heads=2)
    assert y.shape == (2, 0, 4 * SIZE)
    np.testing.assert_array_equal(key[0, :, :3], inputs["past_key"][0, :, :3])
    inputs = gqa_inputs(rng, [], 1, 4, total=5)
    y, key, _ = run_tenon("GroupQueryAttention", inputs, 3, num_heads=4, kv_num_heads=2)
    assert y.shape == (0, 1, 4 * SIZE) and key.shape == (0, 2, 5, SIZE)
