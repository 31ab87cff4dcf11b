"""Gather, scatter, compress, unique and the ops that make tensors from sizes."""

import ml_dtypes
import numpy as np
import onnx
import pytest
from movement_models import ALL_DTYPES, SMALL_DTYPES, array_of, check, check_error, check_same, ints, run

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@pytest.mark.parametrize("dtype", ALL_DTYPES + SMALL_DTYPES)
def test_every_type_is_indexed(dtype):
    x = array_of(dtype, (3, 4))
    index = np.array([[2, -3], [0, 1]], np.int64)
    check(run("Gather", [x, index], 13), x[index])
    check(run("GatherElements", [x, index], 13, axis=1), x[[[0, 0], [1, 1]], index])
    check(run("GatherND", [x, index], 13), x[index[:, 0], index[:, 1]])
    updates = array_of(dtype, (2, 4), 1)
    expected = x.copy()
    expected[[2, 0]] = updates
    check(run("ScatterND", [x, ints(2, 0)[:, None], updates], 18), expected)
    expected = x.copy()
    expected[[2, 1], [0, 0]] = updates[:, 0]
    check(run("ScatterElements", [x, ints(2, 1)[:, None], updates[:, :1]], 18), expected)
    check(run("Scatter", [x, ints(2, 1)[:, None], updates[:, :1]], 9), expected)


def test_gather_edges():
    check(run("Gather", [X, np.array(-1, np.int32)], 1, axis=2), X[:, :, -1])
    check(run("Gather", [X, ints()], 13, axis=1), X[:, []])
    check(run("Gather", [X[:, :0], ints(1)], 13), X[[1], :0])
    check_error("index 3 at position 1 is outside an axis of 3", "Gather", [X, ints(0, 3)], 13, axis=1)
    check_error("index -4", "Gather", [X, ints(-4)], 13, axis=1)
    check_error("index 0", "Gather", [X[:, :0], ints(0)], 13, axis=1)
    check_error("index 5", "GatherElements", [X, np.full((2, 3, 1), 5)], 13, axis=2)
    check_error("exceed data", "GatherElements", [X, np.zeros((2, 4, 1), np.int64)], 13, axis=2)
    check_error("rank", "GatherElements", [X, ints(0)], 13)
    check_error("axis 3", "Gather", [X, ints(0)], 13, axis=3)


def test_gather_nd_batches():
    for batch in (0, 1, 2):
        index = np.random.default_rng(1).integers(-2, 2, (2, 3, 3 - batch)) if batch < 2 else np.array([[[1]] * 3] * 2)
        check_same("GatherND", [X, index], 12, batch_dims=batch)
    check(run("GatherND", [X, ints(1, 2)], 11), X[1, 2])
    check(run("GatherND", [X, np.zeros((5, 0), np.int64)], 13), np.broadcast_to(X, (5, 2, 3, 4)))
    check(run("GatherND", [X, ints(1, 2)], 11, domain="com.microsoft"), X[1, 2])
    check_error("coordinates", "GatherND", [X, np.zeros((1, 4), np.int64)], 13)
    check_error("index 3", "GatherND", [X, ints(1, 3)], 13)
    check_error("batch_dims 3", "GatherND", [X, np.zeros((2, 3, 1), np.int64)], 13, batch_dims=3)
    check_error("batch axis 0", "GatherND", [X, np.zeros((3, 1), np.int64)], 13, batch_dims=1)


