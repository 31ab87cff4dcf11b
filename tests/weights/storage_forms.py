"""The same model with its constants kept in other ways."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import tenon

from .zoo import FLOAT


def with_initializers(model, change):
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    del changed.graph.initializer[:]
    changed.graph.initializer.extend(change(tensor) for tensor in model.graph.initializer)
    return changed


def raw(model, folder):
    return with_initializers(model, lambda t: numpy_helper.from_array(numpy_helper.to_array(t), t.name))


def typed(model, folder):
    def change(tensor):
        array = numpy_helper.to_array(tensor)
        return helper.make_tensor(tensor.name, tensor.data_type, array.shape, array.ravel())

    return with_initializers(model, change)


def external(model, folder):
    changed = raw(model, folder)
    onnx.external_data_helper.convert_model_to_external_data(
        changed, all_tensors_to_one_file=True, location="weights.data", size_threshold=0, convert_attribute=False)
    path = folder / "external.onnx"
    onnx.save(changed, path)
    reread = onnx.load(path, load_external_data=False)
    assert all(tensor.data_location == TensorProto.EXTERNAL for tensor in reread.graph.initializer)
    return path


def sparse(model, folder):
    """Every initializer that sparse tensors can express: at least one dimension, no listed input."""
    changed = raw(model, folder)
    inputs = {value.name for value in model.graph.input}
    kept = []
    for tensor in changed.graph.initializer:
        array = numpy_helper.to_array(tensor)
        if array.ndim == 0 or tensor.name in inputs or tensor.data_type not in (FLOAT, TensorProto.INT64):
            kept.append(tensor)
            continue
        places = np.flatnonzero(array)
        made = onnx.SparseTensorProto(dims=array.shape)
        made.values.CopyFrom(numpy_helper.from_array(array.ravel()[places], tensor.name))
        made.indices.CopyFrom(numpy_helper.from_array(places.astype(np.int64)))
        changed.graph.sparse_initializer.append(made)
    del changed.graph.initializer[:]
    changed.graph.initializer.extend(kept)
    return changed


def external_in_memory(model, folder):
    path, data = external(model, folder), folder / "weights.data"
    files = {data.name: data.read_bytes()} if data.exists() else {}  # a model may have all its weights in functions
    return tenon.Model.load(path.read_bytes(), files=files)


def listed(model, folder):
    """As models were before version 4 of the file format: initializers are inputs, which nobody may give."""
    changed = raw(model, folder)
    changed.ir_version = 3
    inputs = {value.name for value in model.graph.input}
    for tensor in changed.graph.initializer:
        if tensor.name not in inputs:
            changed.graph.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims))
    return changed


def frozen(model, folder):
    """The same since version 4, where only the reader's wish keeps callers from giving them."""
    changed = listed(model, folder)
    changed.ir_version = model.ir_version
    return tenon.Model.load(changed.SerializeToString(), freeze_inputs=True)


FORMS = {form.__name__: form for form in (typed, external, sparse, external_in_memory, listed, frozen)}

# --- Constant nodes -------------------------------------------------------------------------------------


def with_constant_nodes(model, attributes_of):
    """attributes_of: the attribute of a Constant node for an array."""
    changed = raw(model, None)
    nodes = []
    for tensor in changed.graph.initializer:
        array = numpy_helper.to_array(tensor)
        nodes.append(helper.make_node("Constant", [], [tensor.name], **attributes_of(array)))
    nodes += changed.graph.node
    del changed.graph.initializer[:], changed.graph.node[:]
    changed.graph.node.extend(nodes)
    return changed


def as_tensor(array):
    return {"value": numpy_helper.from_array(array)}


def as_typed_tensor(array):
    return {"value": helper.make_tensor("", helper.np_dtype_to_tensor_dtype(array.dtype), array.shape, array.ravel())}


def as_numbers(array):
    """In the attributes for one number and for a list of them, where these can say it."""
    kind = {np.dtype(np.int64): "int", np.dtype(np.float32): "float"}.get(array.dtype)
    if kind is None or array.ndim > 1 or array.size == 0:
        return as_tensor(array)
    return {f"value_{kind}s": array.tolist()} if array.ndim else {f"value_{kind}": array.item()}


def as_sparse(array):
    if array.ndim == 0 or array.dtype not in (np.int64, np.float32):
        return as_tensor(array)
    places = np.flatnonzero(array)
    values = numpy_helper.from_array(array.ravel()[places])
    return {"sparse_value": helper.make_sparse_tensor(values, numpy_helper.from_array(places), array.shape)}


def in_file(model, folder):
    """The tensors of Constant nodes in a file beside the model."""
    changed = with_constant_nodes(model, as_tensor)
    onnx.external_data_helper.convert_model_to_external_data(
        changed, all_tensors_to_one_file=True, location="nodes.data", size_threshold=0, convert_attribute=True)
    path = folder / "nodes.onnx"
    onnx.save(changed, path)
    return path


NODE_FORMS = {
    "typed": lambda model, folder: with_constant_nodes(model, as_typed_tensor),
    "numbers": lambda model, folder: with_constant_nodes(model, as_numbers),
    "sparse": lambda model, folder: with_constant_nodes(model, as_sparse),
    "in_file": in_file,
}
