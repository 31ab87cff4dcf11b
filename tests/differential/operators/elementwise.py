"""Unary and binary arithmetic on floats and integers."""

import math

from differential.registry import operator
from differential.values import FLOATS, broadcast, require

NO_DOUBLE = ("float32", "float16")


def unary(name, *, range_of, types=FLOATS, low=None, high=None, needs_exact=False, keeps_exact=False, since=13, weight=0.4,
          **attributes):
    """A function of one float: domain [low, high], and the range that a range turns into."""

    @operator(name, weight, since)
    def place(graph):
        x = graph.pick_float(*types, low=low, high=high, exact=needs_exact)
        bounds = range_of(x.low, x.high)
        graph.emit(name, [x], x.dtype, x.shape, *bounds, exact=x.exact and keeps_exact, **attributes)


def rising(function):
    return lambda low, high: (function(low), function(high))


def within(low, high):
    return lambda *_: (low, high)


def magnitude(low, high):
    return max(abs(low), abs(high))


unary("Abs", keeps_exact=True, range_of=lambda l, h: (0 if l <= 0 <= h else min(abs(l), abs(h)), magnitude(l, h)))
unary("Neg", keeps_exact=True, range_of=lambda l, h: (-h, -l))
unary("Relu", keeps_exact=True, weight=0.8, range_of=lambda l, h: (max(l, 0), max(h, 0)))
unary("Exp", low=-20, high=4, range_of=rising(math.exp))
unary("Log", low=0.25, range_of=rising(math.log))
unary("Sqrt", low=0.25, range_of=rising(math.sqrt))
unary("Reciprocal", low=0.5, range_of=lambda l, h: (1 / h, 1 / l))
unary("Tanh", weight=0.8, range_of=within(-1, 1))
unary("Sigmoid", weight=0.8, range_of=within(0, 1))
unary("Erf", types=NO_DOUBLE, range_of=within(-1, 1))
unary("Softplus", types=NO_DOUBLE, range_of=lambda l, h: (0, max(h, 0) + 1))
unary("Softsign", types=NO_DOUBLE, range_of=within(-1, 1))
unary("LeakyRelu", types=NO_DOUBLE, alpha=0.1, range_of=lambda l, h: (min(l, 0), max(h, 0)))
unary("Elu", types=NO_DOUBLE, alpha=1.5, range_of=lambda l, h: (-1.5, max(h, 0)))
unary("Selu", types=NO_DOUBLE, range_of=lambda l, h: (-2, 1.1 * max(h, 0)))
unary("Celu", types=("float32",), alpha=2.0, range_of=lambda l, h: (-2, max(h, 0)))
unary("HardSigmoid", types=NO_DOUBLE, range_of=within(0, 1))
unary("HardSwish", types=NO_DOUBLE, since=14, range_of=lambda l, h: (-1, max(h, 0)))
unary("Mish", types=NO_DOUBLE, since=18, range_of=lambda l, h: (-1, max(h, 0) + 0.1))
unary("Gelu", types=NO_DOUBLE, since=20, range_of=lambda l, h: (-1, max(h, 0)))
unary("Sin", low=-50, high=50, range_of=within(-1, 1))
unary("Cos", types=NO_DOUBLE, low=-50, high=50, range_of=within(-1, 1))
unary("Atan", types=NO_DOUBLE, range_of=within(-2, 2))
unary("Floor", needs_exact=True, keeps_exact=True, range_of=rising(math.floor))
unary("Ceil", needs_exact=True, keeps_exact=True, range_of=rising(math.ceil))
unary("Round", needs_exact=True, keeps_exact=True, range_of=lambda l, h: (math.floor(l), math.ceil(h)))
unary("Sign", needs_exact=True, keeps_exact=True, range_of=within(-1, 1))
unary("ThresholdedRelu", types=NO_DOUBLE, needs_exact=True, keeps_exact=True, alpha=0.75,
      range_of=lambda l, h: (0, max(h, 0)))


def product_range(x, y):
    corners = [a * b for a in (x.low, x.high) for b in (y.low, y.high)]
    return min(corners), max(corners)


def binary(name, types, range_of, weight=1.0, partner_low=None, low=None):
    @operator(name, weight)
    def place(graph):
        x = graph.pick_or_new(types, low=low)
        y = graph.partner(x, low=partner_low)
        if graph.random.random() < 0.5 and partner_low is None:
            x, y = y, x
        exact = not x.is_float and x.exact and y.exact
        graph.emit(name, [x, y], x.dtype, broadcast(x.shape, y.shape), *range_of(x, y), exact=exact)


ARITHMETIC = (*FLOATS, "int32", "int64")
binary("Add", ARITHMETIC, lambda x, y: (x.low + y.low, x.high + y.high), weight=2)
binary("Sub", ARITHMETIC, lambda x, y: (x.low - y.high, x.high - y.low), weight=1.5)
binary("Mul", ARITHMETIC, product_range, weight=2)
binary("Div", FLOATS, lambda x, y: (-x.magnitude / y.low, x.magnitude / y.low), partner_low=0.5)


