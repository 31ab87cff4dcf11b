"""Ops that onnxruntime has in the default domain below the version that ONNX gave them, or that ONNX never had."""

import numpy as np
import onnx
import pytest
import tenon
from onnx import helper
from oracles.peer import peer_ops, peer_refusal, run_peer

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


def compare(op_type, inputs, outputs=1, version=12, **attributes):
    model = model_of(op_type, inputs, outputs, version, **attributes)
    feeds = {name: value for name, value in inputs.items() if value is not None}
    expected = run_peer(model, feeds)
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


@pytest.mark.parametrize("op_type", ["MemcpyFromHost", "MemcpyToHost"])
@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.bool_])
def test_copies_between_devices(rng, op_type, dtype):
    """In models that onnxruntime saved for a machine with a GPU. It copies on one without, too."""
    compare(op_type, {"x": rng.integers(0, 2, (2, 3)).astype(dtype)}, version=17)


@pytest.mark.parametrize("version", [7, 12, 17, 21])
def test_a_simplified_scale_of_another_type(rng, version):
    x, scale = rng.normal(size=(2, 3, 4)), rng.normal(size=4)
    for types in [(np.float16, np.float32), (np.float32, np.float16)]:
        inputs = {"x": x.astype(types[0]), "scale": scale.astype(types[1])}
        compare("SimplifiedLayerNormalization", inputs, 2, version)


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


# onnxruntime declares these in the default domain and has no CPU kernel for them.
WITHOUT_A_KERNEL = {
    "GRUUnit", "DisentangledAttention_TRT", "EfficientNMS_TRT", "MultilevelCropAndResize_TRT", "PyramidROIAlign_TRT",
}  # fmt: skip


def first_versions():
    """The version in which each op of the default domain came."""
    first = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain == "":
            first[schema.name] = min(schema.since_version, first.get(schema.name, 1000))
    return first


def node_without_meaning(op_type, version):
    return model_of(op_type, {"x": np.zeros((1, 1, 1, 1), np.float32)}, version=version)


def onnxruntime_knows(op_type, version):
    """Whatever else it says of such a node."""
    return "No Op registered" not in peer_refusal(node_without_meaning(op_type, version))


def tenon_knows(op_type, version):
    try:
        tenon.InferenceSession(node_without_meaning(op_type, version))
    except Exception as error:
        return "needs at least version" not in str(error) and "not supported" not in str(error)
    return True


def test_every_name_of_onnxruntime_is_known_in_every_version():
    """Below the version that ONNX gave an op, names that ONNX never had, and those of Microsoft without their domain."""
    first, names = first_versions(), peer_ops("")
    assert len(names) > 200
    # onnxruntime takes no version newer than the last released one.
    asked = [(name, version) for name in names for version in range(1, min(28, first.get(name, 28)))]
    asked += [(name, version) for name in peer_ops("com.microsoft") if name not in names for version in (7, 12, 21)]
    known = {(name, version) for name, version in asked if onnxruntime_knows(name, version)}
    below = {name for name, version in known if name in first}
    assert below == {"LayerNormalization", "MeanVarianceNormalization", "ThresholdedRelu"}
    unknown = {name for name, version in known if name not in WITHOUT_A_KERNEL and not tenon_knows(name, version)}
    assert not unknown
