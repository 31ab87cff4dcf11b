"""Attributes that are missing, of the wrong length or outside their range."""

import numpy as np
import pytest
from bad_input.refusals import floats, ints, model_of, node_refused, refused
from onnx import defs, helper

X = floats(2, 3)
IMAGE = floats(1, 2, 5, 5)
KERNEL = floats(2, 2, 3, 3)
SAMPLES = floats(3, 2, 4)  # steps, batch, features
SUB_GRAPHS = ("then_branch", "else_branch", "body")


def required_attributes():
    for schema in defs.get_all_schemas_with_history():
        for name, attribute in schema.attributes.items():
            # Training's Gradient is not an op that runs; consumed_inputs never meant anything.
            if attribute.required and schema.name != "Gradient" and name not in (*SUB_GRAPHS, "consumed_inputs"):
                yield pytest.param(schema, name, id=f"{schema.name}-{schema.since_version}-{name}")


@pytest.mark.parametrize(("schema", "name"), list(required_attributes()))
def test_missing(schema, name):
    # The other required ones are there; what they hold does not matter.
    attributes = {other: 1 for other, a in schema.attributes.items() if a.required and other != name}
    node = helper.make_node(schema.name, ["x"], ["y"], name="culprit", domain=schema.domain, **attributes)
    version = 21 if schema.domain else schema.since_version
    opsets = [(schema.domain, schema.since_version)] if schema.domain else []
    says = "attribute" if schema.name == "Constant" else rf"needs attribute '{name}'"
    refused(model_of([node], [], ["y"], {"x": X}, version, opsets=opsets), says=says, place=schema.name)


@pytest.mark.parametrize(("op_type", "name", "since"), [("Attention", "whole_mask", 23), ("RotaryEmbedding", "heads_from_cache", 23),
                                                       ("LinearAttention", "state_window", 27), ("CausalConvWithState", "state_window", 27)])
def test_what_only_ops_of_other_domains_know(op_type, name, since):
    required = {"q_num_heads": 1, "kv_num_heads": 1} if op_type == "LinearAttention" else {}
    node = helper.make_node(op_type, ["x", "x", "x"], ["y"], name="culprit", **required, **{name: 1})
    refused(model_of([node], [], ["y"], {"x": floats(1, 1, 2, 4)}, since), says=f"has no attribute '{name}'")


def test_missing_bodies():
    for op_type, inputs in [("If", ["go"]), ("Loop", ["", "go"]), ("Scan", ["x"]), ("SequenceMap", ["s"])]:
        attributes = {"num_scan_inputs": 1} if op_type == "Scan" else {}
        make = helper.make_node("SequenceConstruct", ["x"], ["s"])
        node = helper.make_node(op_type, inputs, ["y"], name="culprit", **attributes)
        refused(model_of([make, node], [], ["y"], {"x": X, "go": np.array(True)}), says="branch|body")


@pytest.mark.parametrize("name", ["kernel_shape", "strides", "dilations", "pads"])
@pytest.mark.parametrize("values", [[1], [1, 1, 1], [1] * 9, [0, 0], [-1, 1], [-1, 1, 1, 1]])
@pytest.mark.parametrize("op_type", ["Conv", "ConvTranspose", "MaxPool", "AveragePool", "LpPool", "ConvInteger"])
def test_windows(op_type, name, values):
    is_convolution = op_type.startswith("Conv")
    inputs = [IMAGE, KERNEL] if is_convolution else [IMAGE]
    if op_type == "ConvInteger":
        inputs = [array.astype(np.uint8) for array in inputs]
    attributes = {name: values} if is_convolution else {"kernel_shape": [2, 2], name: values}
    node_refused(op_type, inputs, "shape|stride|dilation|pad|window|kernel", **attributes)


