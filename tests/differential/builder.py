"""Builds one graph: keeps its nodes, inputs and initializers and what is known about every value."""

import numpy as np
from onnx import helper, numpy_helper

from differential.values import (
    BINDINGS, FLOATS, LIMITS, Unsuitable, Value, broadcast, check_size, fits, fixed, is_fixed, require,
)


class Graph:
    """A main graph or, with a parent, the body of a control-flow node that sees its parents' values."""

    def __init__(self, random, opset, parent=None, allow_empty=False):
        self.random = random
        self.opset = opset
        self.parent = parent
        self.allow_empty = allow_empty
        self.nodes, self.initializers, self.inputs, self.values = [], [], [], []
        self.feeds = [{} for _ in range(BINDINGS)]
        self.symbols = parent.symbols if parent else {}
        self.root = parent.root if parent else self
        self.name_count = 0

    def new_name(self, prefix="v"):
        self.root.name_count += 1
        return f"{prefix}{self.root.name_count}"

    # Values

    def visible(self):
        return self.values + (self.parent.visible() if self.parent else [])

    def pick(self, condition=lambda value: True):
        """A visible value, the newer the likelier, so that graphs grow deep."""
        candidates = [value for value in self.visible() if condition(value)]
        require(candidates)
        recent = candidates[-4:] if self.random.random() < 0.5 else candidates
        return self.random.choice(recent)

    def pick_float(self, *types, **bounds):
        """A value of a float type whose range lies inside the bounds; a new one when there is none."""
        return self.pick_or_new(types or FLOATS, **bounds)

    def pick_or_new(self, types, low=None, high=None, rank=None, exact=False, nonempty=False, distinct=False):
        def suits(value):
            return (
                value.dtype in types
                and (low is None or value.low >= low)
                and (high is None or value.high <= high)
                and (rank is None or value.rank in rank)
                and (value.exact or not exact)
                and (value.distinct or not distinct)
                and (not nonempty or all(min(dim) > 0 for dim in value.shape))
            )

        if self.random.random() < 0.85:
            try:
                return self.pick(suits)
            except Unsuitable:
                pass
        shape = self.draw_shape(rank or range(0, 5), nonempty)
        return self.fresh(self.random.choice(types), shape, low, high, distinct)

    def draw_shape(self, ranks, nonempty=False):
        shape = tuple(self.draw_dim(nonempty) for _ in range(self.random.choice(list(ranks))))
        check_size(shape)
        return shape

    def draw_dim(self, nonempty=False):
        choice = self.random.random()
        if choice < 0.25 and self.symbols:
            dim = self.random.choice(list(self.symbols.values()))
            return fixed(2) if nonempty and min(dim) == 0 else dim
        if choice < 0.28 and self.allow_empty and not nonempty:
            return fixed(0)
        return fixed(self.random.choice((1, 2, 3, 4, 5, 7)))

    def partner(self, value, low=None, high=None, exact=False):
        """A value of the same type whose shape broadcasts with `value`: one that exists or a new one."""
        def suits(other):
            if other.dtype != value.dtype or (exact and not other.exact):
                return False
            if (low is not None and other.low < low) or (high is not None and other.high > high):
                return False
            try:
                check_size(broadcast(value.shape, other.shape))
                return True
            except Unsuitable:
                return False

        if self.random.random() < 0.6:
            try:
                return self.pick(suits)
            except Unsuitable:
                pass
        return self.fresh(value.dtype, self.broadcastable(value.shape), low, high)

    def broadcastable(self, shape):
        kept = shape[self.random.choice((0, 0, 0, len(shape) // 2, len(shape))):]
        return tuple(fixed(1) if self.random.random() < 0.25 else dim for dim in kept)

    # Data

    def fresh(self, dtype, shape, low=None, high=None, distinct=False):
        """A new graph input, or an initializer when no dimension is symbolic."""
        check_size(shape)
        low, high = default_range(dtype, low, high)
        datas = [draw_data(self.random, dtype, [dim[i] for dim in shape], low, high, distinct) for i in range(BINDINGS)]
        all_fixed = all(map(is_fixed, shape))
        # A body has no inputs of its own to add to.
        if all_fixed and (self.random.random() < 0.5 or (self.parent and self.random.random() < 0.7)):
            return self.constant(datas[0], low, high, distinct)
        root = self.root
        name = self.new_name("x")
        dims = [dim[0] if is_fixed(dim) else self.symbol_name(dim) for dim in shape]
        root.inputs.append(helper.make_tensor_value_info(name, onnx_type(dtype), dims))
        for feeds, data in zip(root.feeds, datas):
            feeds[name] = data
        value = Value(name, dtype, shape, low, high, exact=True, distinct=distinct)
        root.values.append(value)
        return value

    def symbol_name(self, dim):
        return next((name for name, sizes in self.symbols.items() if sizes == dim), None)

    def constant(self, array, low=None, high=None, distinct=False):
        """An initializer or a Constant node with these contents."""
        array = np.asarray(array)
        dtype = "str" if array.dtype.kind == "O" else array.dtype.name
        if low is None:
            low, high = (float(array.min()), float(array.max())) if array.size and dtype != "str" else (0, 0)
        name = self.new_name("c")
        tensor = numpy_helper.from_array(array, name)
        if self.random.random() < 0.75:
            self.initializers.append(tensor)
        else:
            self.nodes.append(helper.make_node("Constant", [], [name], value=tensor))
        value = Value(name, dtype, tuple(map(fixed, array.shape)), low, high, exact=True, distinct=distinct)
        self.values.append(value)
        return value

    def ints(self, *numbers):
        """A 1-d int64 constant, for axes, shapes and the like."""
        return self.constant(np.array(numbers, np.int64))

    def scalar(self, number, dtype):
        return self.constant(np.array(number, dtype))

    # Nodes

    def emit(self, op_type, inputs, dtype, shape, low, high, exact=False, distinct=False, domain="", **attributes):
        """Adds a node with one output. `inputs` are values, None for one that is left out."""
        output = self.new_value(dtype, shape, low, high, exact, distinct)
        self.node(op_type, inputs, [output], domain, **attributes)
        return output

    def new_value(self, dtype, shape, low, high, exact=False, distinct=False):
        require(fits(dtype, low, high))
        check_size(shape)
        return Value(self.new_name(), dtype, tuple(shape), low, high, exact, distinct)

    def node(self, op_type, inputs, outputs, domain="", **attributes):
        names = [value.name if value else "" for value in inputs]
        attributes = {key: value for key, value in attributes.items() if value is not None}
        output_names = [value.name for value in outputs]
        self.nodes.append(helper.make_node(op_type, names, output_names, domain=domain, **attributes))
        self.values.extend(value for value in outputs if isinstance(value, Value))


def default_range(dtype, low, high):
    if dtype == "str":
        return 0, 0
    least, most = LIMITS[dtype]
    bottom, top = (-4, 4) if least < 0 else (0, 8)
    if dtype == "bool":
        bottom, top = 0, 1
    low = max(bottom, least) if low is None else low
    high = max(top, low + 4) if high is None else high
    return min(low, high), min(high, most)


def draw_data(random, dtype, shape, low, high, distinct=False):
    generator = np.random.default_rng(random.getrandbits(32))
    count = int(np.prod(shape))
    if dtype == "str":
        words = np.array(["", "a", "b", "Tenon", "ä€", "a b"], dtype=object)
        return words[generator.integers(0, len(words), count)].reshape(shape)
    if dtype == "bool":
        return np.asarray(generator.integers(0, 2, shape), bool)
    if distinct:
        require(dtype in FLOATS or high - low >= count)
        steps = generator.permutation(count) + 0.5
        values = low + (high - low) * steps / max(count, 1) if dtype in FLOATS else low + np.floor(steps)
        return values.reshape(shape).astype(dtype)
    if dtype in FLOATS:
        return np.asarray(low + (high - low) * generator.random(shape), dtype)
    return np.asarray(generator.integers(int(low), int(high) + 1, shape), dtype)


def onnx_type(dtype):
    return helper.np_dtype_to_tensor_dtype(np.dtype(object if dtype == "str" else dtype))


def value_info(value):
    dims = [dim[0] if is_fixed(dim) else None for dim in value.shape]
    return helper.make_tensor_value_info(value.name, onnx_type(value.dtype), dims)
