"""Cases in which the standard, onnxruntime and numpy were compared by hand; docs/numerics.md tells the outcome."""

import numpy as np
import onnx
import pytest
import tenon
from movement_models import check, check_same, ints, model_of, run, run_onnxruntime
from onnx.reference import ReferenceEvaluator
from oracles.peer import run_peer

SIGNS = [np.int8, np.uint8]
REDUCTIONS = ["ReduceL1", "ReduceL2", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum"]


def by_the_standard(op_type, inputs, version, outputs=1, **attributes):
    """What the reference implementation of the onnx package computes."""
    names, results = [f"in{i}" for i in range(len(inputs))], [f"out{i}" for i in range(outputs)]
    node = onnx.helper.make_node(op_type, names, results, **attributes)
    infos = [
        onnx.helper.make_tensor_value_info(name, 8 if x.dtype == object else onnx.helper.np_dtype_to_tensor_dtype(x.dtype), None)
        for name, x in zip(names, inputs, strict=True)
    ]
    graph = onnx.helper.make_graph([node], "g", infos, [onnx.helper.make_empty_tensor_value_info(r) for r in results])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", version)])
    return ReferenceEvaluator(model).run(None, dict(zip(names, inputs, strict=True)))


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("axes", [(1, 1), (1, -2), (0, 1, 0, 1), (2, 2, 2, 2)])
@pytest.mark.parametrize("keepdims", [0, 1])
def test_an_axis_named_twice_is_reduced_once(name, axes, keepdims):
    x = np.random.default_rng(3).uniform(0.5, 2, (2, 3, 4)).astype(np.float32)
    check_same(name, [x, ints(*axes)], 18, keepdims=keepdims)
    check_same(name, [x, ints(*axes)], 18, constants=(1,), keepdims=keepdims)
    if name != "ReduceSum":
        check_same(name, [x], 11, axes=list(axes), keepdims=keepdims)


def test_an_axis_named_twice_is_squeezed_once():
    x = np.arange(3, dtype=np.float32).reshape(1, 3, 1)
    for axes in ([0, 0], [0, -3], [2, 0, 2]):
        check_same("Squeeze", [x, ints(*axes)], 13)


def test_squeeze_of_no_axes():
    """An input that names none squeezes none. onnxruntime takes it for an absent one, and squeezes all."""
    x = np.arange(3, dtype=np.float32).reshape(1, 3, 1)
    none = np.zeros(0, np.int64)
    check(run("Squeeze", [x, none], 13), x)
    check(run("Squeeze", [x, none], 13, constants=(1,)), x)
    assert by_the_standard("Squeeze", [x, none], 13)[0].shape == x.shape
    assert run_onnxruntime("Squeeze", [x, none], 13)[0].shape == (3,)
    check(run("Squeeze", [x], 13), x.ravel())


def test_squeeze_of_an_empty_attribute():
    """An attribute without numbers is no different from none, for everybody."""
    x = np.arange(3, dtype=np.float32).reshape(1, 3, 1)
    node = onnx.helper.make_node("Squeeze", ["x"], ["y"])
    node.attribute.append(onnx.AttributeProto(name="axes", type=onnx.AttributeProto.INTS))
    info = onnx.helper.make_tensor_value_info("x", 1, x.shape)
    graph = onnx.helper.make_graph([node], "g", [info], [onnx.helper.make_empty_tensor_value_info("y")])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 11)], ir_version=8)
    data = model.SerializeToString()
    results = tenon.InferenceSession(data).run(None, {"x": x}) + run_peer(data, {"x": x})
    for y in results + ReferenceEvaluator(model).run(None, {"x": x}):
        np.testing.assert_array_equal(y, x.ravel())


