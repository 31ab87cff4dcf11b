"""What the Python interface accepts as weights, names and models, and what it says when it cannot."""

import subprocess
import sys
import types

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import tenon

from .zoo import floats, model, node, weight


def net(rng):
    return model(
        [node("MatMul", ["x", "w1"], ["h"]), node("Relu", ["h"], ["r"]), node("MatMul", ["r", "w2"], ["y"])],
        [("x", TensorProto.FLOAT, ["batch", 4])], [("y", TensorProto.FLOAT, None)],
        [weight("w1", floats(rng, 4, 4)), weight("w2", floats(rng, 4, 4))])


def bfloat16_net(rng):
    values = helper.make_tensor("w", TensorProto.BFLOAT16, [4, 4], floats(rng, 16).tolist())
    return model([node("Cast", ["w"], ["f"], to=TensorProto.FLOAT), node("MatMul", ["x", "f"], ["y"])],
                 [("x", TensorProto.FLOAT, ["batch", 4])], [("y", TensorProto.FLOAT, None)], [values])


def made(seed):
    return net(np.random.default_rng(seed))


def arrays(made):
    return {tensor.name: numpy_helper.to_array(tensor) for tensor in made.graph.initializer}


X = np.arange(8, dtype=np.float32).reshape(2, 4) - 3


def output(session):
    return session.run(None, {"x": X})[0]


@pytest.fixture
def session():
    return tenon.compile(made(1).SerializeToString(), sources="embed").session()


@pytest.fixture
def two(tmp_path):
    for name, seed in (("first", 1), ("second", 2)):
        onnx.save(made(seed), tmp_path / f"{name}.onnx")
    return [tmp_path / "first.onnx", tmp_path / "second.onnx"]


class Tensor:
    """A tensor of torch on a device that this machine need not have: its elements are asked for in the order that torch
    demands."""

    def __init__(self, array, dtype, grad=True, device="cuda:0"):
        self._array, self.dtype, self._grad, self._device = array, dtype, grad, device

    def detach(self):
        return Tensor(self._array, self.dtype, False, self._device)

    def cpu(self):
        return Tensor(self._array, self.dtype, self._grad, "cpu")

    def contiguous(self):
        return self

    def view(self, dtype):
        return Tensor(self._array.view(dtype.removeprefix("torch.")), dtype, self._grad, self._device)

    def numpy(self):
        if self._grad:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        if self._device != "cpu":
            raise TypeError("can't convert cuda:0 device type tensor to numpy.")
        if self._array.dtype == ml_dtypes.bfloat16:
            raise TypeError("Got unsupported ScalarType BFloat16")
        return self._array

    __array__ = None  # must not be asked


@pytest.fixture
def torch():
    """Imported where it is used, because that takes seconds."""
    import torch

    return torch


def tensor_of(torch, array, grad=False):
    if array.dtype == ml_dtypes.bfloat16:
        made = torch.from_numpy(array.view(np.int16).copy()).view(torch.bfloat16)
    else:
        made = torch.from_numpy(array.copy())
    return torch.nn.Parameter(made) if grad else made


class TestTorch:
    def test_parameters(self, torch, session):
        new = arrays(made(2))
        session.set_weights({name: tensor_of(torch, array, grad=True) for name, array in new.items()})
        assert output(session).tobytes() == output(tenon.compile(made(2).SerializeToString()).session()).tobytes()

    def test_bfloat16(self, torch):
        first, second = (bfloat16_net(np.random.default_rng(seed)) for seed in (1, 2))
        session = tenon.compile(first.SerializeToString()).session()
        new = arrays(second)["w"]
        assert new.dtype == ml_dtypes.bfloat16
        session.set_weights({"w": tensor_of(torch, new, grad=True)})
        swapped = output(session)
        assert swapped.tobytes() == output(tenon.compile(second.SerializeToString()).session()).tobytes()
        session.set_weights({"w": new})  # ml_dtypes
        assert output(session).tobytes() == swapped.tobytes()

    def test_transposed(self, torch, session):
        new = arrays(made(2))
        session.set_weights({name: tensor_of(torch, array).t() for name, array in new.items()})
        assert output(session).tobytes() == _output_with({name: array.T for name, array in new.items()}).tobytes()

    @pytest.mark.parametrize("make", [made, lambda seed: bfloat16_net(np.random.default_rng(seed))],
                             ids=["float", "bfloat16"])
    def test_on_another_device(self, monkeypatch, make):
        stand_in = types.SimpleNamespace(Tensor=Tensor, int16="torch.int16", uint8="torch.uint8")
        monkeypatch.setitem(sys.modules, "torch", stand_in)
        session = tenon.compile(make(1).SerializeToString()).session()
        new = arrays(make(2))
        session.set_weights({name: Tensor(array, f"torch.{array.dtype}") for name, array in new.items()})
        assert output(session).tobytes() == output(tenon.compile(make(2).SerializeToString()).session()).tobytes()


