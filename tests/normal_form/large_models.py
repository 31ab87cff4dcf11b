"""Models of any size that take no space: their weights are holes in sparse files."""

import ctypes
import mmap
import os

import onnx
from onnx import TensorProto, helper

import tenon

STAMP = "tenon.normal_form"
WIDTH = 4096


def field(number, wire_type=2):
    return varint(number << 3 | wire_type)


def varint(value):
    data = bytearray()
    while value > 127:
        data.append(value & 127 | 128)
        value >>= 7
    data.append(value)
    return bytes(data)


def layers(count, bytes_of_each):
    """(a graph of linear layers without its initializers, the initializers without elements)."""
    rows = bytes_of_each // 4 // WIDTH
    weights = [TensorProto(name=f"w{i}", data_type=TensorProto.FLOAT, dims=[rows, WIDTH]) for i in range(count)]
    nodes = [helper.make_node("MatMul", ["x", w.name], [f"y{i}"], f"layer {i}") for i, w in enumerate(weights)]
    infos = [helper.make_tensor_value_info(f"y{i}", TensorProto.FLOAT, ["n", WIDTH]) for i in range(count)]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", rows])
    return helper.make_graph(nodes, "layers", [x], infos), weights


def header():
    return helper.make_model(onnx.GraphProto(), opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def write_external(folder, count, bytes_of_each):
    """A stamped model whose weights are in a data file; returns the paths of both."""
    graph, weights = layers(count, bytes_of_each)
    for i, tensor in enumerate(weights):
        tensor.data_location = TensorProto.EXTERNAL
        for key, text in (("location", "weights.data"), ("offset", i * bytes_of_each), ("length", bytes_of_each)):
            tensor.external_data.add(key=key, value=str(text))
    graph.initializer.extend(weights)
    model = header()
    model.graph.CopyFrom(graph)
    path, data = folder / "external.onnx", folder / "weights.data"
    with open(data, "wb") as file:
        file.truncate(count * bytes_of_each)
    path.write_bytes(model.SerializeToString())
    tenon.optimize_file(path, path, force=True, overwrite=True)
    return path, data


def write_inline(folder, count, bytes_of_each):
    """A stamped model whose weights are in the file itself."""
    path = folder / "inline.onnx"
    write_holes(path, count, bytes_of_each)
    tenon.optimize_file(path, folder / "stamped.onnx", force=True)
    with open(folder / "stamped.onnx", "rb") as file:
        # The metadata is the last part of a file that Tenon writes.
        file.seek(-4096, os.SEEK_END)
        tail = file.read()
    (folder / "stamped.onnx").unlink()
    value = tail[tail.index(STAMP.encode()) + len(STAMP):]
    size = value[1] if value[1] < 128 else value[1] & 127 | value[2] << 7
    start = 2 if value[1] < 128 else 3
    write_holes(path, count, bytes_of_each, value[start:start + size].decode())
    return path


def write_holes(path, count, bytes_of_each, stamp=None):
    graph, weights = layers(count, bytes_of_each)
    pieces = [graph.SerializeToString()]
    for tensor in weights:
        start = tensor.SerializeToString() + field(9) + varint(bytes_of_each)
        pieces += [field(5) + varint(len(start) + bytes_of_each) + start, bytes_of_each]
    size = sum(piece if isinstance(piece, int) else len(piece) for piece in pieces)
    model = header()
    model.ClearField("graph")
    if stamp:
        model.metadata_props.add(key=STAMP, value=stamp)
    path.unlink(missing_ok=True)
    with open(path, "wb") as file:
        file.write(field(7) + varint(size))
        for piece in pieces:
            if isinstance(piece, int):
                file.seek(piece, os.SEEK_CUR)
            else:
                file.write(piece)
        file.write(model.SerializeToString())


def bytes_in_memory(path):
    """How much of a file the system has in memory: what was written or read since it was made."""
    size = os.path.getsize(path)
    pages = (ctypes.c_ubyte * -(-size // mmap.PAGESIZE))()
    with open(path, "r+b") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY) as view:
        start = ctypes.c_char.from_buffer(view)
        failed = ctypes.CDLL(None, use_errno=True).mincore(ctypes.byref(start), ctypes.c_size_t(size), pages)
        del start
    if failed:
        raise OSError(ctypes.get_errno(), "mincore")
    return sum(page & 1 for page in pages) * mmap.PAGESIZE
