"""Shapes that cannot be, and sizes that no machine has."""

import numpy as np
import onnx
import pytest
import tenon
from bad_input.refusals import floats, ints, model_of, node_model, node_refused, refused, run, session
from onnx import TensorProto, helper, numpy_helper

HUGE = 1 << 40
X = floats(2, 3)


def with_initializer(dims, data_type=TensorProto.FLOAT, **fields):
    model = model_of([helper.make_node("Neg", ["w"], ["y"])], [], ["y"])
    model.graph.initializer.append(TensorProto(name="w", dims=dims, data_type=data_type, **fields))
    return model


@pytest.mark.parametrize(
    "dims",
    [[HUGE], [HUGE, HUGE], [1 << 62, 4], [1 << 32, 1 << 32], [HUGE, HUGE, 0], [-1], [2, -3], [-2, -3], [1 << 63 - 1, 2]],
)
@pytest.mark.parametrize("fields", [{"raw_data": b"\0" * 24}, {"float_data": [1, 2, 3]}, {}], ids=["raw", "typed", "none"])
def test_initializers_that_declare_more_than_they_hold(dims, fields):
    refused(with_initializer(dims, **fields), place="'w'")


@pytest.mark.parametrize(
    ("data_type", "fields"),
    [
        (TensorProto.FLOAT, {"raw_data": b"\0" * 7}),
        (TensorProto.FLOAT, {"raw_data": b"\0" * 12}),
        (TensorProto.FLOAT, {"float_data": [1, 2, 3]}),
        (TensorProto.FLOAT, {"int64_data": [1, 2]}),
        (TensorProto.INT4, {"raw_data": b"\0\0"}),
        (TensorProto.STRING, {"string_data": [b"a"]}),
        (TensorProto.STRING, {"raw_data": b"ab"}),
        (TensorProto.UNDEFINED, {"raw_data": b"ab"}),
        (99, {"raw_data": b"ab"}),
    ],
)
def test_initializers_that_do_not_hold_what_they_declare(data_type, fields):
    refused(with_initializer([2], data_type, **fields), place="'w'")


@pytest.mark.parametrize("dims", [[-2], [HUGE, HUGE], [1 << 62, 4], [1] * 65])
@pytest.mark.parametrize("listed", [False, True], ids=["weight", "input"])
def test_large_initializers_are_checked_before_they_are_read(dims, listed):
    model = with_initializer(dims, raw_data=b"\0" * 8000)
    if listed:
        model.graph.input.append(helper.make_tensor_value_info("w", TensorProto.FLOAT, None))
    with pytest.raises(tenon.Error, match="initializer 'w'.*(dims|dimensions)"):
        tenon.Model.load(model.SerializeToString())


def test_more_axes_than_memory():
    refused(with_initializer([2] * 70, raw_data=b"\0" * 8), place="'w'")


def test_more_axes_than_tensors_have():
    assert run(with_initializer([1] * 64, raw_data=b"\0" * 4))[0].ndim == 64
    refused(with_initializer([1] * 65, raw_data=b"\0" * 4), says="65 dimensions; the limit is 64", place="'w'")
    node_refused("Reshape", [floats(1), ints(*[1] * 65)], "65 dimensions; the limit is 64")


def test_inputs_that_declare_what_nobody_has():
    declared = helper.make_tensor_value_info("x", TensorProto.FLOAT, [HUGE, HUGE])
    model = model_of([helper.make_node("Neg", ["x"], ["y"])], [declared], ["y"])
    refused(model, {"x": X}, says="too many elements", place="Neg->y")
    declared = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 4])
    model = model_of([helper.make_node("Neg", ["x"], ["y"])], [declared], ["y"])
    refused(model, {"x": X}, says="dimension 1 must be 4", place="'x'")
    refused(model, {"x": X.astype(np.float64)}, says="double", place="'x'")
    refused(model, {"x": X.reshape(-1)}, says="rank", place="'x'")


@pytest.mark.parametrize("shape", [(HUGE,), (HUGE, HUGE), (1 << 62, 1 << 62), (HUGE, HUGE, 0)])
def test_ops_that_are_asked_for_too_much(shape):
    node_refused("ConstantOfShape", [ints(*shape)])
    node_refused("Expand", [floats(1), ints(*shape)])
    node_refused("Tile", [floats(*[1] * len(shape)), ints(*shape)])


