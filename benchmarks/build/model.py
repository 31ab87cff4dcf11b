"""A transformer of any size as exporters write it: with shape arithmetic, identities, casts and dropouts that a normal form
does without. Its weights are real bytes in a data file, and the same ones every time."""

import os
import time

import numpy as np
import onnx
from onnx import TensorProto, helper

LAYERS, HEADS, TOKENS = 10, 16, 128
# Nobody has written to the files for an hour, as far as file systems tell.
AGE = 3600


class Writer:
    def __init__(self, width):
        self.width, self.nodes, self.weights, self.data, self.count = width, [], [], [], 0

    def name(self):
        self.count += 1
        return f"v{self.count}"

    def op(self, kind, *inputs, **attributes):
        output = self.name()
        self.nodes.append(helper.make_node(kind, inputs, [output], f"/{kind}_{output}", **attributes))
        return output

    def constant(self, values, dtype=np.int64):
        tensor = onnx.numpy_helper.from_array(np.array(values, dtype))
        return self.op("Constant", value=tensor)

    def weight(self, name, *shape):
        self.weights.append(TensorProto(name=name, data_type=TensorProto.FLOAT, dims=shape))
        return name

    def shaped(self, x, *extents):
        """A Reshape whose target is computed from the shape of x, where an extent is None."""
        shape, parts = self.op("Shape", x), []
        for axis, extent in enumerate(extents):
            one = self.op("Gather", shape, self.constant(axis)) if extent is None else self.constant(extent)
            parts.append(self.op("Unsqueeze", one, self.constant([0])))
        return self.op("Reshape", x, self.op("Concat", *parts, axis=0))

    def linear(self, x, name, rows, columns):
        product = self.op("MatMul", x, self.weight(f"{name}.weight", rows, columns))
        return self.op("Add", product, self.weight(f"{name}.bias", columns))

    def norm(self, x, name):
        x = self.op("Identity", x)
        return self.op("LayerNormalization", x, self.weight(f"{name}.weight", self.width),
                       self.weight(f"{name}.bias", self.width), axis=-1)

    def heads(self, x, name):
        x = self.shaped(self.linear(x, name, self.width, self.width), None, None, HEADS, self.width // HEADS)
        return self.op("Transpose", x, perm=[0, 2, 1, 3])

    def attention(self, x, name):
        q, k, v = (self.heads(x, f"{name}.{part}") for part in "qkv")
        scores = self.op("MatMul", q, self.op("Transpose", k, perm=[0, 1, 3, 2]))
        scale = self.op("Sqrt", self.op("Cast", self.constant(self.width / HEADS, np.float64), to=TensorProto.FLOAT))
        mixed = self.op("MatMul", self.op("Softmax", self.op("Div", scores, scale), axis=-1), v)
        mixed = self.shaped(self.op("Transpose", mixed, perm=[0, 2, 1, 3]), None, None, self.width)
        return self.op("Dropout", self.linear(mixed, f"{name}.out", self.width, self.width))

    def gelu(self, x):
        half, one, root = (self.constant(number, np.float32) for number in (0.5, 1, 2**0.5))
        return self.op("Mul", self.op("Mul", x, half), self.op("Add", self.op("Erf", self.op("Div", x, root)), one))

    def layer(self, x, name):
        x = self.op("Add", x, self.attention(self.norm(x, f"{name}.norm1"), f"{name}.attention"))
        inner = self.gelu(self.linear(self.norm(x, f"{name}.norm2"), f"{name}.up", self.width, 4 * self.width))
        outer = self.op("Dropout", self.linear(inner, f"{name}.down", 4 * self.width, self.width))
        return self.op("Cast", self.op("Add", x, outer), to=TensorProto.FLOAT)


def write_weights(weights, path):
    """Fills the data file with random numbers, and says in the tensors where theirs are."""
    random = np.random.Generator(np.random.SFC64(1))
    with open(path, "wb") as file:
        for tensor in weights:
            values = random.random(int(np.prod(tensor.dims)), dtype=np.float32)
            values -= np.float32(0.5)
            values *= np.float32(0.1)
            file.seek(-file.tell() % 4096, os.SEEK_CUR)
            tensor.data_location = TensorProto.EXTERNAL
            for key, text in (("location", path.name), ("offset", file.tell()), ("length", values.nbytes)):
                tensor.external_data.add(key=key, value=str(text))
            values.tofile(file)
        file.flush()
        os.fsync(file.fileno())


def write_model(folder, gigabytes):
    """(the model, its data file)"""
    width = max(64, round((gigabytes * 1e9 / (LAYERS * 48)) ** 0.5 / 64) * 64)
    writer = Writer(width)
    x = "x"
    for i in range(LAYERS):
        x = writer.layer(x, f"layers.{i}")
    writer.nodes.append(helper.make_node("Identity", [x], ["y"], "/last"))
    path, data = folder / "model.onnx", folder / "model.data"
    write_weights(writer.weights, data)
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, TOKENS, width]) for name in "xy"]
    graph = helper.make_graph(writer.nodes, "transformer", infos[:1], infos[1:], writer.weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    path.write_bytes(model.SerializeToString())
    for file in (path, data):
        os.utime(file, (time.time() - AGE,) * 2)
    return path, data