def test_a_split_that_does_not_name_its_last_parts():
    """num_outputs says how many there are. onnxruntime makes as many as have names."""
    x = np.arange(7, dtype=np.float32)
    for outputs in (1, 2):
        for actual, expected in zip(run("Split", [x], 18, outputs=outputs, num_outputs=3), [x[:3], x[3:6]]):
            np.testing.assert_array_equal(actual, expected)
        theirs = run_onnxruntime("Split", [x], 18, outputs=outputs, num_outputs=3)
        assert sum(len(part) for part in theirs) == 7
    np.testing.assert_array_equal(by_the_standard("Split", [x], 18, num_outputs=3)[0], x[:3])
    (warning,) = tenon.Model.load(model_of("Split", [x], 18, num_outputs=3)).warnings
    assert "num_outputs is 3, but only 1 outputs are named" in warning
    with pytest.raises(Exception, match="num_outputs is 1000000000, but the node has 1 outputs"):
        run("Split", [x], 18, num_outputs=1000000000)
    with pytest.raises(Exception, match="num_outputs is 1, but the node has 2 outputs"):
        run("Split", [x], 18, outputs=2, num_outputs=1)


TEXTS = np.array(["", "a,b", ",", "a", "a,,b"], object)


@pytest.mark.parametrize("limit", [None, 0, 1, 5])
def test_splitting_an_empty_text_at_a_delimiter(limit):
    """One part, which is empty, as between two delimiters. onnxruntime says there is none."""
    settings = {"delimiter": ","} | ({} if limit is None else {"maxsplit": limit})
    parts, counts = run("StringSplit", [TEXTS], 20, outputs=2, **settings)
    expected = [text.split(",", -1 if limit is None else limit) for text in TEXTS]
    assert [row[:n].tolist() for row, n in zip(parts, counts, strict=True)] == expected
    if limit is None:
        for ours, theirs in zip((parts, counts), by_the_standard("StringSplit", [TEXTS], 20, 2, **settings), strict=True):
            np.testing.assert_array_equal(ours, theirs)
    other_parts, other_counts = run_onnxruntime("StringSplit", [TEXTS], 20, outputs=2, **settings)
    assert counts[0] == 1 and other_counts[0] == 0
    np.testing.assert_array_equal(parts, other_parts)
    np.testing.assert_array_equal(counts[1:], other_counts[1:])


@pytest.mark.parametrize("delimiter", [{}, {"delimiter": ""}])
def test_splitting_an_empty_text_at_white_space(delimiter):
    """No parts: white space around a text is taken away, and nothing is left. For onnxruntime, only blanks are white."""
    texts = np.array(["", " ", "a b", "\t"], object)
    parts, counts = run("StringSplit", [texts], 20, outputs=2, **delimiter)
    assert counts.tolist() == [0, 0, 2, 0]
    assert parts.tolist() == [["", ""], ["", ""], ["a", "b"], ["", ""]]
    for ours, theirs in zip((parts, counts), by_the_standard("StringSplit", [texts], 20, 2, **delimiter), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    other_parts, other_counts = run_onnxruntime("StringSplit", [texts], 20, outputs=2, **delimiter)
    assert other_counts.tolist() == [0, 0, 2, 1]
    np.testing.assert_array_equal(parts[:3], other_parts[:3])


def test_splitting_nothing_but_an_empty_text():
    parts, counts = run("StringSplit", [np.array([""], object)], 20, outputs=2, delimiter=",")
    assert parts.tolist() == [[""]] and counts.tolist() == [1]
    parts, counts = run("StringSplit", [np.array([""], object)], 20, outputs=2)
    assert parts.shape == (1, 0) and counts.tolist() == [0]


def small(rng, dtype, *shape):
    """Numbers whose products no engine saturates: sums of two products fit into 16 bits."""
    low = -64 if dtype == np.int8 else 0
    return rng.integers(low, low + 128, shape).astype(dtype)


def convolved(x, w, pad):
    """Sums of products [1, out, h, w] as integers."""
    x = np.pad(x.astype(np.int64), [(0, 0), (0, 0), (pad, pad), (pad, pad)])
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], axis=(2, 3))
    return np.einsum("nchwij,ocij->nohw", windows, w.astype(np.int64))