@pytest.mark.parametrize(
    ("op_type", "inputs", "attributes"),
    [
        ("Conv", [IMAGE, KERNEL], {"group": 0}),
        ("Conv", [IMAGE, KERNEL], {"group": -1}),
        ("Conv", [IMAGE, KERNEL], {"group": 3}),
        ("Conv", [IMAGE, KERNEL], {"strides": [0, 1]}),
        ("Conv", [IMAGE, KERNEL], {"auto_pad": "SOMEHOW"}),
        ("Conv", [IMAGE, KERNEL, floats(3)], {}),
        ("ConvTranspose", [IMAGE, KERNEL], {"output_padding": [1]}),
        ("ConvTranspose", [IMAGE, KERNEL], {"output_shape": [1]}),
        ("ConvTranspose", [IMAGE, KERNEL], {"group": 3}),
        ("MaxUnpool", [floats(1, 1, 2, 2), ints(0, 1, 2, 3).reshape(1, 1, 2, 2)], {"kernel_shape": [2]}),
        ("LpPool", [IMAGE], {"kernel_shape": [2, 2], "p": 0}),
        ("MaxRoiPool", [IMAGE, floats(1, 5)], {"pooled_shape": [2]}),
        ("RoiAlign", [IMAGE, floats(1, 4), ints(0)], {"output_height": 0}),
        ("RoiAlign", [IMAGE, floats(1, 4), ints(0)], {"output_width": -2}),
        ("RoiAlign", [IMAGE, floats(1, 4), ints(0)], {"sampling_ratio": -1}),
        ("DeformConv", [IMAGE, KERNEL, floats(1, 18, 3, 3)], {"strides": [1]}),
        ("DeformConv", [IMAGE, KERNEL, floats(1, 17, 3, 3)], {}),
        ("Col2Im", [floats(1, 4, 1), ints(2, 2), ints(2, 2)], {"pads": [0, 0]}),
        ("Col2Im", [floats(1, 4, 1), ints(2, 2), ints(2, 2)], {"dilations": [1]}),
        ("Col2Im", [floats(1, 4, 1), ints(2, 2), ints(2)], {}),
        ("LRN", [IMAGE], {"size": 0}),
        ("DepthToSpace", [floats(1, 4, 2, 2)], {"blocksize": 0}),
        ("DepthToSpace", [floats(1, 4, 2, 2)], {"blocksize": 3}),
        ("SpaceToDepth", [floats(1, 4, 2, 2)], {"blocksize": -2}),
        ("Resize", [IMAGE, None, np.ones(3, np.float32)], {}),
        ("Resize", [IMAGE, None, None, ints(1, 2, 3)], {}),
        ("Resize", [IMAGE, None, None, ints(5, 5)], {"axes": [2, 3, 4]}),
        ("Resize", [IMAGE, floats(7), np.ones(4, np.float32)], {"coordinate_transformation_mode": "tf_crop_and_resize"}),
        ("Resize", [IMAGE, None, np.ones(4, np.float32)], {"mode": "sharp"}),
        ("GridSample", [IMAGE, floats(1, 2, 2, 3)], {}),
        ("GridSample", [IMAGE, floats(1, 2, 2, 2)], {"mode": "guess"}),
        ("AffineGrid", [floats(1, 2, 3), ints(1, 1, 2)], {}),
    ],
)
def test_images(op_type, inputs, attributes):
    node_refused(op_type, inputs, **attributes)


