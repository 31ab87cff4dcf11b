"""DFT and STFT against numpy in double."""

import numpy as np
import pytest
from nn_models import FLOATS, assert_close, random, refuses, run


def components(x):
    return np.stack([x.real, x.imag], axis=-1)


def scalar(value, dtype=np.int64):
    return np.array(value, dtype)


def transform(x, **feeds_and_attributes):
    opset = feeds_and_attributes.pop("opset", 20)
    feeds = {"x": x, "n": feeds_and_attributes.pop("n", None), "axis": feeds_and_attributes.pop("at", None)}
    return run("DFT", feeds, opset=opset, **feeds_and_attributes)[0]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("length", [1, 2, 5, 8, 12, 17])
@pytest.mark.parametrize("inverse", [0, 1])
@pytest.mark.parametrize("parts", [1, 2])
def test_dft(dtype, length, inverse, parts):
    x = random(2, length, parts, dtype=dtype)
    wide = x.astype(np.float64)
    signal = wide[..., 0] + (1j * wide[..., 1] if parts == 2 else 0)
    expected = (np.fft.ifft if inverse else np.fft.fft)(signal, axis=1)
    assert_close(transform(x, inverse=inverse), components(expected).astype(dtype))


@pytest.mark.parametrize("axis", [0, 1, 2, -2, -3, -4])
@pytest.mark.parametrize("length", [None, 3, 9])
def test_dft_axes_and_lengths(axis, length):
    x = random(4, 5, 6, 2)
    wide = x.astype(np.float64)
    expected = np.fft.fft(wide[..., 0] + 1j * wide[..., 1], n=length, axis=axis if axis >= 0 else axis + 1)
    n = None if length is None else scalar(length)
    assert_close(transform(x, n=n, at=scalar(axis)), components(expected).astype(np.float32))
    assert_close(transform(x, n=n, opset=17, axis=axis), components(expected).astype(np.float32))


def test_dft_17_works_along_axis_1():
    x = random(2, 3, 4, 1)
    expected = np.fft.fft(x[..., 0].astype(np.float64), axis=1)
    assert_close(transform(x, opset=17), components(expected).astype(np.float32))


@pytest.mark.parametrize("length", [1, 2, 7, 8])
@pytest.mark.parametrize("given", [None, 5, 6, 11])
def test_onesided_transforms(length, given):
    x = random(2, length, 1)
    n = None if given is None else scalar(given, np.int32)
    half = np.fft.rfft(x[..., 0].astype(np.float64), n=given, axis=1)
    assert_close(transform(x, n=n, onesided=1), components(half).astype(np.float32))
    spectrum = random(2, length, 2)
    if given is None and length == 1:
        return
    back = np.fft.irfft(spectrum[..., 0].astype(np.float64) + 1j * spectrum[..., 1], n=given, axis=1)
    assert_close(transform(spectrum, n=n, onesided=1, inverse=1), back[..., None].astype(np.float32))


def test_dft_gives_exact_zeros():
    x = np.tile(np.array([1, -1], np.float32), 4).reshape(1, 8, 1)
    y = transform(x)
    assert np.count_nonzero(y) == 1 and y[0, 4, 0] == 8


def test_dft_refuses_what_does_not_fit():
    x = random(2, 4, 1)
    refuses("1 or 2", "DFT", {"x": random(2, 4, 3)}, opset=20)
    refuses("axis 2 holds the real", "DFT", {"x": x, "n": None, "a": scalar(2)}, opset=20)
    refuses("axis 5", "DFT", {"x": x, "n": None, "a": scalar(5)}, opset=20)
    refuses("dft_length is 0", "DFT", {"x": x, "n": scalar(0)}, opset=20)
    refuses("one integer", "DFT", {"x": x, "n": np.array([1, 2])}, opset=20)
    refuses("needs real input", "DFT", {"x": random(2, 4, 2)}, opset=20, onesided=1)
    refuses("needs complex input", "DFT", {"x": x}, opset=20, onesided=1, inverse=1)
    refuses("not empty", "DFT", {"x": random(2, 0, 1)}, opset=20, onesided=1)


def frames_of(signal, step, length, window):
    starts = range(0, signal.shape[1] - length + 1, step)
    return np.stack([signal[:, s : s + length] * window for s in starts], axis=1)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("onesided", [0, 1])
@pytest.mark.parametrize(("step", "length", "windowed"), [(3, 8, True), (1, 5, True), (4, 7, False), (30, 20, False)])
def test_stft(dtype, onesided, step, length, windowed):
    x = random(2, 20, 1, dtype=dtype)
    window = random(length, dtype=dtype) if windowed else None
    feeds = {"x": x, "s": scalar(step), "w": window, "n": None if length == 20 else scalar(length, np.int32)}
    weights = window.astype(np.float64) if windowed else 1.0
    frames = frames_of(x[..., 0].astype(np.float64), step, length, weights)
    expected = np.fft.rfft(frames) if onesided else np.fft.fft(frames)
    assert_close(run("STFT", feeds, opset=17, onesided=onesided)[0], components(expected).astype(dtype))


def test_stft_of_complex_and_flat_signals():
    x = random(2, 20, 2)
    frames = frames_of(x[..., 0].astype(np.float64) + 1j * x[..., 1], 4, 8, 1.0)
    (y,) = run("STFT", {"x": x, "s": scalar(4), "w": None, "n": scalar(8)}, opset=17, onesided=0)
    assert_close(y, components(np.fft.fft(frames)).astype(np.float32))
    real = {"s": scalar(4), "w": random(8)}
    (flat,) = run("STFT", {"x": x[..., 0].copy(), **real}, opset=17)
    (deep,) = run("STFT", {"x": x[..., :1].copy(), **real}, opset=17)
    np.testing.assert_array_equal(flat, deep)


def test_stft_refuses_what_does_not_fit():
    x, window = random(1, 10, 1), random(4)
    refuses("frame_step is 0", "STFT", {"x": x, "s": scalar(0), "w": window}, opset=17)
    other = {"x": x, "s": scalar(1), "w": window, "n": scalar(5)}
    refuses("frame_length is 5, but the window has 4", "STFT", other, opset=17)
    refuses("shorter than a frame of length 11", "STFT", {"x": x, "s": scalar(1), "w": random(11)}, opset=17)
    refuses("frame_length is -1", "STFT", {"x": x, "s": scalar(1), "w": None, "n": scalar(-1)}, opset=17)
    refuses("real signal", "STFT", {"x": random(1, 10, 2), "s": scalar(1), "w": window}, opset=17)
    refuses("frames must not be empty", "STFT", {"x": x, "s": scalar(1), "w": random(0)}, opset=17)
