"""Reductions, ArgMax, ArgMin, CumSum, CumProd, TopK: every type, old versions, empty sets."""

import itertools

import numpy as np
import pytest
from math_models import FLOATS, INTEGERS, NUMBERS, check, numbers, run

REDUCTIONS = {
    "ReduceL1": lambda x, **k: np.abs(x).sum(**k),
    "ReduceL2": lambda x, **k: np.sqrt((x * x).sum(**k)),
    "ReduceLogSum": lambda x, **k: np.log(x.sum(**k)),
    "ReduceLogSumExp": lambda x, **k: np.log(np.exp(x).sum(**k)),
    "ReduceMax": np.max,
    "ReduceMean": np.mean,
    "ReduceMin": np.min,
    "ReduceProd": np.prod,
    "ReduceSum": np.sum,
    "ReduceSumSquare": lambda x, **k: (x * x).sum(**k),
}
ARG, CUMULATIVE = ["ArgMax", "ArgMin"], ["CumSum", "CumProd"]
AXES = [None, (0,), (1,), (-1,), (0, 2), (2, 1, 0), (-3, -1)]


@pytest.mark.parametrize(("axes", "keepdims"), list(itertools.product(AXES, [0, 1])))
@pytest.mark.parametrize("name", REDUCTIONS)
def test_axes(name, axes, keepdims):
    x = numbers(np.float32, (2, 3, 4), low=0.5, high=2)
    given = [] if axes is None else [np.array(axes, np.int64)]
    expected = REDUCTIONS[name](x.astype(np.float64), axis=axes, keepdims=bool(keepdims))
    check(run(name, x, *given, keepdims=keepdims), np.float32(expected))


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_types(name, dtype):
    x = numbers(dtype, (3, 4), low=1, high=4) + np.array(1, dtype)
    expected = REDUCTIONS[name](x.astype(np.float64), axis=(1,), keepdims=True).astype(dtype)
    check(run(name, x, np.array([1], np.int64), version=18), expected)


@pytest.mark.parametrize("version", [1, 11, 13, 17])
@pytest.mark.parametrize("name", sorted(set(REDUCTIONS) - {"ReduceSum"}))
def test_axes_as_attribute(name, version):
    x = numbers(np.float32, (2, 3, 4), low=0.5, high=2)
    wide = x.astype(np.float64)
    actual = run(name, x, version=version, axes=[0, 2], keepdims=0)
    check(actual, np.float32(REDUCTIONS[name](wide, axis=(0, 2), keepdims=False)))
    check(run(name, x, version=version), np.float32(REDUCTIONS[name](wide, axis=None, keepdims=True)))


def test_sum_has_axes_as_input_since_13():
    x = numbers(np.float32, (2, 3))
    check(run("ReduceSum", x, version=11, axes=[1]), run("ReduceSum", x, np.array([1], np.int64), version=13))


COMPOSITE = {"ReduceL1": np.abs, "ReduceL2": np.abs, "ReduceLogSum": np.log, "ReduceSumSquare": np.square}


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("given", [True, False])
def test_no_axes_as_no_operation(name, given):
    x = numbers(np.float32, (2, 3), low=0.5, high=2)
    axes = [np.zeros(0, np.int64)] if given else []
    actual = run(name, x, *axes, noop_with_empty_axes=1, keepdims=0)
    check(actual, COMPOSITE.get(name, lambda v: v)(x))
    check(run(name, x, *axes), run(name, x, np.array([0, 1], np.int64)))


EMPTY = {"ReduceL1": 0, "ReduceL2": 0, "ReduceLogSum": -np.inf, "ReduceLogSumExp": -np.inf, "ReduceMax": -np.inf}
EMPTY |= {"ReduceMean": np.nan, "ReduceMin": np.inf, "ReduceProd": 1, "ReduceSum": 0, "ReduceSumSquare": 0}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_empty_sets(name, dtype):
    x = np.zeros((2, 0, 4), dtype)
    actual = run(name, x, np.array([1], np.int64))
    assert actual.shape == (2, 1, 4)
    np.testing.assert_array_equal(actual.astype(np.float32), np.float32(EMPTY[name]))
    assert run(name, x, np.array([0], np.int64)).shape == (1, 0, 4)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_empty_sets_of_integers(dtype):
    x, axes = np.zeros((0, 2), dtype), np.array([0], np.int64)
    assert run("ReduceMax", x, axes, keepdims=0).tolist() == [np.iinfo(dtype).min] * 2
    assert run("ReduceMin", x, axes, keepdims=0).tolist() == [np.iinfo(dtype).max] * 2
    assert run("ReduceProd", x, axes, keepdims=0).tolist() == [1, 1]


def test_truths():
    x, axes = np.array([[True, False], [True, True]]), np.array([1], np.int64)
    assert run("ReduceMax", x, axes, keepdims=0).tolist() == [True, True]
    assert run("ReduceMin", x, axes, keepdims=0).tolist() == [False, True]


def test_scalars():
    x = np.array(3, np.float32)
    assert run("ReduceSum", x).shape == () and run("ReduceSumSquare", x) == 9


def test_integer_sums_wrap():
    x = np.array([2**62, 2**62, 5], np.int64)
    assert run("ReduceSum", x, keepdims=0) == np.sum(x)


def test_log_sum_exp_of_large_numbers():
    x = np.array([[1000, 1000], [-1000, -np.inf], [-np.inf, -np.inf], [np.inf, 0]], np.float32)
    actual = run("ReduceLogSumExp", x, np.array([1], np.int64), keepdims=0)
    check(actual, np.array([1000 + np.log(2), -1000, -np.inf, np.inf], np.float32))