class TestWhatIsNoWeight:
    def test_none(self, session):
        with pytest.raises(TypeError, match="weight 'w1': expected an array, not None.*partial"):
            session.set_weights({"w1": None, "w2": np.zeros((4, 4), np.float32)})

    @pytest.mark.parametrize("item", [object(), [[1.0], [1.0, 2.0]], {"a": 1}])
    def test_other_things(self, session, item):
        with pytest.raises(TypeError, match="weight 'w1': "):
            session.set_weights({"w1": item}, partial=True)

    def test_type_without_a_name_in_onnx(self, session):
        with pytest.raises(tenon.Error, match="weight 'w1': .*datetime64"):
            session.set_weights({"w1": np.zeros(3, "datetime64[s]")}, partial=True)

    def test_integer_key(self, session):
        with pytest.raises(TypeError, match="must be str, but 7 is of type int"):
            session.set_weights({7: np.zeros((4, 4), np.float32)})

    def test_zero_byte_in_a_name(self, session):
        before = output(session)
        with pytest.raises(tenon.Error, match=r"name of a weight must not hold a zero character, as 'w1\\0x'"):
            session.set_weights({"w1\0x": np.zeros((4, 4), np.float32)}, partial=True)
        with pytest.raises(tenon.Error, match="zero character"):
            session.set_weights(arrays(made(2)), only=["w1\0x"], partial=True)
        assert output(session).tobytes() == before.tobytes()

    def test_use_weights_of_something_else(self, session):
        with pytest.raises(TypeError, match="set_weights takes paths"):
            session.use_weights("tuned.safetensors")


class TestOnly:
    def test_one_name(self, session):
        report = session.set_weights(arrays(made(2)), only="w1", partial=True)
        assert report["replaced"] == ["w1"]
        mixed = arrays(made(1)) | {"w1": arrays(made(2))["w1"]}
        assert output(session).tobytes() == _output_with(mixed).tobytes()

    @pytest.mark.parametrize("empty", [[], (), set(), iter(())])
    def test_nothing(self, session, empty):
        with pytest.raises(ValueError, match="only names no weight"):
            session.set_weights(arrays(made(2)), only=empty, partial=True)

    def test_without_partial_it_must_name_all(self, session):
        with pytest.raises(tenon.Error, match="w2"):
            session.set_weights(arrays(made(2)), only=["w1"])
        session.set_weights(arrays(made(2)), only={"w1", "w2"})

    def test_no_name(self, session):
        with pytest.raises(TypeError, match="only must be names, but 3"):
            session.set_weights(arrays(made(2)), only=[3])

    def test_bake(self):
        baked, reports = tenon.compile(made(1).SerializeToString(), sources="embed").bake(
            arrays(made(2)), only="w1", partial=True)
        assert reports[0]["replaced"] == ["w1"]


def _output_with(new):
    session = tenon.compile(made(1).SerializeToString()).session()
    session.set_weights(new)
    return output(session)


class TestSeveralSessions:
    def test_none(self):
        with pytest.raises(ValueError, match="no session"):
            tenon.set_weights([], arrays(made(2)))

    def test_something_else(self, session):
        with pytest.raises(TypeError, match="InferenceSessions, not str"):
            tenon.set_weights([session, "model"], arrays(made(2)))
        with pytest.raises(TypeError, match="must be a list"):
            tenon.set_weights(session, arrays(made(2)))


class TestCompile:
    def test_too_few_names(self, two):
        with pytest.raises(ValueError, match="2 models need as many names, but 1 is given: 'x'"):
            tenon.compile(two, names=["x"])

    def test_one_name(self, two):
        assert tenon.compile(two[0], names="net").models == ["net"]

    def test_no_models(self):
        with pytest.raises(ValueError, match="no model"):
            tenon.compile([])

    def test_pin_of_one_name(self, two):
        session = tenon.compile(two[0], pin="w1", sources="embed").session()
        with pytest.raises(tenon.Error, match="w1"):
            session.set_weights(two[1])
        session.set_weights(two[1], only="w2", partial=True)

    def test_provider_of_one_model(self, two):
        artifact = tenon.compile(two, provider={"second": "reference"})
        keys = {entry["name"]: entry["plan_key"] for entry in artifact.describe()["models"]}
        assert keys["first"] == tenon.compile(two[0]).describe()["models"][0]["plan_key"]
        assert keys["second"] == tenon.compile(two[1], provider="reference").describe()["models"][0]["plan_key"]
        assert keys["first"] != keys["second"]
        with pytest.raises(tenon.Error, match="'provider:third'"):
            tenon.compile(two, provider={"third": "reference"})

    def test_jobs_and_threads(self, two):
        alone, together = tenon.compile(two), tenon.compile(two, jobs=2, threads=1)
        assert [p["key"] for p in alone.describe("packed")["packed"]] == [
            p["key"] for p in together.describe("packed")["packed"]]
        for options in ({"jobs": 0}, {"threads": -1}):
            with pytest.raises(tenon.Error, match=next(iter(options))):
                tenon.compile(two, **options)

    def test_cpu_isa(self, two):
        """Each artifact and session has its own."""
        best = output(tenon.compile(two[0]).session())
        for isa in tenon.system()["cpu"]["isas"]:
            np.testing.assert_allclose(output(tenon.compile(two[0], cpu_isa=isa).session()), best, rtol=1e-5)
        options = tenon.SessionOptions()
        options.add_session_config_entry("tenon.cpu_isa", "mmx")
        with pytest.raises(tenon.Error, match="option 'cpu_isa': kernels cannot use the instruction set 'mmx'"):
            tenon.compile(two[0]).session(sess_options=options)
        with pytest.raises(tenon.Error, match="quantum"):
            tenon.compile(two[0], cpu_isa="quantum")


