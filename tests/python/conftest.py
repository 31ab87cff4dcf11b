import warnings

import onnxruntime
import pytest

import tenon

onnxruntime.set_default_logger_severity(4)


@pytest.fixture(params=[tenon, onnxruntime], ids=lambda module: module.__name__)
def ort(request):
    """The module under test: what a script does with onnxruntime it does with tenon."""
    return request.param


@pytest.fixture
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield
