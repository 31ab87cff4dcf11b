"""Every test runs in several combinations of tests/matrix. Tests of com.microsoft ops also run twice in each: as written,
and with models that do not say how many axes their inputs have."""

import onnx
import pytest
import tenon
from matrix.choice import chosen_combination, places
from matrix.run import MatrixSession


def without_input_shapes(model):
    model = onnx.load_from_string(model)
    for value in model.graph.input:
        if value.type.HasField("tensor_type"):
            value.type.tensor_type.ClearField("shape")
    return model.SerializeToString()


# Fixtures that no test names are only set up when they are automatic.
@pytest.fixture(autouse=True)
def input_shapes(request, monkeypatch, combination):
    shapes = getattr(request, "param", "declared")
    if shapes == "open":
        declared = tenon.InferenceSession

        def session(model, *settings, **named):
            return declared(without_input_shapes(model) if isinstance(model, bytes) else model, *settings, **named)

        monkeypatch.setattr(tenon, "InferenceSession", session)
    return shapes


@pytest.fixture(autouse=True)
def combination(request, monkeypatch):
    """Sessions of models in memory without settings of their own run in this combination."""
    chosen = chosen_combination(request.param, f"{request.path.stem}::{request.node.name}")
    plain = tenon.InferenceSession

    def session(model, *settings, **named):
        opened = plain(model, *settings, **named)
        return MatrixSession(opened, model, chosen) if isinstance(model, bytes) and not settings and not named else opened

    monkeypatch.setattr(tenon, "InferenceSession", session)
    return chosen


def pytest_generate_tests(metafunc):
    metafunc.parametrize("combination", places(), indirect=True)
    if metafunc.module.__name__.startswith("test_microsoft_"):
        metafunc.parametrize("input_shapes", ["declared", "open"], indirect=True)
