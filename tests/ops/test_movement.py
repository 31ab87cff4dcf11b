"""Concat, Split, Slice, Transpose and their kind: old versions, every element type, empty tensors, wrong input."""

import ml_dtypes
import numpy as np
import pytest
from movement_models import ALL_DTYPES, SMALL_DTYPES, array_of, check, check_error, check_same, ints, run

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@pytest.mark.parametrize("dtype", ALL_DTYPES)
def test_every_type_moves(dtype):
    x = array_of(dtype, (2, 3, 4))
    check(run("Transpose", [x], 25, perm=[2, 0, 1]), x.transpose(2, 0, 1))
    check(run("Concat", [x, x], 13, axis=-2), np.concatenate([x, x], -2))
    check(run("Slice", [x, ints(-1, 1), ints(-4, 3), ints(0, 2), ints(-1, 2)], 13), x[::-1, :, 1:3:2])
    check(run("Expand", [x[:, :1], ints(5, 1, 3, 1)], 13), np.broadcast_to(x[:, :1], (5, 2, 3, 4)))
    check(run("Tile", [x, ints(1, 2, 3)], 13), np.tile(x, (1, 2, 3)))
    check(run("Flatten", [x], 25, axis=-1), x.reshape(6, 4))
    check(run("Squeeze", [x[:, :1], ints(1)], 25), x[:, 0])
    check(run("Pad", [x, ints(0, 1, 0, 0, 0, 2)], 25, mode="edge"), np.pad(x, [(0, 0), (1, 0), (0, 2)], mode="edge"))
    first, second = run("Split", [x, ints(1, 3)], 18, outputs=2, axis=2)
    np.testing.assert_array_equal(first, x[:, :, :1])
    np.testing.assert_array_equal(second, x[:, :, 1:])


@pytest.mark.parametrize("dtype", SMALL_DTYPES)
def test_small_types_move(dtype):
    x = array_of(dtype, (3, 5))
    check(run("Transpose", [x], 25), x.T)
    check(run("Pad", [x, ints(0, 1, 1, 0)], 25), np.pad(x, [(0, 1), (1, 0)]))
    check(run("Squeeze", [x[:, None], ints(1)], 25), x)
    check(run("Size", [x], 25), np.array(15))


def test_concat_versions():
    check(run("Concat", [X, X], 1), np.concatenate([X, X], 1))
    check(run("Concat", [X, X], 4, axis=2), np.concatenate([X, X], 2))
    check(run("Concat", [X[:0], X, X[:, :, :]], 13, axis=0), np.concatenate([X, X], 0))
    check_error("needs attribute 'axis'", "Concat", [X, X], 13)
    check_error("axis 3 is out of range for a tensor of rank 3", "Concat", [X, X], 13, axis=3)
    check_error("differ on axis 1", "Concat", [X, X[:, :2]], 13, axis=0)
    check_error("rank", "Concat", [X, X[0]], 13, axis=0)
    check_error("the same element type", "Concat", [X, X.astype(np.int32)], 13, axis=0)


def test_split_versions():
    for version, settings in [(1, {}), (2, {}), (11, {"split": [1, 2]})]:
        parts = run("Split", [X[:, :2] if version < 11 else X], version, outputs=2, axis=1, **settings)
        np.testing.assert_array_equal(np.concatenate(parts, 1), X[:, :2] if version < 11 else X)
    parts = run("Split", [X], 18, outputs=3, axis=2, num_outputs=3)
    assert [p.shape[2] for p in parts] == [2, 2, 0]
    parts = run("Split", [np.arange(7)], 18, outputs=3, num_outputs=3)
    assert [p.tolist() for p in parts] == [[0, 1, 2], [3, 4, 5], [6]]
    check_error("cannot be split into 2 equal parts", "Split", [X], 13, outputs=2, axis=1)
    check_error("add up to 2", "Split", [X, ints(1, 1)], 13, outputs=2, axis=1)
    check_error("sizes for 2 outputs", "Split", [X, ints(1, 1, 1)], 13, outputs=2, axis=1)
    check_error("size -1", "Split", [X, ints(4, -1)], 13, outputs=2, axis=1)


def test_slice_versions_and_bounds():
    check(run("Slice", [X], 1, starts=[0, -2], ends=[1, 100], axes=[0, 2]), X[:1, :, -2:])
    check(run("Slice", [X], 9, starts=[1], ends=[2]), X[1:2])
    big = np.iinfo(np.int64).max
    check(run("Slice", [X, ints(0), ints(big), ints(2), ints(big)], 10), X[:, :, ::4])
    check(run("Slice", [X, ints(-1), ints(-big - 1), ints(2), ints(-1)], 11), X[:, :, ::-1])
    check(run("Slice", [X, ints(3), ints(1), ints(1)], 13), X[:, 3:1])
    check(run("Slice", [X, ints(2), ints(-100), ints(1), ints(-big - 1)], 13), X[:, 2:3])
    for start in (-7, -4, -1, 0, 2, 4, 9):
        for end in (-7, -4, -1, 0, 2, 4, 9):
            for step in (-3, -1, 1, 2):
                check_same("Slice", [X, ints(start), ints(end), ints(2), ints(step)], 13)
    i32 = np.array([1], np.int32)
    check(run("Slice", [X, i32, i32 + 1, i32 - 1], 13), X[1:2])
    check_error("a step must not be 0", "Slice", [X, ints(0), ints(1), ints(0), ints(0)], 13)
    check_error("names an axis twice", "Slice", [X, ints(0, 0), ints(1, 1), ints(0, -3)], 13)
    check_error("2 starts but 1 ends", "Slice", [X, ints(0, 0), ints(1)], 13)


