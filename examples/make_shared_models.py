"""Writes models that share weights: classify.onnx and detect.onnx (one backbone, two heads), prefill.onnx and decode.onnx
(one net at two lengths), and tuned.npz (other weights for the backbone and both heads).

Usage: make_shared_models.py FOLDER
"""

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 21


def tensor(name, shape, dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def save(path, nodes, inputs, outputs, arrays):
    used = {name for node in nodes for name in node.input}
    weights = [numpy_helper.from_array(array, name) for name, array in arrays.items() if name in used]
    graph = helper.make_graph(nodes, path.stem, inputs, outputs, weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)


def vision_weights(random):
    def normal(*shape):
        return (random.normal(size=shape) / np.prod(shape[1:] or (4,)) ** 0.5).astype(np.float32)

    arrays = {}
    for index, (inputs, outputs) in enumerate(((3, 32), (32, 64), (64, 128)), 1):
        arrays[f"backbone.conv{index}.weight"] = normal(outputs, inputs, 3, 3)
        for part in ("scale", "bias", "mean", "var"):
            values = random.uniform(0.5, 1.5, outputs) if part in ("scale", "var") else random.normal(size=outputs) / 4
            arrays[f"backbone.bn{index}.{part}"] = values.astype(np.float32)
    for head, classes in (("classify", 10), ("detect", 4)):
        arrays[f"{head}.weight"], arrays[f"{head}.bias"] = normal(classes, 128), normal(classes)
    return arrays


def vision(head, classes):
    """Three convolutions with BatchNormalization, then a linear head."""
    nodes, source = [], "image"
    for index in (1, 2, 3):
        names = [f"backbone.bn{index}.{part}" for part in ("scale", "bias", "mean", "var")]
        nodes += [
            helper.make_node("Conv", [source, f"backbone.conv{index}.weight"], [f"c{index}"], f"conv{index}",
                             strides=[2, 2], pads=[1, 1, 1, 1]),
            helper.make_node("BatchNormalization", [f"c{index}", *names], [f"n{index}"], f"bn{index}"),
            helper.make_node("Relu", [f"n{index}"], [f"r{index}"], f"relu{index}"),
        ]  # fmt: skip
        source = f"r{index}"
    nodes += [
        helper.make_node("GlobalAveragePool", [source], ["pooled"], "pool"),
        helper.make_node("Flatten", ["pooled"], ["features"], "flatten"),
        helper.make_node("Gemm", ["features", f"{head}.weight", f"{head}.bias"], ["scores"], head, transB=1),
    ]
    return nodes, [tensor("image", ["batch", 3, 32, 32])], [tensor("scores", ["batch", classes])]


def language_weights(random, width=64, vocabulary=500):
    shapes = {"embedding": (vocabulary, width), "q": (width, width), "k": (width, width), "v": (width, width),
              "o": (width, width)}  # fmt: skip
    return {name: (random.normal(size=shape) / width**0.5).astype(np.float32) for name, shape in shapes.items()}


def language(length):
    """One attention layer over an embedding, whose transpose gives the scores of the next word."""
    nodes = [helper.make_node("Gather", ["embedding", "words"], ["x"], "embed")]
    nodes += [helper.make_node("MatMul", ["x", name], [f"x{name}"], name) for name in "qkv"]
    nodes += [
        helper.make_node("Transpose", ["xk"], ["keys"], "turn", perm=[0, 2, 1]),
        helper.make_node("MatMul", ["xq", "keys"], ["fit"], "fit"),
        helper.make_node("Softmax", ["fit"], ["share"], "share", axis=-1),
        helper.make_node("MatMul", ["share", "xv"], ["mixed"], "mix"),
        helper.make_node("MatMul", ["mixed", "o"], ["out"], "project"),
        helper.make_node("Transpose", ["embedding"], ["tied"], "tie", perm=[1, 0]),
        helper.make_node("MatMul", ["out", "tied"], ["scores"], "score"),
    ]
    words = tensor("words", [1, length], TensorProto.INT64)
    return nodes, [words], [tensor("scores", [1, length, 500])]


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    arrays = vision_weights(np.random.default_rng(1))
    for head, classes in (("classify", 10), ("detect", 4)):
        save(folder / f"{head}.onnx", *vision(head, classes), arrays)
    words = language_weights(np.random.default_rng(2))
    for name, length in (("prefill", 32), ("decode", 1)):
        save(folder / f"{name}.onnx", *language(length), words)
    np.savez(folder / "tuned.npz", **vision_weights(np.random.default_rng(3)))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
