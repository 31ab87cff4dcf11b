"""Edits of what a model declares: types of values, inputs and outputs, bodies."""

from onnx import GraphProto, TensorProto, ValueInfoProto, helper

from normal_form.mutant import NotApplicable, edit


def some_shape(mutant):
    return mutant.choose([None, [], [1], ["n"], [None, 4], ["n", 4], [2, 2], ["other", "other"], [0]])


def declared(mutant):
    return mutant.choose([i for i in mutant.declarations() if i.type.HasField("tensor_type")])


@edit("remove declarations", 2)
def remove_declaration(mutant):
    graph = mutant.choose([g for g in mutant.graphs() if g.value_info])
    if mutant.random.random() < 0.3:
        del graph.value_info[:]
    else:
        del graph.value_info[mutant.random.randrange(len(graph.value_info))]


@edit("add a declaration", 2)
def add_declaration(mutant):
    graph = mutant.choose(mutant.graphs())
    name = mutant.choose([*mutant.value_names(), "nobody"])
    dtype = mutant.choose([TensorProto.FLOAT, TensorProto.INT64, TensorProto.UNDEFINED])
    graph.value_info.append(helper.make_tensor_value_info(name, dtype, some_shape(mutant)))


@edit("reorder or repeat declarations", 0.7)
def reorder_declarations(mutant):
    graph = mutant.choose([g for g in mutant.graphs() if len(g.value_info) > 1])
    infos = [ValueInfoProto.FromString(i.SerializeToString()) for i in graph.value_info]
    if mutant.random.random() < 0.7:
        mutant.random.shuffle(infos)
    else:
        infos.append(mutant.choose(infos))
    del graph.value_info[:]
    graph.value_info.extend(infos)


@edit("contradict or open an extent", 4)
def change_extent(mutant):
    info = mutant.choose([i for i in mutant.declarations() if i.type.tensor_type.shape.dim])
    extent = mutant.choose(info.type.tensor_type.shape.dim)
    how = mutant.choose(["value", "symbol", "open", "denotation", "negative", "empty symbol"])
    if how == "value":
        extent.dim_value = mutant.choose([0, 1, 2, 3, 4, 6, 100])
    elif how == "symbol":
        extent.dim_param = mutant.choose(["n", "other", "N + 1", "unk__0"])
    elif how == "denotation":
        extent.denotation = "DATA_BATCH"
    elif how == "negative":
        extent.dim_value = -1
    elif how == "empty symbol":
        extent.dim_param = ""
    else:
        extent.Clear()
    return how


@edit("change a declared type", 2)
def change_type(mutant):
    info = declared(mutant)
    how = mutant.choose(["dtype", "no shape", "shape", "no type", "sequence"])
    if how == "dtype":
        info.type.tensor_type.elem_type = mutant.choose([0, 1, 6, 7, 9, 10, 11, 99])
    elif how == "no shape":
        info.type.tensor_type.ClearField("shape")
    elif how == "shape":
        info.CopyFrom(helper.make_tensor_value_info(info.name, info.type.tensor_type.elem_type, some_shape(mutant)))
    elif how == "no type":
        info.ClearField("type")
    else:
        info.type.sequence_type.elem_type.tensor_type.elem_type = TensorProto.FLOAT
    return how


@edit("rename a declared symbol everywhere")
def rename_symbol(mutant):
    extents = [d for i in mutant.declarations() for d in i.type.tensor_type.shape.dim if d.dim_param]
    old, new = mutant.choose(extents).dim_param, mutant.choose(["batch", "n", "é"])
    for extent in extents:
        if extent.dim_param == old:
            extent.dim_param = new


@edit("document a declaration, or give it metadata", 0.7)
def document_declaration(mutant):
    info = mutant.choose(mutant.declarations())
    if mutant.random.random() < 0.5:
        info.doc_string = "about"
    else:
        info.metadata_props.add(key="k", value="v")


@edit("rename a value everywhere", 2)
def rename_value(mutant):
    old, new = mutant.choose(mutant.value_names()), mutant.choose(["renamed", "tenon.0", "value", "", "w"])
    for node in mutant.nodes():
        for names in (node.input, node.output):
            for i, name in enumerate(names):
                if name == old:
                    names[i] = new
    for item in (*mutant.declarations(), *mutant.tensors()):
        if item.name == old:
            item.name = new


@edit("add an input or output")
def add_boundary(mutant):
    graph = mutant.choose(mutant.graphs())
    infos = mutant.choose([graph.input, graph.output])
    name = mutant.choose([*mutant.value_names(), "added"])
    infos.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, some_shape(mutant)))


@edit("list an initializer as input", 2)
def overridable(mutant):
    graph = mutant.choose([g for g in mutant.graphs() if g.initializer])
    tensor = mutant.choose(graph.initializer)
    graph.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims)))


@edit("remove an input or output")
def remove_boundary(mutant):
    graph = mutant.choose(mutant.graphs())
    infos = mutant.choose([infos for infos in (graph.input, graph.output) if infos])
    del infos[mutant.random.randrange(len(infos))]


@edit("exchange inputs or outputs", 0.5)
def exchange_boundary(mutant):
    graph = mutant.choose(mutant.graphs())
    infos = mutant.choose([infos for infos in (graph.input, graph.output) if len(infos) > 1])
    order = [ValueInfoProto.FromString(i.SerializeToString()) for i in infos]
    del infos[:]
    infos.extend(order[::-1])


@edit("exchange or copy bodies")
def exchange_bodies(mutant):
    attributes = [a for node in mutant.nodes() for a in node.attribute if a.HasField("g")]
    if len(attributes) < 2:
        raise NotApplicable
    a, b = mutant.random.sample(attributes, 2)
    copy = GraphProto.FromString(a.g.SerializeToString())
    if mutant.random.random() < 0.5:
        a.g.CopyFrom(GraphProto.FromString(b.g.SerializeToString()))
    b.g.CopyFrom(copy)


@edit("make a condition constant", 2)
def constant_condition(mutant):
    from onnx import numpy_helper
    import numpy as np

    node = mutant.choose([n for n in mutant.model.graph.node if n.op_type == "If"])
    values = np.array(mutant.choose([True, False]))
    mutant.model.graph.initializer.append(numpy_helper.from_array(values, "fixed condition"))
    node.input[0] = "fixed condition"
