"""AveragePool, MaxPool, LpPool, their global forms, MaxUnpool, MaxRoiPool and RoiAlign."""

import numpy as np
import pytest
from nn_models import FLOATS, assert_close, compare, random, refuses, run

WINDOWS = [
    {"kernel_shape": [3], "strides": [2], "pads": [1, 1]},
    {"kernel_shape": [3, 2], "strides": [2, 3], "pads": [1, 0, 2, 1]},
    {"kernel_shape": [2, 3], "dilations": [2, 1], "strides": [1, 2]},
    {"kernel_shape": [2, 2, 3], "strides": [1, 2, 1], "pads": [1, 0, 1, 0, 1, 2]},
]


def input_for(window, dtype=np.float32):
    return random(2, 3, *(7, 8, 6)[: len(window["kernel_shape"])], dtype=dtype)


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("ceil_mode", [0, 1])
@pytest.mark.parametrize("include", [0, 1])
def test_average_pool(window, ceil_mode, include):
    compare("AveragePool", {"x": input_for(window)}, ceil_mode=ceil_mode, count_include_pad=include, **window)


@pytest.mark.parametrize("op_type", ["AveragePool", "MaxPool", "LpPool"])
@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER", "VALID"])
@pytest.mark.parametrize("stride", [1, 2, 3])
def test_pools_with_auto_pad(op_type, auto_pad, stride):
    compare(op_type, {"x": random(1, 2, 7, 6)}, kernel_shape=[4, 3], strides=[stride, stride], auto_pad=auto_pad)


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("ceil_mode", [0, 1])
@pytest.mark.parametrize("storage_order", [0, 1])
def test_max_pool_and_where_it_found_the_maximum(window, ceil_mode, storage_order):
    compare("MaxPool", {"x": input_for(window)}, 2, ceil_mode=ceil_mode, storage_order=storage_order, **window)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_max_pool_of_bytes(dtype):
    x = np.random.default_rng(1).integers(np.iinfo(dtype).min, np.iinfo(dtype).max, (1, 2, 6, 6)).astype(dtype)
    (y,) = run("MaxPool", {"x": x}, kernel_shape=[2, 2], strides=[2, 2])
    np.testing.assert_array_equal(y, x.reshape(1, 2, 3, 2, 3, 2).max(axis=(3, 5)))


@pytest.mark.parametrize("dtype", FLOATS)
def test_pools_of_every_float_type(dtype):
    x = random(1, 2, 4, 6, dtype=dtype)
    blocks = x.astype(np.float64).reshape(1, 2, 2, 2, 3, 2)
    window = {"kernel_shape": [2, 2], "strides": [2, 2]}
    assert_close(run("MaxPool", {"x": x}, **window)[0], blocks.max(axis=(3, 5)).astype(dtype))
    assert_close(run("AveragePool", {"x": x}, **window)[0], blocks.mean(axis=(3, 5)).astype(dtype))
    norm = (np.abs(blocks) ** 3).sum(axis=(3, 5)) ** (1 / 3)
    assert_close(run("LpPool", {"x": x}, p=3, **window)[0], norm.astype(dtype))
    planes = x.astype(np.float64).reshape(1, 2, 24)
    for op_type, expected in [
        ("GlobalAveragePool", planes.mean(axis=2)),
        ("GlobalMaxPool", planes.max(axis=2)),
        ("GlobalLpPool", np.sqrt((planes**2).sum(axis=2))),
    ]:
        assert_close(run(op_type, {"x": x})[0], expected.reshape(1, 2, 1, 1).astype(dtype))


def test_max_pool_passes_nan_on():
    x = np.array([[[1, np.nan, 3, 4]]], np.float32)
    np.testing.assert_array_equal(run("MaxPool", {"x": x}, kernel_shape=[2])[0], [[[np.nan, np.nan, 4]]])


@pytest.mark.parametrize(("opset", "p"), [(1, 3.0), (2, 3), (11, 3), (18, 3)])
def test_lp_pools_of_each_version(opset, p):
    x = random(1, 2, 5)
    (y,) = run("LpPool", {"x": x}, opset=opset, p=p, kernel_shape=[2])
    cubes = np.abs(x.astype(np.float64)) ** 3
    assert_close(y, np.cbrt(cubes[..., :-1] + cubes[..., 1:]).astype(np.float32))
    (g,) = run("GlobalLpPool", {"x": x}, opset=opset, p=p)
    assert_close(g, np.cbrt(cubes.sum(axis=2, keepdims=True)).astype(np.float32))


@pytest.mark.parametrize("opset", [1, 7, 10, 19])
def test_average_pool_of_each_version(opset):
    x = random(1, 1, 4)
    (y,) = run("AveragePool", {"x": x}, opset=opset, kernel_shape=[2], pads=[1, 0])
    expected = np.array([x[0, 0, 0], *((x[0, 0, :-1] + x[0, 0, 1:]) / 2)], np.float32)
    assert_close(y[0, 0], expected)


