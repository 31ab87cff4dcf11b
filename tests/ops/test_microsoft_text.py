"""Tokenizer, MurmurHash3 and CDist of com.microsoft."""

import numpy as np
import pytest
from microsoft_models import assert_close, compare_with_onnxruntime, normal, run_onnxruntime, run_tenon

TEXTS = ["Hello, wörld! 42", "", "a-b--c  d", "日本語 テキスト x", "aaaab ab"]


def compare_tokens(texts, **attributes):
    inputs = {"X": np.array(texts, object)}
    attributes = {"mark": 0, "pad_value": "#", "mincharnum": 1} | attributes
    (actual,) = run_tenon("Tokenizer", inputs, **attributes)
    (expected,) = run_onnxruntime("Tokenizer", inputs, **attributes)
    assert actual.shape == expected.shape and actual.tolist() == expected.tolist()


@pytest.mark.parametrize("mark", [0, 1])
@pytest.mark.parametrize("shape", [(5,), (5, 1), (1, 5)])
@pytest.mark.parametrize(
    "rule",
    [
        {"tokenexp": "."}, {"separators": [""]}, {"tokenexp": "[a-zA-Z0-9_]+"}, {"tokenexp": "\\pL+"},
        {"tokenexp": "a|ab|aab"}, {"tokenexp": "a*"}, {"separators": [" "]}, {"separators": ["[ ,]+", "-"]},
        {"separators": ["a*"]}, {"separators": ["(?s).+"]},
    ],
)  # fmt: skip
def test_tokenizer(mark, shape, rule):
    compare_tokens(np.array(TEXTS, object).reshape(shape), mark=mark, **rule)


@pytest.mark.parametrize("rule", [{"tokenexp": "[a-z]+"}, {"separators": ["[ -]"]}])
@pytest.mark.parametrize("shortest", [2, 4, 20])
def test_tokenizer_drops_short_tokens(rule, shortest):
    compare_tokens(TEXTS, mincharnum=shortest, **rule)


@pytest.mark.parametrize("texts", [[], [[], []], [""], ["", ""]])
def test_tokenizer_of_nothing(texts):
    compare_tokens(np.array(texts, object), tokenexp="a", mark=1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tokenexp": "("}, "\\("),
        ({"tokenexp": "a", "separators": ["b"]}, "exactly one of separators and tokenexp"),
        ({}, "exactly one of separators and tokenexp"),
        ({"tokenexp": "a", "mincharnum": 0}, "mincharnum is 0"),
        ({"tokenexp": ".", "mincharnum": 2}, "every character is a token"),
    ],
)
def test_wrong_tokenizers_are_refused(change, message):
    attributes = {"mark": 0, "pad_value": "", "mincharnum": 1} | change
    with pytest.raises(Exception, match=message):
        run_tenon("Tokenizer", {"X": np.array(["a"], object)}, **attributes)


def test_tokenizer_refuses_three_axes():
    with pytest.raises(Exception, match="X must be"):
        run_tenon("Tokenizer", {"X": np.array([[["a"]]], object)}, mark=0, pad_value="", mincharnum=1, tokenexp="a")


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64, np.uint64, np.float32, np.float64])
@pytest.mark.parametrize("positive", [0, 1])
@pytest.mark.parametrize("seed", [0, 42])
def test_murmur_hash(dtype, positive, seed):
    x = np.arange(24).reshape(2, 3, 4).astype(dtype)
    compare_with_onnxruntime("MurmurHash3", {"X": x}, positive=positive, seed=seed)


@pytest.mark.parametrize("positive", [0, 1])
def test_murmur_hash_of_strings(positive):
    x = np.array(["", "a", "ab", "abc", "abcd", "abcde", "wörld", "日本語 テキスト"], object)
    compare_with_onnxruntime("MurmurHash3", {"X": x}, positive=positive)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean"])
def test_cdist(dtype, metric):
    rng = np.random.default_rng(5)
    a, b = normal(rng, 4, 3, dtype=dtype), normal(rng, 5, 3, dtype=dtype)
    distance = ((a[:, None, :].astype(np.float64) - b[None]) ** 2).sum(axis=2)
    expected = distance if metric == "sqeuclidean" else np.sqrt(distance)
    assert_close(run_tenon("CDist", {"A": a, "B": b}, metric=metric)[0], expected.astype(dtype))


def test_cdist_refuses_other_metrics_and_widths():
    a, b = np.zeros((2, 3), np.float32), np.zeros((2, 4), np.float32)
    with pytest.raises(Exception, match="rows of A have 3 elements, but those of B have 4"):
        run_tenon("CDist", {"A": a, "B": b}, metric="euclidean")
    with pytest.raises(Exception, match="the metric is 'cosine'"):
        run_tenon("CDist", {"A": a, "B": a}, metric="cosine")