REDUCTIONS = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}
NUMBERS = [np.float32, np.float64, np.float16, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("dtype", NUMBERS)
def test_scatter_reductions(dtype, reduction):
    rng = np.random.default_rng(2)
    data, updates = rng.integers(0, 100, (4, 3)).astype(dtype), rng.integers(1, 60, (5, 3)).astype(dtype)
    index = rng.integers(-4, 4, (5, 3))[:4]
    with np.errstate(over="ignore"):
        expected = data.copy()
        for i, j in np.ndindex(4, 3):
            expected[index[i, j], j] = REDUCTIONS[reduction](expected[index[i, j], j], updates[i, j])
        check(run("ScatterElements", [data, index, updates[:4]], 18, reduction=reduction), expected)
        expected = data.copy()
        for i, row in enumerate([3, -1, 0, 3, 1]):
            expected[row] = REDUCTIONS[reduction](expected[row], updates[i])
    check(run("ScatterND", [data, ints(3, -1, 0, 3, 1)[:, None], updates], 18, reduction=reduction), expected)


# onnxruntime adds and multiplies them; the rest is what the reference implementation of the onnx package does.
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_scatter_reductions_of_booleans(reduction):
    rng = np.random.default_rng(3)
    data, updates, places = rng.random((4, 3)) < 0.5, rng.random((5, 3)) < 0.5, [3, -1, 0, 3, 1]
    expected = data.copy()
    for row, update in zip(places, updates):
        expected[row] = REDUCTIONS[reduction](expected[row], update)
    rows = [data, ints(*places)[:, None], updates]
    elements = [data, np.repeat(ints(*places)[:, None], 3, 1), updates]
    for op_type, inputs in (("ScatterND", rows), ("ScatterElements", elements)):
        check(run(op_type, inputs, 18, reduction=reduction), expected)
        if reduction in ("add", "mul"):
            check_same(op_type, inputs, 18, reduction=reduction)


def test_scatter_joins_texts():
    data, updates = np.array(["a", "b", "", "d"], object), np.array(["u", "v", "w", "xx", "", "z"], object)
    index, expected = ints(0, 1, 1, 2, 3, -1), np.array(["au", "bvw", "xx", "dz"], object)
    for op_type, at in (("ScatterElements", index), ("ScatterND", index[:, None])):
        check(run(op_type, [data, at, updates], 18, reduction="add"), expected)
        check_same(op_type, [data, at, updates], 18, reduction="add")


def test_scatter_errors():
    x, u = np.zeros((3, 2), np.float32), np.ones((1, 2), np.float32)
    check_error("index 3", "ScatterElements", [x, np.full((1, 2), 3), u], 18)
    check_error("index -4", "ScatterND", [x, np.array([[-4]]), u], 18)
    check_error("indices and updates", "ScatterElements", [x, np.zeros((2, 2), np.int64), u], 18)
    check_error("updates", "ScatterND", [x, np.zeros((2, 1), np.int64), u], 18)
    check_error("reduction is 'sub'", "ScatterND", [x, np.zeros((1, 1), np.int64), u], 18, reduction="sub")
    check_error("coordinates", "ScatterND", [x, np.zeros((1, 3), np.int64), u], 18)
    text = np.full((3, 2), "t", object)
    for reduction in ("mul", "max", "min"):
        check_error("allowed types are", "ScatterND", [text, np.zeros((1, 1), np.int64), text[:1]], 18, reduction=reduction)
    nothing = np.zeros((0, 1), np.int64)
    check(run("ScatterND", [x, nothing, u[:0]], 18), x)


def test_tensor_scatter():
    cache, update = np.zeros((2, 1, 4, 3), np.float32), np.ones((2, 1, 2, 3), np.float32)
    expected = cache.copy()
    expected[0, :, 1:3] = 1
    expected[1, :, 2:4] = 1
    check(run("TensorScatter", [cache, update, ints(1, 2)], 24), expected)
    expected = cache.copy()
    expected[0, :, [3, 0]] = 1
    expected[1, :, 2:4] = 1
    check(run("TensorScatter", [cache, update, ints(7, 2)], 24, mode="circular"), expected)
    check_error("write index 3 of batch 0", "TensorScatter", [cache, update, ints(3, 0)], 24)
    check_error("write index -1", "TensorScatter", [cache, update, ints(0, -1)], 24)
    check_error("does not fit", "TensorScatter", [cache[:, :, :1], update, ints(0, 0)], 24)


@pytest.mark.parametrize("dtype", ALL_DTYPES)
def test_compress_unique_nonzero(dtype):
    x = array_of(dtype, (3, 4))
    check(run("Compress", [x, np.array([True, False, True])], 28, axis=-2), x[[0, 2]])
    check(run("Compress", [x, np.array([False, True, True, False, True])], 9), x.ravel()[[1, 2, 4]])
    if dtype is object:
        assert run("Unique", [x], 11)[0].tolist() == sorted(set(x.ravel()))
    elif dtype is not ml_dtypes.bfloat16:
        got = run("Unique", [x], 28, outputs=4)
        for result, expected in zip(got, np.unique(x, True, True, True), strict=True):
            np.testing.assert_array_equal(result, expected.reshape(-1))
        check(run("NonZero", [x], 13), np.array(np.nonzero(x)))


def test_selection_edges():
    y, first, inverse, counts = run("Unique", [np.array([3, 1, 3, 2, 1])], 11, outputs=4, sorted=0)
    assert [v.tolist() for v in (y, first, inverse, counts)] == [[3, 1, 2], [0, 1, 3], [0, 1, 0, 2, 1], [2, 2, 1]]
    rows = np.array([[1, 2], [0, 5], [1, 2]])
    y, first, inverse, counts = run("Unique", [rows], 11, outputs=4, axis=0)
    assert y.tolist() == [[0, 5], [1, 2]] and first.tolist() == [1, 0] and inverse.tolist() == [1, 0, 1]
    nan = np.array([np.nan, 1, np.nan, -0.0, 0.0])
    assert run("Unique", [nan], 11, outputs=4)[3].tolist() == [2, 1, 2]
    y, inverse, counts = run("Unique", [np.array([2.0, 1.0, 2.0], np.float32)], 11, domain="com.microsoft", outputs=3)
    assert (y.tolist(), inverse.tolist(), counts.tolist()) == ([2, 1], [0, 1, 0], [2, 1])
    assert run("Unique", [np.zeros(0)], 11)[0].shape == (0,)
    assert run("NonZero", [np.array(5)], 9)[0].shape == (0, 1)
    assert run("NonZero", [np.zeros((2, 0))], 9)[0].shape == (2, 0)
    assert run("NonZero", [np.array([-0.0, 1e-300])], 13)[0].tolist() == [[1]]
    check_error("true at position 3", "Compress", [X, np.array([False, False, False, True])], 9, axis=1)


def test_one_hot():
    values = np.array([2, 5], np.int32)
    for axis in (-1, 0, 1):
        check_same("OneHot", [ints(0, 2, -1, 7), np.array([3]), values.astype(np.float32)], 11, axis=axis)
    check(run("OneHot", [np.array([1.7, -1.2], np.float32), np.array(3, np.float32), values], 9),
          np.array([[2, 5, 2], [2, 2, 5]], np.int32))  # fmt: skip
    check(run("OneHot", [np.array(1, np.uint8), np.array(2, np.int32), values], 9), np.array([2, 5], np.int32))
    check(run("OneHot", [ints(0), np.array(0), values], 11), np.zeros((1, 0), np.int32))
    check_error("negative", "OneHot", [ints(0), np.array(-1), values], 11)
    check_error("off value and the on value", "OneHot", [ints(0), np.array(1), values[:1]], 11)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16, np.int32, np.int64])
