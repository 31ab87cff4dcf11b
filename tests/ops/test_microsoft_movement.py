"""Ops of com.microsoft that the default domain also has, against onnxruntime."""

import ml_dtypes
import numpy as np
import pytest
import tenon
from microsoft_models import (
    compare_with_onnxruntime,
    microsoft_model,
    normal,
    run_onnxruntime,
    run_tenon,
    session_without_shapes,
)


@pytest.fixture
def rng():
    return np.random.default_rng(9)


@pytest.mark.parametrize("upper", [0, 1])
@pytest.mark.parametrize("k", [None, -2, 0, 1, 9])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_trilu(rng, upper, k, dtype):
    x = rng.integers(0, 2, (2, 4, 5)).astype(dtype)
    inputs = {"X": x} | ({} if k is None else {"k": np.array(k)})
    compare_with_onnxruntime("Trilu", inputs, upper=upper)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
@pytest.mark.parametrize("attributes", [{}, {"dim": 1}, {"dim": -3, "step": 5}, {"step": 2}, {"dim": 0, "step": 1}])
def test_unfold_tensor(rng, dtype, attributes):
    x = rng.integers(0, 100, (3, 4, 5)).astype(dtype)
    for size in (1, 2, 3):
        compare_with_onnxruntime("UnfoldTensor", {"input": x}, size=size, **attributes)


@pytest.mark.parametrize("dtype", [np.float16, np.int8, np.uint16, bool, object, ml_dtypes.bfloat16, ml_dtypes.int4])
def test_unfold_tensor_of_types_onnxruntime_lacks(dtype):
    x = np.array([[1, 2, 3, 4], [5, 6, 7, 0]]).astype(str if dtype is object else int).astype(dtype)
    (y,) = run_tenon("UnfoldTensor", {"input": x}, size=3)
    assert y.dtype == x.dtype
    windows = np.lib.stride_tricks.sliding_window_view(x.view(np.int8) if dtype is ml_dtypes.int4 else x, 3, axis=-1)
    np.testing.assert_array_equal(y.astype(windows.dtype), windows)


def test_unfold_tensor_without_elements():
    compare_with_onnxruntime("UnfoldTensor", {"input": np.zeros((0, 3), np.float32)}, size=2)
    compare_with_onnxruntime("UnfoldTensor", {"input": np.zeros((3, 0), np.float32)}, size=2, dim=0)


def test_unfold_tensor_of_unknown_shape(rng):
    x = normal(rng, 2, 7)
    model = microsoft_model("UnfoldTensor", {"input": x}, size=3, step=2)
    expected = np.lib.stride_tricks.sliding_window_view(x, 3, axis=-1)[:, ::2]
    for keep_ranks in (True, False):
        (y,) = session_without_shapes(model, keep_ranks).run(None, {"input": x})
        np.testing.assert_array_equal(y, expected)


@pytest.mark.parametrize(
    "attributes, message",
    [
        ({}, "needs attribute 'size'"),
        ({"size": 0}, "size must be positive"),
        ({"size": 2, "step": 0}, "step must be positive"),
        ({"size": 2, "dim": 2}, "dim"),
        ({"size": 5}, "size is 5, but dimension 1 has only 4"),
    ],
)
def test_unfold_tensor_that_does_not_fit(attributes, message):
    x = np.zeros((3, 4), np.float32)
    with pytest.raises(tenon.Error, match=message):
        run_tenon("UnfoldTensor", {"input": x}, **attributes)
    with pytest.raises(Exception):
        run_onnxruntime("UnfoldTensor", {"input": x}, **attributes)


def test_unique_keeps_the_order_of_first_appearance(rng):
    x = rng.integers(0, 5, 30).astype(np.float32)
    compare_with_onnxruntime("Unique", {"x": x}, 3)
    compare_with_onnxruntime("Unique", {"x": np.array([2.5, -1, 2.5, 0], np.float32)}, 3)


@pytest.mark.parametrize("index_type", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.float16])
def test_gather_nd(rng, index_type, dtype):
    data = rng.integers(0, 100, (3, 4, 5)).astype(dtype)
    for indices in ([[0, 1], [2, 3]], [[[2]], [[-1]]], [[1, 2, 3]], [0]):
        compare_with_onnxruntime("GatherND", {"data": data, "indices": np.array(indices, index_type)})


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16, np.int32, np.int64])
def test_range(dtype):
    def number(x):
        return np.array(x, dtype)

    compare_with_onnxruntime("Range", {"start": number(2), "limit": number(9)})
    compare_with_onnxruntime("Range", {"start": number(2), "limit": number(9), "delta": number(3)})
    compare_with_onnxruntime("Range", {"start": number(9), "limit": number(2), "delta": number(-2)})
    compare_with_onnxruntime("Range", {"start": number(9), "limit": number(2), "delta": number(2)})


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect"])
@pytest.mark.parametrize("flat", [False, True])
def test_pad(rng, mode, flat):
    data = normal(rng, 3, 4)
    for pads in ([1, 2, 2, 3], [0, -1, 1, 0]):
        pads = np.array(pads if flat else [pads])
        compare_with_onnxruntime("Pad", {"data": data, "pads": pads}, mode=mode)
        inputs = {"data": data, "pads": pads, "value": np.array([1.5], np.float32)}
        compare_with_onnxruntime("Pad", inputs, mode=mode)


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("padding_mode", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("align_corners", [0, 1])
def test_grid_sample(rng, mode, padding_mode, align_corners):
    x, grid = normal(rng, 2, 3, 5, 6), rng.uniform(-1.4, 1.4, (2, 4, 3, 2)).astype(np.float32)
    attributes = {"mode": mode, "padding_mode": padding_mode, "align_corners": align_corners}
    (y,) = run_tenon("GridSample", {"X": x, "Grid": grid}, **attributes)
    (theirs,) = run_onnxruntime("GridSample", {"X": x, "Grid": grid}, **attributes)
    np.testing.assert_allclose(y, theirs, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2])
def test_expand_dims(rng, axis):
    inputs = {"X": normal(rng, 3, 4), "axis": np.array(axis, np.int32)}
    compare_with_onnxruntime("ExpandDims", inputs, constants=["axis"])
    compare_with_onnxruntime("ExpandDims", inputs)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean"])
def test_cdist(rng, dtype, metric):
    inputs = {"A": normal(rng, 4, 3, dtype=dtype), "B": normal(rng, 5, 3, dtype=dtype)}
    (y,), (theirs,) = (run("CDist", inputs, metric=metric) for run in (run_tenon, run_onnxruntime))
    assert y.dtype == theirs.dtype
    np.testing.assert_allclose(y, theirs, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_inverse(rng, dtype):
    x = normal(rng, 2, 4, 4, dtype=dtype) + 4 * np.eye(4, dtype=dtype)
    compare_with_onnxruntime("Inverse", {"X": x})
