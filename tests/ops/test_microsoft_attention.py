"""Attention, QAttention, MultiHeadAttention and DecoderMaskedMultiHeadAttention of com.microsoft."""

import numpy as np
import pytest
from microsoft_models import assert_close, compare_with_onnxruntime, normal, run_onnxruntime, run_tenon
from oracles import exact_integers
from oracles.saturation import safe_weights

HEADS, SIZE, BATCH, LENGTH = 2, 4, 3, 5
WIDTH = HEADS * SIZE


@pytest.fixture
def rng():
    return np.random.default_rng(11)


def integer_mask(rng, kind, queries, keys, batch=BATCH):
    """A mask that leaves every query at least one key."""
    if kind is None:
        return None
    ends = rng.integers(1, keys + 1, batch)
    shapes = {
        "lengths": ends,
        "ends and starts": np.concatenate([ends, ends - 1]),
        "packed lengths": np.concatenate([ends, np.zeros(2 * batch + 2, int)]),
        "keys": np.arange(keys) < ends[:, None],
        "queries and keys": (rng.uniform(size=(batch, queries, keys)) < 0.7) | (np.arange(keys) == 0),
        "nothing": np.zeros((batch, 1), int),
        "nothing at all": np.zeros((1, 1), int),
    }
    return shapes[kind].astype(np.int32)


MASKS = [None, "lengths", "ends and starts", "packed lengths", "keys", "queries and keys", "nothing", "nothing at all"]


def attention_inputs(rng, mask=None, past=None, bias=None, widths=(WIDTH,) * 3, dtype=np.float32, with_bias=True):
    return {
        "input": normal(rng, BATCH, LENGTH, 6, dtype=dtype), "weights": (0.4 * normal(rng, 6, sum(widths))).astype(dtype),
        "bias": normal(rng, sum(widths), dtype=dtype) if with_bias else None,
        "mask_index": mask, "past": past, "attention_bias": bias,
    }  # fmt: skip


@pytest.mark.parametrize("kind", MASKS)
@pytest.mark.parametrize("unidirectional", [0, 1])
@pytest.mark.parametrize("past_length", [None, 0, 3])
def test_attention(rng, kind, unidirectional, past_length):
    past = None if past_length is None else normal(rng, 2, BATCH, HEADS, past_length, SIZE)
    mask = integer_mask(rng, kind, LENGTH, LENGTH + (past_length or 0))
    inputs = attention_inputs(rng, mask, past)
    compare_with_onnxruntime("Attention", inputs, 2, num_heads=HEADS, unidirectional=unidirectional)


@pytest.mark.parametrize("shape", [(BATCH, HEADS), (1, HEADS), (BATCH, 1), (1, 1)])
@pytest.mark.parametrize("kind", [None, "lengths", "keys", "queries and keys"])
@pytest.mark.parametrize("unidirectional", [0, 1])
def test_attention_with_a_bias_of_scores(rng, shape, kind, unidirectional):
    bias = normal(rng, *shape, LENGTH, LENGTH)
    inputs = attention_inputs(rng, integer_mask(rng, kind, LENGTH, LENGTH), bias=bias)
    compare_with_onnxruntime("Attention", inputs, num_heads=HEADS, unidirectional=unidirectional, scale=0.3)


def test_attention_with_values_of_another_width(rng):
    inputs = attention_inputs(rng, widths=(8, 8, 12))
    compare_with_onnxruntime("Attention", inputs, num_heads=HEADS, qkv_hidden_sizes=[8, 8, 12])


def test_attention_with_a_negative_scale(rng):
    compare_with_onnxruntime("Attention", attention_inputs(rng), num_heads=HEADS, scale=-0.3)


def test_attention_with_another_filter_value(rng):
    inputs = attention_inputs(rng, integer_mask(rng, "keys", LENGTH, LENGTH))
    compare_with_onnxruntime("Attention", inputs, num_heads=HEADS, mask_filter_value=-1.5)


def test_attention_of_constants_and_of_nothing(rng):
    inputs = attention_inputs(rng, integer_mask(rng, "lengths", LENGTH, LENGTH))
    compare_with_onnxruntime("Attention", inputs, constants=("weights", "bias"), num_heads=HEADS)
    inputs |= {"input": normal(rng, 0, LENGTH, 6), "mask_index": None}
    (y,) = run_tenon("Attention", inputs, num_heads=HEADS)
    assert y.shape == (0, LENGTH, WIDTH)
    inputs |= {"input": normal(rng, BATCH, 0, 6)}
    (y,) = run_tenon("Attention", inputs, num_heads=HEADS)
    assert y.shape == (BATCH, 0, WIDTH)


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def split_heads(x, heads=HEADS):
    return x.reshape(*x.shape[:2], heads, -1).swapaxes(1, 2).astype(np.float64)


