"""How far a correct float result may be from the exact one, derived from its type and the length of its sums."""

import ml_dtypes
import numpy as np


def eps(dtype):
    return float(ml_dtypes.finfo(dtype).eps)


def sum_error(dtype, terms):
    """The error to expect of adding that many products of about 1, in any order."""
    return terms**0.5 * eps(dtype)


def assert_product(actual, a, b, then=None):
    """`actual` is the matrix product a @ b within a rounding of every term, in any order. then: a function of the
    product that does not enlarge errors, as Clip or Relu."""
    wide = a.astype(np.float64), b.astype(np.float64)
    expected = wide[0] @ wide[1] if then is None else then(wide[0] @ wide[1])
    assert actual.shape == expected.shape
    bound = eps(actual.dtype) * a.shape[-1] * (np.abs(wide[0]) @ np.abs(wide[1]))
    error = np.abs(actual.astype(np.float64) - expected)
    worst = (error - bound).argmax()
    assert (error <= bound).all(), f"an error of {error.flat[worst]:.3g}, {bound.flat[worst]:.3g} is allowed"