def test_squeeze_and_unsqueeze_versions():
    x = X[:, None, :, None]
    check(run("Squeeze", [x], 1), X)
    check(run("Squeeze", [x], 11, axes=[-2]), X[:, None])
    check(run("Squeeze", [x], 13), X)
    check(run("Unsqueeze", [X], 1, axes=[0, 4]), X[None, :, :, :, None])
    check(run("Unsqueeze", [X, ints(-1, 0)], 13), X[None, :, :, :, None])
    check(run("ExpandDims", [X, np.array(-1, np.int32)], 13, domain="com.microsoft", constants=[1]), X[..., None])
    check_error("axes of extent 1 can be squeezed", "Squeeze", [X, ints(0)], 13)


def test_expand_and_tile():
    check(run("Expand", [np.float32(3).reshape(()), ints(0, 2)], 8), np.zeros((0, 2), np.float32))
    check(run("Expand", [X, ints()], 13), X)
    tiled = run("Tile", [X, np.array(2, np.float32), np.array(1, np.float32)], 1, constants=[1, 2])
    check(tiled, np.tile(X, (1, 2, 1)))
    check(run("Tile", [X, ints(0, 1, 2)], 6), np.tile(X, (0, 1, 2)))
    check_error("cannot be broadcast", "Expand", [X, ints(2, 2, 4)], 13)
    check_error("negative", "Expand", [X, ints(-1, 3, 4)], 13)
    check_error("2 entries, but the tensor has rank 3", "Tile", [X, ints(1, 2)], 13)
    check_error("negative entry", "Tile", [X, ints(1, 2, -1)], 13)


def test_sizes_that_cannot_be_are_refused():
    huge = 1 << 40
    check_error("too|limit", "Tile", [X, ints(huge, huge, 1)], 13)
    check_error("too|limit", "Expand", [X[:1, :1, :1], ints(huge, huge, huge)], 13)
    check_error("too|limit|overflow", "Pad", [X, ints(huge, huge, huge, 0, 0, 0)], 18)
    check_error("too|limit|overflow", "Pad", [X, ints((1 << 63) - 1, 0, 0, 0, 0, 0)], 18)
    check_error("too|limit", "ConstantOfShape", [ints(huge, huge)], 9)
    check_error("too|limit", "ConstantOfShape", [ints(huge)], 9)
    check_error("too|limit", "Range", [np.array(0), np.array(1 << 62), np.array(1)], 11)
    check_error("too many", "Range", [np.float64(0), np.float64(1e300), np.float64(1)], 11)
    check_error("too|limit", "OneHot", [ints(1), np.array(huge), np.array([0.0, 1.0])], 11)
    check_error("negative|shape", "ConstantOfShape", [ints(-1)], 9)
    check_error("too many", "ConstantOfShape", [ints(huge, huge, 0)], 9)


def test_pad_versions_and_modes():
    check(run("Pad", [X], 1, paddings=[0, 1, 0, 0, 0, 2], value=1.5),
          np.pad(X, [(0, 0), (1, 0), (0, 2)], constant_values=1.5))  # fmt: skip
    half = X.astype(np.float16)
    check(run("Pad", [half], 2, pads=[0, 1, 0, 0, 0, 2], value=2.0),
          np.pad(half, [(0, 0), (1, 0), (0, 2)], constant_values=2))  # fmt: skip
    check(run("Pad", [X, ints(0, -1, -2, 1, 0, -1)], 11), np.pad(X[:, 1:, 2:3], [(0, 1), (0, 0), (0, 0)]))
    for mode in ("reflect", "edge", "wrap"):
        got = run("Pad", [X, ints(2, 1, 3, 2, 2, 0), None, ints(1, 2, 0)], 19, mode=mode)
        check(got, np.pad(X, [(3, 0), (2, 2), (1, 2)], mode=mode))
    words = array_of(object, (2, 2))
    check(run("Pad", [words, ints(0, 0, 0, 1), np.array("x", object)], 13), np.pad(words, [(0, 0), (0, 1)], constant_values="x"))
    one = np.ones((1, 1), np.int32)
    check(run("Pad", [one, ints(2, 0, 1, 0)], 18, mode="reflect"), np.ones((4, 1), np.int32))
    matrix = ints(0, 0, 1, 1, 0, 0).reshape(1, 6)
    check(run("Pad", [X, matrix], 13, domain="com.microsoft"), np.pad(X, [(0, 1), (0, 0), (1, 0)]))
    check_error("pads for 3 axes", "Pad", [X, ints(1, 1)], 18)
    check_error("must be 'constant", "Pad", [X, ints(0, 0, 0, 0, 0, 0)], 18, mode="mirror")
    check_error("only be padded with a constant", "Pad", [X[:0], ints(1, 0, 0, 0, 0, 0)], 18, mode="edge")
    check_error("remove more", "Pad", [X, ints(-4, 0, 0, 3, 0, 0)], 18)
    check_error("names an axis twice", "Pad", [X, ints(1, 1, 1, 1), None, ints(0, -3)], 18)