def test_range(dtype):
    for start, limit, delta in [(1, 9, 3), (9, 1, -2), (0, 0, 1), (3, 1, 1), (-4, 5, 4)]:
        arguments = [np.array(v, dtype) for v in (start, limit, delta)]
        check(run("Range", arguments, 11), np.arange(start, limit, delta).astype(dtype))
        check(run("Range", arguments, 11, constants=[0, 1, 2]), np.arange(start, limit, delta).astype(dtype))
    two = [np.array(v, dtype) for v in (1, 4)]
    check(run("Range", two, 11, domain="com.microsoft"), np.arange(1, 4).astype(dtype))
    check_error("delta must not be 0", "Range", [np.array(v, dtype) for v in (0, 1, 0)], 11)
    check_error("one number", "Range", [np.array(v, dtype) for v in ([0, 1], 1, 1)], 11)


def test_constant_of_shape_and_size():
    tensor = onnx.numpy_helper.from_array
    check(run("ConstantOfShape", [ints(2, 0)], 9), np.zeros((2, 0), np.float32))
    check(run("ConstantOfShape", [ints()], 9, value=tensor(np.array([5], np.int8))), np.array(5, np.int8))
    four = ml_dtypes.int4(-3)
    check(run("ConstantOfShape", [ints(3)], 21, value=tensor(np.array([four]))), np.array([four] * 3))
    check_error("one element", "ConstantOfShape", [ints(2)], 9, value=tensor(np.zeros(2)))
    check(run("Size", [X[:, :0]], 1), np.array(0))
    check(run("Size", [np.array(1)], 13), np.array(1))
