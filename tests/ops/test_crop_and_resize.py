"""Resize of a region (tf_crop_and_resize): the standard's formula in numpy, and where onnxruntime differs from it.
docs/numerics.md says who is right."""

import itertools

import numpy as np
import pytest
from movement_models import run, run_onnxruntime

REGIONS = {  # begins and ends along depth, height and width; no element lies on a border or between two by half
    "inside": ([0.11, 0.23, 0.31], [0.83, 0.92, 0.74]),
    "over the end": ([0.41, 0.57, 0.23], [1.32, 1.27, 1.13]),
    "over the beginning": ([-0.43, -0.61, 0.22], [0.31, 1.24, 0.93]),
    "flipped": ([0.93, 0.81, 0.74], [0.12, 0.23, 0.31]),
}
EXTRAPOLATION = 10.0


def source_positions(length, size, begin, end):
    """Where the elements of the result lie on an axis of the input; NaN outside of it."""
    last = np.float64(length - 1)
    begin, end = np.float64(np.float32(begin)), np.float64(np.float32(end))
    at = 0.5 * (begin + end) * last + np.zeros(1)
    if size > 1:
        at = begin * last + np.arange(size) * (end - begin) * last / (size - 1)
    return np.where((at >= 0) & (at <= last), at, np.nan)


def crop_and_resize(x, begins, ends, sizes, mode):
    """By the text of the standard. An element that is outside along any axis is the extrapolation value."""
    positions = [source_positions(*axis) for axis in zip(x.shape, sizes, begins, ends, strict=True)]
    result = np.zeros(sizes)
    for index in itertools.product(*map(range, sizes)):
        at = np.array([positions[axis][i] for axis, i in enumerate(index)])
        if np.isnan(at).any():
            result[index] = EXTRAPOLATION
        elif mode == "nearest":
            result[index] = x[tuple(np.ceil(at - 0.5).astype(int))]
        else:
            low = np.minimum(np.floor(at).astype(int), np.maximum(np.array(x.shape) - 2, 0))
            for corner in itertools.product((0, 1), repeat=x.ndim):
                weight = np.prod([abs(1 - c - f) for c, f in zip(corner, at - low, strict=True)])
                if weight != 0:
                    result[index] += weight * x[tuple(low + corner)]
    return result.astype(np.float32)


def resized(runner, x, begins, ends, sizes, mode, version=13, **attributes):
    roi = np.array([*begins, *ends], np.float32)
    inputs = [x, roi, None, np.array(sizes, np.int64)]
    return runner(
        "Resize", inputs, version, mode=mode, coordinate_transformation_mode="tf_crop_and_resize",
        extrapolation_value=EXTRAPOLATION, constants=(1, 3), **attributes,
    )[0]  # fmt: skip


def image(*shape):
    return np.random.default_rng(5).normal(size=shape).astype(np.float32)


def region_of(name, rank):
    """Begins, ends and sizes for the last axes of an image [batch, channels, depth, height, width]."""
    begins, ends = REGIONS[name]
    return [0, 0, *begins][-rank:], [1, 1, *ends][-rank:], [2, 2, 6, 7, 4][-rank:]


@pytest.mark.parametrize("region", REGIONS)
@pytest.mark.parametrize("mode", ["linear", "nearest"])
@pytest.mark.parametrize("rank", [2, 3, 4, 5])
def test_a_region_by_the_standard_and_onnxruntime(region, mode, rank):
    x = image(2, 2, 5, 4, 3)[(0,) * (5 - rank)]
    begins, ends, sizes = region_of(region, rank)
    expected = crop_and_resize(x, begins, ends, sizes, mode)
    np.testing.assert_allclose(resized(run, x, begins, ends, sizes, mode), expected, rtol=1e-5, atol=1e-5)
    if mode == "nearest" or rank != 4:  # onnxruntime interpolates along three axes of 4 not at all
        theirs = resized(run_onnxruntime, x, begins, ends, sizes, mode)
        np.testing.assert_allclose(theirs, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("region", REGIONS)
@pytest.mark.parametrize("mode", ["linear", "nearest"])
def test_a_region_of_some_axes(region, mode):
    x = image(2, 2, 5, 4, 3)
    begins, ends, sizes = region_of(region, 5)
    expected = crop_and_resize(x, begins, ends, sizes, mode)
    some = [begins[2:], ends[2:], sizes[2:]]
    np.testing.assert_allclose(resized(run, x, *some, mode, 18, axes=[2, 3, 4]), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("mode", ["linear", "nearest"])
def test_one_element_is_the_middle_of_its_region(mode):
    x = image(1, 1, 5, 4, 3)
    begins, ends = [0, 0, 0.13, 0.22, 0.61], [1, 1, 0.82, 1.3, 0.7]
    expected = crop_and_resize(x, begins, ends, [1, 1, 1, 1, 1], mode)
    assert expected != EXTRAPOLATION
    np.testing.assert_allclose(resized(run, x, begins, ends, [1] * 5, mode), expected, rtol=1e-5, atol=1e-5)
    theirs = resized(run_onnxruntime, x, begins, ends, [1] * 5, mode)
    np.testing.assert_allclose(theirs, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("mode", ["linear", "nearest", "cubic"])
@pytest.mark.parametrize("axis", [0, 1])
def test_an_element_on_the_border_is_inside(mode, axis):
    """0.6 + 4 / 6 * (1.2 - 0.6) is 1 in the float32 numbers that a model holds, and a little more with more digits."""
    x, begins, ends, sizes = image(4, 4), [0, 0], [1, 1], [4, 4]
    begins[axis], ends[axis], sizes[axis] = 0.6, 1.2, 7
    actual = resized(run, x, begins, ends, sizes, mode)
    expected = resized(run_onnxruntime, x, begins, ends, sizes, mode)
    assert (expected == EXTRAPOLATION).sum() == 2 * 4
    np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(actual.take(4, axis), x.take(3, axis), rtol=1e-5, atol=1e-5)
