"""RNN, GRU and LSTM against onnxruntime and against each other in both layouts."""

import numpy as np
import pytest
from nn_models import FLOATS, assert_close, compare, random, refuses, run

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
OUTPUTS = {"RNN": 2, "GRU": 2, "LSTM": 3}


def feeds_for(op_type, directions=1, steps=5, batch=3, inputs=4, hidden=2, dtype=np.float32, lengths=None, state=True):
    rows = GATES[op_type] * hidden
    feeds = {
        "x": random(steps, batch, inputs, dtype=dtype),
        "w": random(directions, rows, inputs, dtype=dtype, seed=1),
        "r": random(directions, rows, hidden, dtype=dtype, seed=2),
        "b": random(directions, 2 * rows, dtype=dtype, seed=3),
        "lengths": None if lengths is None else np.array(lengths, np.int32),
        "h": random(directions, batch, hidden, dtype=dtype, seed=4) if state else None,
    }
    if op_type == "LSTM":
        feeds["c"] = random(directions, batch, hidden, dtype=dtype, seed=5) if state else None
        feeds["p"] = random(directions, 3 * hidden, dtype=dtype, seed=6)
    return feeds


@pytest.mark.parametrize("op_type", GATES)
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("lengths", [None, [5, 2, 3], [5, 0, 3]])
@pytest.mark.parametrize("state", [False, True])
def test_directions_lengths_and_states(op_type, direction, lengths, state):
    feeds = feeds_for(op_type, 1 + (direction == "bidirectional"), lengths=lengths, state=state)
    compare(op_type, feeds, OUTPUTS[op_type], opset=14, direction=direction, hidden_size=2)


@pytest.mark.parametrize("opset", [7, 14, 22])
@pytest.mark.parametrize("op_type", GATES)
def test_each_version(op_type, opset):
    compare(op_type, feeds_for(op_type), OUTPUTS[op_type], opset=opset, hidden_size=2)


