"""Indices that point outside what they index."""

import numpy as np
import pytest
from bad_input.refusals import floats, ints, model_of, node_refused, refused
from onnx import TensorProto, helper

X = floats(2, 3)
MOST = np.iinfo(np.int64).max
LEAST = np.iinfo(np.int64).min


@pytest.mark.parametrize("index", [2, -3, MOST, LEAST, 1 << 32])
@pytest.mark.parametrize(
    ("op_type", "inputs"),
    [
        ("Gather", lambda i: [X, ints(0, i)]),
        ("GatherElements", lambda i: [X, ints(0, 1, i).reshape(1, 3)]),
        ("GatherND", lambda i: [X, ints(i, 0).reshape(1, 2)]),
        ("ScatterElements", lambda i: [X, ints(0, 1, i).reshape(1, 3), floats(1, 3)]),
        ("ScatterND", lambda i: [X, ints(i, 0).reshape(1, 2), floats(1)]),
        ("Scatter", lambda i: [X, ints(0, 1, i).reshape(1, 3), floats(1, 3)]),
    ],
)
def test_elements_of_a_tensor(op_type, inputs, index):
    node_refused(op_type, inputs(index), rf"{index}\b", version=9 if op_type == "Scatter" else 18)


@pytest.mark.parametrize("index", [3, -4, MOST, LEAST])
def test_the_last_axis_of_nd_indices(index):
    node_refused("GatherND", [X, ints(1, index).reshape(1, 2)], rf"{index}\b")
    node_refused("ScatterND", [X, ints(1, index).reshape(1, 2), floats(1)], rf"{index}\b")


def test_nd_indices_that_are_too_deep_or_do_not_fit():
    node_refused("GatherND", [X, ints(0, 0, 0).reshape(1, 3)], "3")
    node_refused("GatherND", [X, ints(0).reshape(1, 1)], "batch", batch_dims=2)
    node_refused("GatherND", [X, ints(0).reshape(1, 1)], "batch", batch_dims=-1)
    node_refused("ScatterND", [X, ints(0, 0, 0).reshape(1, 3), floats(1)], "3")
    node_refused("ScatterND", [X, ints(0, 0).reshape(1, 2), floats(2)], "updates")
    node_refused("ScatterElements", [X, ints(0, 1).reshape(1, 2), floats(2, 2)], "updates|shape")
    node_refused("GatherElements", [X, ints(0, 0, 0)], "rank")


@pytest.mark.parametrize("batch", [2, -1, MOST, LEAST])
def test_batches_of_regions(batch):
    image, regions = floats(2, 1, 4, 4), np.array([[0, 0, 2, 2]], np.float32)
    node_refused("RoiAlign", [image, regions, ints(batch)], rf"{batch}\b", output_height=2, output_width=2)


def test_batches_of_regions_given_as_floats():
    image = floats(2, 1, 4, 4)
    for batch in (2, -1, 1e30, np.nan):
        regions = np.array([[batch, 0, 0, 2, 2]], np.float32)
        node_refused("MaxRoiPool", [image, regions], "batch|region|roi", pooled_shape=[2, 2])


@pytest.mark.parametrize("index", [2, -3, MOST, LEAST])
@pytest.mark.parametrize("op_type", ["SequenceAt", "SequenceErase", "SequenceInsert"])
def test_positions_in_a_sequence(op_type, index):
    if op_type == "SequenceInsert" and index == 2:
        index = 3
    inputs = ["seq", "x", "i"] if op_type == "SequenceInsert" else ["seq", "i"]
    make = helper.make_node("SequenceConstruct", ["x", "x"], ["seq"])
    culprit = helper.make_node(op_type, inputs, ["out"], name="culprit")
    position = np.array(index)
    refused(model_of([make, culprit], [], ["out"], {"x": X, "i": position}), says=rf"{index}\b")
    declared = [helper.make_tensor_value_info("i", TensorProto.INT64, [])]
    refused(model_of([make, culprit], declared, ["out"], {"x": X}), {"i": position}, says=rf"{index}\b")


def test_an_empty_sequence_has_no_positions():
    empty = helper.make_node("SequenceEmpty", [], ["seq"])
    for op_type in ("SequenceAt", "SequenceErase"):
        culprit = helper.make_node(op_type, ["seq", "i"], ["out"], name="culprit")
        refused(model_of([empty, culprit], [], ["out"], {"i": np.array(0)}), says="0 |empty")


