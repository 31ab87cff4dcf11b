"""New weights from a model with other attributes: attributes are part of the plan and stay, and a warning says so."""

import warnings

import numpy as np
import onnx
import pytest

import tenon

from .zoo import FLOAT, floats, model, node, norm, norm_weights, weight

PROVIDERS = ["cpu", "reference"]


def network(seed=0, epsilon=None, alpha=None, gemm=None, elu=None, order=()):
    rng = np.random.default_rng(seed)
    given = lambda **values: {key: value for key, value in values.items() if value is not None}  # noqa: E731
    return model(
        [node("Conv", ["x", "w"], ["c"]), norm("n", "c", "d", **given(epsilon=epsilon)),
         node("LeakyRelu", ["d"], ["e"], **given(alpha=alpha)), node("GlobalAveragePool", ["e"], ["p"]),
         node("Flatten", ["p"], ["f"]), node("Gemm", ["f", "g"], ["h"], **given(alpha=gemm)),
         node("Elu", ["h"], ["i"], **given(alpha=elu)), node("ReduceMax", ["i"], ["y"])],
        [("x", FLOAT, ["batch", 3, 5, 5])], [("y", FLOAT, None)],
        [weight("w", floats(rng, 4, 3, 3, 3)), *norm_weights(rng, "n", 4), weight("g", floats(rng, 4, 6))])


def swapped(before, after, provider, tmp_path, load=lambda artifact, folder: artifact):
    path = tmp_path / "other.onnx"
    onnx.save(after, path)
    session = load(tenon.compile(before.SerializeToString(), provider=provider), tmp_path).session()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        report = session.set_weights(path)
    assert [str(w.message) for w in caught] == report["warnings"]
    return report["warnings"], session


def stored(artifact, folder):
    return tenon.Artifact.load(artifact.save(folder / "stored", overwrite=True)[0])


@pytest.mark.parametrize("load", [lambda artifact, folder: artifact, stored], ids=["compiled", "stored"])
@pytest.mark.parametrize("provider", PROVIDERS)
class TestWarnings:
    @pytest.mark.parametrize(("attribute", "place", "name", "old", "new"), [
        ("epsilon", "BatchNormalization_d", "epsilon", 0.001, 0.01),
        ("alpha", "LeakyRelu_e", "alpha", 0.25, 0.5),
        ("gemm", "Gemm_h", "alpha", 2.0, 4.0),
        ("elu", "Elu_i", "alpha", 1.5, 0.5),
    ])
    def test_name_node_attribute_and_values(self, attribute, place, name, old, new, provider, load, tmp_path):
        texts, _ = swapped(network(**{attribute: old}), network(1, **{attribute: new}), provider, tmp_path, load)
        (text,) = texts
        assert f"'{place}'" in text and f"'{name}' stays {old:g}, but in " in text and f"it is {new:g};" in text
        assert "other.onnx" in text

    @pytest.mark.parametrize(("attribute", "default"), [("epsilon", 1e-5), ("alpha", 0.01), ("gemm", 1.0), ("elu", 1.0)])
    def test_defaults_count(self, attribute, default, provider, load, tmp_path):
        same, _ = swapped(network(**{attribute: default}), network(1), provider, tmp_path, load)
        assert same == []
        texts, _ = swapped(network(), network(1, **{attribute: 3.0}), provider, tmp_path, load)
        assert len(texts) == 1 and "it is 3;" in texts[0]
        texts, _ = swapped(network(**{attribute: 3.0}), network(1), provider, tmp_path, load)
        assert len(texts) == 1 and "stays 3," in texts[0]

    def test_equal_attributes_are_no_news(self, provider, load, tmp_path):
        numbers = {"epsilon": 0.5, "alpha": 0.1, "gemm": 3.0, "elu": 0.7}
        texts, session = swapped(network(**numbers), network(1, **numbers), provider, tmp_path, load)
        assert texts == []
        x = np.random.default_rng(2).standard_normal((2, 3, 5, 5)).astype(np.float32)
        fresh = tenon.compile(network(1, **numbers).SerializeToString(), provider=provider).session()
        assert session.run(None, {"x": x})[0].tobytes() == fresh.run(None, {"x": x})[0].tobytes()


def single(op, attributes, weights=(), version=21):
    inputs = ["x", *(name for name, _ in weights)]
    nodes = [node(op, inputs, ["y"], **attributes), node("Mul", ["y", "one"], ["z"])]
    weights = [weight("one", np.ones(1, np.float32)), *(weight(name, value) for name, value in weights)]
    return model(nodes, [("x", FLOAT, [2, 4, 6, 6])], [("z", FLOAT, None)], weights)


FILTER = [("w", np.ones((4, 4, 3, 3), np.float32))]
# op, weights, attributes of one model, of the other, the one that is named
PLAIN = [
    ("Conv", FILTER, {"strides": [1, 1]}, {"strides": [2, 2]}, "'strides' stays [1, 1], but in "),
    ("Conv", FILTER, {"pads": [1, 1, 1, 1]}, {"pads": [2, 2, 0, 0]}, "'pads' stays [1, 1, 1, 1], but in "),
    ("Conv", FILTER, {"auto_pad": "SAME_UPPER"}, {"auto_pad": "SAME_LOWER"}, "'auto_pad' stays SAME_UPPER, but in "),
    ("Softmax", [], {"axis": 1}, {"axis": 2}, "'axis' stays 1, but in "),
    ("LRN", [], {"size": 3}, {"size": 5}, "'size' stays 3, but in "),
    ("Transpose", [], {"perm": [0, 1, 2, 3]}, {"perm": [0, 1, 3, 2]}, "'perm' stays [0, 1, 2, 3], but in "),
    ("Gelu", [], {}, {"approximate": "tanh"}, "'approximate' stays none, but in "),
    ("Gelu", [], {"approximate": "tanh"}, {}, "'approximate' stays tanh, but in "),
]


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(("op", "weights", "before", "after", "says"), PLAIN, ids=[f"{c[0]} {c[4]}" for c in PLAIN])
def test_integers_and_texts(op, weights, before, after, says, provider, tmp_path):
    texts, _ = swapped(single(op, before, weights), single(op, after, weights), provider, tmp_path)
    assert len(texts) == 1 and says in texts[0]
    for same in (before, after):
        assert swapped(single(op, same, weights), single(op, same, weights), provider, tmp_path)[0] == []


def test_axes_that_are_counted_from_the_end_may_be_the_same(tmp_path):
    assert swapped(single("Softmax", {"axis": 3}), single("Softmax", {"axis": -1}), "cpu", tmp_path)[0] == []


def test_baking_warns_too(tmp_path):
    onnx.save(network(1, epsilon=0.25), tmp_path / "other.onnx")
    artifact = tenon.compile(network().SerializeToString())
    with pytest.warns(UserWarning, match="'epsilon' stays 1e-05, but in .*other.onnx it is 0.25"):
        _, reports = artifact.bake(tmp_path / "other.onnx")
    assert len(reports[0]["warnings"]) == 1
