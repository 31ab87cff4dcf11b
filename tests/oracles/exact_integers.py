"""Quantized products and convolutions as integer arithmetic in numpy: the same numbers on every CPU.

Sums are int64 and factors float64, so nothing is rounded or saturated before the last step of an op.
"""

import numpy as np

FLOAT32_EPS = float(np.finfo(np.float32).eps)


def centered(values, zero_point):
    """values - zero_point without overflow; an absent zero point is 0."""
    return values.astype(np.int64) - (0 if zero_point is None else np.asarray(zero_point).astype(np.int64))


def matmul(a, b, a_zero=None, b_zero=None):
    """MatMulInteger in int64. Zero points: one number, one for each row of a, or one for each column of b."""
    if a_zero is not None and np.ndim(a_zero) == 1 and np.size(a_zero) > 1:
        a_zero = np.asarray(a_zero)[:, None]
    return np.matmul(centered(a, a_zero), centered(b, b_zero))


def conv(x, w, x_zero=None, w_zero=None, group=1, pads=(0, 0, 0, 0), strides=(1, 1)):
    """ConvInteger in int64, for images with channels first. w_zero: one number, or one for each output channel."""
    if w_zero is not None and np.ndim(w_zero) == 1:
        w_zero = np.asarray(w_zero)[:, None, None, None]
    # Padding stands for the real number 0, which is what the zero point becomes.
    x = np.pad(centered(x, x_zero), [(0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])])
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], (2, 3))[:, :, :: strides[0], :: strides[1]]
    parts = zip(np.split(windows, group, 1), np.split(centered(w, w_zero), group), strict=True)
    return np.concatenate([np.einsum("nchwij,ocij->nohw", part, weights) for part, weights in parts], 1)


def scaled(sums, *scales):
    """The real numbers that integer sums stand for."""
    return sums * np.prod(np.broadcast_arrays(*(np.asarray(scale).astype(np.float64) for scale in scales)), axis=0)


def dequantized(values, scale, zero_point):
    return centered(values, zero_point) * np.asarray(scale).astype(np.float64)


def dynamically_quantized(x):
    """DynamicQuantizeLinear: values, scale and zero point, in float32 as the standard defines it."""
    low, high = min(np.float32(0), x.min()), max(np.float32(0), x.max())
    scale = (high - low) / np.float32(255)
    zero_point = np.uint8(np.clip(np.rint(-low / scale), 0, 255))
    return np.clip(np.rint(x / scale) + zero_point, 0, 255).astype(np.uint8), scale, zero_point


def assert_quantized(actual, real, scale, zero_point):
    """`actual` is the integer nearest to real / scale + zero_point, saturated. The scales pass through a few float32
    operations on the way, so that a quotient within these roundings of a half may go to either side."""
    limits = np.iinfo(actual.dtype)
    steps = np.asarray(real) / np.float64(scale)
    assert actual.shape == steps.shape
    slack = 4 * FLOAT32_EPS * np.abs(steps)
    distance = np.abs(actual - np.clip(steps + np.float64(zero_point), limits.min, limits.max))
    wrong = distance > 0.5 + slack
    assert not wrong.any(), f"{wrong.sum()} of {wrong.size} values are not the nearest, {distance.max():.6g} away"