@operator("PRelu", 0.4)
def parametric_relu(graph):
    x = graph.pick_float(*NO_DOUBLE)
    slope = graph.fresh(x.dtype, tuple(d for d in graph.broadcastable(x.shape)), -1, 1)
    graph.emit("PRelu", [x, slope], x.dtype, x.shape, min(-x.magnitude, x.low), x.magnitude)


@operator("Div of integers", 0.6)
def integer_division(graph):
    x = graph.pick_or_new(("int32", "int64"))
    y = graph.partner(x, low=1, high=1000)
    graph.emit("Div", [x, y], x.dtype, broadcast(x.shape, y.shape), -x.magnitude, x.magnitude, exact=True)


@operator("Mod", 0.6)
def modulo(graph):
    x = graph.pick_or_new(("int32", "int64", "int8", "uint8"))
    y = graph.partner(x, low=1, high=100)
    bound = y.high
    shape = broadcast(x.shape, y.shape)
    graph.emit("Mod", [x, y], x.dtype, shape, 0 if x.low >= 0 else -bound, bound, exact=True, fmod=graph.random.choice((0, 1)))


@operator("Pow", 0.6)
def power(graph):
    x = graph.pick_float("float32", "float64", low=0.25, high=8)
    exponent = graph.random.choice((0.5, 1.0, 1.5, 2.0, 3.0, -1.0))
    y = graph.scalar(exponent, graph.random.choice((x.dtype, "float32")))
    corners = (x.low**exponent, x.high**exponent)
    graph.emit("Pow", [x, y], x.dtype, x.shape, min(corners), max(corners))


def extremum(name):
    @operator(name, 0.7)
    def place(graph):
        x = graph.pick_or_new((*FLOATS, "int32", "int64", "uint8", "int8"))
        others = [graph.partner(x) for _ in range(graph.random.randint(1, 2))]
        values = [x, *others]
        shape = broadcast(*(value.shape for value in values))
        low, high = min(v.low for v in values), max(v.high for v in values)
        graph.emit(name, values, x.dtype, shape, low, high, exact=all(v.exact for v in values))


extremum("Max")
extremum("Min")


@operator("Clip", 0.7)
def clip(graph):
    x = graph.pick_or_new((*FLOATS, "int32", "int64", "uint8", "int8"))
    low, high = sorted(graph.random.sample(range(0, 6), 2))
    bounds = [graph.scalar(low, x.dtype), graph.scalar(high, x.dtype)]
    if graph.random.random() < 0.3:
        graph.emit("Clip", [x, bounds[0]], x.dtype, x.shape, max(x.low, low), max(x.high, low), exact=x.exact)
    else:
        graph.emit("Clip", [x, *bounds], x.dtype, x.shape, low, high, exact=x.exact)


def variadic(name, types, range_of):
    @operator(name, 0.4)
    def place(graph):
        x = graph.pick_float(*types)
        values = [x] + [graph.partner(x) for _ in range(graph.random.randint(1, 2))]
        graph.emit(name, values, x.dtype, broadcast(*(v.shape for v in values)), *range_of(values))


variadic("Sum", FLOATS, lambda values: (sum(v.low for v in values), sum(v.high for v in values)))
variadic("Mean", NO_DOUBLE, lambda values: (min(v.low for v in values), max(v.high for v in values)))


@operator("Abs of integers", 0.3)
def integer_magnitude(graph):
    x = graph.pick_or_new(("int32", "int64", "int8"), low=-127)
    graph.emit("Abs", [x], x.dtype, x.shape, 0, x.magnitude, exact=True)


@operator("Neg of integers", 0.3)
def integer_negation(graph):
    x = graph.pick_or_new(("int32", "int64", "int8"), low=-127)
    graph.emit("Neg", [x], x.dtype, x.shape, -x.high, -x.low, exact=True)


@operator("BitShift", 0.3)
def bit_shift(graph):
    x = graph.pick_or_new(("uint8", "uint32", "uint64"), high=15)
    y = graph.partner(x, high=4)
    direction = graph.random.choice(("LEFT", "RIGHT"))
    high = x.high * 2 ** min(y.high, 4)
    require(y.high <= 4)
    graph.emit("BitShift", [x, y], x.dtype, broadcast(x.shape, y.shape), 0, high, exact=True, direction=direction)


@operator("Bitwise", 0.6, since=18)
def bitwise(graph):
    x = graph.pick_or_new(("int32", "int64", "uint8", "int8"), low=0)
    y = graph.partner(x, low=0)
    name = graph.random.choice(("BitwiseAnd", "BitwiseOr", "BitwiseXor"))
    high = 2 ** int(max(x.high, y.high)).bit_length() - 1
    graph.emit(name, [x, y], x.dtype, broadcast(x.shape, y.shape), 0, high, exact=True)