def attend(q, k, v, bias=0.0):
    """4-D q, k and v in double to a 3-D result."""
    y = softmax(q @ k.swapaxes(2, 3) / np.sqrt(q.shape[3]) + bias) @ v
    return y.swapaxes(1, 2).reshape(q.shape[0], q.shape[2], -1)


def test_attention_in_float16_and_without_a_bias(rng):
    inputs = attention_inputs(rng, dtype=np.float16, with_bias=False)
    (y,) = run_tenon("Attention", inputs, num_heads=HEADS)
    projected = (inputs["input"].astype(np.float64) @ inputs["weights"]).astype(np.float16)
    expected = attend(*(split_heads(part) for part in np.split(projected, 3, axis=2)))
    np.testing.assert_allclose(y.astype(np.float64), expected, rtol=1e-2, atol=1e-2)


def test_attention_with_a_square_mask(rng):
    """Rows of the mask are positions, also of the past."""
    past, longest = normal(rng, 2, BATCH, HEADS, 3, SIZE), 10
    mask = np.tril(np.ones((longest, longest), np.int32))[None, None].repeat(BATCH, axis=0)
    inputs = attention_inputs(rng, past=past)
    expected = run_tenon("Attention", inputs, 2, num_heads=HEADS, unidirectional=1)
    actual = run_tenon("Attention", inputs | {"mask_index": mask}, 2, num_heads=HEADS)
    for a, e in zip(actual, expected, strict=True):
        assert_close(a, e)


@pytest.mark.parametrize("unidirectional", [0, 1])
def test_attention_in_a_shared_buffer(rng, unidirectional):
    buffer = normal(rng, 2, BATCH, HEADS, 12, SIZE)
    inputs = attention_inputs(rng, past=buffer[:, :, :, :3].copy())
    expected, present = run_tenon("Attention", inputs, 2, num_heads=HEADS, unidirectional=unidirectional)
    inputs |= {"past": buffer, "past_sequence_length": np.array(3, np.int32)}
    attributes = {"num_heads": HEADS, "unidirectional": unidirectional, "past_present_share_buffer": 1}
    y, cache = run_tenon("Attention", inputs, 2, **attributes)
    np.testing.assert_array_equal(y, expected)
    np.testing.assert_array_equal(cache[:, :, :, :8], present)
    np.testing.assert_array_equal(cache[:, :, :, 8:], buffer[:, :, :, 8:])
    for bad in (-1, 8, 2**31 - 1):
        inputs["past_sequence_length"] = np.array(bad, np.int32)
        with pytest.raises(Exception, match=f"past_sequence_length is {bad}"):
            run_tenon("Attention", inputs, 2, **attributes)


def test_attention_refuses_what_does_not_fit(rng):
    inputs = attention_inputs(rng)

    def refused(message, changed=None, **attributes):
        with pytest.raises(Exception, match=message):
            run_tenon("Attention", inputs | (changed or {}), **({"num_heads": HEADS} | attributes))

    refused("num_heads is 0", num_heads=0)
    refused("num_heads is -1", num_heads=-1)
    refused("8 features, which cannot be divided evenly among 3 heads", num_heads=3)
    refused("qkv_hidden_sizes must have 3", qkv_hidden_sizes=[8, 8])
    refused("qkv_hidden_sizes has 7", qkv_hidden_sizes=[8, 7, 9])
    refused("features cannot be divided into query, key and value", {"weights": normal(rng, 6, 25), "bias": None})
    refused("mask of shape", {"mask_index": np.ones(4, np.int32)})
    refused("mask of shape", {"mask_index": np.ones((BATCH, 4), np.int32)})
    refused("mask of shape", {"mask_index": np.ones((BATCH, 4, LENGTH), np.int32)})
    refused("mask of shape", {"mask_index": np.ones((BATCH, 1, 4, 4), np.int32)})
    refused("mask of shape", {"mask_index": np.ones((1, 1, 1, 1, 1), np.int32)})
    refused(r"mask_index\[1\] is -1", {"mask_index": np.array([1, -1, 1], np.int32)})
    refused(r"mask_index\[2\] is 6", {"mask_index": np.array([1, 1, 6], np.int32)})
    refused(r"mask_index\[5\] is -3", {"mask_index": np.array([1, 1, 1, 0, 0, -3], np.int32)})
    refused("past_sequence_length", {"past": normal(rng, 2, BATCH, HEADS, 9, SIZE)}, past_present_share_buffer=1)
    refused("past_key must have the shape", {"past": normal(rng, 2, BATCH, HEADS, 3, SIZE + 1)})
    refused("attn_mask", {"attention_bias": normal(rng, BATCH, 3, LENGTH, LENGTH)})
    refused(
        "attention_bias of shape",
        {"attention_bias": normal(rng, 1, 1, 1, LENGTH), "mask_index": np.ones(BATCH, np.int32)},
    )