def test_depth_and_space():
    x = np.arange(96, dtype=np.int32).reshape(1, 8, 3, 4)
    for mode in ("DCR", "CRD"):
        (space,) = run("DepthToSpace", [x], 13, blocksize=2, mode=mode)
        check(run("SpaceToDepth", [space], 28, blocksize=2, mode=mode), x)
    check_same("DepthToSpace", [x.astype(np.float32)], 1, blocksize=2)
    check_same("SpaceToDepth", [np.arange(64, dtype=np.float32).reshape(2, 2, 4, 4)], 1, blocksize=2)
    check_error("not a multiple of 9", "DepthToSpace", [x], 13, blocksize=3)
    check_error("height 3 is not a multiple", "SpaceToDepth", [x], 13, blocksize=2)
    check_error("blocksize must be positive", "SpaceToDepth", [x], 13, blocksize=0)


def test_reverse_sequence():
    x = np.arange(16, dtype=np.int64).reshape(4, 4)
    expected = x.copy()
    expected[:3, 1] = x[2::-1, 1]
    expected[:4, 3] = x[3::-1, 3]
    check(run("ReverseSequence", [x, ints(0, 3, 1, 4)], 10), expected)
    check(run("ReverseSequence", [x.T.copy(), ints(0, 3, 1, 4)], 28, batch_axis=0, time_axis=1), expected.T)
    check_error("length 5 at position 2", "ReverseSequence", [x, ints(1, 1, 5, 1)], 10)
    check_error("length -1", "ReverseSequence", [x, ints(1, 1, -1, 1)], 10)
    check_error("there are 3 lengths for a batch", "ReverseSequence", [x, ints(1, 1, 1)], 10)
    check_error("batch_axis", "ReverseSequence", [x, ints(1, 1, 1, 1)], 10, batch_axis=1, time_axis=1)


def test_center_crop_pad():
    x = np.arange(35, dtype=np.int16).reshape(5, 7)
    check(run("CenterCropPad", [x, ints(2, 10)], 18), np.pad(x[1:3], [(0, 0), (1, 2)]))
    check(run("CenterCropPad", [x, np.array([4], np.int32)], 18, axes=[-1]), x[:, 1:5])
    check_error("extents for", "CenterCropPad", [x, ints(2)], 18)


def test_col2im_against_a_loop():
    image, block, strides, pads, dilations = (5, 6), (2, 3), (2, 1), (1, 0, 1, 2), (2, 1)
    blocks = [
        (image[a] + pads[a] + pads[2 + a] - dilations[a] * (block[a] - 1) - 1) // strides[a] + 1 for a in range(2)
    ]
    x = np.random.default_rng(0).normal(size=(2, 3 * 6, blocks[0] * blocks[1]))
    expected = np.zeros((2, 3, *image))
    columns = x.reshape(2, 3, 2, 3, *blocks)
    for i in range(2):
        for j in range(3):
            for r in range(blocks[0]):
                for s in range(blocks[1]):
                    row, column = r * 2 - 1 + i * 2, s * 1 + j
                    if 0 <= row < 5 and 0 <= column < 6:
                        expected[:, :, row, column] += columns[:, :, i, j, r, s]
    settings = {"strides": strides, "pads": pads, "dilations": dilations}
    (got,) = run("Col2Im", [x, ints(*image), ints(*block)], 18, **settings)
    np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)
    check_error("columns, but", "Col2Im", [x[:, :, :4], ints(*image), ints(*block)], 18, **settings)
    check_error("not a multiple", "Col2Im", [x[:, :17], ints(*image), ints(*block)], 18, **settings)
    check_error("larger than the padded image", "Col2Im", [x, ints(1, 1), ints(5, 5)], 18)
    check_error("strides has the entry 0", "Col2Im", [x, ints(*image), ints(*block)], 18, strides=[0, 1])


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.bool_, ml_dtypes.bfloat16])
def test_diagonals(dtype):
    x = np.ones((2, 3, 4), dtype)
    for k in (-5, -1, 0, 2, 9):
        check(run("Trilu", [x, np.array(k)], 14), np.triu(x, k))
        check(run("Trilu", [x, np.array(k)], 14, upper=0), np.tril(x, k))
        check(run("EyeLike", [x[0]], 22, k=k), np.eye(3, 4, k, dtype=np.float32).astype(dtype))
    check(run("EyeLike", [x[0]], 9, dtype=7), np.eye(3, 4, dtype=np.int64))
    check_error("rank 2 or more", "Trilu", [x[0, 0]], 14)
    check_error("rank 2", "EyeLike", [x], 22)
