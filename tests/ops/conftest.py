"""Tests of com.microsoft ops run twice: as written, and with models that do not say how many axes their inputs have."""

import onnx
import pytest
import tenon


def without_input_shapes(model):
    model = onnx.load_from_string(model)
    for value in model.graph.input:
        if value.type.HasField("tensor_type"):
            value.type.tensor_type.ClearField("shape")
    return model.SerializeToString()


@pytest.fixture
def input_shapes(request, monkeypatch):
    if request.param == "open":
        declared = tenon.InferenceSession

        def session(model, *settings, **named):
            return declared(without_input_shapes(model) if isinstance(model, bytes) else model, *settings, **named)

        monkeypatch.setattr(tenon, "InferenceSession", session)
    return request.param


def pytest_generate_tests(metafunc):
    if metafunc.module.__name__.startswith("test_microsoft_"):
        metafunc.fixturenames.append("input_shapes")
        metafunc.parametrize("input_shapes", ["declared", "open"], indirect=True)
