"""Booleans are 0 or 1 wherever they come from: a mask of 0 and 255 that is viewed as booleans, or a file with such
bytes, means what it means in NumPy."""

import json

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import tenon

BOOL, FLOAT, INT32, INT64, UINT8 = (TensorProto.BOOL, TensorProto.FLOAT, TensorProto.INT32, TensorProto.INT64,
                                    TensorProto.UINT8)
BYTES = np.array([0, 1, 127, 255, 2, 0, 128, 1, 254, 0], np.uint8)
MASK = BYTES.view(np.bool_)
TRUTH = BYTES != 0
PROVIDERS = ["cpu", "reference"]


def info(name, element, shape):
    return helper.make_tensor_value_info(name, element, shape)


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), name=op, **attributes)


def model(nodes, inputs, outputs, initializers=()):
    graph = helper.make_graph(nodes, "booleans", inputs, outputs, initializer=list(initializers))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def constant(name, array):
    return onnx.numpy_helper.from_array(np.asarray(array), name)


N = len(BYTES)
A = np.arange(N, dtype=np.float32)
# op: (nodes, output type, output shape, expected bytes)
USES = {
    "Not": ([node("Not", "m", "y")], BOOL, [N], ~TRUTH),
    "Identity": ([node("Identity", "m", "y")], BOOL, [N], TRUTH),
    "And": ([node("And", "m yes", "y")], BOOL, [N], TRUTH),
    "Xor": ([node("Xor", "m yes", "y")], BOOL, [N], ~TRUTH),
    "Equal": ([node("Equal", "m yes", "y")], BOOL, [N], TRUTH),
    "Cast to int": ([node("Cast", "m", "y", to=INT32)], INT32, [N], TRUTH.astype(np.int32)),
    "Cast to uint8": ([node("Cast", "m", "y", to=UINT8)], UINT8, [N], TRUTH.astype(np.uint8)),
    "Where": ([node("Where", "m a zero", "y")], FLOAT, [N], np.where(TRUTH, A, np.float32(0))),
    "NonZero": ([node("NonZero", "m", "y")], INT64, [1, None], np.flatnonzero(TRUTH)[None].astype(np.int64)),
    "Compress": ([node("Compress", "a m", "y", axis=0)], FLOAT, [None], A[TRUTH]),
}
CONSTANTS = [constant("yes", True), constant("a", A), constant("zero", np.float32(0))]


def use(name, initializers=(), inputs=()):
    nodes, element, shape, expected = USES[name]
    read = {i for n in nodes for i in n.input}
    constants = [c for c in CONSTANTS if c.name in read]
    return model(nodes, list(inputs), [info("y", element, shape)], [*constants, *initializers]), expected


def options_for(provider):
    options = tenon.SessionOptions()
    options.add_session_config_entry("tenon.provider", provider)
    return options


def check(session, feeds, expected):
    (y,) = session.run(None, feeds)
    assert y.dtype == expected.dtype and y.shape == expected.shape
    assert y.tobytes() == expected.tobytes()


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("name", USES)
class TestInputs:
    def test_arrays(self, name, provider):
        made, expected = use(name, inputs=[info("m", BOOL, [N])])
        mask = BYTES.copy().view(np.bool_)
        check(tenon.compile(made.SerializeToString(), provider=provider).session(), {"m": mask}, expected)
        assert mask.view(np.uint8).tolist() == BYTES.tolist(), "the caller's memory stays as it is"

    def test_bound_buffers(self, name, provider):
        made, expected = use(name, inputs=[info("m", BOOL, [N])])
        session = tenon.InferenceSession(made.SerializeToString(), options_for(provider))
        binding = session.io_binding()
        mask = np.zeros(N, np.bool_)
        binding.bind_cpu_input("m", mask)
        binding.bind_output("y")
        mask.view(np.uint8)[:] = BYTES  # after it was bound
        session.run_with_iobinding(binding)
        (y,) = binding.copy_outputs_to_cpu()
        assert y.tobytes() == expected.tobytes()


@pytest.mark.parametrize("provider", PROVIDERS)
def test_sequences(provider):
    inside = helper.make_tensor_type_proto(BOOL, [N])
    made = model([node("SequenceAt", "s i", "m"), node("Not", "m", "y")],
                 [helper.make_value_info("s", helper.make_sequence_type_proto(inside)), info("i", INT64, [])],
                 [info("y", BOOL, [N])])
    session = tenon.compile(made.SerializeToString(), provider=provider).session()
    check(session, {"s": [TRUTH, MASK], "i": np.array(1)}, ~TRUTH)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("byte", [0, 1, 2, 127, 128, 255])
