"""Ops that onnxruntime has in the default domain below the version that ONNX gave them, or that ONNX never had."""

import numpy as np
import onnx
import onnxruntime
import pytest
import tenon
from onnx import helper

FLOATS = [np.float32, np.float64, np.float16]


def model_of(op_type, inputs, outputs=1, version=12, **attributes):
    """The bytes of a model with one node of the default domain. inputs: name to array, or None for an absent one."""
    names = [name if value is not None else "" for name, value in inputs.items()]
    results = [f"y{i}" for i in range(outputs)]
    node = helper.make_node(op_type, names, results, name="node", **attributes)
    declared = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
        for name, value in inputs.items()
        if value is not None
    ]
    graph = helper.make_graph([node], "g", declared, [helper.make_empty_tensor_value_info(name) for name in results])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=4).SerializeToString()


def onnxruntime_session(model):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def compare(op_type, inputs, outputs=1, version=12, **attributes):
    model = model_of(op_type, inputs, outputs, version, **attributes)
    feeds = {name: value for name, value in inputs.items() if value is not None}
    expected = onnxruntime_session(model).run(None, feeds)
    for a, e in zip(tenon.InferenceSession(model).run(None, feeds), expected, strict=True):
        assert a.dtype == e.dtype and a.shape == e.shape
        # float32 is what onnxruntime computes in.
        error = 8 * float(np.finfo(np.float16 if e.dtype == np.float16 else np.float32).eps)
        np.testing.assert_allclose(a.astype(np.float64), e.astype(np.float64), rtol=error, atol=error)


@pytest.fixture
def rng():
    return np.random.default_rng(17)


@pytest.mark.parametrize("version", [1, 7, 9, 12, 16, 17])
@pytest.mark.parametrize("dtype", FLOATS)
def test_layer_normalization(rng, version, dtype):
    x, scale, bias = (rng.normal(size=shape).astype(dtype) for shape in [(2, 3, 4), (4,), (4,)])
    compare("LayerNormalization", {"x": x, "scale": scale, "bias": bias}, 3, version)
    compare("LayerNormalization", {"x": x, "scale": scale}, 1, version, epsilon=0.1)
    both = rng.normal(size=(3, 4)).astype(dtype)
    compare("LayerNormalization", {"x": x, "scale": both, "bias": both}, 1, version, axis=1)
    compare("LayerNormalization", {"x": x, "scale": both}, 1, version, axis=-2, stash_type=1)


@pytest.mark.parametrize("version", [1, 7, 12, 17, 21])
@pytest.mark.parametrize("dtype", FLOATS)
def test_simplified_layer_normalization(rng, version, dtype):
    x, scale = (rng.normal(size=shape).astype(dtype) for shape in [(2, 3, 4), (4,)])
    compare("SimplifiedLayerNormalization", {"x": x, "scale": scale}, 2, version)
    compare("SimplifiedLayerNormalization", {"x": x, "scale": scale}, 1, version, epsilon=0.1, axis=-1, stash_type=1)


def test_a_scale_of_another_type_before_it_was_standard(rng):
    """The result has the type of the scale."""
    x, scale = rng.normal(size=(2, 3, 4)), rng.normal(size=4)
    compare("LayerNormalization", {"x": x.astype(np.float16), "scale": scale.astype(np.float32)})
    compare("LayerNormalization", {"x": x.astype(np.float32), "scale": scale.astype(np.float16)})


@pytest.mark.parametrize(
    ("op_type", "version"),
    [("LayerNormalization", 12), ("LayerNormalization", 17), ("RMSNormalization", 23), ("SimplifiedLayerNormalization", 17)],
)
@pytest.mark.parametrize("dtype", FLOATS)
def test_a_stash_type_of_nothing(rng, op_type, version, dtype):
    inputs = {"x": rng.normal(size=(2, 3, 4)).astype(dtype), "scale": rng.normal(size=4).astype(dtype)}
    compare(op_type, inputs, version=version, stash_type=0)
    feeds = tenon.InferenceSession(model_of(op_type, inputs, version=version, stash_type=0)), inputs
    plain = tenon.InferenceSession(model_of(op_type, inputs, version=version)).run(None, inputs)
    np.testing.assert_array_equal(feeds[0].run(None, inputs)[0], plain[0])
    with pytest.raises(Exception, match="stash_type must name a float type"):
        tenon.InferenceSession(model_of(op_type, inputs, version=version, stash_type=7))