@pytest.mark.parametrize(
    ("op_type", "inputs", "attributes"),
    [
        ("Transpose", [X], {"perm": [0]}),
        ("Transpose", [X], {"perm": [0, 1, 2]}),
        ("Transpose", [X], {"perm": [0, 0]}),
        ("Transpose", [X], {"perm": [0, 2]}),
        ("Slice", [X, ints(0, 0), ints(1)], {}),
        ("Slice", [X, ints(0, 0, 0), ints(1, 1, 1)], {}),
        ("Slice", [X, ints(0), ints(1), ints(0, 1)], {}),
        ("Slice", [X, ints(0), ints(1), ints(0), ints(1, 1)], {}),
        ("Slice", [X, ints(0, 0), ints(1, 1), ints(0, 0)], {}),
        ("Slice", [X], {"version": 9, "starts": [0, 0], "ends": [1]}),
        ("Slice", [X], {"version": 9, "starts": [0], "ends": [1], "axes": [0, 1]}),
        ("Pad", [X, ints(1, 1, 1)], {}),
        ("Pad", [X, ints(1, 1)], {}),
        ("Pad", [X], {"version": 10, "pads": [1, 1, 1]}),
        ("Pad", [X, ints(1, 1, 1, 1), floats(2)], {}),
        ("Split", [X], {"version": 2, "axis": 1, "split": [1, 1, 1], "outputs": 2}),
        ("Split", [X], {"version": 2, "axis": 1, "split": [1, 1], "outputs": 2}),
        ("Split", [X], {"num_outputs": 1, "outputs": 2}),
        ("Tile", [X, ints(2)], {}),
        ("Expand", [X, ints(2, 2)], {}),
        ("Squeeze", [X, ints(0)], {}),
        ("Unsqueeze", [X, ints(0, 0)], {}),
        ("ReduceSum", [X, ints(0, 2)], {}),
        ("ReduceMean", [X], {"version": 11, "axes": [0, 5]}),
        ("CenterCropPad", [X, ints(1)], {}),
        ("Concat", [X, floats(2, 3, 1)], {"axis": 0}),
        ("Concat", [X, floats(3, 2)], {"axis": 0}),
        ("Reshape", [X, ints(0, 0, 0)], {}),
        ("Reshape", [X, ints(4, -1)], {}),
        ("MeanVarianceNormalization", [X], {"axes": [0, 1, 2]}),
        ("Einsum", [X, X], {"equation": "ij,jk->ik"}),
        ("Einsum", [X], {"equation": "i->i"}),
        ("Einsum", [X], {"equation": "ij->k"}),
        ("Einsum", [X], {"equation": "i j,->"}),
        ("Einsum", [X], {"equation": "....ij->i"}),
        ("Einsum", [X], {"equation": "i\xe9->i"}),
        ("MatMul", [X, X], {}),
        ("Gemm", [X, X], {}),
        ("Gemm", [X, floats(3, 2), floats(3)], {}),
        ("BitShift", [np.array([1], np.uint8), np.array([1], np.uint8)], {"direction": "UP"}),
        ("TopK", [X], {"version": 1, "k": 9, "outputs": 2}),
        ("Trilu", [X, ints(1, 2)], {}),
        ("OneHot", [ints(0), ints(2, 3), floats(2)], {}),
        ("OneHot", [ints(0), ints(2), floats(3)], {}),
        ("ScatterElements", [X, ints(0).reshape(1, 1), floats(1, 1)], {"reduction": "average"}),
        ("ConstantOfShape", [ints(2)], {"value": helper.make_tensor("v", 1, [2], [1.0, 2.0])}),
        ("Cast", [X], {"to": 99}),
        ("Cast", [X], {"to": 0}),
        ("EyeLike", [floats(2)], {}),
        ("Multinomial", [X], {"sample_size": -1}),
    ],
)
def test_movement_and_algebra(op_type, inputs, attributes):
    node_refused(op_type, inputs, **attributes)


