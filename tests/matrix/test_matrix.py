"""The combinations are what they claim to be, and the targets claim nodes in them."""

import itertools
import json

import numpy as np
import onnx
import pytest
import tenon
from matrix.combination import ALL, AXES, CORNERS, all_pairs, few
from matrix.run import MatrixSession, open_swapped, run_combination
from matrix.weights import inputs_as_initializers, swappable, with_other_values

MODEL = onnx.parser.parse_model("""
    <ir_version: 10, opset_import: ["": 22]>
    g (float[n, 3] x, float[3, 2] w, float[2] b) => (float[n, 2] y) { y = Gemm(x, w, b) }
""").SerializeToString()
FEEDS = {
    "x": np.arange(6, dtype=np.float32).reshape(2, 3),
    "w": np.array([[1, 2], [3, 4], [5, 6]], np.float32),
    "b": np.array([0.5, -0.5], np.float32),
}
EXPECTED = np.array([[13.5, 15.5], [40.5, 51.5]], np.float32)


def test_corners_are_opposite():
    assert all(getattr(CORNERS[0], axis) != getattr(CORNERS[1], axis) for axis in AXES)


def test_any_two_values_meet_in_a_pair():
    for (a, values), (b, others) in itertools.combinations(AXES.items(), 2):
        for value, other in itertools.product(values, others):
            assert any(getattr(c, a) == value and getattr(c, b) == other for c in all_pairs()), (value, other)


def test_names_pick_every_combination():
    picked = {few(f"case {i}")[2] for i in range(500)}
    assert picked == set(ALL) - set(CORNERS)
    assert few("case 7") == few("case 7")


@pytest.mark.parametrize("combination", ALL, ids=str)
def test_each_combination_gives_the_result(combination):
    (y,) = run_combination(MODEL, FEEDS, combination)
    np.testing.assert_array_equal(y, EXPECTED)


def test_weights_as_initializers_are_claimed():
    model, feeds = inputs_as_initializers(MODEL, FEEDS)
    assert list(feeds) == ["x"]
    plan = json.dumps(tenon.compile(model, provider="cpu").describe("plan"))
    assert "cpu/PackedMatMul" in plan
    assert "cpu/PackedMatMul" not in json.dumps(tenon.compile(MODEL, provider="cpu").describe("plan"))


def test_swapped_sessions_were_compiled_with_other_values():
    model, feeds = inputs_as_initializers(MODEL, FEEDS)
    (other,) = tenon.InferenceSession(with_other_values(model, swappable(model))).run(None, feeds)
    assert not np.array_equal(other, EXPECTED)
    (y,) = open_swapped(model, CORNERS[1]).run(None, feeds)
    np.testing.assert_array_equal(y, EXPECTED)


def test_refusals_are_those_of_the_plain_session():
    wrong = {**FEEDS, "w": np.ones((4, 2), np.float32)}
    plain = tenon.InferenceSession(MODEL)
    with pytest.raises(tenon.Error) as expected:
        plain.run(None, wrong)
    with pytest.raises(tenon.Error) as refused:
        MatrixSession(plain, MODEL, CORNERS[1]).run(None, wrong)
    assert str(refused.value) == str(expected.value)