class TestConditions:
    def condition(self, byte):
        return np.array(byte, np.uint8).view(np.bool_)

    def branch(self, value):
        return helper.make_graph([node("Constant", "", "r", value=constant("", np.float32(value)))], "b", [],
                                 [info("r", FLOAT, [])])

    def test_if(self, byte, provider):
        made = model([node("If", "c", "y", then_branch=self.branch(1), else_branch=self.branch(2))],
                     [info("c", BOOL, [])], [info("y", FLOAT, [])])
        session = tenon.compile(made.SerializeToString(), provider=provider).session()
        check(session, {"c": self.condition(byte)}, np.array(1 if byte else 2, np.float32))

    def test_loop(self, byte, provider):
        body = helper.make_graph(
            [node("Identity", "go", "on"), helper.make_node("Add", ["v", "v"], ["w"])], "b",
            [info("i", INT64, []), info("go", BOOL, []), info("v", FLOAT, [])],
            [info("on", BOOL, []), info("w", FLOAT, [])])
        made = model([node("Loop", "n c x", "y", body=body)], [info("c", BOOL, []), info("x", FLOAT, [])],
                     [info("y", FLOAT, [])], [constant("n", np.int64(3))])
        session = tenon.compile(made.SerializeToString(), provider=provider).session()
        feeds = {"c": self.condition(byte), "x": np.float32(1)}
        check(session, feeds, np.array(8 if byte else 1, np.float32))


def raw(name="m", data=BYTES):
    return helper.make_tensor(name, BOOL, [N], data.tobytes(), raw=True)


def typed(name="m"):
    tensor = TensorProto(name=name, data_type=BOOL, dims=[N])
    tensor.int32_data.extend([0, 1, 127, 255, 2, 0, 128, 256, -1, 0])
    return tensor


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("make", [raw, typed], ids=["raw", "int32_data"])
@pytest.mark.parametrize("name", USES)
def test_initializers(name, make, provider, tmp_path):
    made, expected = use(name, [make()])
    artifact = tenon.compile(made.SerializeToString(), provider=provider)
    check(artifact.session(), {}, expected)
    check(tenon.Artifact.load(artifact.save(tmp_path)[0]).session(), {}, expected)


@pytest.mark.parametrize("provider", PROVIDERS)
class TestNewWeights:
    def session(self, provider):
        made, expected = use("Xor", [raw(data=np.zeros(N, np.uint8))])
        return tenon.compile(made.SerializeToString(), provider=provider).session(), expected

    def test_arrays(self, provider):
        session, expected = self.session(provider)
        session.set_weights({"m": MASK}, partial=True)
        check(session, {}, expected)

    def test_given_at_the_start(self, provider):
        made, expected = use("Xor", [raw(data=np.zeros(N, np.uint8))])
        options = options_for(provider)
        options.add_initializer("m", tenon.OrtValue.ortvalue_from_numpy(MASK))
        check(tenon.InferenceSession(made.SerializeToString(), options), {}, expected)

    def test_npz(self, provider, tmp_path):
        session, expected = self.session(provider)
        np.savez(tmp_path / "w.npz", m=MASK)
        session.set_weights(tmp_path / "w.npz", partial=True)
        check(session, {}, expected)

    def test_safetensors(self, provider, tmp_path):
        session, expected = self.session(provider)
        header = json.dumps({"m": {"dtype": "BOOL", "shape": [N], "data_offsets": [0, N]}}).encode()
        (tmp_path / "w.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + BYTES.tobytes())
        session.set_weights(tmp_path / "w.safetensors", partial=True)
        check(session, {}, expected)

    def test_external_data(self, provider, tmp_path):
        made, expected = use("Xor", [raw()])
        onnx.save(made, tmp_path / "m.onnx", save_as_external_data=True, location="m.data", size_threshold=0)
        session, _ = self.session(provider)
        session.set_weights(tmp_path / "m.onnx", partial=True)
        check(session, {}, expected)

    def test_sources_that_are_read_again_from_their_file(self, provider, tmp_path):
        """A model that refers to the file of its weights finds a mask there that is not 0 and 1."""
        nodes = [node("Xor", "m k", "x"), node("Not", "x", "y")]
        made = model(nodes, [], [info("y", BOOL, [N])], [raw(), raw("k", np.zeros(N, np.uint8))])
        onnx.save(made, tmp_path / "m.onnx", save_as_external_data=True, location="m.data", size_threshold=0)
        path = tenon.compile(tmp_path / "m.onnx", provider=provider, sources="reference").save(tmp_path)[0]
        session = tenon.Artifact.load(path).session()
        check(session, {}, ~TRUTH)
        session.set_weights({"k": np.ones(N, np.bool_)}, partial=True)
        check(session, {}, TRUTH)
