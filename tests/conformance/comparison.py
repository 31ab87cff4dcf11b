"""Compares outputs as the ONNX suites do, except that integers, bools and strings have to be equal."""

import numpy as np

FLOAT_NAMES = frozenset(
    "float16 float32 float64 complex64 complex128 bfloat16 float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz "
    "float8_e8m0fnu float4_e2m1fn float6_e2m3fn float6_e3m2fn".split()
)
BFLOAT16_RTOL = 2.0**-6  # two units in the last place, as in onnx's own runner


def difference_of_outputs(expected, actual, rtol, atol):
    """None when equal, else one line that says what differs."""
    if len(expected) != len(actual):
        return f"{len(actual)} outputs instead of {len(expected)}"
    for index, (wanted, got) in enumerate(zip(expected, actual)):
        text = difference(wanted, got, rtol, atol)
        if text:
            return f"output {index}: {text}"
    return None


def difference(expected, actual, rtol, atol):
    if expected is None or actual is None:
        return None if expected is actual else f"{describe(actual)} instead of {describe(expected)}"
    if isinstance(expected, dict):
        return difference_of_maps(expected, actual, rtol, atol)
    if isinstance(expected, (list, tuple)):
        return difference_of_sequences(expected, actual, rtol, atol)
    if not isinstance(actual, np.ndarray):
        return f"{describe(actual)} instead of {describe(expected)}"
    if actual.shape != expected.shape or not same_element_type(expected, actual):
        return f"{describe(actual)} instead of {describe(expected)}"
    if expected.dtype.name in FLOAT_NAMES:
        return difference_of_floats(expected, actual, rtol, atol)
    return difference_of_exact(expected, actual)


def difference_of_maps(expected, actual, rtol, atol):
    if not isinstance(actual, dict) or list(expected) != list(actual):
        return f"{describe(actual)} instead of {describe(expected)}"
    pairs = zip(expected.values(), actual.values())
    return next(filter(None, (difference(np.asarray(e), np.asarray(a), rtol, atol) for e, a in pairs)), None)


def difference_of_sequences(expected, actual, rtol, atol):
    if not isinstance(actual, (list, tuple)) or len(expected) != len(actual):
        return f"{describe(actual)} instead of {describe(expected)}"
    for index, (wanted, got) in enumerate(zip(expected, actual)):
        text = difference(wanted, got, rtol, atol)
        if text:
            return f"element {index}: {text}"
    return None


def difference_of_floats(expected, actual, rtol, atol):
    if expected.dtype.name == "bfloat16":
        rtol = max(rtol, BFLOAT16_RTOL)
    wide = np.complex128 if expected.dtype.kind == "c" else np.float64
    wanted, got = expected.astype(wide), actual.astype(wide)
    with np.errstate(all="ignore"):
        close = np.isclose(got, wanted, rtol=rtol, atol=atol, equal_nan=True)
    if close.all():
        return None
    worst = np.argmax(np.where(close, -1.0, nan_as_infinite(np.abs(got - wanted)))) if expected.size else 0
    return (
        f"{np.count_nonzero(~close)} of {expected.size} values differ, "
        f"the most {got.flat[worst]:.9g} instead of {wanted.flat[worst]:.9g}"
    )


def nan_as_infinite(values):
    return np.where(np.isnan(values), np.inf, values)


def difference_of_exact(expected, actual):
    if expected.dtype.kind == "O":
        unequal = np.array([as_text(a) != as_text(b) for a, b in zip(expected.flat, actual.flat)], dtype=bool)
    else:
        unequal = (expected != actual).reshape(-1).astype(bool)
    if not unequal.any():
        return None
    first = int(np.argmax(unequal))
    return (
        f"{np.count_nonzero(unequal)} of {expected.size} values differ, "
        f"the first {actual.flat[first]!r} instead of {expected.flat[first]!r}"
    )


def same_element_type(expected, actual):
    if expected.dtype.kind == "O":
        return actual.dtype.kind in "OUS"
    return expected.dtype == actual.dtype


def as_text(value):
    return value.decode("utf-8") if isinstance(value, bytes) else str(value)


def describe(value):
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{list(value.shape)}"
    if isinstance(value, (list, tuple)):
        return f"sequence of {len(value)}"
    return "none" if value is None else type(value).__name__