@pytest.mark.parametrize("kind", [None, "lengths", "keys", "queries and keys"])
@pytest.mark.parametrize("unidirectional", [0, 1])
@pytest.mark.parametrize("weight_type", [np.int8, np.uint8])
@pytest.mark.parametrize("per_column", [False, True])
@pytest.mark.parametrize("with_past", [False, True])
def test_quantized_attention(rng, kind, unidirectional, weight_type, per_column, with_past):
    columns = 3 * WIDTH
    low = np.iinfo(weight_type).min
    scales = rng.uniform(0.002, 0.004, columns if per_column else ()).astype(np.float32)
    zero_points = rng.integers(low + 100, low + 150, columns if per_column else ()).astype(weight_type)
    inputs = {
        "input": rng.integers(0, 256, (BATCH, LENGTH, 6)).astype(np.uint8),
        "weight": rng.integers(low, low + 256, (6, columns)).astype(weight_type), "bias": normal(rng, columns),
        "input_scale": np.array(0.01, np.float32), "weight_scale": scales,
        "mask_index": integer_mask(rng, kind, LENGTH, LENGTH + 2 * with_past),
        "input_zero_point": np.array(120, np.uint8), "weight_zero_point": zero_points,
        "past": normal(rng, 2, BATCH, HEADS, 2, SIZE) if with_past else None,
    }  # fmt: skip
    check_quantized_attention(inputs, 2 if with_past else 1, num_heads=HEADS, unidirectional=unidirectional)


def test_quantized_attention_without_zero_points(rng):
    inputs = {
        "input": rng.integers(0, 256, (1, 2, 6)).astype(np.uint8),
        "weight": rng.integers(-128, 128, (6, 3 * WIDTH)).astype(np.int8), "bias": normal(rng, 3 * WIDTH),
        "input_scale": np.array([0.002], np.float32), "weight_scale": np.array([0.01], np.float32),
    }  # fmt: skip
    check_quantized_attention(inputs, num_heads=HEADS)


def check_quantized_attention(inputs, outputs=1, **attributes):
    """QAttention is Attention of the exact projection, which onnxruntime computes in floats from there on."""
    sums = exact_integers.matmul(
        inputs["input"], inputs["weight"], inputs.get("input_zero_point"), inputs.get("weight_zero_point")
    )
    projected = exact_integers.scaled(sums, inputs["input_scale"], inputs["weight_scale"]).astype(np.float32)
    plain = {
        "input": projected, "weights": np.eye(projected.shape[-1], dtype=np.float32), "bias": inputs["bias"],
        "mask_index": inputs.get("mask_index"), "past": inputs.get("past"),
    }  # fmt: skip
    expected = run_onnxruntime("Attention", plain, 2, **attributes)[:outputs]
    actual = run_tenon("QAttention", inputs, outputs, **attributes)
    for a, e in zip(actual, expected, strict=True):
        assert_close(a, e)
    compare_with_onnxruntime("QAttention", inputs | {"weight": safe_weights(inputs["weight"])}, outputs, **attributes)


def multi_head_inputs(rng, keys=LENGTH, value_size=SIZE, dtype=np.float32, **change):
    inputs = {
        "query": normal(rng, BATCH, LENGTH, WIDTH, dtype=dtype), "key": normal(rng, BATCH, keys, WIDTH, dtype=dtype),
        "value": normal(rng, BATCH, keys, HEADS * value_size, dtype=dtype), "bias": None, "key_padding_mask": None,
        "attention_bias": None, "past_key": None, "past_value": None,
    }  # fmt: skip
    return inputs | change


