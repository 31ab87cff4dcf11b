"""Every test runs in several combinations of tests/matrix. Tests of com.microsoft ops also run twice in each: as written,
and with models that do not say how many axes their inputs have."""

import re

import onnx
import pytest
import tenon
from matrix.choice import chosen_combination, places
from matrix.run import MatrixSession


# Refusals that need declared shapes: test -> what happens without them, and which of its cases when it is not all.
INSIDE = "a node inside the op refuses, in its own words"
NEED_SHAPES = {
    "test_attention_refuses_what_does_not_fit": (INSIDE, None),
    "test_multi_head_attention_refuses_what_does_not_fit": (INSIDE, None),
    "test_gather_refuses": (f"blocks along another axis are not noticed; else {INSIDE}", range(3, 8)),
    "test_matmul_refuses": (f"a g_idx of the wrong length is not noticed; else {INSIDE}", (5, 6, 7, 9, 11, 12)),
    "test_nhwc_conv_refuses_what_is_no_image": (INSIDE, None),
    "test_dynamic_quantize_lstm_refuses": ("scales of the wrong shape are not noticed when they broadcast", None),
    "test_q_gemm_refuses": ("scales of the wrong shape are not noticed when they broadcast", None),
}


def needs_shapes(item):
    name = getattr(item, "originalname", None)
    if name not in NEED_SHAPES or item.callspec.params.get("input_shapes") != "open":
        return False
    cases = NEED_SHAPES[name][1]
    return cases is None or int(re.search(r"-changes(\d+)", item.name)[1]) in cases


def pytest_collection_modifyitems(items):
    for item in filter(needs_shapes, items):
        item.add_marker(pytest.mark.xfail(reason=f"needs declared shapes: {NEED_SHAPES[item.originalname][0]}"))


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
