"""What the generator knows about a value while it builds a graph.

A graph runs with several bindings of its symbolic dimensions. A dimension is therefore a tuple with its size in each
binding, e.g. (4, 4, 4) for a fixed one and (2, 5, 1) for a symbolic one, and shape rules are plain tuple arithmetic.
"""

from dataclasses import dataclass

BINDINGS = 3
MAX_ELEMENTS = 3000
FLOATS = ("float32", "float64", "float16")
# The largest magnitude a value may reach: far from overflow, so that no engine meets inf or wraps around.
LIMITS = {
    "float32": (-1e3, 1e3), "float64": (-1e3, 1e3), "float16": (-100.0, 100.0), "int64": (-(10**6), 10**6),
    "int32": (-(10**6), 10**6), "int16": (-32768, 32767), "int8": (-128, 127), "uint8": (0, 255),
    "uint16": (0, 65535), "uint32": (0, 10**6), "uint64": (0, 10**6), "bool": (0, 1), "str": (0, 0),
}


class Unsuitable(Exception):
    """The operator cannot be placed here; the generator tries another one."""


def require(condition):
    if not condition:
        raise Unsuitable


@dataclass(frozen=True)
class Value:
    """A tensor. `exact` values are the same bits in every correct engine, so a discontinuous operator may use them."""

    name: str
    dtype: str
    shape: tuple  # of dimensions
    low: float
    high: float
    exact: bool = False
    distinct: bool = False  # no two equal elements

    @property
    def rank(self):
        return len(self.shape)

    @property
    def is_float(self):
        return self.dtype in FLOATS

    @property
    def magnitude(self):
        return max(abs(self.low), abs(self.high))


def fixed(size):
    return (size,) * BINDINGS


def is_fixed(dim):
    return len(set(dim)) == 1


def dims_sum(*dims):
    return tuple(map(sum, zip(*dims)))


def dims_product(dims):
    sizes = [1] * BINDINGS
    for dim in dims:
        sizes = [a * b for a, b in zip(sizes, dim)]
    return tuple(sizes)


def is_nonempty(shape):
    return all(min(dim) > 0 for dim in shape)


def broadcast(*shapes):
    """The common shape. A symbolic dimension matches only itself and 1, whatever its sizes happen to be."""
    rank = max(map(len, shapes))
    result = []
    for axis in range(rank):
        dims = {shape[axis - rank + len(shape)] for shape in shapes if axis - rank + len(shape) >= 0} - {fixed(1)}
        require(len(dims) <= 1)
        result.append(dims.pop() if dims else fixed(1))
    return tuple(result)


def check_size(shape):
    require(max(dims_product(shape)) <= MAX_ELEMENTS)


def fits(dtype, low, high):
    least, most = LIMITS[dtype]
    return least <= low and high <= most
