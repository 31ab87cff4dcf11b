"""Sequences of tensors: made, changed and taken apart again."""

from differential.builder import onnx_type
from differential.registry import operator
from differential.values import fixed, is_fixed, require


class Sequence:
    """The name of a sequence value; sequences do not leave the operators of this file."""

    def __init__(self, graph):
        self.name = graph.new_name("s")


def like(x):
    return lambda other: other.dtype == x.dtype and other.shape == x.shape


@operator("SequenceConstruct and SequenceAt", 0.5)
def construct_and_take(graph):
    x = graph.pick_or_new(("float32", "int64"))
    items = [x] + [graph.pick(lambda value: value.dtype == x.dtype) for _ in range(graph.random.randint(0, 2))]
    sequence = Sequence(graph)
    graph.node("SequenceConstruct", items, [sequence])
    position = graph.random.randrange(len(items))
    taken = items[position]
    at = graph.scalar(position - len(items) if graph.random.random() < 0.3 else position, "int64")
    graph.emit("SequenceAt", [sequence, at], x.dtype, taken.shape, taken.low, taken.high, exact=taken.exact)
    graph.emit("SequenceLength", [sequence], "int64", [], 0, 10, exact=True)


@operator("SequenceInsert and ConcatFromSequence", 0.5)
def insert_and_concat(graph):
    x = graph.pick_or_new(("float32", "int64"), rank=range(1, 4))
    items = [x] + [graph.pick(like(x)) for _ in range(graph.random.randint(1, 2))]
    sequence = Sequence(graph)
    graph.node("SequenceEmpty", [], [sequence], dtype=onnx_type(x.dtype))
    for item in items:
        longer = Sequence(graph)
        graph.node("SequenceInsert", [sequence, item], [longer])
        sequence = longer
    bounds = min(v.low for v in items), max(v.high for v in items)
    exact = all(v.exact for v in items)
    if graph.random.random() < 0.5:
        shape, stacks = [fixed(len(items)), *x.shape], 1
    else:
        shape, stacks = [tuple(size * len(items) for size in x.shape[0]), *x.shape[1:]], 0
    graph.emit("ConcatFromSequence", [sequence], x.dtype, shape, *bounds, exact=exact, axis=0, new_axis=stacks)


@operator("SplitToSequence and SequenceErase", 0.4)
def split_and_erase(graph):
    x = graph.pick_or_new(("float32", "int64"), rank=range(1, 4))
    require(is_fixed(x.shape[0]) and x.shape[0][0] >= 2)
    size = x.shape[0][0]
    parts, shorter = Sequence(graph), Sequence(graph)
    graph.node("SplitToSequence", [x, graph.scalar(1, "int64")], [parts], axis=0)
    graph.node("SequenceErase", [parts, graph.scalar(graph.random.randrange(size), "int64")], [shorter])
    shape = [fixed(size - 1), *x.shape[1:]]
    graph.emit("ConcatFromSequence", [shorter], x.dtype, shape, x.low, x.high, exact=x.exact, axis=0)
