"""Resize, Upsample, GridSample, AffineGrid and NonMaxSuppression against onnxruntime and plain formulas."""

import itertools

import ml_dtypes
import numpy as np
import pytest
from movement_models import check, check_error, check_same, ints, run, run_onnxruntime

X = np.random.default_rng(0).normal(size=(1, 2, 5, 7)).astype(np.float32)
SCALES = [np.array(s, np.float32) for s in ([1, 1, 2, 3], [1, 1, 1.6, 0.7], [1, 1, 0.5, 0.4])]
COORDINATES = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "half_pixel_symmetric"]


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("coordinates", COORDINATES)
def test_resize_like_onnxruntime(mode, coordinates):
    for scales in SCALES:
        # onnxruntime takes the rounded width for align_corners, the definition takes the exact one.
        if coordinates == "align_corners" and scales[2] not in (1, 2):
            continue
        settings = {"mode": mode, "coordinate_transformation_mode": coordinates}
        if mode == "cubic":
            settings["cubic_coeff_a"] = -0.5
        check_same("Resize", [X, None, scales], 19, **settings)
    check_same("Resize", [X, None, None, ints(1, 2, 9, 4)], 19, constants=[3], mode=mode, coordinate_transformation_mode=coordinates)


@pytest.mark.parametrize("nearest_mode", ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"])
def test_nearest_modes(nearest_mode):
    for coordinates, scales in itertools.product(["half_pixel", "asymmetric"], SCALES):
        check_same("Resize", [X, None, scales], 13, nearest_mode=nearest_mode, coordinate_transformation_mode=coordinates)
    check_same("Resize", [X, np.zeros(0, np.float32), SCALES[0]], 11, coordinate_transformation_mode="tf_half_pixel_for_nn")


@pytest.mark.parametrize("mode", ["linear", "cubic"])
def test_antialias_and_exclude_outside(mode):
    for scales in SCALES[1:]:
        check_same("Resize", [X, None, scales], 18, mode=mode, antialias=1)
    if mode == "cubic":
        check_same("Resize", [X, None, SCALES[1]], 13, mode=mode, exclude_outside=1)


def test_axes_policies_and_regions():
    check_same("Resize", [X, None, None, ints(9, 3)], 18, constants=[3], mode="linear", axes=[2, 3])
    for policy in ("not_larger", "not_smaller"):
        check_same("Resize", [X, None, None, ints(8, 9)], 18, constants=[3], mode="linear", axes=[2, 3], keep_aspect_ratio_policy=policy)
    region = np.array([0, 0, 0.2, 0.1, 1, 1, 0.8, 1.3], np.float32)
    for mode in ("linear", "nearest"):
        check_same("Resize", [X, region, None, ints(1, 2, 4, 5)], 13, constants=[1, 3], mode=mode, extrapolation_value=7.0,
                   coordinate_transformation_mode="tf_crop_and_resize")  # fmt: skip


def test_old_versions():
    for scales in (SCALES[0], np.array([1, 1, 1.5, 1], np.float32)):
        for mode in ("nearest", "linear"):
            check_same("Resize", [X, scales], 10, mode=mode)
            check_same("Upsample", [X, scales], 9, mode=mode)
            check_same("Upsample", [X], 7, mode=mode, scales=scales.tolist())
    check_same("Resize", [X, SCALES[2]], 10, mode="nearest")
    check(run("Upsample", [X], 1, height_scale=2.0, width_scale=3.0), X.repeat(2, 2).repeat(3, 3))


def test_resize_types():
    x = np.array([[0, 1, 2], [3, 200, 5]], np.uint8)[None, None]
    check(run("Resize", [x, None, np.array([1, 1, 2, 2], np.float32)], 19), x.repeat(2, 2).repeat(2, 3))
    words = np.array([["a", "b"]], object)
    check(run("Resize", [words, None, np.array([1, 2], np.float32)], 19), words.repeat(2, 1))
    bits = x.astype(ml_dtypes.bfloat16)
    check(run("Resize", [bits, None, None, ints(1, 1, 4, 6)], 19), bits.repeat(2, 2).repeat(2, 3))
    line = np.array([[0, 3]], np.int32)
    check(run("Resize", [line, None, np.array([1, 2], np.float32)], 19, mode="linear"), np.array([[0, 1, 2, 3]], np.int32))
    check(run("Resize", [X[:, :, :0], None, None, ints(1, 2, 0, 3)], 19), np.zeros((1, 2, 0, 3), np.float32))


def test_resize_errors():
    check_error("either scales or sizes", "Resize", [X], 19)
    check_error("scales has 2 entries, but 4 are needed", "Resize", [X, None, SCALES[0][:2]], 19)
    check_error("must be positive", "Resize", [X, None, np.array([1, 1, 0, 1], np.float32)], 19)
    check_error("must be positive", "Resize", [X, None, np.array([1, 1, np.nan, 1], np.float32)], 19)
    check_error("cannot be resized|limit", "Resize", [X, None, np.array([1, 1, 1e30, 1], np.float32)], 19)
    check_error("empty axis", "Resize", [X[:, :, :0], None, None, ints(1, 2, 3, 3)], 19)
    check_error("needs a region", "Resize", [X, None, SCALES[0]], 19, coordinate_transformation_mode="tf_crop_and_resize")
    check_error("mode is 'lanczos'", "Resize", [X, None, SCALES[0]], 19, mode="lanczos")
    check_error("names an axis twice", "Resize", [X, None, SCALES[0][:2]], 19, axes=[0, -4])


GRID = np.random.default_rng(1).uniform(-1.6, 1.6, (1, 3, 4, 2)).astype(np.float32)


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("align", [0, 1])
def test_grid_sample(mode, padding, align):
    settings = {"padding_mode": padding, "align_corners": align}
    check_same("GridSample", [X, GRID], 16, mode=mode, **settings)
    check_same("GridSample", [X, GRID], 16, domain="com.microsoft", mode=mode, **settings)
    if mode != "bicubic":
        volume, points = X[..., None].repeat(3, 4), np.concatenate([GRID[..., :1], GRID], -1)[:, :, :, None]
        check_same("GridSample", [volume, points], 20, mode=mode.removeprefix("bi"), **settings)


def test_grid_sample_numbers_that_are_none():
    grid = np.array([np.nan, np.inf, -np.inf, 1e30], np.float32).reshape(1, 1, 2, 2)
    for padding in ("zeros", "border", "reflection"):
        for mode in ("linear", "nearest", "cubic"):
            (got,) = run("GridSample", [X, grid], 20, mode=mode, padding_mode=padding)
            assert np.isfinite(got).all()
            if padding == "zeros":
                assert not got.any()
    check_error("coordinates", "GridSample", [X, GRID[..., :1]], 20)
    check_error("rank", "GridSample", [X, GRID[0]], 20)
    check_error("no elements to sample", "GridSample", [X[:, :, :0], GRID], 20)


@pytest.mark.parametrize("align", [0, 1])
def test_affine_grid(align):
    theta = np.random.default_rng(2).normal(size=(2, 2, 3)).astype(np.float32)
    check_same("AffineGrid", [theta, ints(2, 1, 3, 5)], 20, align_corners=align)
    theta = np.random.default_rng(2).normal(size=(1, 3, 4)).astype(np.float32)
    check_same("AffineGrid", [theta, ints(1, 1, 2, 3, 4)], 20, align_corners=align)
    check_error("theta must have the shape", "AffineGrid", [theta, ints(1, 1, 3, 4)], 20)
    check_error("entries", "AffineGrid", [theta, ints(1, 1, 3)], 20)


def test_non_max_suppression():
    rng = np.random.default_rng(3)
    boxes, scores = rng.uniform(0, 1, (2, 30, 4)).astype(np.float32), rng.uniform(0, 1, (2, 3, 30)).astype(np.float32)
    limits = [np.array([4]), np.array([0.3], np.float32), np.array([0.25], np.float32)]
    for center in (0, 1):
        check_same("NonMaxSuppression", [boxes, scores, *limits], 11, center_point_box=center)
        check_same("NonMaxSuppression", [boxes, scores, *limits[:2]], 10, center_point_box=center)
    assert run("NonMaxSuppression", [boxes, scores], 11)[0].shape == (0, 3)
    assert run("NonMaxSuppression", [boxes[:, :0], scores[:, :, :0], *limits], 11)[0].shape == (0, 3)
    check_error("do not match", "NonMaxSuppression", [boxes, scores[:, :, :9]], 11)
    check_error("outside 0..1", "NonMaxSuppression", [boxes, scores, limits[0], limits[1] + 2], 11)
    assert run_onnxruntime("NonMaxSuppression", [boxes, scores, *limits], 11)[0].shape[0] > 0


def test_image_ops_of_old_exporters():
    image = np.random.default_rng(4).normal(size=(1, 2, 5, 6)).astype(np.float32)
    (got,) = run("Affine", [image], 6, alpha=2.0, beta=-1.0)
    np.testing.assert_allclose(got, image * 2 - 1, rtol=1e-6)
    (got,) = run("ScaledTanh", [image], 6, alpha=2.0, beta=0.5)
    np.testing.assert_allclose(got, 2 * np.tanh(image * 0.5), rtol=1e-6)
    (got,) = run("ParametricSoftplus", [image * 100], 6, alpha=2.0, beta=0.5)
    np.testing.assert_allclose(got, 2 * np.logaddexp(0, image * 50), rtol=1e-6)
    (got,) = run("ImageScaler", [image], 6, scale=3.0, bias=[1.0, -1.0])
    np.testing.assert_allclose(got, image * 3 + np.float32([1, -1])[:, None, None], rtol=1e-6)
    check(run("Crop", [image], 6, border=[1, 2, 0, 1]), image[:, :, 2:4, 1:6])
    check(run("Crop", [image], 6, border=[1, 2, 0, 0], scale=[2, 3]), image[:, :, 2:4, 1:4])
    check(run("DynamicSlice", [image, ints(1), ints(3), ints(3)], 6), image[..., 1:3])
    check(run("GivenTensorFill", [], 6, values=[1.0, 2.0, 3.0, 4.0], shape=[2, 2]), np.float32([[1, 2], [3, 4]]))
    check_error("bias has 1 entries", "ImageScaler", [image], 6, bias=[1.0])
    check_error("border needs 4", "Crop", [image], 6, border=[1])
