"""Models with one wrong node, called "culprit", and the check that they are refused by name."""

import re

import numpy as np
import onnx
import pytest
import tenon
from onnx import helper

MEMORY_LIMIT = 64 << 20
PROVIDERS = ("cpu", "reference")


def ints(*values):
    return np.array(values, np.int64)


def floats(*shape):
    """0, 1, 2, ... in this shape."""
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


def model_of(nodes, inputs=(), outputs=(), weights=(), version=21, functions=(), opsets=()):
    """A model from nodes; inputs: value infos; outputs: names; weights: name to array."""
    graph = helper.make_graph(
        nodes,
        "g",
        inputs,
        [helper.make_empty_tensor_value_info(name) for name in outputs],
        [onnx.numpy_helper.from_array(array, name) for name, array in dict(weights).items()],
    )
    imports = [helper.make_opsetid("", version), *(helper.make_opsetid(*opset) for opset in opsets)]
    return helper.make_model(graph, opset_imports=imports, ir_version=10, functions=functions)


def node_model(op_type, inputs, version=21, outputs=1, domain="", constant=True, **attributes):
    """One node called "culprit" over arrays (None: absent). constant: True makes them weights, False feeds them, "others"
    feeds the first alone. Nothing is declared of what is fed but its type."""
    names = ["" if array is None else f"in{i}" for i, array in enumerate(inputs)]
    results = [f"out{i}" for i in range(outputs)]
    node = helper.make_node(op_type, names, results, name="culprit", domain=domain, **attributes)
    arrays = {name: array for name, array in zip(names, inputs, strict=True) if name}
    declared = [
        helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(array.dtype) if array.dtype != object else 8, None
        )
        for name, array in arrays.items()
    ]
    opsets = [(domain, 5 if domain == "ai.onnx.ml" else 1)] if domain else []
    fed = {True: 0, False: len(arrays), "others": 1}[constant]
    feeds, weights = dict(list(arrays.items())[:fed]), dict(list(arrays.items())[fed:])
    return model_of([node], declared[:fed], results, weights, version, opsets=opsets), feeds


def session(model, **entries):
    """A session with little memory; entries are options of Tenon's own."""
    options = tenon.SessionOptions()
    for key, value in {"memory_limit": MEMORY_LIMIT, **entries}.items():
        options.add_session_config_entry(f"tenon.{key}", str(value))
    data = model if isinstance(model, (bytes, str)) else model.SerializeToString()
    return tenon.InferenceSession(data, options)


def run(model, feeds=None, **entries):
    return session(model, **entries).run(None, feeds or {})


def refused(model, feeds=None, says="", place="culprit", code=None, providers=PROVIDERS, **entries):
    """The model is refused when it is loaded or run, by each provider for the same reason, with a message that names the
    place and the reason."""
    codes = {}
    for provider in providers:
        with pytest.raises(tenon.Error) as caught:
            run(model, feeds, provider=provider, **entries)
        message = str(caught.value)
        codes[provider] = caught.value.code
        assert caught.value.code != "internal", message
        assert place in message, f"{message!r} does not name {place!r}"
        assert re.search(says, message), f"{message!r} does not say {says!r}"
        assert code is None or caught.value.code == code, f"{caught.value.code}: {message}"
    assert len(set(codes.values())) == 1, codes
    return message


def node_refused(op_type, inputs, says="", version=21, outputs=1, domain="", **attributes):
    """Refused with weights, where the compiler sees the contents, with fed inputs, where only the run does, and with one
    of each, where targets pack the weights."""
    for constant in (True, False, "others"):
        model, feeds = node_model(op_type, inputs, version, outputs, domain, constant, **attributes)
        refused(model, feeds, says)
