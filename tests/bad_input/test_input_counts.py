"""Every op takes as many inputs as its schema says: all of them, and not one more."""

import re

import onnx
import pytest
import tenon
from bad_input.refusals import model_of
from onnx import defs, helper
from onnxruntime.capi import onnxruntime_pybind11_state as onnxruntime

TOO_MANY = re.compile(r"takes at most \d+ inputs")
# Ops that read sub-graphs or the contents of constants before anything else; those have tests of their own.
OTHERS = {"If", "Loop", "Scan", "SequenceMap", "Gradient", "FlexAttention"}
SAMPLES = {"INT": 1, "FLOAT": 1.0, "STRING": "a", "INTS": [1], "FLOATS": [1.0], "STRINGS": ["a"]}


def schemas():
    for schema in sorted(defs.get_all_schemas_with_history(), key=lambda s: (s.domain, s.name, s.since_version)):
        if schema.name not in OTHERS and not schema.deprecated and schema.max_input < 1000:
            types = [sorted(formal.types) for formal in schema.inputs]
            yield pytest.param(schema, types, id=f"{schema.domain}-{schema.name}-{schema.since_version}")
    for schema in sorted(onnxruntime.get_all_operator_schema(), key=lambda s: s.name):
        if schema.domain == "com.microsoft" and schema.max_input < 1000:
            types = [sorted(formal.types) for formal in schema.inputs]
            yield pytest.param(schema, types, id=f"{schema.domain}-{schema.name}")


def value_info(name, types):
    """An input of the type that is first among float and the others."""
    chosen = "tensor(float)" if "tensor(float)" in types else next(iter(types), "")
    match = re.fullmatch(r"tensor\((\w+)\)", chosen)
    if not match:
        return onnx.ValueInfoProto(name=name)
    number = onnx.TensorProto.DataType.Value(match[1].upper())
    return helper.make_tensor_value_info(name, number, None)


def refusal(schema, types, count):
    """The message that refuses a node with this many inputs, or nothing."""
    names = [f"in{i}" for i in range(count)]
    infos = [value_info(name, types[min(i, len(types) - 1)] if types else []) for i, name in enumerate(names)]
    attributes = {}
    for name, attribute in schema.attributes.items():
        kind = str(attribute.type).split(".")[-1]
        if attribute.required and kind in SAMPLES:
            attributes[name] = SAMPLES[kind]
    node = helper.make_node(schema.name, names, ["out"], name="node", domain=schema.domain, **attributes)
    version = 21 if schema.domain else schema.since_version
    opsets = [(schema.domain, schema.since_version)] if schema.domain else []
    model = model_of([node], infos, ["out"], (), version, opsets=opsets)
    try:
        tenon.Model.load(model.SerializeToString()).describe("plan")
    except tenon.Error as error:
        return str(error)
    return ""


@pytest.mark.parametrize(("schema", "types"), list(schemas()))
def test_inputs_of(schema, types):
    assert not TOO_MANY.search(refusal(schema, types, schema.max_input))
    assert refusal(schema, types, schema.max_input + 1)
    # Without inputs it needs, an op is refused, or read as engines do that let them go; nothing else happens.
    for count in range(schema.min_input):
        assert "internal" not in refusal(schema, types, count)
