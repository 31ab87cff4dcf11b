"""Models that carry their inputs, so that a fuzzer changes both."""

import numpy as np
import onnx
from onnx import numpy_helper

MOST_ELEMENTS = 128


def with_inputs(model, feeds, constant):
    """The model with small inputs as initializers: constants, or defaults that only a run sees."""
    model.ir_version = max(model.ir_version, 4)
    for value in list(model.graph.input):
        array = feeds.get(value.name)
        if not isinstance(array, np.ndarray) or array.size > MOST_ELEMENTS:
            continue
        try:
            tensor = numpy_helper.from_array(array, value.name)
        except (TypeError, ValueError, NotImplementedError):
            continue  # an element type that numpy knows and ONNX does not
        model.graph.initializer.append(tensor)
        if constant:
            model.graph.input.remove(value)
    return model


def without_shapes(model):
    """The model with every shape unknown, so that the checks of a run are all there is."""
    for value in [*model.graph.input, *model.graph.output, *model.graph.value_info]:
        if value.type.HasField("tensor_type"):
            value.type.tensor_type.ClearField("shape")
    return model