@pytest.mark.parametrize("kind", [None, "lengths", "packed lengths", "keys", "queries and keys"])
@pytest.mark.parametrize("keys", [LENGTH, 7])
@pytest.mark.parametrize("with_bias", [False, True])
@pytest.mark.parametrize("value_size", [SIZE, 6])
def test_multi_head_attention(rng, kind, keys, with_bias, value_size):
    mask = integer_mask(rng, kind, LENGTH, keys)
    bias = normal(rng, 2 * WIDTH + HEADS * value_size) if with_bias else None
    inputs = multi_head_inputs(rng, keys, value_size, bias=bias, key_padding_mask=mask)
    compare_with_onnxruntime("MultiHeadAttention", inputs, num_heads=HEADS)


@pytest.mark.parametrize("kind", [None, "lengths", "keys", "queries and keys"])
@pytest.mark.parametrize("unidirectional", [0, 1])
@pytest.mark.parametrize("past_length", [None, 0, 3])
@pytest.mark.parametrize("bias_shape", [None, (BATCH, HEADS), (1, 1)])
def test_multi_head_attention_with_past_and_present(rng, kind, unidirectional, past_length, bias_shape):
    total = LENGTH + (past_length or 0)
    past = [None if past_length is None else normal(rng, BATCH, HEADS, past_length, SIZE) for _ in range(2)]
    inputs = multi_head_inputs(
        rng, past_key=past[0], past_value=past[1], key_padding_mask=integer_mask(rng, kind, LENGTH, total),
        attention_bias=None if bias_shape is None else normal(rng, *bias_shape, LENGTH, total),
        bias=normal(rng, 3 * WIDTH),
    )  # fmt: skip
    attributes = {"num_heads": HEADS, "unidirectional": unidirectional, "scale": 0.4}
    compare_with_onnxruntime("MultiHeadAttention", inputs, 3, **attributes)
    if unidirectional == 0:
        compare_with_onnxruntime("MultiHeadAttention", inputs, 4, typed=["out3"], **attributes)


def test_multi_head_attention_with_what_belongs_to_a_past_but_no_past(rng):
    inputs = multi_head_inputs(rng)
    expected = run_tenon("MultiHeadAttention", inputs, num_heads=HEADS)
    rest = {"past_sequence_length": np.array([0], np.int32), "cache_indirection": np.zeros((1, 1, 9), np.int32)}
    np.testing.assert_array_equal(run_tenon("MultiHeadAttention", inputs | rest, num_heads=HEADS), expected)


@pytest.mark.parametrize("with_bias", [False, True])
@pytest.mark.parametrize("kind", [None, "keys"])
def test_multi_head_attention_across_keys_by_heads(rng, with_bias, kind):
    inputs = multi_head_inputs(
        rng, key=normal(rng, BATCH, HEADS, 7, SIZE), value=normal(rng, BATCH, HEADS, 7, SIZE),
        bias=normal(rng, 3 * WIDTH) if with_bias else None, key_padding_mask=integer_mask(rng, kind, LENGTH, 7),
    )  # fmt: skip
    compare_with_onnxruntime("MultiHeadAttention", inputs, num_heads=HEADS)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("with_bias", [False, True])
def test_multi_head_attention_of_packed_heads(rng, dtype, with_bias):
    """[batch, length, heads, 3, size] and [batch, length, heads, 2, size], which onnxruntime has on GPUs only."""
    q, k, v = (normal(rng, BATCH, LENGTH, HEADS, SIZE, dtype=dtype) for _ in range(3))
    bias = normal(rng, 3 * WIDTH, dtype=dtype) if with_bias else None
    flat = [x.reshape(BATCH, LENGTH, WIDTH) for x in (q, k, v)]
    plain = multi_head_inputs(rng, query=flat[0], key=flat[1], value=flat[2], bias=bias)
    (expected,) = run_tenon("MultiHeadAttention", plain, num_heads=HEADS)
    packed = plain | {"query": np.stack([q, k, v], axis=3), "key": None, "value": None}
    (y,) = run_tenon("MultiHeadAttention", packed, num_heads=HEADS)
    np.testing.assert_array_equal(y, expected)
    packed = plain | {"key": np.stack([k, v], axis=3), "value": None}
    if with_bias:
        with pytest.raises(Exception, match="must not have a bias"):
            run_tenon("MultiHeadAttention", packed, num_heads=HEADS)
    else:
        (y,) = run_tenon("MultiHeadAttention", packed, num_heads=HEADS)
        np.testing.assert_array_equal(y, expected)


