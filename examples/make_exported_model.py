"""Writes exported.onnx, a small layer as exporters write it: with shape arithmetic, identities and a dropout.

Usage: make_exported_model.py FOLDER
"""

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

WIDTH, HEADS = 32, 4


def constant(name, values):
    return helper.make_node("Constant", [], [name], f"/{name}", value=numpy_helper.from_array(np.array(values, np.int64)))


def heads(x, y, part):
    """y = x as [batch, tokens, heads, width of a head], with the first extents taken from x."""
    names = [f"{part}_{i}" for i in range(3)]
    return [
        helper.make_node("Shape", [x], [f"{part}_shape"], f"/{part}/Shape"),
        *[constant(name, i) for i, name in enumerate(names[:2])],
        *[helper.make_node("Gather", [f"{part}_shape", name], [f"{name}_extent"], f"/{part}/Gather_{i}")
          for i, name in enumerate(names[:2])],
        constant(f"{part}_axis", [0]),
        *[helper.make_node("Unsqueeze", [f"{name}_extent", f"{part}_axis"], [f"{name}_list"], f"/{part}/Unsqueeze_{i}")
          for i, name in enumerate(names[:2])],
        constant(names[2], [HEADS, WIDTH // HEADS]),
        helper.make_node("Concat", [f"{names[0]}_list", f"{names[1]}_list", names[2]], [f"{part}_target"],
                         f"/{part}/Concat", axis=0),
        helper.make_node("Reshape", [x, f"{part}_target"], [y], f"/{part}/Reshape"),
    ]  # fmt: skip


def layer():
    """y = gelu(x @ w + b), cut into heads."""
    numbers = [numpy_helper.from_array(np.float32(value), name)
               for name, value in (("half", 0.5), ("one", 1), ("root", 2**0.5))]
    nodes = [
        helper.make_node("Identity", ["x"], ["same"], "/Identity"),
        helper.make_node("MatMul", ["same", "layer.weight"], ["product"], "/layer/MatMul"),
        helper.make_node("Add", ["product", "layer.bias"], ["sum"], "/layer/Add"),
        *[helper.make_node("Constant", [], [number.name], f"/gelu/{number.name}", value=number) for number in numbers],
        helper.make_node("Div", ["sum", "root"], ["scaled"], "/gelu/Div"),
        helper.make_node("Erf", ["scaled"], ["erf"], "/gelu/Erf"),
        helper.make_node("Add", ["erf", "one"], ["gate"], "/gelu/Add"),
        helper.make_node("Mul", ["sum", "gate"], ["gated"], "/gelu/Mul"),
        helper.make_node("Mul", ["gated", "half"], ["active"], "/gelu/Mul_1"),
        helper.make_node("Dropout", ["active"], ["kept"], "/Dropout"),
        *heads("kept", "y", "heads"),
    ]
    random = np.random.default_rng(2)
    weights = [numpy_helper.from_array((random.normal(size=shape) / 6).astype(np.float32), name)
               for name, shape in (("layer.weight", (WIDTH, WIDTH)), ("layer.bias", (WIDTH,)))]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 8, WIDTH])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 8, HEADS, WIDTH // HEADS])
    graph = helper.make_graph(nodes, "layer", [x], [y], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    model = layer()
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, folder / "exported.onnx")


if __name__ == "__main__":
    main()