@pytest.mark.parametrize(
    ("op_type", "inputs", "attributes"),
    [
        ("BatchNormalization", [IMAGE, floats(2), floats(3), floats(2), floats(2)], {}),
        ("BatchNormalization", [IMAGE, floats(2), floats(2), floats(2), floats(1)], {}),
        ("InstanceNormalization", [IMAGE, floats(2), floats(3)], {}),
        ("GroupNormalization", [IMAGE, floats(2), floats(2)], {"num_groups": 3}),
        ("GroupNormalization", [IMAGE, floats(2), floats(2)], {"num_groups": 0}),
        ("LayerNormalization", [X, floats(4)], {}),
        ("RMSNormalization", [X, floats(4)], {"version": 23}),
        ("Dropout", [X, floats(2)], {}),
        ("QuantizeLinear", [X, floats(2)], {"axis": 1}),
        ("QuantizeLinear", [X, floats(1, 3), None], {"axis": 0, "block_size": -1}),
        ("LSTM", [SAMPLES, floats(1, 16, 4), floats(1, 16, 3)], {"hidden_size": 4}),
        ("LSTM", [SAMPLES, floats(1, 16, 4), floats(1, 16, 4)], {"hidden_size": 4, "activations": ["Tanh"]}),
        ("LSTM", [SAMPLES, floats(1, 16, 4), floats(1, 16, 4)], {"hidden_size": 5}),
        ("LSTM", [SAMPLES, floats(1, 16, 4), floats(1, 16, 4)], {"hidden_size": 4, "direction": "sideways"}),
        ("LSTM", [SAMPLES, floats(1, 16, 4), floats(1, 16, 4), floats(1, 31)], {"hidden_size": 4}),
        ("GRU", [SAMPLES, floats(1, 12, 4), floats(1, 12, 4)], {"hidden_size": 4, "activations": ["Tanh", "No"]}),
        ("GRU", [SAMPLES, floats(1, 12, 5), floats(1, 12, 4)], {"hidden_size": 4}),
        ("RNN", [SAMPLES, floats(1, 4, 4), floats(1, 4, 4)], {"hidden_size": 4, "direction": "bidirectional"}),
        ("RNN", [SAMPLES, floats(1, 4, 4), floats(1, 4, 4), None, np.array([9, 9], np.int32)], {"hidden_size": 4}),
        ("RNN", [SAMPLES, floats(1, 4, 4), floats(1, 4, 4), None, np.array([-1, 1], np.int32)], {"hidden_size": 4}),
        ("Attention", [floats(1, 2, 6), floats(1, 2, 6), floats(1, 2, 6)], {"version": 23, "q_num_heads": 4, "kv_num_heads": 4}),
        ("Attention", [floats(1, 2, 6), floats(1, 2, 6), floats(1, 2, 6)], {"version": 23, "q_num_heads": 0, "kv_num_heads": 0}),
        ("RotaryEmbedding", [floats(1, 2, 3, 4), floats(3, 3), floats(3, 3)], {"version": 23}),
        ("STFT", [floats(1, 8, 1), np.array(0), None, np.array(4)], {}),
        ("STFT", [floats(1, 8, 1), np.array(1), None, np.array(9)], {}),
    ],
)
def test_layers(op_type, inputs, attributes):
    node_refused(op_type, inputs, **attributes)