class TestModelsOfAnArtifact:
    def test_by_name_and_position(self, two):
        artifact = tenon.compile(two)
        for position, name in enumerate(artifact.models):
            assert output(artifact.session(name)).tobytes() == output(artifact.session(position)).tobytes()

    @pytest.mark.parametrize("position", [-1, 2])
    def test_no_such_position(self, two, position):
        artifact = tenon.compile(two)
        for lookup in (artifact.session, artifact.weights):
            with pytest.raises(IndexError, match=f"no model {position}; the artifact has 2.*'first'.*'second'"):
                lookup(position)

    def test_no_such_name(self, two):
        artifact = tenon.compile(two)
        for lookup in (artifact.session, artifact.weights):
            with pytest.raises(KeyError) as caught:
                lookup("nope")
            assert "no model 'nope'; it has" in str(caught.value)
            assert isinstance(caught.value, tenon.Error)

    def test_neither_name_nor_position(self, two):
        with pytest.raises(TypeError):
            tenon.compile(two).session(1.5)


class TestLoading:
    def test_bytes(self, two, tmp_path):
        [path] = tenon.compile(two[0]).save(tmp_path / "compiled", embed=True)
        data = open(path, "rb").read()
        expected = output(tenon.InferenceSession(path))
        assert output(tenon.Artifact.load(data).session()).tobytes() == expected.tobytes()
        assert output(tenon.Artifact.load(memoryview(data)).session()).tobytes() == expected.tobytes()
        assert output(tenon.InferenceSession(data)).tobytes() == expected.tobytes()
        with pytest.raises(TypeError, match="together with others"):
            tenon.Artifact.load(data, path)
        with pytest.raises(TypeError, match="folder applies only to a context file given as bytes"):
            tenon.Artifact.load(path, folder=tmp_path)

    def test_nothing(self):
        with pytest.raises(ValueError, match="no context file"):
            tenon.Artifact.load()

    def test_bytes_without_their_weights(self, two, tmp_path):
        [path] = tenon.compile(two[0]).save(tmp_path / "compiled")
        with pytest.raises(tenon.Error, match="the folder that contains"):
            tenon.Artifact.load(open(path, "rb").read())

    def test_one_source_folder(self, two, tmp_path):
        """Weights that do not change are read again where they came from."""
        tenon.compile(two[0]).save(tmp_path / "elsewhere")
        path = tmp_path / "elsewhere" / "first_ctx.onnx"
        artifact = tenon.Artifact.load(path, source_dirs=str(tmp_path))
        assert artifact.verify()["without_sources"] == 0
        assert tenon.Artifact.load(path, source_dirs=[tmp_path]).verify()["without_sources"] == 0
        assert tenon.Artifact.load(path).verify()["without_sources"] > 0

    def test_what_context_files_say(self, two, tmp_path):
        [path] = tenon.compile(two[0]).save(tmp_path / "compiled")
        assert tenon.is_context_file(path) and not tenon.is_context_file(two[0])
        described = tenon.describe_context_file(path)
        assert described["model"] == "first" and not described["embedded"]
        assert (tmp_path / "compiled" / described["weights_file"]).exists()
        with pytest.raises(tenon.Error):
            tenon.describe_context_file(two[0])


class TestMapping:
    def test_weights_that_are_read_survive_the_file(self, session, tmp_path):
        path = tmp_path / "tuned.npz"
        np.savez(path, **arrays(made(2)))
        session.set_weights(path, map=False)
        expected = _output_with(arrays(made(2)))
        path.write_bytes(bytes(path.stat().st_size))
        assert output(session).tobytes() == expected.tobytes()
