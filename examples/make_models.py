"""Writes four small models with fixed random weights: mlp.onnx, cnn.onnx, newton.onnx and collections.onnx.

Usage: make_models.py FOLDER
"""

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 21


def weights(**arrays):
    return [numpy_helper.from_array(array.astype(np.float32), name) for name, array in arrays.items()]


def tensor(name, shape, dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def model(name, nodes, inputs, outputs, initializers=()):
    graph = helper.make_graph(nodes, name, inputs, outputs, list(initializers))
    result = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", 4)], ir_version=10)
    helper.set_model_props(result, {"made for": "examples"})
    onnx.checker.check_model(result, full_check=True)
    return result


def mlp(random):
    """A classifier with one hidden layer; the batch size is open."""
    nodes = [
        helper.make_node("Gemm", ["x", "w1", "b1"], ["hidden"], transB=1),
        helper.make_node("Relu", ["hidden"], ["active"]),
        helper.make_node("Gemm", ["active", "w2", "b2"], ["logits"], transB=1),
        helper.make_node("Softmax", ["logits"], ["probabilities"], axis=-1),
    ]
    initializers = weights(
        w1=random.normal(size=(64, 16)) / 4,
        b1=random.normal(size=64),
        w2=random.normal(size=(10, 64)) / 8,
        b2=random.normal(size=10) / 8,
    )
    return model("mlp", nodes, [tensor("x", ["batch", 16])], [tensor("probabilities", ["batch", 10])], initializers)


def cnn(random):
    """Two convolutions with BatchNormalization, a residual connection and a linear head."""
    nodes, initializers = [], []

    def convolution(source, index, channels_in, channels_out, target):
        kernel = random.normal(size=(channels_out, channels_in, 3, 3)) / (3 * channels_in**0.5)
        initializers.extend(
            weights(
                **{
                    f"conv{index}.weight": kernel,
                    f"bn{index}.scale": random.uniform(0.5, 1.5, channels_out),
                    f"bn{index}.bias": random.normal(size=channels_out) / 4,
                    f"bn{index}.mean": random.normal(size=channels_out) / 4,
                    f"bn{index}.var": random.uniform(0.5, 1.5, channels_out),
                }
            )
        )
        statistics = [f"bn{index}.{name}" for name in ("scale", "bias", "mean", "var")]
        nodes.append(
            helper.make_node("Conv", [source, f"conv{index}.weight"], [f"conv{index}"], pads=[1, 1, 1, 1])
        )
        nodes.append(helper.make_node("BatchNormalization", [f"conv{index}", *statistics], [f"bn{index}"]))
        nodes.append(helper.make_node("Relu", [f"bn{index}"], [target]))

    convolution("image", 1, 3, 8, "stem")
    convolution("stem", 2, 8, 8, "block")
    initializers.extend(weights(head=random.normal(size=(8, 4)) / 3))
    nodes += [
        helper.make_node("Add", ["stem", "block"], ["sum"]),
        helper.make_node("GlobalAveragePool", ["sum"], ["pooled"]),
        helper.make_node("Flatten", ["pooled"], ["features"]),
        helper.make_node("MatMul", ["features", "head"], ["scores"]),
    ]
    return model("cnn", nodes, [tensor("image", [1, 3, 32, 32])], [tensor("scores", [1, 4])], initializers)


def newton(_):
    """Square roots by Newton's method: a Loop that runs until every element is exact enough."""
    body = helper.make_graph(
        [
            helper.make_node("Div", ["x", "guess"], ["quotient"]),
            helper.make_node("Add", ["guess", "quotient"], ["sum"]),
            helper.make_node("Mul", ["sum", "half"], ["next"]),
            helper.make_node("Sub", ["next", "guess"], ["step"]),
            helper.make_node("Abs", ["step"], ["distance"]),
            helper.make_node("ReduceMax", ["distance"], ["largest"], keepdims=0),
            helper.make_node("Greater", ["largest", "tolerance"], ["again"]),
        ],
        "improve",
        [tensor("iteration", [], TensorProto.INT64), tensor("go", [], TensorProto.BOOL), tensor("guess", ["n"])],
        [tensor("again", [], TensorProto.BOOL), tensor("next", ["n"])],
    )
    nodes = [
        helper.make_node("Abs", ["signed"], ["positive"]),
        helper.make_node("Add", ["positive", "one"], ["x"]),
        helper.make_node("Loop", ["limit", "", "x"], ["root"], body=body),
    ]
    constants = weights(half=np.array(0.5), tolerance=np.array(1e-6), one=np.array(1.0))
    constants.append(numpy_helper.from_array(np.array(50, np.int64), "limit"))
    return model("newton", nodes, [tensor("signed", ["n"])], [tensor("root", ["n"])], constants)


def collections(_):
    """Strings, a sequence, an optional and a map go in; strings, a sequence and a sequence of maps come out."""
    tensor_type = helper.make_tensor_type_proto
    inputs = [
        tensor("words", ["n"], TensorProto.STRING),
        helper.make_value_info("parts", helper.make_sequence_type_proto(tensor_type(TensorProto.FLOAT, ["k"]))),
        helper.make_value_info("maybe", helper.make_optional_type_proto(tensor_type(TensorProto.FLOAT, ["m"]))),
        helper.make_value_info(
            "features", helper.make_map_type_proto(TensorProto.INT64, tensor_type(TensorProto.FLOAT, []))
        ),
    ]
    names = ["oak", "ash"]
    nodes = [
        helper.make_node("StringConcat", ["words", "mark"], ["marked"]),
        helper.make_node("ConcatFromSequence", ["parts"], ["joined"], axis=0),
        helper.make_node("OptionalHasElement", ["maybe"], ["given"]),
        helper.make_node("SequenceAt", ["parts", "zero"], ["first"]),
        helper.make_node("SequenceAt", ["parts", "one"], ["second"]),
        helper.make_node("SequenceConstruct", ["second", "first"], ["reversed"]),
        helper.make_node(
            "CastMap", ["features"], ["dense"], domain="ai.onnx.ml", map_form="SPARSE", max_map=4, cast_to="TO_FLOAT"
        ),
        helper.make_node("ReduceSum", ["joined"], ["sum"], keepdims=1),
        helper.make_node("Concat", ["sum", "sum"], ["pair"], axis=0),
        helper.make_node("ZipMap", ["pair"], ["scores"], domain="ai.onnx.ml", classlabels_strings=names),
    ]
    float_map = helper.make_map_type_proto(TensorProto.STRING, tensor_type(TensorProto.FLOAT, []))
    outputs = [
        tensor("marked", ["n"], TensorProto.STRING),
        tensor("joined", ["total"]),
        tensor("given", [], TensorProto.BOOL),
        helper.make_value_info("reversed", helper.make_sequence_type_proto(tensor_type(TensorProto.FLOAT, None))),
        tensor("dense", [1, 4]),
        helper.make_value_info("scores", helper.make_sequence_type_proto(float_map)),
    ]
    constants = [
        helper.make_tensor("mark", TensorProto.STRING, [], [b"!"]),
        numpy_helper.from_array(np.array(0, np.int64), "zero"),
        numpy_helper.from_array(np.array(1, np.int64), "one"),
    ]
    return model("collections", nodes, inputs, outputs, constants)


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for make in (mlp, cnn, newton, collections):
        path = folder / f"{make.__name__}.onnx"
        onnx.save(make(np.random.default_rng(7)), path)
        print(path)


if __name__ == "__main__":
    main()