@pytest.mark.parametrize(
    ("op_type", "inputs", "attributes"),
    [
        ("Range", [np.array(0), np.array(HUGE), np.array(1)], {}),
        ("Range", [np.array(0), np.array(1 << 62), np.array(1)], {}),
        ("Range", [np.array(-(1 << 62) * 2), np.array((1 << 62) * 2 - 1), np.array(1)], {}),
        ("Range", [np.float32(0), np.float32(1e38), np.float32(1e-30)], {}),
        ("Pad", [X, ints(HUGE, 0, 0, HUGE)], {}),
        ("Pad", [X, ints(np.iinfo(np.int64).max, 0, np.iinfo(np.int64).max, 0)], {}),
        ("Resize", [X, None, np.array([1e12, 1e12], np.float32)], {}),
        ("Resize", [X, None, np.array([np.inf, 1], np.float32)], {}),
        ("Resize", [X, None, np.array([np.nan, 1], np.float32)], {}),
        ("Resize", [X, None, None, ints(HUGE, HUGE)], {}),
        ("OneHot", [ints(1), np.array(HUGE), floats(2)], {}),
        ("HannWindow", [np.array(HUGE)], {}),
        ("BlackmanWindow", [np.array(-HUGE)], {}),
        ("CenterCropPad", [X, ints(HUGE, HUGE)], {}),
        ("SplitToSequence", [X, np.array(0)], {}),
        ("Col2Im", [floats(1, 4, 1), ints(HUGE, HUGE), ints(2, 2)], {}),
        ("Upsample", [X, np.array([1e12, 1e12], np.float32)], {"version": 9}),
        ("RandomNormal", [], {"shape": [HUGE]}),
        ("RandomUniform", [], {"shape": [HUGE, HUGE]}),
        ("RandomUniform", [], {"shape": [-1]}),
        ("MaxUnpool", [floats(1, 1, 1, 1), ints(0).reshape(1, 1, 1, 1), ints(1, 1, HUGE, HUGE)], {"kernel_shape": [1, 1]}),
        ("ConvTranspose", [floats(1, 1, 2, 2), floats(1, 1, 2, 2)], {"strides": [HUGE, HUGE]}),
        ("ConvTranspose", [floats(1, 1, 2, 2), floats(1, 1, 2, 2)], {"output_shape": [HUGE, HUGE]}),
        ("Conv", [floats(1, 1, 2, 2), floats(1, 1, 2, 2)], {"pads": [HUGE, HUGE, HUGE, HUGE]}),
        ("Conv", [floats(1, 1, 2, 2), floats(1, 1, 2, 2)], {"pads": [1 << 62, 0, 1 << 62, 0]}),
        ("MaxPool", [floats(1, 1, 2, 2)], {"kernel_shape": [1 << 62, 1 << 62]}),
        ("AffineGrid", [floats(1, 2, 3), ints(1, 1, HUGE, HUGE)], {}),
        ("TopK", [X, ints(HUGE)], {"outputs": 2}),
        ("MelWeightMatrix", [np.array(HUGE), np.array(16), np.array(8000), np.float32(0), np.float32(4000)], {}),
        ("STFT", [floats(1, 8, 1), np.array(1), None, np.array(HUGE)], {}),
        ("DFT", [floats(1, 3, 1), np.array(HUGE), np.array(1)], {}),
        ("Reshape", [X, ints(HUGE, HUGE)], {}),
        ("Reshape", [X, ints(-2, 3)], {}),
        ("Reshape", [X, ints(-1, -1)], {}),
        ("Einsum", [X], {"equation": "ij,jk->ik"}),
    ],
)
def test_sizes_that_no_machine_has(op_type, inputs, attributes):
    node_refused(op_type, inputs, **attributes)


def test_the_product_of_small_things():
    """Each node asks for little; together they ask for too much."""
    nodes = [helper.make_node("Concat", [f"v{i}"] * 64, [f"v{i + 1}"], name=f"culprit{i}", axis=0) for i in range(5)]
    refused(model_of(nodes, [], ["v5"], {"v0": X}), says="memory_limit", code="resource limit")
    rows = [helper.make_node("MatMul", ["a", "b"], ["c"], name="culprit")]
    refused(model_of(rows, [], ["c"], {"a": floats(100_000, 1), "b": floats(1, 100_000)}), says="memory_limit")


