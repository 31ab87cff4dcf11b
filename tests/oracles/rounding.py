"""How far a correct float result may be from the exact one, derived from its type and the length of its sums."""

import ml_dtypes
import numpy as np


def eps(dtype):
    return float(ml_dtypes.finfo(dtype).eps)


def sum_error(dtype, terms):
    """The error to expect of adding that many products of about 1, in any order."""
    return terms**0.5 * eps(dtype)


def assert_sum(actual, expected, magnitude, terms):
    """`actual` is a sum of that many terms within a rounding of every term, in any order. expected: the exact sum;
    magnitude: the sum of the terms' absolute values, which is what roundings are a part of, however much cancels."""
    assert actual.shape == expected.shape
    bound = eps(actual.dtype) * terms * magnitude
    error = np.abs(actual.astype(np.float64) - expected)
    worst = (error - bound).argmax() if error.size else 0
    assert (error <= bound).all(), f"an error of {error.flat[worst]:.3g}, {bound.flat[worst]:.3g} is allowed"


def absolute(inputs, summed):
    """The inputs with the absolute values of those that terms are products of: what a linear op makes of these is the
    sum of the terms' absolute values."""
    return {name: np.abs(x) if name in summed and x is not None else x for name, x in inputs.items()}


def assert_product(actual, a, b, then=None):
    """`actual` is the matrix product a @ b within a rounding of every term, in any order. then: a function of the
    product that does not enlarge errors, as Clip or Relu."""
    wide = a.astype(np.float64), b.astype(np.float64)
    expected = wide[0] @ wide[1] if then is None else then(wide[0] @ wide[1])
    assert_sum(actual, expected, np.abs(wide[0]) @ np.abs(wide[1]), a.shape[-1])
