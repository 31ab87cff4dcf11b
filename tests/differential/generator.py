"""Seeded random ONNX models: `generate(seed)` gives a model and inputs for several bindings of its symbolic dimensions."""

import random
from dataclasses import dataclass

from onnx import checker, helper

from conformance.engines import engine_name
from differential.builder import Graph, value_info
from differential.operators import (  # noqa: F401 (importing fills the table)
    control, elementwise, indexing, linear, logic, neural, patterns, reductions, sequences, views,
)
from differential.reference_gaps import REFERENCE_GAPS
from differential.registry import TABLE
from differential.values import Unsuitable

OPSETS = {13: 7, 17: 8, 21: 10, 23: 11}  # opset -> IR version
SYMBOLS = (("N", ((2, 5, 1), (3, 1, 7), (4, 2, 6))), ("M", ((1, 3, 4), (6, 2, 3), (5, 7, 2))))
MIN_STEPS, MAX_STEPS = 3, 12


@dataclass
class Generated:
    seed: int
    model: bytes
    feeds: list  # one {input name: array} for each binding
    entries: list  # names of the table entries that built it
    values: list  # what the generator claims about the tensors of the main graph


def generate(seed, without=()):
    """`without` names table entries to leave out."""
    source = random.Random(seed)
    while True:
        try:
            return attempt(seed, source, without)
        except Unsuitable:
            continue  # the same source continues, so the seed still decides everything


def generate_for_engine(seed):
    """The model of a seed, without the gaps of the reference evaluator when that is the engine under test."""
    return generate(seed, REFERENCE_GAPS if engine_name() == "reference" else ())


def attempt(seed, source, without):
    opset = source.choice(list(OPSETS))
    allow_empty = source.random() < 0.15
    graph = Graph(source, opset, allow_empty=allow_empty)
    for name, choices in SYMBOLS[: source.randint(0, 2)]:
        sizes = source.choice(choices)
        graph.symbols[name] = (sizes[0], 0, sizes[2]) if allow_empty and source.random() < 0.5 else sizes
    graph.fresh(source.choice(("float32", "float32", "int64", "float64")), graph.draw_shape(range(1, 5)))
    entries = grow(graph, source.randint(MIN_STEPS, MAX_STEPS), without)
    return Generated(seed, finish(graph, opset).SerializeToString(), graph.feeds, entries, graph.values)


def grow(graph, steps, without):
    usable = [entry for entry in TABLE if entry.since <= graph.opset and entry.name not in without]
    weights = [entry.weight for entry in usable]
    entries = []
    tries = 0
    while len(entries) < steps:
        tries += 1
        if tries > 200:
            raise Unsuitable
        entry = graph.random.choices(usable, weights)[0]
        saved = snapshot(graph)
        try:
            entry.function(graph)
            entries.append(entry.name)
        except Unsuitable:
            restore(graph, saved)
    return entries


def snapshot(graph):
    return [len(items) for items in (graph.nodes, graph.initializers, graph.inputs, graph.values)], [set(f) for f in graph.feeds]


def restore(graph, saved):
    """Takes back what a generator added before it gave up."""
    lengths, names = saved
    for items, length in zip((graph.nodes, graph.initializers, graph.inputs, graph.values), lengths):
        del items[length:]
    for feeds, kept in zip(graph.feeds, names):
        for name in set(feeds) - kept:
            del feeds[name]


def finish(graph, opset):
    computed = {name for node in graph.nodes if node.op_type != "Constant" for name in node.output}
    read = names_read(graph.nodes)
    outputs = [
        value for value in graph.values
        if value.name in computed and (value.name not in read or graph.random.random() < 0.15)
    ]
    proto = helper.make_graph(graph.nodes, "generated", graph.inputs, [value_info(v) for v in outputs], graph.initializers)
    model = helper.make_model(proto, opset_imports=[helper.make_opsetid("", opset)], ir_version=OPSETS[opset])
    checker.check_model(model)
    return model


def names_read(nodes):
    names = set()
    for node in nodes:
        names.update(node.input)
        for attribute in node.attribute:
            if attribute.HasField("g"):
                names |= names_read(attribute.g.node) | {value.name for value in attribute.g.output}
    return names
