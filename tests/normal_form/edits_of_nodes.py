"""Edits of nodes and their attributes."""

import numpy as np
from onnx import AttributeProto, NodeProto, helper, numpy_helper

from normal_form.mutant import NotApplicable, edit

UNARY = ("Identity", "Relu", "Neg", "Exp", "Abs", "Sigmoid", "Tanh", "Floor", "Sqrt", "Softmax", "Flatten", "Dropout",
         "Shape", "Size", "Not", "NoSuchOp")
BINARY = ("Add", "Mul", "Sub", "Div", "Max", "Pow", "MatMul", "Reshape", "Expand", "And")
# What ops say when they say nothing.
DEFAULTS = {
    "Softmax": {"axis": -1}, "LeakyRelu": {"alpha": 0.01}, "Gemm": {"alpha": 1.0}, "Concat": {"axis": 0},
    "Conv": {"group": 1}, "Transpose": {"perm": []}, "Cast": {"saturate": 1}, "Reshape": {"allowzero": 0},
    "BatchNormalization": {"epsilon": 1e-5}, "Gather": {"axis": 0}, "ReduceSum": {"keepdims": 1},
    "Flatten": {"axis": 1}, "LayerNormalization": {"axis": -1}, "Split": {"axis": 0}, "Pad": {"mode": "constant"},
    "Shape": {"start": 0}, "MaxPool": {"ceil_mode": 0}, "LSTM": {"direction": "forward"}, "Elu": {"alpha": 1.0},
    "QuantizeLinear": {"axis": 1}, "DequantizeLinear": {"axis": 1}, "Loop": {"no_such_attribute": 1},
}


def fresh(mutant, like):
    return f"{like}_{mutant.random.randrange(10**6)}"


def pick(mutant, accept=lambda node: True):
    """A random list of nodes and the index of a node in it."""
    nodes = mutant.choose([nodes for nodes in mutant.node_lists() if any(map(accept, nodes))])
    return nodes, mutant.choose([i for i, node in enumerate(nodes) if accept(node)])


def reads(node):
    return any(node.input)


@edit("insert a node before an input", 3)
def insert_before(mutant):
    nodes, at = pick(mutant, reads)
    slot = mutant.choose([i for i, name in enumerate(nodes[at].input) if name])
    name = fresh(mutant, "inserted")
    op = mutant.choose(UNARY[:1] * 6 + UNARY)
    nodes.insert(at, helper.make_node(op, [nodes[at].input[slot]], [name], mutant.choose([name, ""])))
    nodes[at + 1].input[slot] = name
    return op


@edit("insert a node that nothing reads")
def insert_unread(mutant):
    nodes, at = pick(mutant, reads)
    read = mutant.choose([name for name in nodes[at].input if name])
    nodes.insert(at, helper.make_node(mutant.choose(UNARY), [read], [fresh(mutant, "unread")]))


@edit("insert a Constant", 2)
def insert_constant(mutant):
    nodes, at = pick(mutant)
    name = fresh(mutant, "constant")
    size = mutant.choose([0, 1, 3, 128, 129, 300])
    values = np.arange(size).astype(mutant.choose(["float32", "int64", "bool"]))
    how = mutant.choose(["value", "value_ints", "value_float", "sparse_value"])
    if how == "value":
        attribute = {"value": numpy_helper.from_array(values)}
    elif how == "sparse_value":
        attribute = {how: helper.make_sparse_tensor(
            numpy_helper.from_array(np.ones(1, np.float32), ""), numpy_helper.from_array(np.zeros(1, np.int64)), [2])}
    else:
        attribute = {how: [1, 2] if how == "value_ints" else 0.5}
    nodes.insert(at, helper.make_node("Constant", [], [name], **attribute))
    if mutant.random.random() < 0.5 and nodes[at + 1].input:
        nodes[at + 1].input[mutant.random.randrange(len(nodes[at + 1].input))] = name
    return how


@edit("add an equal node")
def duplicate_node(mutant):
    nodes, at = pick(mutant, lambda n: any(n.output))
    copy = NodeProto()
    copy.CopyFrom(nodes[at])
    renamed = {name: fresh(mutant, name) for name in copy.output if name}
    for i, name in enumerate(copy.output):
        copy.output[i] = renamed.get(name, name)
    nodes.insert(at + 1, copy)
    readers = [(n, i) for n in list(nodes)[at + 2:] for i, name in enumerate(n.input) if name in renamed]
    if readers:
        node, slot = mutant.choose(readers)
        node.input[slot] = renamed[node.input[slot]]


@edit("remove a node, its readers read its input")
def remove_and_bypass(mutant):
    nodes, at = pick(mutant, lambda n: any(n.input) and any(n.output))
    gone = nodes[at]
    old, new = next(filter(None, gone.output)), next(filter(None, gone.input))
    del nodes[at]
    for node in nodes:
        for i, name in enumerate(node.input):
            if name == old:
                node.input[i] = new


