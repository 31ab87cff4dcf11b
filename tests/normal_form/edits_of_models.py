"""Edits of what is around the graph: versions, functions, metadata, and fields that nobody knows."""

from onnx import NodeProto, StringStringEntryProto, helper

from normal_form.mutant import edit

# Fields 1000, a varint, and 1001, bytes, as protobuf writes them: no ONNX message has them.
UNKNOWN_FIELDS = (b"\xc0\x3e\x05", b"\xca\x3e\x03abc")


@edit("change an opset version", 2)
def change_opset(mutant):
    lists = [mutant.model.opset_import, *(f.opset_import for f in mutant.model.functions if f.opset_import)]
    opset = mutant.choose(mutant.choose(lists))
    opset.version = mutant.choose([1, 6, 9, 11, 12, 13, 14, 17, 18, 19, 21, 23, 24, 99, opset.version + 1])
    return f"{opset.domain}: {opset.version}"


@edit("add, remove or repeat an opset import")
def edit_opsets(mutant):
    opsets = mutant.choose([mutant.model.opset_import, *(f.opset_import for f in mutant.model.functions)])
    how = mutant.choose(["add", "remove", "repeat", "reorder"])
    if how == "add":
        opsets.append(helper.make_opsetid(mutant.choose(["ai.onnx.ml", "com.microsoft", "no.such.domain", ""]), 1))
    elif how == "remove" and opsets:
        opsets.pop()
    elif how == "repeat" and opsets:
        opsets.append(opsets[0])
    elif len(opsets) > 1:
        first = helper.make_opsetid(opsets[0].domain, opsets[0].version)
        del opsets[0]
        opsets.append(first)
    return how


@edit("change the IR version")
def change_ir_version(mutant):
    mutant.model.ir_version = mutant.choose([0, 1, 3, 4, 7, 8, 10, 13, 99])
    return mutant.model.ir_version


@edit("change metadata of the model", 2)
def change_metadata(mutant):
    model = mutant.model
    how = mutant.choose(["producer", "version", "doc", "domain", "model_version", "entry", "graph entry", "graph doc",
                         "graph name"])
    if how == "producer":
        model.producer_name = "somebody"
    elif how == "version":
        model.producer_version = "7"
    elif how == "doc":
        model.doc_string = "about"
    elif how == "domain":
        model.domain = "here"
    elif how == "model_version":
        model.model_version = 3
    elif how == "entry":
        entry = StringStringEntryProto(key="author", value="somebody")
        model.metadata_props.insert(mutant.choose([0, len(model.metadata_props)]), entry)
    elif how == "graph entry":
        mutant.choose(mutant.graphs()).metadata_props.add(key="k", value="v")
    elif how == "graph doc":
        mutant.choose(mutant.graphs()).doc_string = "about"
    else:
        mutant.choose(mutant.graphs()).name = mutant.choose(["", "renamed"])
    return how


@edit("repeat the stamp", 0.5)
def repeat_stamp(mutant):
    mutant.model.metadata_props.extend(list(mutant.model.metadata_props))


@edit("document a node, or give it metadata")
def document_node(mutant):
    node = mutant.choose(mutant.nodes())
    if mutant.random.random() < 0.5:
        node.doc_string = "about"
    else:
        node.metadata_props.add(key="k", value="v")


@edit("add an unknown field", 3)
def unknown_field(mutant):
    model = mutant.model
    attributes = [a for n in mutant.nodes() for a in n.attribute]
    kinds = [[model], mutant.graphs(), mutant.nodes(), attributes, mutant.tensors(), mutant.declarations(),
             list(model.functions), list(model.opset_import), [i.type for i in mutant.declarations()]]
    message = mutant.choose(mutant.choose([k for k in kinds if k]))
    message.MergeFromString(mutant.choose(UNKNOWN_FIELDS))
    return type(message).__name__


@edit("add a quantization annotation", 0.5)
def annotate(mutant):
    entry = mutant.choose(mutant.graphs()).quantization_annotation.add()
    entry.tensor_name = mutant.choose(mutant.value_names())
    entry.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value=mutant.choose(mutant.value_names()))


@edit("add training information", 0.3)
def train(mutant):
    info = mutant.model.training_info.add()
    info.algorithm.name = "training"
    info.update_binding.add(key=mutant.choose(mutant.value_names()), value=mutant.choose(mutant.value_names()))


@edit("add a function", 1)
def add_function(mutant):
    name = mutant.choose(["Added", "Relu", "Add", *(f.name for f in mutant.model.functions)])
    domain = mutant.choose(["local", ""])
    body = [helper.make_node(mutant.choose(["Relu", "Identity", "NoSuchOp"]), ["a"], ["b"])]
    mutant.model.functions.append(helper.make_function(domain, name, ["a"], ["b"], body, [helper.make_opsetid("", 17)]))


@edit("call a function", 2)
def call_function(mutant):
    function = mutant.choose([f for f in mutant.model.functions if len(f.input) == 1 and len(f.output) == 1])
    nodes = mutant.choose([nodes for nodes in mutant.node_lists() if any(n.input for n in nodes)])
    at = mutant.choose([i for i, n in enumerate(nodes) if n.input])
    slot = mutant.random.randrange(len(nodes[at].input))
    call = helper.make_node(function.name, [nodes[at].input[slot]], ["called"], domain=function.domain)
    nodes[at].input[slot] = "called"
    nodes.insert(at, call)


@edit("remove or repeat a function")
def remove_function(mutant):
    functions = mutant.model.functions
    at = mutant.choose(range(len(functions)))
    if mutant.random.random() < 0.5:
        del functions[at]
    else:
        functions.append(functions[at])


@edit("edit a function", 2)
def edit_function(mutant):
    function = mutant.choose(mutant.model.functions)
    how = mutant.choose(["input", "output", "attribute", "default", "doc", "name", "opset", "node", "overload"])
    if how == "input":
        function.input.append("more")
    elif how == "output" and function.output:
        function.output[0] = mutant.choose([*function.input, "missing"])
    elif how == "attribute":
        function.attribute.append("alpha")
    elif how == "default":
        function.attribute_proto.append(helper.make_attribute("alpha", 0.5))
    elif how == "doc":
        function.doc_string = "about"
    elif how == "name":
        function.name = "Renamed"
    elif how == "overload":
        function.overload = "1"
    elif how == "opset" and function.opset_import:
        function.opset_import[0].version = mutant.choose([1, 13, 18, 21])
    elif function.node:
        function.node.append(NodeProto.FromString(function.node[0].SerializeToString()))
    return how