@pytest.mark.parametrize(
    ("op_type", "inputs", "attributes"),
    [
        ("Scaler", [X], {"offset": [1.0, 2.0], "scale": [1.0, 1.0, 1.0]}),
        ("Scaler", [X], {"offset": [1.0] * 4, "scale": [1.0] * 4}),
        ("Imputer", [X], {"imputed_value_floats": [1.0, 2.0]}),
        ("LabelEncoder", [ints(1)], {"keys_int64s": [1, 2], "values_int64s": [1]}),
        ("LabelEncoder", [ints(1)], {"keys_int64s": [1, 2], "values_strings": ["a"], "keys_floats": [1.0]}),
        ("OneHotEncoder", [ints(9)], {"cats_int64s": [1, 2], "zeros": 0}),
        ("LinearClassifier", [X], {"coefficients": [1.0, 2.0], "classlabels_ints": [0, 1], "outputs": 2}),
        ("LinearRegressor", [X], {"coefficients": [1.0, 2.0]}),
        ("LinearRegressor", [X], {"coefficients": [1.0] * 6, "targets": 4}),
        ("LinearRegressor", [X], {"coefficients": [1.0] * 3, "targets": -1}),
        ("FeatureVectorizer", [X], {"inputdimensions": [3, 4]}),
        ("Normalizer", [X], {"norm": "L9"}),
        ("CategoryMapper", [ints(1)], {"cats_int64s": [1], "cats_strings": ["a", "b"]}),
        ("SVMRegressor", [X], {"coefficients": [1.0], "support_vectors": [1.0, 2.0], "n_supports": 1, "rho": [0.0]}),
        ("SVMClassifier", [X], {"coefficients": [1.0], "support_vectors": [1.0] * 3, "vectors_per_class": [2, 2],
                                "rho": [0.0], "classlabels_ints": [0, 1], "outputs": 2}),
        ("TreeEnsembleRegressor", [X], {"nodes_treeids": [0, 0, 0], "nodes_nodeids": [0, 1], "n_targets": 1}),
        ("TreeEnsembleRegressor", [X], {"nodes_treeids": [0], "nodes_nodeids": [0], "nodes_featureids": [9],
                                        "nodes_values": [0.0], "nodes_modes": ["BRANCH_LEQ"], "nodes_truenodeids": [0],
                                        "nodes_falsenodeids": [0], "n_targets": 1}),
        ("TreeEnsembleRegressor", [X], {"nodes_treeids": [0], "nodes_nodeids": [0], "nodes_featureids": [0],
                                        "nodes_values": [0.0], "nodes_modes": ["LEAF"], "nodes_truenodeids": [0],
                                        "nodes_falsenodeids": [0], "n_targets": 1, "target_treeids": [0],
                                        "target_nodeids": [5], "target_ids": [0], "target_weights": [1.0]}),
        ("TreeEnsembleRegressor", [X], {"nodes_treeids": [0], "nodes_nodeids": [0], "nodes_featureids": [0],
                                        "nodes_values": [0.0], "nodes_modes": ["LEAF"], "nodes_truenodeids": [0],
                                        "nodes_falsenodeids": [0], "n_targets": 1, "target_treeids": [0],
                                        "target_nodeids": [0], "target_ids": [3], "target_weights": [1.0]}),
    ],
)  # fmt: skip
def test_classic_learning(op_type, inputs, attributes):
    node_refused(op_type, inputs, domain="ai.onnx.ml", **attributes)


def test_text():
    words = np.array([["a b", "c"]], object)
    node_refused("StringNormalizer", [words], case_change_action="TITLE", version=10)
    node_refused("RegexFullMatch", [words], "pattern|regular|regex|parenthes", pattern="(a")
    grams = dict(mode="TF", min_gram_length=1, max_gram_length=1, max_skip_count=0)
    node_refused("TfIdfVectorizer", [words], ngram_counts=[0, 9], ngram_indexes=[0], pool_strings=["a"], **grams)
    node_refused("TfIdfVectorizer", [words], ngram_counts=[0], ngram_indexes=[0, 1], pool_strings=["a"], **grams)
    node_refused("TfIdfVectorizer", [words], ngram_counts=[0], ngram_indexes=[-1], pool_strings=["a"], **grams)


@pytest.mark.parametrize("kernel_shape", [[1, 1], [2, 3], [5, 5], [3]])
@pytest.mark.parametrize("op_type", ["Conv", "ConvTranspose"])
def test_kernel_shapes_that_the_weight_contradicts(op_type, kernel_shape):
    node_refused(op_type, [IMAGE, KERNEL], "kernel", kernel_shape=kernel_shape)


@pytest.mark.parametrize("shape", [(3,), (2, 2, 3), (1, 2, 2, 3)])
def test_products_of_matrices_alone(shape):
    node_refused("Gemm", [floats(*shape), floats(3, 4)], "rank")
    node_refused("Gemm", [floats(*shape), floats(3, 4), floats(4)], "rank")
