"""One small model for each op whose shape rule reads the elements of an input, with these inputs as initializers."""

import numpy as np
from onnx import TensorProto, helper

from .zoo import FLOAT, weight

X = ("x", FLOAT, [2, 3, 4])
IMAGE = ("x", FLOAT, [1, 2, 4, 4])
ROW = ("x", FLOAT, [8])


def ints(*values):
    return np.array(values, np.int64)


def scalar(value, dtype=np.int64):
    return np.array(value, dtype)


def float_array(*values):
    return np.array(values, np.float32)


# name: op, version, declared input or None, initializers by position after it (None: absent), outputs, attributes
CASES = {
    "reshape": ("Reshape", 13, X, [ints(0, -1)], 1, {}),
    "reshape_5": ("Reshape", 5, X, [ints(6, 4)], 1, {}),
    "slice": ("Slice", 13, X, [ints(0, 1), ints(2, 4), ints(1, 2), ints(1, 2)], 1, {}),
    "slice_10": ("Slice", 10, X, [ints(1), ints(3), ints(-1)], 1, {}),
    "pad": ("Pad", 18, X, [ints(1, 0, 0, 2), scalar(2.5, np.float32), ints(1, 2)], 1, {}),
    "pad_11": ("Pad", 11, X, [ints(0, 1, 0, 0, 0, 2)], 1, {"mode": "edge"}),
    "tile": ("Tile", 13, X, [ints(1, 2, 1)], 1, {}),
    "tile_1": ("Tile", 1, X, [float_array(2), float_array(1)], 1, {}),
    "expand": ("Expand", 13, X, [ints(5, 1, 3, 1)], 1, {}),
    "resize_scales": ("Resize", 18, IMAGE, [None, float_array(1, 1, 2, 1.5)], 1, {}),
    "resize_sizes": ("Resize", 18, IMAGE, [None, None, ints(1, 2, 6, 3)], 1, {}),
    "resize_region": ("Resize", 18, IMAGE, [float_array(0, 0, 0, 0, 1, 1, 0.5, 0.5), None, ints(1, 2, 6, 3)], 1,
                      {"coordinate_transformation_mode": "tf_crop_and_resize"}),
    "resize_10": ("Resize", 10, IMAGE, [float_array(1, 1, 2, 3)], 1, {}),
    "upsample": ("Upsample", 9, IMAGE, [float_array(1, 1, 2, 3)], 1, {}),
    "split": ("Split", 13, X, [ints(1, 3)], 2, {"axis": 2}),
    "split_18": ("Split", 18, X, [ints(1, 1, 1)], 3, {"axis": 1}),
    "split_to_sequence": ("SplitToSequence", 11, X, [ints(1, 3)], 1, {"axis": 2}),
    "squeeze": ("Squeeze", 13, IMAGE, [ints(0)], 1, {}),
    "unsqueeze": ("Unsqueeze", 13, X, [ints(0, -1)], 1, {}),
    "reduce_sum": ("ReduceSum", 13, X, [ints(1)], 1, {}),
    **{op.lower(): (op, 18, X, [ints(-1, 0)], 1, {"keepdims": 0})
       for op in ("ReduceMean", "ReduceMax", "ReduceL1", "ReduceL2", "ReduceLogSumExp", "ReduceProd")},
    "top_k": ("TopK", 11, X, [ints(2)], 2, {}),
    "one_hot": ("OneHot", 11, ("x", TensorProto.INT64, [2, 3]), [scalar(5), float_array(0, 1)], 1, {}),
    "one_hot_float": ("OneHot", 11, ("x", TensorProto.INT64, [2, 3]), [float_array(5), float_array(0, 1)], 1, {}),
    "constant_of_shape": ("ConstantOfShape", 9, None, [ints(2, 3)], 1, {}),
    "range": ("Range", 11, None, [scalar(1), scalar(9), scalar(3)], 1, {}),
    "range_float": ("Range", 11, None, [scalar(v, np.float32) for v in (0, 1, 0.25)], 1, {}),
    "clip": ("Clip", 11, X, [scalar(-0.5, np.float32), scalar(0.5, np.float32)], 1, {}),
    "cumulative_sum": ("CumSum", 11, X, [scalar(-1)], 1, {}),
    "cumulative_sum_int32": ("CumSum", 11, X, [scalar(1, np.int32)], 1, {"reverse": 1}),
    "center_crop_pad": ("CenterCropPad", 18, X, [ints(3, 2)], 1, {"axes": [1, 2]}),
    "col2im": ("Col2Im", 18, ("x", FLOAT, [1, 4, 4]), [ints(4, 4), ints(2, 2)], 1, {"strides": [2, 2]}),
    "affine_grid": ("AffineGrid", 20, ("x", FLOAT, [1, 2, 3]), [ints(1, 1, 2, 3)], 1, {}),
    "max_unpool": ("MaxUnpool", 11, ("x", FLOAT, [1, 1, 1, 2]), [ints(0, 5).reshape(1, 1, 1, 2), ints(1, 1, 3, 5)], 1,
                   {"kernel_shape": [2, 2], "strides": [2, 2]}),
    "window": ("HannWindow", 17, None, [scalar(8)], 1, {}),
    "dft": ("DFT", 20, ("x", FLOAT, [1, 8, 1]), [scalar(6), scalar(1)], 1, {}),
    "stft": ("STFT", 17, ("x", FLOAT, [1, 16, 1]), [scalar(4), None, scalar(8)], 1, {}),
    "mel_weights": ("MelWeightMatrix", 17, None,
                    [scalar(4), scalar(16), scalar(8000), scalar(0, np.float32), scalar(4000, np.float32)], 1, {}),
    "trilu": ("Trilu", 14, X, [scalar(1)], 1, {}),
    "gather": ("Gather", 13, X, [ints(2, 0)], 1, {"axis": 1}),
    "compress": ("Compress", 11, X, [np.array([True, False, True])], 1, {"axis": 1}),
    "power": ("Pow", 13, X, [scalar(2, np.float32)], 1, {}),
    "dropout": ("Dropout", 13, X, [scalar(0.5, np.float32), scalar(False, np.bool_)], 1, {}),
}  # fmt: skip


def shape_model(name, ir_version=8):
    """The constants are called c1, c2, ... by their position."""
    op, version, declared, constants, outputs, attributes = CASES[name]
    first = 0 if declared is None else 1
    names = [f"c{first + i}" if value is not None else "" for i, value in enumerate(constants)]
    results = [f"y{i}" for i in range(outputs)]
    inputs = [] if declared is None else [helper.make_tensor_value_info(*declared)]
    node = helper.make_node(op, [value.name for value in inputs] + names, results, name="node", **attributes)
    weights = [weight(n, value) for n, value in zip(names, constants) if value is not None]
    graph = helper.make_graph([node], "shapes", inputs, [helper.make_empty_tensor_value_info(y) for y in results], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=ir_version)