def test_wrong_axes():
    x = np.zeros((2, 3), np.float32)
    with pytest.raises(Exception, match="axes 2 is out of range for a tensor of rank 2"):
        run("ReduceSum", x, np.array([2], np.int64))


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize(("name", "axis", "keepdims"), list(itertools.product(ARG, [0, 1, -1], [0, 1])))
def test_arg(name, axis, keepdims, dtype):
    x = numbers(dtype, (3, 4, 5))
    function = np.argmax if name == "ArgMax" else np.argmin
    wide = x.astype(np.float64)
    check(run(name, x, axis=axis, keepdims=keepdims), function(wide, axis, keepdims=bool(keepdims)))
    last = x.shape[axis] - 1 - function(np.flip(wide, axis), axis, keepdims=bool(keepdims))
    check(run(name, x, axis=axis, keepdims=keepdims, select_last_index=1), last)


def test_arg_of_nan_and_nothing():
    assert run("ArgMax", np.array([1, np.nan, 3], np.float32), keepdims=0) == 1
    assert run("ArgMin", np.array([1, np.nan, 0], np.float32), keepdims=0) == 1
    assert run("ArgMax", np.zeros((0, 2), np.float32), axis=1).shape == (0, 1)
    with pytest.raises(Exception, match=r"axis 0 of \[0, 2\] is empty"):
        run("ArgMax", np.zeros((0, 2), np.float32), axis=0)


@pytest.mark.parametrize("dtype", [*FLOATS, np.int32, np.int64, np.uint32, np.uint64])
@pytest.mark.parametrize(("name", "exclusive", "reverse"), list(itertools.product(CUMULATIVE, [0, 1], [0, 1])))
def test_cumulative(name, exclusive, reverse, dtype):
    x = numbers(dtype, (2, 3, 2), low=1, high=4)
    wide = x.astype(np.float64)
    for axis in (0, 1, -1):
        values = np.flip(wide, axis) if reverse else wide
        result = np.cumsum(values, axis) if name == "CumSum" else np.cumprod(values, axis)
        if exclusive:
            first = np.full_like(np.take(result, [0], axis), 0 if name == "CumSum" else 1)
            result = np.concatenate([first, np.take(result, range(x.shape[axis] - 1), axis)], axis)
        expected = np.flip(result, axis) if reverse else result
        for kind in (np.int32, np.int64):
            actual = run(name, x, np.array(axis, kind), exclusive=exclusive, reverse=reverse)
            check(actual, expected.astype(dtype))


def test_cumulative_axis_is_checked():
    with pytest.raises(Exception, match="axis 2 is out of range for a tensor of rank 2"):
        run("CumSum", np.zeros((2, 2), np.float32), np.array(2, np.int64))


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize(("largest", "axis"), list(itertools.product([0, 1], [0, 1, -1])))
def test_topk(dtype, largest, axis):
    x = numbers(dtype, (4, 5, 6), high=5)
    values, indices = run("TopK", x, np.array([3], np.int64), outputs=2, largest=largest, axis=axis)
    wide = x.astype(np.float64)
    order = np.argsort(-wide if largest else wide, axis=axis, kind="stable")
    expected = np.take(order, range(3), axis)
    check(indices, expected)
    check(values, np.take_along_axis(x, expected, axis))


def test_topk_versions():
    x = numbers(np.float32, (3, 4))
    expected = run("TopK", x, np.array([2], np.int64), outputs=2)
    for actual in (run("TopK", x, version=1, k=2, outputs=2), run("TopK", x, np.array([2]), version=10, outputs=2)):
        check(actual[0], expected[0])
        check(actual[1], expected[1])


def test_topk_of_none_and_too_many():
    x = np.zeros((2, 3), np.float32)
    assert run("TopK", x, np.array([0]), outputs=2)[0].shape == (2, 0)
    with pytest.raises(Exception, match=r"K is 4, but axis 1 of \[2, 3\] has 3 elements"):
        run("TopK", x, np.array([4]), outputs=2)
    with pytest.raises(Exception, match="K is -1"):
        run("TopK", x, np.array([-1]), outputs=2)


HUGE = 2**40  # extents that only an empty tensor can have


@pytest.mark.parametrize(
    ("name", "shape", "extra", "attributes", "result"),
    [
        ("ReduceSum", (0, HUGE), [np.array([1], np.int64)], {}, (0, 1)),
        ("ArgMax", (HUGE, 3, 0), [], {"axis": 1}, (HUGE, 1, 0)),
        ("CumSum", (HUGE, 3, 0), [np.array(1)], {}, (HUGE, 3, 0)),
        ("Softmax", (HUGE, 3, 0), [], {"axis": 1}, (HUGE, 3, 0)),
        ("Det", (0, 2**20, 2**20), [], {}, (0,)),
    ],
)
def test_empty_tensors_of_huge_extents_take_no_time(name, shape, extra, attributes, result):
    assert run(name, np.zeros(shape, np.float32), *extra, **attributes).shape == result


def test_topk_of_an_empty_tensor_with_a_huge_axis():
    values, indices = run("TopK", np.zeros((0, HUGE), np.float32), np.array([2]), outputs=2)
    assert values.shape == indices.shape == (0, 2)


def test_contents_that_cannot_fit():
    x, many = np.zeros((2, 3), np.float32), np.zeros(70_000, np.int64)
    with pytest.raises(Exception, match="70000 axes for an input of rank 2"):
        run("ReduceSum", x, many)
    with pytest.raises(Exception, match=r"K must be one number, but its shape is \[70000\]"):
        run("TopK", x, many, outputs=2)
    with pytest.raises(Exception, match=r"the size of a window must be one number, but its shape is \[70000\]"):
        run("HannWindow", many)
