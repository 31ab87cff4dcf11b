"""Attention, FlexAttention, RotaryEmbedding and LinearAttention by their definitions."""

import numpy as np
import pytest
import tenon
from nn_models import BFLOAT16, FLOATS, assert_close, node_model, random, refuses, run, run_model
from onnx import TensorProto, helper
from oracles.rounding import eps

FLOAT_NAMES = {np.float16: 10, np.float32: 1, np.float64: 11, BFLOAT16: 16}


def softmax(x):
    largest = x.max(axis=-1, keepdims=True)
    e = np.exp(x - np.where(np.isneginf(largest), 0, largest))
    total = e.sum(axis=-1, keepdims=True)
    return np.divide(e, total, out=np.zeros_like(e), where=total != 0)


def attend(q, k, v, bias=0.0, scale=None, softcap=0.0):
    """4-D attention in double."""
    q, k, v = (a.astype(np.float64) for a in (q, k, v))
    k, v = (a.repeat(q.shape[1] // a.shape[1], axis=1) for a in (k, v))
    scores = q @ k.swapaxes(2, 3) * (1 / np.sqrt(q.shape[3]) if scale is None else scale)
    if softcap:
        scores = softcap * np.tanh(scores / softcap)
    return softmax(scores + bias) @ v


def qkv(batch=2, q_heads=4, kv_heads=2, queries=3, keys=5, size=4, value_size=6, dtype=np.float32):
    return (
        random(batch, q_heads, queries, size, dtype=dtype),
        random(batch, kv_heads, keys, size, dtype=dtype, seed=1),
        random(batch, kv_heads, keys, value_size, dtype=dtype, seed=2),
    )


def packed(x):
    return x.swapaxes(1, 2).reshape(x.shape[0], x.shape[2], -1).copy()


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("heads", [(4, 4), (4, 2), (4, 1)])
def test_attention_of_4d_and_3d_inputs(dtype, heads):
    q, k, v = qkv(q_heads=heads[0], kv_heads=heads[1], dtype=dtype)
    (y,) = run("Attention", {"q": q, "k": k, "v": v}, opset=23)
    assert_close(y, attend(q, k, v).astype(dtype))
    names = {"q_num_heads": heads[0], "kv_num_heads": heads[1]}
    (flat,) = run("Attention", {"q": packed(q), "k": packed(k), "v": packed(v)}, opset=23, **names)
    np.testing.assert_array_equal(flat, packed(y))


@pytest.mark.parametrize("shape", [(5,), (3, 5), (1, 3, 5), (4, 1, 5), (2, 1, 3, 5), (2, 4, 3, 5), (3, 2)])
@pytest.mark.parametrize("kind", ["bool", "float"])
@pytest.mark.parametrize("causal", [0, 1])
def test_attention_masks(shape, kind, causal):
    q, k, v = qkv()
    mask = np.random.default_rng(7).uniform(size=shape) < 0.7 if kind == "bool" else random(*shape)
    bias = np.where(mask, 0.0, -np.inf) if kind == "bool" else mask.astype(np.float64)
    bias = np.concatenate([bias, np.full((*shape[:-1], 5 - shape[-1]), -np.inf)], axis=-1)
    if causal:
        bias = bias + np.where(np.tri(3, 5, dtype=bool), 0.0, -np.inf)
    (y,) = run("Attention", {"q": q, "k": k, "v": v, "m": mask}, opset=23, is_causal=causal)
    assert_close(y, attend(q, k, v, bias).astype(np.float32))


@pytest.mark.parametrize("wants_present", [False, True])
def test_attention_with_a_cache(wants_present):
    (q, k, v), (_, past_k, past_v) = qkv(), qkv(keys=2)
    feeds = {"q": q, "k": k, "v": v, "m": None, "pk": past_k, "pv": past_v}
    y, *present = run("Attention", feeds, 3 if wants_present else 1, opset=23, is_causal=1)
    all_k, all_v = np.concatenate([past_k, k], axis=2), np.concatenate([past_v, v], axis=2)
    bias = np.where(np.tri(3, 7, 2, dtype=bool), 0.0, -np.inf)
    assert_close(y, attend(q, all_k, all_v, bias).astype(np.float32))
    for actual, expected in zip(present, [all_k, all_v], strict=False):
        np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("causal", [0, 1])
@pytest.mark.parametrize(("left", "right"), [(-1, -1), (1, -1), (-1, 0), (1, 1), (0, 0)])
def test_attention_windows_over_a_padded_cache(causal, left, right):
    q, k, v = qkv()
    valid = np.array([4, 2])
    feeds = {"q": q, "k": k, "v": v, "m": None, "pk": None, "pv": None, "n": valid}
    (y,) = run("Attention", feeds, opset=25, is_causal=causal, left_window_size=left, right_window_size=right)
    position = np.arange(3)[None, :, None] + (valid - 3)[:, None, None]
    key = np.arange(5)[None, None, :]
    seen = (key < valid[:, None, None]) & ((key <= position) | (not causal))
    seen &= (position - key <= left) | (left < 0)
    seen &= (key - position <= right) | (right < 0)
    assert_close(y, attend(q, k, v, np.where(seen, 0.0, -np.inf)[:, None]).astype(np.float32))


@pytest.mark.parametrize("mode", [0, 1, 2, 3])
def test_attention_shows_its_scores(mode):
    q, k, v = qkv(kv_heads=4)
    mask = random(3, 5)
    mask[1] = -np.inf
    feeds = {"q": q, "k": k, "v": v, "m": mask}
    names = ["y", "", "", "scores"]
    y, scores = run("Attention", feeds, names, opset=23, softcap=0.5, scale=2.0, qk_matmul_output_mode=mode)
    product = q.astype(np.float64) @ k.astype(np.float64).swapaxes(2, 3) * 2
    capped = 0.5 * np.tanh(product / 0.5)
    expected = [product, capped, capped + mask, softmax(capped + mask)][mode]
    assert_close(scores, expected.astype(np.float32))
    assert_close(y, attend(q, k, v, mask.astype(np.float64), 2.0, 0.5).astype(np.float32))
    assert not y[:, :, 1].any()


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("precision", FLOATS)
def test_attention_softmax_precision(dtype, precision):
    q, k, v = qkv(dtype=dtype)
    (y,) = run("Attention", {"q": q, "k": k, "v": v}, opset=23, softmax_precision=FLOAT_NAMES[precision])
    assert y.dtype == dtype
    coarser = max(dtype, precision, key=eps)
    assert_close(y.astype(np.float64).astype(coarser), attend(q, k, v).astype(coarser), terms=256)


def test_attention_refuses_what_does_not_fit():
    q, k, v = qkv()

    def refused(message, changed=None, opset=25, **attributes):
        refuses(message, "Attention", {"q": q, "k": k, "v": v} | (changed or {}), opset=opset, **attributes)

    refused("q_num_heads", {"q": packed(q), "k": packed(k), "v": packed(v)})
    refused("divided evenly among", {"q": packed(q), "k": packed(k), "v": packed(v)}, q_num_heads=3, kv_num_heads=3)
    refused("4 query heads are not a multiple of the 3", {"k": random(2, 3, 5, 4), "v": random(2, 3, 5, 4)})
    refused("features", {"k": random(2, 2, 5, 3)})
    refused("sequence lengths", {"v": random(2, 2, 4, 4)})
    refused("batch", {"k": random(1, 2, 5, 4)})
    refused("rank 3 or 4", {"q": random(2, 3)})
    refused("attn_mask", {"m": random(3, 6)})
    refused("attn_mask", {"m": random(2, 5)})
    refused("together", {"m": None, "pk": k})
    refused("combined", {"m": None, "pk": k, "pv": v, "n": np.array([1, 1])})
    refused("past_key must have the shape", {"m": None, "pk": random(2, 3, 2, 4), "pv": random(2, 2, 2, 6)})
    refused(r"nonpad_kv_seqlen\[1\] is 6", {"m": None, "pk": None, "pv": None, "n": np.array([1, 6])})
    refused("qk_matmul_output_mode is 4", qk_matmul_output_mode=4)
    refused("window", left_window_size=-2)
    refused("softmax_precision", softmax_precision=7)


def flex_model(feeds, **attributes):
    return node_model("FlexAttention", feeds, opset=26, domain="ai.onnx.preview", **attributes)


def run_flex(feeds, **attributes):
    return run_model(flex_model(feeds, **attributes), feeds)


def modifier(name, nodes, initializers=()):
    value = helper.make_tensor_value_info
    return helper.make_graph(nodes, name, [value("s", 1, None)], [value("t", 1, None)], list(initializers))


def test_flex_attention_runs_its_sub_graphs():
    q, k, v = qkv()
    add = modifier("m", [helper.make_node("Add", ["s", "s"], ["t"])])
    relu = modifier("n", [helper.make_node("Relu", ["s"], ["t"])])
    (y,) = run_flex({"q": q, "k": k, "v": v}, score_mod=add, prob_mod=relu)
    assert_close(y, attend(q, k, v, scale=2 / np.sqrt(4)).astype(np.float32))


@pytest.mark.parametrize("dtype", FLOATS)
def test_flex_attention_of_every_type(dtype):
    q, k, v = qkv(dtype=dtype)
    (y,) = run_flex({"q": q, "k": k, "v": v}, scale=0.25)
    assert_close(y, attend(q, k, v, scale=0.25).astype(dtype))


def test_flex_attention_keeps_a_weight_that_a_sub_graph_returns():
    q, k, v = qkv()
    weight = helper.make_tensor("w", TensorProto.FLOAT, (2, 4, 3, 5), np.ones(120, np.float32))
    body = modifier("m", [helper.make_node("Identity", ["w"], ["t"])], [weight])
    feeds = {"q": q, "k": k, "v": v}
    session = tenon.InferenceSession(flex_model(feeds, score_mod=body))
    first, second = session.run(None, feeds)[0], session.run(None, feeds)[0]
    np.testing.assert_array_equal(first, second)
    assert_close(first, np.broadcast_to(v.mean(axis=2, keepdims=True).repeat(2, axis=1), first.shape))


def rotate(x, cosines, sines, interleaved, size):
    y = x.astype(np.float64).copy()
    first = np.arange(0, size, 2) if interleaved else np.arange(size // 2)
    second = first + 1 if interleaved else first + size // 2
    a, b = x[..., first].astype(np.float64), x[..., second].astype(np.float64)
    y[..., first], y[..., second] = cosines * a - sines * b, sines * a + cosines * b
    return y


@pytest.mark.parametrize("dtype", FLOATS[:3])
@pytest.mark.parametrize("interleaved", [0, 1])
@pytest.mark.parametrize("size", [0, 4])
@pytest.mark.parametrize("by_position", [False, True])
def test_rotary_embedding(dtype, interleaved, size, by_position):
    x, half = random(2, 3, 5, 6, dtype=dtype), (size or 6) // 2
    ids = np.random.default_rng(0).integers(0, 9, (2, 5)) if by_position else None
    shape = (9, half) if by_position else (2, 5, half)
    cosines, sines = random(*shape, dtype=dtype), random(*shape, dtype=dtype, seed=3)
    feeds = {"x": x, "c": cosines, "s": sines, "ids": ids}
    (y,) = run("RotaryEmbedding", feeds, opset=23, interleaved=interleaved, rotary_embedding_dim=size)
    chosen = [(a[ids] if by_position else a)[:, None].astype(np.float64) for a in (cosines, sines)]
    assert_close(y, rotate(x, *chosen, interleaved, size or 6).astype(dtype))
    feeds["x"] = packed(x)
    (flat,) = run("RotaryEmbedding", feeds, opset=23, interleaved=interleaved, rotary_embedding_dim=size, num_heads=3)
    np.testing.assert_array_equal(flat, packed(y))


def test_rotary_embedding_refuses_what_does_not_fit():
    x, cache = random(2, 3, 5, 6), random(9, 3)
    ids = np.zeros((2, 5), np.int64)
    feeds = {"x": x, "c": cache, "s": cache, "i": ids}
    for bad in (-1, 9):
        ids[1, 2] = bad
        refuses(rf"position_ids\[1, 2\] is {bad}", "RotaryEmbedding", feeds, opset=23)
    refuses("cos_cache must have the shape", "RotaryEmbedding", feeds | {"i": None}, opset=23)
    refuses("num_heads", "RotaryEmbedding", feeds | {"x": packed(x)}, opset=23)
    refuses("must be even", "RotaryEmbedding", feeds, opset=23, rotary_embedding_dim=3)
    refuses("rotary_embedding_dim is 8", "RotaryEmbedding", feeds, opset=23, rotary_embedding_dim=8)


def linear_attention(q, k, v, state, decay, beta, scale):
    """Step by step: q [B,T,Hq,D], k [B,T,H,D], v [B,T,H,V], state [B,H,D,V]; decay and beta may be None."""
    y = np.zeros((*q.shape[:3], v.shape[3]))
    for t in range(q.shape[1]):
        if decay is not None:
            state = state * np.exp(decay[:, t])[..., None]
        written = v[:, t] if beta is None else beta[:, t] * (v[:, t] - np.einsum("bhdv,bhd->bhv", state, k[:, t]))
        state = state + k[:, t][..., None] * written[:, :, None]
        shared = state.repeat(q.shape[2] // k.shape[2], axis=1)
        y[:, t] = scale * np.einsum("bhd,bhdv->bhv", q[:, t], shared)
    return y, state


@pytest.mark.parametrize("rule", ["linear", "gated", "delta", "gated_delta"])
@pytest.mark.parametrize("wide_gates", [False, True])
@pytest.mark.parametrize("past", [False, True])
def test_linear_attention(rule, wide_gates, past):
    q, k, v = random(2, 3, 4, 5), random(2, 3, 2, 5, seed=1), random(2, 3, 2, 6, seed=2)
    decay = random(2, 3, 2, 5 if wide_gates else 1, seed=3) if "gated" in rule else None
    beta = random(2, 3, 2 if wide_gates else 1, 1, seed=4) if "delta" in rule else None
    state = random(2, 2, 5, 6, seed=5) if past else None
    flat = [a if a is None else a.reshape(2, 3, -1) for a in (q, k, v, decay, beta)]
    feeds = dict(zip("qkv", flat[:3], strict=True)) | {"p": state, "d": flat[3], "b": flat[4]}
    heads = {"q_num_heads": 4, "kv_num_heads": 2}
    y, present = run("LinearAttention", feeds, 2, opset=27, update_rule=rule, scale=0.7, **heads)
    start = np.zeros((2, 2, 5, 6)) if state is None else state.astype(np.float64)
    wide = [a if a is None else a.astype(np.float64) for a in (q, k, v)]
    expected, end = linear_attention(*wide, start, decay, beta, float(np.float32(0.7)))
    assert_close(y, expected.reshape(2, 3, -1).astype(np.float32))
    assert_close(present, end.astype(np.float32))


def test_linear_attention_refuses_what_does_not_fit():
    feeds = {"q": random(2, 3, 8), "k": random(2, 3, 4), "v": random(2, 3, 6)}
    heads = {"q_num_heads": 4, "kv_num_heads": 2, "update_rule": "linear"}

    def refused(message, changed=None, **attributes):
        refuses(message, "LinearAttention", feeds | (changed or {}), 2, opset=27, **(heads | attributes))

    refused("update_rule is 'x'", update_rule="x")
    refused("needs the input 'decay", update_rule="gated")
    refused("needs the input 'beta", update_rule="delta")
    refused("4 query heads are not a multiple of the 3", kv_num_heads=3)
    refused("must be positive", kv_num_heads=0)
    refused("key of shape", {"k": random(2, 3, 6)})
    refused("past_state must have the shape", {"p": random(2, 2, 2, 2)})
    refused("decay of shape", {"p": None, "d": random(2, 3, 3)}, update_rule="gated")