def test_errors_of_a_run_name_node_and_op():
    shape = helper.make_tensor_value_info("s", TensorProto.INT64, [1])
    node = helper.make_node("ConstantOfShape", ["s"], ["y"], name="culprit")
    back = helper.make_node("Neg", ["y"], ["z"], name="after")
    for nodes, output in ([node], "y"), ([node, back], "z"):
        refused(model_of(nodes, [shape], [output]), {"s": ints(HUGE)}, "memory_limit", "node 'culprit' (ConstantOfShape)")
    text = helper.make_node("Expand", ["t", "s"], ["y"], name="culprit")
    model = model_of([text], [shape], ["y"], {"t": np.array(["a"], object)})
    refused(model, {"s": ints(HUGE)}, "memory_limit", "node 'culprit' (Expand)")
    outputs = model_of([], [shape], ["w", "v"], {"w": floats(1 << 20), "v": floats(1 << 24)})
    refused(outputs, {"s": ints(1)}, "memory_limit", "output 'v'")


MANY = 40_000_000  # bytes fit into the memory that there is, the numbers of as many elements do not
BYTE, BYTES = np.zeros(1, np.uint8), np.zeros(MANY, np.uint8)


@pytest.mark.parametrize(
    ("op_type", "inputs", "attributes"),
    [
        ("Tile", [BYTE, ints(MANY)], {}),
        ("CenterCropPad", [BYTE, ints(MANY)], {"axes": [0]}),
        ("Resize", [BYTE, None, None, ints(MANY)], {"mode": "nearest"}),
        ("Unique", [BYTES], {}),
        ("NonZero", [BYTES + 1], {}),
        ("Compress", [BYTES, BYTES < 1], {}),
        ("GatherElements", [BYTES, BYTES.astype(np.int32)], {}),
        ("ScatterElements", [BYTES, BYTES.astype(np.int32), BYTES], {}),
        ("ReduceMax", [BYTES], {"keepdims": 0}),
        ("TopK", [BYTES.astype(np.int8), ints(1)], {"outputs": 2, "version": 24}),
    ],
)
def test_what_ops_need_for_themselves_is_counted(op_type, inputs, attributes):
    """With kernels of the reference: those of the cpu provider need less."""
    version, outputs = attributes.pop("version", 21), attributes.pop("outputs", 1)
    model, feeds = node_model(op_type, inputs, version, outputs, constant=False, **attributes)
    limit = {"says": "memory_limit", "code": "resource limit", "memory_limit": 120_000_000}
    refused(model, feeds, providers=["reference"], **limit)


@pytest.mark.parametrize(
    ("op_type", "inputs", "attributes", "outputs"),
    [
        ("Slice", [BYTES, ints(1), ints(MANY)], {}, 1),
        ("Split", [BYTES], {"num_outputs": 2}, 2),
        ("Pad", [BYTE, ints(0, MANY)], {}, 1),
        ("Gather", [BYTE, BYTES.astype(np.int32)], {}, 1),
        ("Tile", [BYTE, ints(MANY)], {}, 1),
    ],
)
def test_copies_need_nothing_for_themselves(op_type, inputs, attributes, outputs):
    model, feeds = node_model(op_type, inputs, 21, outputs, constant=False, **attributes)
    limit = 45_000_000 if op_type != "Gather" else 120_000_000
    assert not any(y.any() for y in run(model, feeds, provider="cpu", memory_limit=limit))
    with pytest.raises(tenon.Error, match="memory_limit"):
        run(model, feeds, provider="reference", memory_limit=limit)


@pytest.mark.parametrize("op_type", ["NonZero", "Compress"])
def test_lists_of_positions_have_the_length_they_need(op_type):
    """Twice 48 MB: a list that grew by doubling, and was copied each time, would need more."""
    ones = np.ones(6_000_000, np.uint8)
    inputs = [ones] if op_type == "NonZero" else [ones, ones.astype(bool)]
    model, feeds = node_model(op_type, inputs, 21, 1, constant=False)
    (result,) = run(model, feeds, memory_limit=100_000_000)
    assert result.size == ones.size and result.flat[-1] == (ones.size - 1 if op_type == "NonZero" else 1)


