"""A model on its way through random edits, and the table of edits."""

import random
from dataclasses import dataclass, field

import onnx


class NotApplicable(Exception):
    """The model has nothing that the edit is about."""


@dataclass
class Mutant:
    model: onnx.ModelProto
    files: dict  # the data files beside the model: {name: bytes}
    random: random.Random
    log: list = field(default_factory=list)  # what was done

    def choose(self, items):
        items = list(items)
        if not items:
            raise NotApplicable
        return self.random.choice(items)

    def graphs(self):
        """The graph and all bodies, those in functions too."""
        found = [self.model.graph]
        for nodes in self.node_lists():
            found += [g for node in nodes for a in node.attribute for g in (*([a.g] if a.HasField("g") else []), *a.graphs)]
        return found

    def node_lists(self):
        """What holds nodes: graphs, bodies and functions."""
        open_lists = [self.model.graph.node, *(f.node for f in self.model.functions)]
        found = []
        while open_lists:
            nodes = open_lists.pop(0)
            found.append(nodes)
            for node in nodes:
                for attribute in node.attribute:
                    if attribute.HasField("g"):
                        open_lists.append(attribute.g.node)
                    open_lists += [g.node for g in attribute.graphs]
        return found

    def nodes(self):
        return [node for nodes in self.node_lists() for node in nodes]

    def tensors(self):
        """Every tensor of the model, wherever it is."""
        found = []
        for graph in self.graphs():
            found += graph.initializer
            for sparse in graph.sparse_initializer:
                found += [sparse.values, sparse.indices]
        for node in self.nodes():
            for a in node.attribute:
                found += ([a.t] if a.HasField("t") else []) + list(a.tensors)
                if a.HasField("sparse_tensor"):
                    found += [a.sparse_tensor.values, a.sparse_tensor.indices]
        return found

    def declarations(self):
        return [info for g in self.graphs() for info in (*g.value_info, *g.input, *g.output)] + [
            info for f in self.model.functions for info in f.value_info]

    def value_names(self):
        names = {t.name for g in self.graphs() for t in g.initializer} | {i.name for i in self.declarations()}
        return sorted(names | {name for node in self.nodes() for name in (*node.input, *node.output)} - {""})


@dataclass(frozen=True)
class Edit:
    name: str
    apply: callable
    weight: float


EDITS = []


def edit(name, weight=1.0):
    """Enters `function(mutant)`, which edits a mutant in place or raises NotApplicable. It may return details."""
    def enter(function):
        EDITS.append(Edit(name, function, weight))
        return function

    return enter


def mutate(model, files, seed, only=None):
    """A mutant made by one to three edits of a copy. only: indices of the edits to make, for shrinking."""
    source = random.Random(seed)
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    mutant = Mutant(copy, dict(files), source)
    wanted = source.choices((1, 2, 3), (6, 3, 1))[0]
    made = 0
    while made < wanted:
        chosen = source.choices(EDITS, [e.weight for e in EDITS])[0]
        # Each edit draws from a source of its own, so that it stays the same when another one is left out.
        mutant.random = random.Random(source.random())
        if only is not None and made not in only:
            made += 1
            continue
        try:
            details = chosen.apply(mutant)
        except NotApplicable:
            continue
        mutant.log.append(chosen.name + (f" ({details})" if details else ""))
        made += 1
    return mutant