@pytest.mark.parametrize("beams", [None, 1, 3])
@pytest.mark.parametrize("op_type", ["MultiHeadAttention", "DecoderMaskedMultiHeadAttention"])
@pytest.mark.parametrize("kind", [None, "keys"])
@pytest.mark.parametrize("bias_shape", [None, (BATCH, HEADS), (1, 1)])
def test_decoding_in_a_shared_buffer(rng, beams, op_type, kind, bias_shape):
    if op_type == "MultiHeadAttention" and beams is None:
        return  # onnxruntime takes the whole buffer for the past
    if beams == 3 and bias_shape == (BATCH, HEADS):
        bias_shape = (1, HEADS)  # onnxruntime takes the bias of another sequence
    capacity, used = 9, 4
    caches = [normal(rng, BATCH, HEADS, capacity, SIZE) for _ in range(2)]
    q, k, v = (normal(rng, BATCH, 1, WIDTH) for _ in range(3))
    bias = None if bias_shape is None else normal(rng, *bias_shape, 1, used + 1)
    mask = integer_mask(rng, kind, 1, used + 1)
    length = np.array([used], np.int32)
    indirection = None
    if beams is not None:
        indirection = rng.integers(0, beams, (BATCH // beams, beams, capacity)).astype(np.int32)
    if op_type == "MultiHeadAttention":
        inputs = multi_head_inputs(
            rng, query=q, key=k, value=v, attention_bias=bias, key_padding_mask=mask, past_key=caches[0],
            past_value=caches[1], past_sequence_length=length, cache_indirection=indirection,
        )  # fmt: skip
        attributes = {}
    else:
        inputs = {
            "query": q, "key": k, "value": v, "mask_index": mask, "attention_bias": bias, "past_key": caches[0],
            "past_value": caches[1], "past_sequence_length": length, "beam_width": None,
            "cache_indirection": indirection, "bias": normal(rng, 3 * WIDTH),
        }  # fmt: skip
        attributes = {"past_present_share_buffer": 1, "output_qk": 1}
    compare_with_onnxruntime(op_type, inputs, 4, num_heads=HEADS, typed=["out3"], **attributes)
    if beams is not None:
        inputs["cache_indirection"] = np.full_like(indirection, beams)
        with pytest.raises(Exception, match=rf"cache_indirection\[0, 0, 0\] is {beams}, but there are {beams} beams"):
            run_tenon(op_type, inputs, 4, num_heads=HEADS, **attributes)


def test_decoder_masked_attention_of_packed_and_across(rng):
    q, k, v = (normal(rng, BATCH, 1, WIDTH) for _ in range(3))
    caches = {"past_key": normal(rng, BATCH, HEADS, 9, SIZE), "past_value": normal(rng, BATCH, HEADS, 9, SIZE)}
    rest = caches | {"past_sequence_length": np.array(0, np.int32)}
    attributes = {"num_heads": HEADS, "past_present_share_buffer": 1}
    inputs = {"query": q, "key": k, "value": v, "mask_index": None, "attention_bias": None} | rest
    expected = run_tenon("DecoderMaskedMultiHeadAttention", inputs, 3, **attributes)
    inputs |= {"query": np.concatenate([q, k, v], axis=2), "key": None, "value": None}
    actual = run_tenon("DecoderMaskedMultiHeadAttention", inputs, 3, **attributes)
    for a, e in zip(actual, expected, strict=True):
        np.testing.assert_array_equal(a, e)
    across = {
        "query": q, "key": normal(rng, BATCH, HEADS, 6, SIZE), "value": normal(rng, BATCH, HEADS, 6, SIZE),
        "mask_index": integer_mask(rng, "keys", 1, 6),
    }  # fmt: skip
    compare_with_onnxruntime("DecoderMaskedMultiHeadAttention", across, num_heads=HEADS)


def test_multi_head_attention_refuses_what_does_not_fit(rng):
    inputs = multi_head_inputs(rng)

    def refused(message, changed=None, **attributes):
        with pytest.raises(Exception, match=message):
            run_tenon("MultiHeadAttention", inputs | (changed or {}), **({"num_heads": HEADS} | attributes))

    refused("num_heads is 0", num_heads=0)
    refused("which cannot be divided evenly among 3 heads", num_heads=3)
    refused("given without a key", {"key": None})
    refused("query without a key", {"key": None, "value": None})
    refused("features", {"key": normal(rng, BATCH, LENGTH, 6)})
    refused("sequence lengths", {"value": normal(rng, BATCH, 4, WIDTH)})
    refused("together", {"past_key": normal(rng, BATCH, HEADS, 3, SIZE)})
    refused("mask of shape", {"key_padding_mask": np.ones((BATCH, 6), np.int32)})
    refused("25", {"bias": normal(rng, 3 * WIDTH + 1)})