@edit("remove a node")
def remove_node(mutant):
    nodes, at = pick(mutant)
    del nodes[at]


@edit("swap the op of a node")
def swap_op(mutant):
    nodes, at = pick(mutant)
    others = {1: UNARY, 2: BINARY}.get(len(nodes[at].input), UNARY + BINARY)
    nodes[at].op_type = mutant.choose(others + tuple(n.op_type for n in mutant.nodes()))
    return nodes[at].op_type


@edit("change the domain of a node", 0.5)
def change_domain(mutant):
    nodes, at = pick(mutant)
    nodes[at].domain = mutant.choose(["", "ai.onnx", "com.microsoft", "ai.onnx.ml", "no.such.domain", "local"])


@edit("change the overload of a node", 0.3)
def change_overload(mutant):
    nodes, at = pick(mutant)
    nodes[at].overload = mutant.choose(["", "1", "other"])


@edit("rename a node", 0.5)
def rename_node(mutant):
    nodes, at = pick(mutant)
    nodes[at].name = mutant.choose(["", "renamed", *(n.name for n in mutant.nodes())])


@edit("reorder nodes", 0.7)
def reorder(mutant):
    nodes = mutant.choose([nodes for nodes in mutant.node_lists() if len(nodes) > 1])
    order = list(nodes)
    i, j = mutant.random.sample(range(len(order)), 2)
    order[i], order[j] = order[j], order[i]
    copies = [NodeProto.FromString(node.SerializeToString()) for node in order]
    del nodes[:]
    nodes.extend(copies)


@edit("read another value", 2)
def rewire(mutant):
    nodes, at = pick(mutant, lambda n: n.input)
    slot = mutant.random.randrange(len(nodes[at].input))
    nodes[at].input[slot] = mutant.choose(["", *mutant.value_names()])


@edit("add or remove an operand", 0.7)
def change_arity(mutant):
    nodes, at = pick(mutant)
    names = nodes[at].input if mutant.random.random() < 0.7 else nodes[at].output
    if names and mutant.random.random() < 0.5:
        names.pop()
    else:
        names.append(mutant.choose(["", *mutant.value_names()]) if names is nodes[at].input else fresh(mutant, "more"))


@edit("spell out a default", 2)
def spell_out_default(mutant):
    nodes, at = pick(mutant, lambda n: n.op_type in DEFAULTS)
    name, value = mutant.choose(DEFAULTS[nodes[at].op_type].items())
    if any(a.name == name for a in nodes[at].attribute):
        raise NotApplicable
    nodes[at].attribute.append(helper.make_attribute(name, value, attr_type=AttributeProto.INTS if value == [] else None))
    return f"{nodes[at].op_type}.{name}"


@edit("remove an attribute")
def remove_attribute(mutant):
    nodes, at = pick(mutant, lambda n: n.attribute)
    del nodes[at].attribute[mutant.random.randrange(len(nodes[at].attribute))]


@edit("change an attribute", 3)
def change_attribute(mutant):
    nodes, at = pick(mutant, lambda n: n.attribute)
    a = mutant.choose(nodes[at].attribute)
    if a.type == AttributeProto.INT:
        a.i = mutant.choose([0, 1, -1, 2, a.i + 1, 2**40])
    elif a.type == AttributeProto.FLOAT:
        a.f = mutant.choose([0.0, 1.0, 0.5, float("nan"), float("inf"), a.f * 2])
    elif a.type == AttributeProto.STRING:
        a.s = mutant.choose([b"", b"SAME_UPPER", b"reflect", a.s + b"x", b"\xff"])
    elif a.type == AttributeProto.INTS and a.ints:
        a.ints[mutant.random.randrange(len(a.ints))] = mutant.choose([0, 1, -1, 2, 5])
    elif a.type == AttributeProto.FLOATS and a.floats:
        a.floats[mutant.random.randrange(len(a.floats))] = mutant.choose([0.0, 1.0, -3.0])
    elif a.type == AttributeProto.STRINGS and a.strings:
        a.strings[mutant.random.randrange(len(a.strings))] = b"other"
    else:
        raise NotApplicable
    return f"{nodes[at].op_type}.{a.name}"


@edit("change an attribute's name, type or documentation", 0.5)
def change_attribute_itself(mutant):
    nodes, at = pick(mutant, lambda n: n.attribute)
    a = mutant.choose(nodes[at].attribute)
    how = mutant.choose(["name", "type", "doc", "reference"])
    if how == "name":
        a.name = mutant.choose(["axis", "perm", "alpha", "renamed"])
    elif how == "type":
        a.type = mutant.choose([AttributeProto.UNDEFINED, AttributeProto.INT, AttributeProto.FLOAT, AttributeProto.INTS])
    elif how == "doc":
        a.doc_string = "about"
    else:
        a.ref_attr_name = "alpha"
    return how