@pytest.mark.parametrize("opset", [1, 3])
@pytest.mark.parametrize("op_type", GATES)
def test_first_versions(op_type, opset):
    feeds = feeds_for(op_type)
    old = run(op_type, feeds, OUTPUTS[op_type], opset=opset, output_sequence=1)
    for a, b in zip(old, run(op_type, feeds, OUTPUTS[op_type], opset=7), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("linear_before_reset", [0, 1])
def test_gru_resets_before_or_after_the_product(linear_before_reset):
    compare("GRU", feeds_for("GRU"), 2, opset=14, linear_before_reset=linear_before_reset, hidden_size=2)


def test_lstm_couples_its_gates():
    compare("LSTM", feeds_for("LSTM"), 3, opset=14, input_forget=1, hidden_size=2)


@pytest.mark.parametrize("op_type", GATES)
def test_clip_bounds_what_enters_an_activation(op_type):
    feeds = feeds_for(op_type)
    feeds["x"] *= 4
    compare(op_type, feeds, OUTPUTS[op_type], opset=14, clip=0.4, hidden_size=2)


@pytest.mark.parametrize("op_type", GATES)
def test_clip_of_zero_is_no_clip(op_type):
    feeds = feeds_for(op_type)
    feeds["x"] *= 4
    plain = run(op_type, feeds, OUTPUTS[op_type], opset=14, hidden_size=2)
    for clip in (0.0, -0.0):
        for a, b in zip(run(op_type, feeds, OUTPUTS[op_type], opset=14, clip=clip, hidden_size=2), plain, strict=True):
            np.testing.assert_array_equal(a, b)
    assert any(np.abs(array).max() > 0 for array in plain)


ACTIVATIONS = [
    ("Relu", [], []), ("Tanh", [], []), ("Sigmoid", [], []), ("Affine", [0.5], [0.1]), ("LeakyRelu", [0.2], []),
    ("ThresholdedRelu", [0.1], []), ("ScaledTanh", [0.7], [0.9]), ("HardSigmoid", [0.3], [0.4]), ("Elu", [0.8], []),
    ("Softsign", [], []), ("Softplus", [], []),
]  # fmt: skip


@pytest.mark.parametrize(("name", "alpha", "beta"), ACTIVATIONS)
def test_every_activation(name, alpha, beta):
    attributes = {"activations": [name]}
    attributes |= {"activation_alpha": alpha} if alpha else {}
    attributes |= {"activation_beta": beta} if beta else {}
    compare("RNN", feeds_for("RNN"), 2, opset=14, hidden_size=2, **attributes)


@pytest.mark.parametrize("name", ["LeakyRelu", "HardSigmoid", "Elu"])
def test_default_constants_of_activations(name):
    compare("RNN", feeds_for("RNN"), 2, opset=14, hidden_size=2, activations=[name])


def test_thresholded_relu_has_the_default_of_the_operator():
    feeds = feeds_for("RNN")
    given = run("RNN", feeds, 2, opset=14, activations=["ThresholdedRelu"], activation_alpha=[1.0])
    for a, b in zip(run("RNN", feeds, 2, opset=14, activations=["ThresholdedRelu"]), given, strict=True):
        np.testing.assert_array_equal(a, b)


def test_constants_go_to_the_activations_that_take_them():
    names = ["HardSigmoid", "LeakyRelu", "Tanh", "Sigmoid", "Affine", "Elu"]
    constants = {"activation_alpha": [0.3, 0.1, 0.6, 0.7], "activation_beta": [0.4, 0.2]}
    attributes = {"direction": "bidirectional", "hidden_size": 2, "activations": names, **constants}
    compare("LSTM", feeds_for("LSTM", 2), 3, opset=14, **attributes)


def batch_first(feeds):
    return {n: v.swapaxes(0, 1).copy() if n in "xhc" and v is not None else v for n, v in feeds.items()}


@pytest.mark.parametrize("op_type", GATES)
@pytest.mark.parametrize("direction", ["forward", "bidirectional"])
def test_batch_first_layout(op_type, direction):
    feeds = feeds_for(op_type, 1 + (direction == "bidirectional"), lengths=[5, 2, 3])
    y, *states = run(op_type, feeds, OUTPUTS[op_type], opset=14, direction=direction)
    y1, *states1 = run(op_type, batch_first(feeds), OUTPUTS[op_type], opset=14, direction=direction, layout=1)
    np.testing.assert_array_equal(y1, y.transpose(2, 0, 1, 3))
    for a, b in zip(states1, states, strict=True):
        np.testing.assert_array_equal(a, b.swapaxes(0, 1))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("op_type", GATES)
def test_every_float_type(op_type, dtype):
    feeds = feeds_for(op_type, dtype=dtype)
    wide = {n: v if v is None else v.astype(np.float64) for n, v in feeds.items()}
    results = run(op_type, feeds, OUTPUTS[op_type], opset=22)
    for a, b in zip(results, run(op_type, wide, OUTPUTS[op_type], opset=22), strict=True):
        assert_close(a, b.astype(dtype))


def test_outputs_may_be_left_out():
    feeds = feeds_for("LSTM")
    all_three = run("LSTM", feeds, 3, opset=14)
    np.testing.assert_array_equal(run("LSTM", feeds, ["", "", "last"], opset=14)[0], all_three[2])


@pytest.mark.parametrize("op_type", GATES)
def test_wrong_attributes_and_shapes_are_refused(op_type):
    feeds = feeds_for(op_type)

    def refused(message, changed=None, **attributes):
        refuses(message, op_type, feeds | (changed or {}), OUTPUTS[op_type], opset=14, **attributes)

    refused("'activations' has 5 entries", activations=["Tanh"] * 5)
    refused("activation 'gelu'", activations=["Gelu"] * {"RNN": 1, "GRU": 2, "LSTM": 3}[op_type])
    refused("alpha", activation_alpha=[0.1] * 9)
    refused("direction is 'up'", direction="up")
    refused("hidden_size is 3", hidden_size=3)
    refused("layout is 2", layout=2)
    refused("clip is -1", clip=-1.0)
    refused("W must have the shape", {"w": random(2, GATES[op_type] * 2, 4)})
    refused("W must have the shape", direction="bidirectional")
    refused("B must have the shape", {"b": random(1, 5)})
    refused("initial_h must have the shape", {"h": random(1, 2, 2)})
    refused(r"sequence_lens\[1\] is 6", {"lengths": np.array([5, 6, 1], np.int32)})
    refused(r"sequence_lens\[2\] is -1", {"lengths": np.array([5, 5, -1], np.int32)})