@pytest.mark.parametrize("x_type", SIGNS)
@pytest.mark.parametrize("w_type", SIGNS)
@pytest.mark.parametrize("zero_points", [0, 1, 2])
def test_conv_integer_of_mixed_signs(x_type, w_type, zero_points):
    rng = np.random.default_rng(11)
    x, w = small(rng, x_type, 1, 2, 5, 5), small(rng, w_type, 3, 2, 3, 3)
    zeros = [small(rng, x_type), small(rng, w_type)][:zero_points]
    x_zero, w_zero = [*(int(z) for z in zeros), 0, 0][:2]
    # What is padded is the zero point, which stands for 0.
    expected = convolved(x.astype(np.int64) - x_zero, w.astype(np.int64) - w_zero, 1).astype(np.int32)
    inputs = [x, w, *zeros]
    check(run("ConvInteger", inputs, 10, pads=[1, 1, 1, 1]), expected)
    check(run("ConvInteger", inputs, 10, constants=(1,), pads=[1, 1, 1, 1]), expected)
    check(run_onnxruntime("ConvInteger", inputs, 10, pads=[1, 1, 1, 1]), expected)


@pytest.mark.parametrize("x_type", SIGNS)
@pytest.mark.parametrize("w_type", SIGNS)
def test_conv_integer_with_a_zero_point_for_every_channel(x_type, w_type):
    """The standard has them; onnxruntime does not."""
    rng = np.random.default_rng(12)
    x, w, zeros = small(rng, x_type, 1, 2, 5, 5), small(rng, w_type, 3, 2, 3, 3), small(rng, w_type, 3)
    expected = convolved(x, w.astype(np.int64) - zeros.astype(np.int64)[:, None, None, None], 0).astype(np.int32)
    inputs = [x, w, np.zeros((), x_type), zeros]
    check(run("ConvInteger", inputs, 10), expected)
    check(run("ConvInteger", inputs, 10, constants=(1, 3)), expected)
    with pytest.raises(Exception, match="(?i)zero.?point"):
        run_onnxruntime("ConvInteger", inputs, 10)


# Types of x, weights and result that onnxruntime has kernels for.
QLINEAR_KERNELS = {(np.uint8, np.uint8, np.uint8), (np.uint8, np.int8, np.uint8), (np.int8, np.int8, np.int8)}


@pytest.mark.parametrize("x_type", SIGNS)
@pytest.mark.parametrize("w_type", SIGNS)
@pytest.mark.parametrize("y_type", SIGNS)
@pytest.mark.parametrize("constants", [(), (3, 4, 5)])
def test_qlinear_conv_of_mixed_signs(x_type, w_type, y_type, constants):
    """Every mixture of signs that the standard allows. onnxruntime has three of them."""
    rng = np.random.default_rng(13)
    x, w = small(rng, x_type, 1, 2, 5, 5), small(rng, w_type, 3, 2, 3, 3)
    x_zero, w_zero, y_zero = small(rng, x_type), small(rng, w_type), small(rng, y_type)
    x_scale, w_scale, y_scale = np.array(0.02, np.float32), np.array(0.03, np.float32), np.array(0.5, np.float32)
    bias = rng.integers(-100, 100, 3).astype(np.int32)
    sums = convolved(x.astype(np.int64) - int(x_zero), w.astype(np.int64) - int(w_zero), 1) + bias[:, None, None]
    steps = sums * (np.float64(x_scale) * np.float64(w_scale) / np.float64(y_scale))
    assert np.abs(steps - np.floor(steps) - 0.5).min() > 1e-4  # no result is between two by half
    limits = np.iinfo(y_type)
    expected = np.clip(np.rint(steps) + int(y_zero), limits.min, limits.max).astype(y_type)
    assert len(np.unique(expected)) > 10
    inputs = [x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias]
    check(run("QLinearConv", inputs, 10, constants=constants, pads=[1, 1, 1, 1]), expected)
    if (x_type, w_type, y_type) in QLINEAR_KERNELS:
        check(run_onnxruntime("QLinearConv", inputs, 10, constants=constants, pads=[1, 1, 1, 1]), expected)
    else:
        with pytest.raises(Exception, match="Could not find an implementation"):
            run_onnxruntime("QLinearConv", inputs, 10, constants=constants, pads=[1, 1, 1, 1])