def test_arenas_that_nobody_uses_make_room():
    """Every shape keeps an arena for its next run, as long as nobody needs the memory for something else."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n"])
    nodes = [helper.make_node("Neg", ["x"], ["a"]), helper.make_node("Neg", ["a"], ["b"]), helper.make_node("Abs", ["b"], ["y"])]
    running = session(model_of(nodes, [x], ["y"]), memory_limit=64 << 20, provider="reference")
    for n in range(1_000_000, 1_000_012):
        assert running.run(None, {"x": np.full(n, -2, np.float32)})[0][-1] == 2


def test_text_that_grows():
    nodes = [helper.make_node("StringConcat", [f"v{i}", f"v{i}"], [f"v{i + 1}"], name=f"culprit{i}") for i in range(50)]
    refused(model_of(nodes, [], ["v50"], {"v0": np.array(["ab" * 1000], object)}), says="memory_limit")
    long_text = {"t": np.array(["ab" * 50_000], object), "n": ints(1_000_000)}
    for op_type in ("Tile", "Expand"):
        refused(model_of([helper.make_node(op_type, ["t", "n"], ["y"], name="culprit")], [], ["y"], long_text),
                says="memory_limit")  # fmt: skip
    few, many = np.array(["ab" * 50_000], object), np.array(["a"] * 10_000, object)
    for op_type, inputs, attributes in [
        ("StringConcat", [few, many], {}),
        ("Where", [np.ones(1, bool), few, many], {}),
        ("ConstantOfShape", [ints(10_000)], {"value": onnx.numpy_helper.from_array(few)}),
        ("OneHot", [ints(0), np.array(10_000), np.concatenate([few, few])], {}),
        ("ScatterElements", [many, np.arange(10_000), np.tile(few, 10_000)], {}),
        ("Pad", [many[:1], ints(0, 10_000), few.reshape(())], {}),
        ("StringSplit", [np.array(["a " * 5_000_000], object)], {"outputs": 2}),
    ]:
        version, outputs = 20, attributes.pop("outputs", 1)
        model, feeds = node_model(op_type, inputs, version, outputs, constant=False, **attributes)
        refused(model, feeds, says="memory_limit", code="resource limit")
    picks = {"t": long_text["t"], "i": np.zeros(1_000_000, np.int64)}
    refused(model_of([helper.make_node("Gather", ["t", "i"], ["y"], name="culprit")], [], ["y"], picks), says="memory_limit")


def test_text_that_loops_collect():
    from onnx import parser

    model = parser.parse_model("""
    <ir_version: 9, opset_import: ["" : 20]>
    g (string[1] t) => (string[N, 1] all) {
      times = Constant <value_int = 5000> ()
      [culprit] all = Loop (times, "") <body = b (int64 i, bool c) => (bool on, string[1] part) {
        on = Identity (c)
        part = StringConcat (t, t)
      }>
    }""")
    refused(model, {"t": np.array(["ab" * 25_000], object)}, says="memory_limit", code="resource limit")


def test_labels_that_are_given_to_many():
    label = "x" * 100_000
    encode = {"keys_int64s": [0], "values_strings": [label], "default_string": ""}
    model, feeds = node_model("LabelEncoder", [np.zeros(10_000, np.int64)], domain="ai.onnx.ml", constant=False, **encode)
    refused(model, feeds, says="memory_limit", code="resource limit")
    zipped = {"classlabels_strings": [label]}
    model, feeds = node_model("ZipMap", [floats(10_000, 1)], domain="ai.onnx.ml", constant=False, **zipped)
    refused(model, feeds, says="memory_limit", code="resource limit")


def test_sparse_initializers():
    def sparse(dims, indices, values=(1.0, 2.0)):
        model = model_of([helper.make_node("Neg", ["w"], ["y"])], [], ["y"])
        tensor = onnx.SparseTensorProto(dims=dims)
        tensor.values.CopyFrom(numpy_helper.from_array(np.array(values, np.float32), "w"))
        tensor.indices.CopyFrom(numpy_helper.from_array(np.array(indices, np.int64), "i"))
        model.graph.sparse_initializer.append(tensor)
        return model

    assert run(sparse([4], [0, 3]))[0].tolist() == [-1, 0, 0, -2]
    for dims, indices in [([4], [0, 4]), ([4], [-1, 0]), ([4], [0]), ([2, 2], [[0, 0], [2, 0]]), ([HUGE], [0, 1]),
                          ([HUGE, HUGE], [[0, 0], [1, 1]]), ([-4], [0, 1]), ([4], [1, 1]), ([4], [[0, 0], [1, 1]])]:  # fmt: skip
        refused(sparse(dims, indices), place="'w'")
