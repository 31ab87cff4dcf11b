"""Edits of tensors: values, shapes, types and where the elements are stored."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from normal_form.mutant import NotApplicable, edit

STRUCTURAL = (TensorProto.INT64, TensorProto.INT32, TensorProto.BOOL)
TYPED_FIELDS = ("float_data", "int32_data", "int64_data", "double_data", "uint64_data", "string_data")


def is_external(tensor):
    return tensor.data_location == TensorProto.EXTERNAL


def entries(tensor):
    return {entry.key: entry.value for entry in tensor.external_data}


def set_entries(tensor, values):
    del tensor.external_data[:]
    for key, value in values.items():
        tensor.external_data.add(key=key, value=value)


def elements(mutant, tensor):
    """As an array, or NotApplicable."""
    try:
        if not is_external(tensor):
            return numpy_helper.to_array(tensor)
        where = entries(tensor)
        offset, bytes_ = int(where.get("offset", 0)), mutant.files[where["location"]]
        length = int(where.get("length", len(bytes_) - offset))
        inline = TensorProto(name=tensor.name, data_type=tensor.data_type, dims=tensor.dims,
                             raw_data=bytes_[offset:offset + length])
        return numpy_helper.to_array(inline)
    except (ValueError, TypeError, KeyError, IndexError):
        raise NotApplicable from None


def clear_elements(tensor):
    for name in ("raw_data", "external_data", "data_location", *TYPED_FIELDS):
        tensor.ClearField(name)


def store(tensor, array, raw=True):
    """Puts other elements into the message."""
    clear_elements(tensor)
    del tensor.dims[:]
    tensor.dims.extend(array.shape)
    if raw and array.dtype != object:
        tensor.CopyFrom(numpy_helper.from_array(np.ascontiguousarray(array), tensor.name))
        return
    tensor.CopyFrom(helper.make_tensor(tensor.name, tensor.data_type, array.shape, array.flatten().tolist()))


def pick(mutant, accept=lambda tensor: True):
    return mutant.choose([t for t in mutant.tensors() if accept(t)])


def changed(mutant, array):
    """The same with one other element, or all of them."""
    if array.size == 0 or array.dtype == object:
        raise NotApplicable
    array = array.copy()
    value = np.array(mutant.choose([0, 1, 2, 3])).astype(array.dtype)
    if mutant.random.random() < 0.3:
        array[...] = value
    else:
        array.reshape(-1)[mutant.random.randrange(array.size)] = value
    return array


def write_region(mutant, tensor, array):
    where = entries(tensor)
    offset, data = int(where.get("offset", 0)), bytearray(mutant.files[where["location"]])
    bytes_ = array.tobytes()
    data[offset:offset + len(bytes_)] = bytes_
    mutant.files[where["location"]] = bytes(data)


def change_elements(mutant, tensor):
    array = changed(mutant, elements(mutant, tensor))
    if is_external(tensor):
        write_region(mutant, tensor, array)
    else:
        store(tensor, array)
    return f"'{tensor.name}' {helper.tensor_dtype_to_string(tensor.data_type)}{list(tensor.dims)}"


@edit("change elements of a weight", 3)
def change_weight(mutant):
    return change_elements(mutant, pick(mutant, lambda t: t.data_type not in STRUCTURAL))


@edit("change elements of a structural constant", 4)
def change_structural(mutant):
    return change_elements(mutant, pick(mutant, lambda t: t.data_type in STRUCTURAL))


@edit("change bytes of a data file", 3)
def change_data_file(mutant):
    name = mutant.choose(sorted(mutant.files))
    data = bytearray(mutant.files[name])
    for _ in range(mutant.choose([1, 8, 64])):
        data[mutant.random.randrange(len(data))] = mutant.random.choice((0, 1, 2, 63, 255))
    mutant.files[name] = bytes(data)


@edit("shorten, lengthen or remove a data file")
def change_size_of_data_file(mutant):
    name = mutant.choose(sorted(mutant.files))
    how = mutant.choose(["shorter", "longer", "gone"])
    if how == "gone":
        del mutant.files[name]
    else:
        mutant.files[name] = mutant.files[name][:-8] if how == "shorter" else mutant.files[name] + bytes(64)
    return how


@edit("change the shape of a tensor", 2)
def change_shape(mutant):
    tensor = pick(mutant)
    array = elements(mutant, tensor)
    how = mutant.choose(["reshape", "smaller", "dims alone", "rank"])
    if how == "dims alone" and tensor.dims:
        tensor.dims[mutant.random.randrange(len(tensor.dims))] = mutant.choose([0, 1, 2, 7, -1])
    elif how == "reshape":
        store(tensor, array.reshape(array.shape[::-1]))
    elif how == "rank":
        store(tensor, array.reshape(1, *array.shape))
    elif array.ndim:
        store(tensor, array[:-1])
    return how


@edit("change the element type of a tensor")
def change_dtype(mutant):
    tensor = pick(mutant)
    if mutant.random.random() < 0.3:
        tensor.data_type = mutant.choose([0, 1, 6, 7, 9, 10, 11, 16, 99])
        return "number alone"
    array = elements(mutant, tensor)
    if array.dtype == object:
        raise NotApplicable
    with np.errstate(all="ignore"):
        store(tensor, array.astype(mutant.choose(["float32", "float64", "int64", "int32", "bool", "float16"])))
    return tensor.data_type


@edit("store a tensor in another form", 3)
def change_storage(mutant):
    tensor = pick(mutant)
    array = elements(mutant, tensor)
    how = mutant.choose(["raw", "typed", "external", "empty"])
    if how == "empty":
        tensor.ClearField(mutant.choose(["raw_data", *TYPED_FIELDS, "external_data"]))
    elif how == "external":
        if array.dtype == object:
            raise NotApplicable
        mutant.files["moved.bin"] = mutant.files.get("moved.bin", bytes(16)) + array.tobytes()
        offset = len(mutant.files["moved.bin"]) - array.nbytes
        clear_elements(tensor)
        tensor.data_location = TensorProto.EXTERNAL
        set_entries(tensor, {"location": "moved.bin", "offset": str(offset), "length": str(array.nbytes)})
    elif array.dtype.isbuiltin == 1:
        store(tensor, array, raw=how == "raw")
    return how


@edit("store elements twice", 0.5)
def store_twice(mutant):
    tensor = pick(mutant)
    mutant.choose([tensor.float_data.append, tensor.double_data.append])(1.0)


@edit("move an external tensor", 4)
def move_external(mutant):
    tensor = pick(mutant, is_external)
    where = entries(tensor)
    how = mutant.choose(["offset", "length", "location", "alias", "spelling", "more keys", "no length"])
    if how == "offset":
        where["offset"] = mutant.choose(["0", "8", "32", "64", "10000", "-8", "x"])
    elif how == "length":
        where["length"] = mutant.choose(["0", "8", "16", "100000", "x"])
    elif how == "location":
        where["location"] = mutant.choose([*sorted(mutant.files), "missing.bin", "../outside.bin", ""])
    elif how == "alias":
        where = entries(pick(mutant, is_external))
    elif how == "spelling":
        where["location"] = "./" + where.get("location", "")
    elif how == "more keys":
        where[mutant.choose(["checksum", "basepath", "other"])] = "1"
    else:
        where.pop("length", None)
    set_entries(tensor, where)
    return how


@edit("name a tensor differently or document it", 0.7)
def rename_tensor(mutant):
    tensor = pick(mutant)
    if mutant.random.random() < 0.5:
        tensor.doc_string = "about"
    else:
        tensor.name = mutant.choose(["", "renamed", *mutant.value_names()])


@edit("add an initializer")
def add_initializer(mutant):
    graph = mutant.choose(mutant.graphs())
    name = mutant.choose(["added", *mutant.value_names()])
    graph.initializer.append(numpy_helper.from_array(np.arange(4, dtype=mutant.choose(["float32", "int64"])), name))


@edit("remove or repeat an initializer")
def remove_initializer(mutant):
    graph = mutant.choose([g for g in mutant.graphs() if g.initializer])
    at = mutant.random.randrange(len(graph.initializer))
    if mutant.random.random() < 0.5:
        del graph.initializer[at]
    else:
        graph.initializer.append(graph.initializer[at])


@edit("make an initializer a copy of another one")
def equal_initializers(mutant):
    graph = mutant.choose([g for g in mutant.graphs() if len(g.initializer) > 1])
    tensor, other = mutant.random.sample(list(graph.initializer), 2)
    name = tensor.name
    tensor.CopyFrom(other)
    tensor.name = name


@edit("edit a sparse initializer", 2)
def edit_sparse(mutant):
    sparse = mutant.choose([s for g in mutant.graphs() for s in g.sparse_initializer])
    how = mutant.choose(["indices", "values", "dims", "name"])
    if how == "dims":
        rest = list(sparse.dims)[1:]
        del sparse.dims[:]
        sparse.dims.extend([mutant.choose([1, 2, 100]), *rest])
    elif how == "name":
        sparse.values.name = mutant.choose(["renamed", *mutant.value_names()])
    else:
        change_elements(mutant, getattr(sparse, how))
    return how


@edit("make an initializer sparse, or a sparse one dense", 0.7)
def change_density(mutant):
    graph = mutant.choose([g for g in mutant.graphs() if g.initializer or g.sparse_initializer])
    if graph.sparse_initializer and mutant.random.random() < 0.5:
        sparse = graph.sparse_initializer.pop()
        graph.initializer.append(numpy_helper.from_array(np.zeros(list(sparse.dims), np.float32), sparse.values.name))
        return "dense"
    tensor = mutant.choose(graph.initializer)
    array = elements(mutant, tensor)
    if array.dtype == object or array.size == 0:
        raise NotApplicable
    at = np.flatnonzero(array)
    values = numpy_helper.from_array(np.ascontiguousarray(array.reshape(-1)[at]), tensor.name)
    graph.initializer.remove(tensor)
    graph.sparse_initializer.append(helper.make_sparse_tensor(values, numpy_helper.from_array(at), list(array.shape)))
    return "sparse"
