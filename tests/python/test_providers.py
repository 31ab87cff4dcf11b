"""Providers: names, warnings, what a session falls back to."""

import pytest
from python.models import add

import tenon

CPU = "CPUExecutionProvider"


@pytest.mark.parametrize("providers", [None, [], [CPU], (CPU,), [(CPU, {})], [(CPU, {"arena_extend_strategy": "x"})]])
def test_the_cpu(ort, providers, no_warnings):
    session = ort.InferenceSession(add(), providers=providers)
    assert session.get_providers() == [CPU]
    assert session.get_provider_options() == {CPU: {}}


def test_options_beside_names(ort, no_warnings):
    session = ort.InferenceSession(add(), None, [CPU], [{}])
    assert session.get_providers() == [CPU]


@pytest.mark.parametrize("providers", [
    ["CUDAExecutionProvider", CPU], ["CUDAExecutionProvider"],
    [("CUDAExecutionProvider", {"device_id": 0}), CPU], ["TensorrtExecutionProvider", "CUDAExecutionProvider", CPU],
])
def test_providers_that_are_not_available(ort, providers):
    with pytest.warns(UserWarning, match="is not in available provider names"):
        session = ort.InferenceSession(add(), providers=providers)
    assert session.get_providers() == [CPU]


@pytest.mark.parametrize("providers, options, message", [
    (["NoSuchProvider"], None, "Unknown Provider Type: NoSuchProvider"),
    ([3], None, "either strings or"),
    ([CPU], [{}, {}], "same length"),
    ([(CPU, {})], [{}], "Only string values"),
    ([CPU], [3], "must be dicts"),
])
@pytest.mark.filterwarnings("ignore")
def test_nonsense(ort, providers, options, message):
    session = ort.InferenceSession(add(), providers=providers, provider_options=options)
    assert session.get_providers() == [CPU]
    with pytest.raises((ValueError, RuntimeError), match=message):
        ort.InferenceSession(add(), providers=providers, provider_options=options, enable_fallback=0)


def test_nonsense_is_warned_about():
    with pytest.warns(UserWarning, match="should be a sequence"):
        tenon.InferenceSession(add(), providers=3)
    with pytest.warns(UserWarning) as caught:
        tenon.InferenceSession(add(), providers=["NoSuchProvider"])
    assert "Falling back" in str(caught[-1].message) and "NoSuchProvider" in str(caught[-1].message)
    with pytest.warns(UserWarning, match="Duplicate provider"):
        tenon.InferenceSession(add(), providers=[CPU, CPU])


def test_changing_providers(ort, no_warnings):
    session = ort.InferenceSession(add())
    session.set_providers([CPU])
    session.set_providers()
    assert session.get_providers() == [CPU]
    session.disable_fallback()
    session.enable_fallback()
    with pytest.raises(ValueError):
        session.set_providers([3])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("providers", [["NoSuchProvider"], ["NoSuchProvider", CPU], [("NoSuchProvider", {})]])
def test_changing_to_a_provider_that_nobody_knows(ort, providers):
    session = ort.InferenceSession(add())
    with pytest.raises(RuntimeError, match="Unknown Provider Type: NoSuchProvider"):
        session.set_providers(providers)
    with pytest.raises(RuntimeError, match="Unknown Provider Type: NoSuchProvider"):
        ort.InferenceSession(add(), providers=providers, enable_fallback=0)


@pytest.mark.parametrize("providers", [["CUDAExecutionProvider"], ["CUDAExecutionProvider", CPU]])
def test_changing_to_a_provider_that_is_not_available(ort, providers):
    session = ort.InferenceSession(add())
    with pytest.warns(UserWarning, match="is not in available provider names"):
        session.set_providers(providers)
    assert session.get_providers() == [CPU]


def test_providers_of_options(ort):
    options = ort.SessionOptions()
    assert not options.has_providers()
    options.add_provider(CPU, {})
    assert options.has_providers()
    assert ort.InferenceSession(add(), options).get_providers() == [CPU]
    with pytest.raises(RuntimeError, match="Unknown Provider Type: No"):
        ort.SessionOptions().add_provider("No", {})
    options = ort.SessionOptions()
    options.add_provider_for_devices(ort.get_ep_devices()[:1], {})
    assert options.has_providers()


def test_lists_of_names(ort):
    assert CPU in ort.get_available_providers() and CPU in ort.get_all_providers()
    assert set(ort.get_available_providers()) <= set(ort.get_all_providers())
    assert ort.get_device() == "CPU"


def test_the_same_names_are_known():
    import onnxruntime

    assert set(onnxruntime.get_all_providers()) <= set(tenon.get_all_providers())