@pytest.mark.parametrize(
    ("op_type", "inputs", "attributes"),
    [
        ("Gather", [X, ints(0)], {"axis": 2}),
        ("GatherElements", [X, ints(0, 0).reshape(1, 2)], {"axis": -3}),
        ("ScatterElements", [X, ints(0).reshape(1, 1), floats(1, 1)], {"axis": 2}),
        ("Concat", [X, X], {"axis": 2}),
        ("Split", [X], {"axis": 2, "num_outputs": 1}),
        ("ArgMax", [X], {"axis": 2}),
        ("Softmax", [X], {"axis": -3}),
        ("LogSoftmax", [X], {"axis": 2}),
        ("Hardmax", [X], {"axis": 2}),
        ("Flatten", [X], {"axis": 3}),
        ("TopK", [X, ints(1)], {"axis": 2}),
        ("Compress", [X, np.array([True])], {"axis": 2}),
        ("OneHot", [ints(0), np.array(3), floats(2)], {"axis": 3}),
        ("LayerNormalization", [X, floats(3)], {"axis": 2}),
        ("ReverseSequence", [X, ints(1, 1)], {"batch_axis": 0, "time_axis": 2}),
        ("Unique", [X], {"axis": 2}),
        ("CumSum", [X, np.array(2)], {}),
        ("ReduceSum", [X, ints(2)], {}),
        ("ReduceMax", [X, ints(-3)], {}),
        ("Squeeze", [X, ints(2)], {}),
        ("Unsqueeze", [X, ints(4)], {}),
        ("Slice", [X, ints(0), ints(1), ints(2)], {}),
        ("Pad", [X, ints(1, 1), None, ints(2)], {}),
        ("CenterCropPad", [X, ints(1)], {"axes": [2]}),
        ("DFT", [floats(1, 3, 1), None, np.array(4)], {}),
        ("DequantizeLinear", [X.astype(np.int8), floats(3)], {"axis": 5}),
    ],
)
def test_axes(op_type, inputs, attributes):
    outputs = 2 if op_type == "TopK" else 1
    node_refused(op_type, inputs, "axis|axes", outputs=outputs, **attributes)


@pytest.mark.parametrize("axis", [MOST, LEAST])
def test_axes_far_away(axis):
    node_refused("ReduceSum", [X, ints(axis)], "axes")
    node_refused("Squeeze", [X, ints(axis)], "axes")
    node_refused("Unsqueeze", [X, ints(axis)], "axes")
    node_refused("CumSum", [X, np.array(axis)], "axis")
    node_refused("Slice", [X, ints(0), ints(1), ints(axis)], "axes|axis")


def test_lengths_and_counts():
    node_refused("ReverseSequence", [X, ints(1, 4, 1)], "4", batch_axis=1, time_axis=0)
    node_refused("ReverseSequence", [X, ints(1, -1, 1)], "-1", batch_axis=1, time_axis=0)
    node_refused("TopK", [X, ints(4)], "4", outputs=2)
    node_refused("TopK", [X, ints(-1)], "-1", outputs=2)
    node_refused("Split", [X, ints(2, 2)], "3", outputs=2, axis=1)
    node_refused("Split", [X, ints(4, -1)], "-1|negative", outputs=2, axis=1)
    node_refused("Slice", [X, ints(0), ints(1), ints(0), ints(0)], "step")
    node_refused("SplitToSequence", [X, ints(2, 2)], "does not fit", axis=1)


@pytest.mark.parametrize("target", [3, -1, MOST, LEAST])
def test_classes_of_losses(target):
    scores = floats(2, 3)
    node_refused("NegativeLogLikelihoodLoss", [scores, ints(0, target)], rf"{target}\b", reduction="none")
    node_refused("SoftmaxCrossEntropyLoss", [scores, ints(0, target)], rf"{target}\b", reduction="none")


def test_places_of_unpooling():
    pooled = floats(1, 1, 2, 2)
    for index in (16, -1, MOST, LEAST):
        places = ints(0, 1, 2, index).reshape(1, 1, 2, 2)
        node_refused("MaxUnpool", [pooled, places], rf"{index}\b", kernel_shape=[2, 2], strides=[2, 2])


def test_columns_of_features():
    for index in (3, -1, MOST, LEAST):
        node_refused("ArrayFeatureExtractor", [X, ints(index)], rf"{index}\b", domain="ai.onnx.ml")


def test_cache_positions():
    cache, update = floats(1, 2, 4, 3), floats(1, 2, 1, 3)
    for start in (4, -1, MOST, LEAST):
        node_refused("TensorScatter", [cache, update, ints(start)], rf"{start}\b", version=24)