def test_pools_refuse_wrong_attributes():
    x = {"x": random(1, 2, 5, 5)}
    refuses("kernel_shape", "MaxPool", x)
    refuses("'kernel_shape' has 1", "MaxPool", x, kernel_shape=[2])
    refuses("'kernel_shape' contains 0", "AveragePool", x, kernel_shape=[2, 0])
    refuses("storage_order is 2", "MaxPool", x, kernel_shape=[2, 2], storage_order=2)
    refuses("p is 0", "LpPool", x, kernel_shape=[2, 2], p=0)
    refuses("spatial", "MaxPool", {"x": random(2, 3)}, kernel_shape=[2])
    refuses("allowed types are", "AveragePool", {"x": np.ones((1, 1, 3), np.int32)}, kernel_shape=[2])


def test_a_window_of_any_size_costs_only_what_it_reads():
    big = 2**31 - 1
    (y,) = run("MaxPool", {"x": random(1, 1, 3, 3)}, kernel_shape=[big, big], pads=[big - 3, big - 3, 0, 0])
    assert y.shape == (1, 1, 1, 1)


def test_max_unpool_undoes_a_max_pool():
    x = random(2, 3, 6, 4)
    window = {"kernel_shape": [2, 2], "strides": [2, 2]}
    values, indices = run("MaxPool", {"x": x}, 2, **window)
    (y,) = run("MaxUnpool", {"v": values, "i": indices}, **window)
    expected = np.zeros(x.size, np.float32)
    expected[indices.ravel()] = values.ravel()
    np.testing.assert_array_equal(y, expected.reshape(x.shape))
    shape = np.array([2, 3, 7, 5])
    (larger,) = run("MaxUnpool", {"v": values, "i": indices, "s": shape}, **window)
    np.testing.assert_array_equal(larger, np.pad(y, [(0, 0), (0, 0), (0, 1), (0, 1)]))


def test_max_unpool_refuses_bad_indices_and_shapes():
    values, window = random(1, 1, 2), {"kernel_shape": [2], "strides": [2]}
    refuses("index 4 at position 1", "MaxUnpool", {"v": values, "i": np.array([[[0, 4]]])}, **window)
    refuses("index -1 at position 0", "MaxUnpool", {"v": values, "i": np.array([[[-1, 1]]])}, **window)
    refuses("the same shape", "MaxUnpool", {"v": values, "i": np.array([[[0]]])}, **window)
    feeds = {"v": values, "i": np.array([[[0, 1]]]), "s": np.array([1, 1, 3])}
    refuses("smaller than", "MaxUnpool", feeds, **window)


ROIS = np.array([[0, 0, 6, 5], [2.3, 1.1, 3.7, 9.5], [4, 4, 4, 4], [-3, -2, 20, 30]], np.float32)


@pytest.mark.parametrize("mode", ["avg", "max"])
@pytest.mark.parametrize("sampling_ratio", [0, 2])
@pytest.mark.parametrize(("opset", "transform"), [(10, None), (16, "half_pixel"), (16, "output_half_pixel")])
def test_roi_align(mode, sampling_ratio, opset, transform):
    feeds = {"x": random(2, 3, 10, 8), "rois": ROIS, "batch": np.array([0, 1, 1, 0])}
    attributes = {"coordinate_transformation_mode": transform} if transform else {}
    attributes |= {"output_height": 3, "output_width": 2, "spatial_scale": 0.5, "sampling_ratio": sampling_ratio}
    compare("RoiAlign", feeds, opset=opset, mode=mode, **attributes)


def test_max_roi_pool():
    rois = np.concatenate([np.array([[0], [1], [1], [0]], np.float32), ROIS], axis=1)
    compare("MaxRoiPool", {"x": random(2, 3, 10, 8), "r": rois}, opset=11, pooled_shape=[3, 2], spatial_scale=0.5)


def test_regions_are_checked():
    x, rois = random(2, 3, 10, 8), ROIS
    for index in (-1, 2):
        batch = np.array([0, 1, index, 0])
        refuses(f"batch index {index} of region 2", "RoiAlign", {"x": x, "r": rois, "b": batch})
        pooled = np.concatenate([batch[:, None].astype(np.float32), rois], axis=1)
        refuses(f"batch index {index} of region 2", "MaxRoiPool", {"x": x, "r": pooled}, pooled_shape=[2, 2])
    batch = np.zeros(4, np.int64)
    huge = np.full((4, 4), [0, 0, 1e30, 1e30], np.float32)
    refuses("samples", "RoiAlign", {"x": x, "r": huge, "b": batch})
    refuses("mode is 'min'", "RoiAlign", {"x": x, "r": rois, "b": batch}, mode="min")
    refuses("batch indices", "RoiAlign", {"x": x, "r": rois, "b": batch[:3]})
    refuses("4 columns", "RoiAlign", {"x": x, "r": random(4, 5), "b": batch})
    refuses("must be positive", "RoiAlign", {"x": x, "r": rois, "b": batch}, output_height=0)
    nan = np.full((1, 5), [0, np.nan, 0, 1, 1], np.float32)
    refuses("not finite", "MaxRoiPool", {"x": x, "r": nan}, pooled_shape=[2, 2])