def test_statistics_of_a_stash_type_of_nothing_are_float32(rng):
    """onnxruntime infers no type for them and fails."""
    inputs = {"x": rng.normal(size=(2, 3, 4)), "scale": rng.normal(size=4)}
    y, mean, inverse = tenon.InferenceSession(
        model_of("LayerNormalization", inputs, 3, 17, stash_type=0)
    ).run(None, inputs)
    assert y.dtype == np.float64 and mean.dtype == inverse.dtype == np.float32
    np.testing.assert_allclose(mean[..., 0], inputs["x"].mean(-1), rtol=1e-6, atol=1e-7)


def test_a_stash_type_of_nothing_for_groups(rng):
    x, scale, bias = rng.normal(size=(2, 4, 3)), rng.normal(size=4), rng.normal(size=4)
    inputs = {"x": x, "scale": scale, "bias": bias}
    results = [
        tenon.InferenceSession(model_of("GroupNormalization", inputs, 1, 21, num_groups=2, **stash)).run(None, inputs)[0]
        for stash in ({}, {"stash_type": 0})
    ]
    np.testing.assert_array_equal(*results)


# Names of the default domain beyond ONNX's: what onnxruntime's graph optimizers write, and ops that never left the
# experimental stage. Microsoft's own are tried under the default domain as well.
NEVER_STANDARD = [
    "ATen", "Affine", "ConstantFill", "Crop", "DynamicSlice", "GRUUnit", "GivenTensorFill", "ImageScaler",
    "ParametricSoftplus", "Scale", "ScaledTanh", "SimplifiedLayerNormalization", "BiasGelu", "FastGelu", "FusedConv",
    "FusedGemm", "FusedMatMul", "QuickGelu", "SkipLayerNormalization", "MultiHeadAttention", "QLinearAdd", "NhwcMaxPool",
    "EmbedLayerNormalization", "MatMulNBits", "QAttention", "DynamicQuantizeMatMul", "TransposeMatMul", "BiasSoftmax",
]  # fmt: skip
# It knows their names and has no kernel for them.
WITHOUT_A_KERNEL = {"GRUUnit"}


def first_versions():
    """The version in which each op of the default domain came."""
    first = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain == "":
            first[schema.name] = min(schema.since_version, first.get(schema.name, 1000))
    return first


def refusal(make_session, op_type, version):
    try:
        make_session(model_of(op_type, {"x": np.zeros((1, 1, 1, 1), np.float32)}, version=version))
    except Exception as error:  # what is wrong with the node beyond its name does not matter here
        return str(error)
    return ""


def onnxruntime_knows(op_type, version):
    return "No Op registered" not in refusal(onnxruntime_session, op_type, version)


def tenon_knows(op_type, version):
    said = refusal(tenon.InferenceSession, op_type, version)
    return "came with version" not in said and "not supported" not in said


def test_every_name_of_onnxruntime_is_known_below_its_version():
    # onnxruntime takes no version newer than the last released one.
    early = [(name, version - 1) for name, version in first_versions().items() if 1 < version <= 27]
    early += [(name, 7) for name, version in first_versions().items() if 7 < version]
    early += [(name, version) for name in NEVER_STANDARD for version in (7, 12, 21)]
    known = {(name, version) for name, version in early if onnxruntime_knows(name, version)}
    assert {("LayerNormalization", 16), ("ThresholdedRelu", 9), ("SimplifiedLayerNormalization", 12)} <= known
    unknown = {(name, version) for name, version in known if not tenon_knows(name, version)}
    assert {name for name, _ in unknown} <= WITHOUT_A_KERNEL
