"""The ways to make a failing model smaller. Each proposal yields (model, feeds) candidates, the most drastic first."""

import copy

import numpy as np
from onnx import helper, numpy_helper


def size(model, feeds):
    """What shrinking minimizes, in order of importance."""
    elements = sum(np.size(value) for value in feeds.values())
    elements += sum(int(np.prod(tensor.dims)) for tensor in model.graph.initializer)
    named_dims = sum(len(value.type.tensor_type.shape.dim) for value in model.graph.input)
    distinct = sum(len(set(np.ravel(value).tolist())) for value in feeds.values() if value.dtype.kind != "O")
    return len(model.graph.node), len(model.graph.output), len(model.graph.input), elements, distinct, named_dims


def single_outputs(model, feeds, values):
    if len(model.graph.output) > 1:
        for output in model.graph.output:
            smaller = copy.deepcopy(model)
            keep_only(smaller.graph.output, [output.name])
            yield smaller, feeds


def earlier_outputs(model, feeds, values):
    """Drops the tail: an intermediate tensor becomes the only output."""
    final = {output.name for output in model.graph.output}
    for node in model.graph.node:
        for name in node.output:
            if name in values and name not in final and isinstance(values[name], np.ndarray):
                smaller = copy.deepcopy(model)
                del smaller.graph.output[:]
                smaller.graph.output.append(typed(name, values[name], with_shape=False))
                yield smaller, feeds


def later_inputs(model, feeds, values):
    """Drops the head: an intermediate tensor becomes an input with the value the oracle computes."""
    for node in reversed(model.graph.node):
        for name in node.output:
            if not isinstance(values.get(name), np.ndarray):
                continue
            smaller = copy.deepcopy(model)
            for other in smaller.graph.node:
                replace_output(other, name)
            smaller.graph.input.append(typed(name, values[name]))
            yield smaller, {**feeds, name: values[name]}


def bypassed_nodes(model, feeds, values):
    """Leaves out a node: one of its inputs takes the place of its output."""
    for index, node in enumerate(model.graph.node):
        for source in node.input:
            if len(node.output) != 1 or not alike(values.get(source), values.get(node.output[0])):
                continue
            smaller = copy.deepcopy(model)
            del smaller.graph.node[index]
            smaller.graph.node.insert(index, helper.make_node("Identity", [source], list(node.output)))
            yield inlined_identity(smaller, node.output[0], source), feeds


def smaller_dimensions(model, feeds, values):
    """Cuts all inputs and initializers that have an axis of some length at the same place."""
    tensors = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer} | feeds
    lengths = sorted({length for array in tensors.values() for length in array.shape if length > 1}, reverse=True)
    for length in lengths:
        for shorter in sorted({1, length // 2, length - 1} - {length}):
            cut = {name: cut_axes(array, length, shorter) for name, array in tensors.items()}
            yield with_data(model, feeds, cut)
            for name, array in tensors.items():
                if length in array.shape:
                    yield with_data(model, feeds, {**tensors, name: cut[name]})


def simpler_values(model, feeds, values):
    for name, array in feeds.items():
        if array.dtype.kind not in "fiu" or array.size == 0:
            continue
        for simple in (np.ones_like(array), np.round(array), np.full_like(array, array.reshape(-1)[0])):
            if not np.array_equal(simple, array):
                yield copy.deepcopy(model), {**feeds, name: simple}


PROPOSALS = (single_outputs, earlier_outputs, later_inputs, bypassed_nodes, smaller_dimensions, simpler_values)


def without_unused(model, feeds):
    """Removes nodes, inputs and initializers that no output needs; None when no output is left."""
    graph = model.graph
    needed = {output.name for output in graph.output}
    kept = []
    for node in reversed(graph.node):
        if needed.intersection(node.output):
            kept.append(node)
            needed.update(names_read(node))
    kept.reverse()
    if not kept:
        return None
    nodes = [copy.deepcopy(node) for node in kept]
    del graph.node[:]
    graph.node.extend(nodes)
    for items in (graph.input, graph.initializer):
        keep_only(items, needed)
    del graph.value_info[:]
    names = {value.name for value in graph.input}
    return model, {name: value for name, value in feeds.items() if name in names}


def names_read(node):
    names = set(node.input)
    for attribute in node.attribute:
        for graph in [attribute.g] if attribute.HasField("g") else attribute.graphs:
            names.update(output.name for output in graph.output)
            for inner in graph.node:
                names |= names_read(inner)
    return names - {""}


def keep_only(items, names):
    kept = [copy.deepcopy(item) for item in items if item.name in names]
    del items[:]
    items.extend(kept)


def typed(name, array, with_shape=True):
    elem_type = helper.np_dtype_to_tensor_dtype(array.dtype)
    return helper.make_tensor_value_info(name, elem_type, list(array.shape) if with_shape else None)


def replace_output(node, name):
    for index, output in enumerate(node.output):
        if output == name:
            node.output[index] = f"{name}_unused"


def alike(a, b):
    return isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.dtype == b.dtype and a.shape == b.shape


def inlined_identity(model, old, new):
    """Lets all readers of `old` read `new`, unless `old` is an output of the graph."""
    if any(output.name == old for output in model.graph.output):
        return model
    for node in list(model.graph.node):
        if node.op_type == "Identity" and list(node.output) == [old]:
            model.graph.node.remove(node)
    for node in model.graph.node:
        rename_inputs(node, old, new)
    return model


def rename_inputs(node, old, new):
    for index, name in enumerate(node.input):
        if name == old:
            node.input[index] = new
    for attribute in node.attribute:
        if attribute.HasField("g"):
            for inner in attribute.g.node:
                rename_inputs(inner, old, new)


def cut_axes(array, length, shorter):
    return array[tuple(slice(shorter) if size == length else slice(None) for size in array.shape)]


def with_data(model, feeds, tensors):
    smaller = copy.deepcopy(model)
    for tensor in smaller.graph.initializer:
        tensor.CopyFrom(numpy_helper.from_array(np.ascontiguousarray(tensors[tensor.name]), tensor.name))
    for index, value in enumerate(smaller.graph.input):
        smaller.graph.input[index].CopyFrom(typed(value.name, tensors[value.name]))
    for output in smaller.graph.output:
        output.type.tensor_type.ClearField("shape")
    return smaller, {name: np.ascontiguousarray(tensors[name]) if tensors[name].ndim else tensors[name] for name in feeds}
