"""Cases whose outputs are random: checked by their properties and, on a longer input, by their statistics."""

import re

import numpy as np
import onnx

RANDOM_CASES = re.compile(r"test_bernoulli.*|test_training_dropout(_default)?(_mask)?")
REPEATS = 400
SIGMAS = 6.0  # a correct generator leaves this range once in 5e8 runs


def is_random(case):
    return case.suite == "node" and RANDOM_CASES.fullmatch(case.name) is not None


def check_random(case, prepare):
    """None when the outputs have the distribution the operator defines, else what is wrong."""
    feeds, expected = case.data_sets[0]
    actual = prepare(case.model)(feeds)
    for wanted, got in zip(expected, actual, strict=True):
        if got.shape != wanted.shape or got.dtype != wanted.dtype:
            return f"{got.dtype}{list(got.shape)} instead of {wanted.dtype}{list(wanted.shape)}"
    check = check_function(case.name)
    text = check(list(feeds.values()), actual)
    if text:
        return text
    name, value = next(iter(feeds.items()))
    longer = {**feeds, name: np.concatenate([value] * REPEATS)}
    return check(list(longer.values()), prepare(without_static_shapes(case.model))(longer))


def check_function(name):
    if "dropout" in name:
        return check_dropout
    # onnx's function body draws `uniform > p`: its ones have probability 1 - p, unlike the operator's.
    return check_complement if name.endswith("_expanded") else check_bernoulli


def without_static_shapes(model_bytes):
    """The same model for inputs of any length."""
    model = onnx.load_from_string(model_bytes)
    for value in [*model.graph.input, *model.graph.output]:
        for dim in value.type.tensor_type.shape.dim[:1]:
            dim.dim_param = "length"
    return model.SerializeToString()


def check_bernoulli(inputs, outputs):
    probability, drawn = inputs[0].astype(np.float64), outputs[0]
    if not np.isin(drawn, (0, 1)).all():
        return "values other than 0 and 1"
    return check_count("ones", np.count_nonzero(drawn), probability)


def check_complement(inputs, outputs):
    return check_bernoulli([1.0 - inputs[0]], outputs)


def check_dropout(inputs, outputs):
    x, ratio = inputs[0], float(inputs[1])
    y = outputs[0]
    kept = outputs[1] if len(outputs) > 1 else y != 0
    expected = np.where(kept, x / np.float32(1.0 - ratio), np.float32(0))
    if not np.allclose(y, expected, rtol=1e-6, atol=0):
        return "values other than 0 and x / (1 - ratio), or a mask that says otherwise"
    return check_count("kept values", np.count_nonzero(kept), np.full(x.shape, 1.0 - ratio))


def check_count(what, count, probability):
    mean, deviation = probability.sum(), np.sqrt((probability * (1.0 - probability)).sum())
    if abs(count - mean) > SIGMAS * deviation + 1:
        return f"{count} {what} where {mean:.1f} are expected (standard deviation {deviation:.1f})"
    return None
