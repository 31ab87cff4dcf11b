"""Swapped weights are freshly compiled weights: the same plan, the same packed bytes, the same outputs to the bit."""

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

import tenon

from .zoo import ZOO, conv_norm_relu, feed, tied_embedding, weights_in_bodies

PROVIDERS = ["cpu", "reference"]


def made(name, seed):
    return ZOO[name](np.random.default_rng(seed))


def initializers(model):
    return {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}


def saved(model, path):
    onnx.save(model, path)
    return path


def compiled(model, provider="cpu", **options):
    return tenon.compile(model.SerializeToString(), provider=provider, **options)


def packed_keys(artifact):
    return [(entry["key"], entry["shape"]) for entry in artifact.describe("packed")["packed"]]


def outputs(session, feeds):
    return [np.asarray(value) for value in session.run(None, feeds)]


def same(left, right):
    assert len(left) == len(right)
    for a, b in zip(left, right):
        assert a.dtype == b.dtype and a.shape == b.shape
        assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("name", ZOO)
class TestSwappedIsFresh:
    def test_full_swap_and_back(self, name, provider, tmp_path):
        a, b = made(name, 1), made(name, 2)
        feeds = feed(a, np.random.default_rng(3))
        first, second = compiled(a, provider), compiled(b, provider)
        assert first.describe()["models"][0]["plan_key"] == second.describe()["models"][0]["plan_key"]
        session = first.session()
        before = outputs(session, feeds)
        report = session.set_weights(saved(b, tmp_path / "b.onnx"))
        assert report["replaced"] and report["slots_redone"] > 0
        same(outputs(session, feeds), outputs(second.session(), feeds))
        session.set_weights(saved(a, tmp_path / "a.onnx"))
        same(outputs(session, feeds), before)

    def test_baked_has_the_bytes_of_a_fresh_compile(self, name, provider, tmp_path):
        a, b = made(name, 1), made(name, 2)
        baked, _ = compiled(a, provider).bake(saved(b, tmp_path / "b.onnx"))
        fresh = compiled(b, provider)
        assert sorted(packed_keys(baked)) == sorted(packed_keys(fresh))
        paths = [artifact.save(tmp_path / folder)[0] for artifact, folder in ((baked, "baked"), (fresh, "fresh"))]
        contents = []
        for path in paths:
            loaded = tenon.Artifact.load(path)
            assert loaded.verify()["packed"] == len(packed_keys(loaded))
            contents.append(loaded)
        stored = [{entry["key"]: entry["content"] for entry in loaded.describe("packed")["packed"]} for loaded in contents]
        assert stored[0] == stored[1] and None not in stored[0].values()
        feeds = feed(a, np.random.default_rng(4))
        same(outputs(contents[0].session(), feeds), outputs(contents[1].session(), feeds))

    def test_close_to_the_reference(self, name, provider):
        model = made(name, 5)
        feeds = feed(model, np.random.default_rng(6))
        expected = outputs(compiled(model, "reference").session(), feeds)
        for got, want in zip(outputs(compiled(model, provider).session(), feeds), expected):
            np.testing.assert_allclose(got, want, rtol=2e-4, atol=2e-5)

    def test_saved_and_loaded(self, name, provider, tmp_path):
        model = made(name, 7)
        feeds = feed(model, np.random.default_rng(8))
        artifact = compiled(model, provider)
        path = artifact.save(tmp_path)[0]
        onnx.checker.check_model(onnx.load(path))
        expected = outputs(artifact.session(), feeds)
        same(outputs(tenon.Artifact.load(path).session(), feeds), expected)
        same(outputs(tenon.InferenceSession(path), feeds), expected)

    def test_one_weight_at_a_time(self, name, provider, tmp_path):
        a, b = made(name, 1), made(name, 2)
        feeds = feed(a, np.random.default_rng(9))
        session = compiled(a, provider, sources="embed").session()
        fresh = compiled(b, provider)
        path = saved(b, tmp_path / "b.onnx")
        names = [s["name"] for s in fresh.describe("sources")["sources"] if s["swappable"]]
        for weight in names:
            report = session.set_weights(path, partial=True, only=[weight])
            assert report["replaced"] == [weight]
        same(outputs(session, feeds), outputs(fresh.session(), feeds))


class TestOnlyWhatChanged:
    def test_slots_that_do_not_depend_on_it_stay(self):
        a = conv_norm_relu(np.random.default_rng(1))
        session = compiled(a, sources="embed").session()
        report = session.set_weights({"n.beta": np.zeros(20, np.float32)}, partial=True, keep_sources=True)
        assert (report["slots_redone"], report["slots"]) == (1, 2)
        report = session.set_weights({"w": np.zeros((20, 3, 3, 3), np.float32)}, partial=True, keep_sources=True)
        assert report["slots_redone"] == 1
        report = session.set_weights({"n.gamma": np.ones(20, np.float32)}, partial=True)
        assert report["slots_redone"] == 2

    def test_two_uses_of_one_weight(self):
        session = compiled(tied_embedding(np.random.default_rng(1))).session()
        report = session.set_weights({"e": np.ones((40, 12), np.float32)})
        assert report["slots_redone"] == 2
        got = session.run(None, {"ids": np.array([[3]])})[0]
        np.testing.assert_array_equal(got, np.full((1, 1, 40), 12, np.float32))


class TestRefusals:
    def session(self):
        return compiled(conv_norm_relu(np.random.default_rng(1)), sources="none").session()

    def test_everything_at_once(self):
        session = self.session()
        feeds = feed(conv_norm_relu(np.random.default_rng(1)), np.random.default_rng(2))
        before = outputs(session, feeds)
        with pytest.raises(tenon.Error) as refused:
            session.set_weights({"w": np.zeros((20, 3, 3, 2), np.float32), "b": np.zeros(20, np.float64),
                                 "n.beta": np.zeros(20, np.float32), "other": np.zeros(1, np.float32)}, strict=True)
        text = str(refused.value)
        for part in ("shape: 'w'", "element type: 'b'", "missing: 'n.gamma'", "missing: 'n.mean'", "missing: 'n.var'",
                     "extra: 'other'"):
            assert part in text
        same(outputs(session, feeds), before)

    def test_absent_sources(self):
        with pytest.raises(tenon.Error, match="absent: 'n.gamma'"):
            self.session().set_weights({"w": np.zeros((20, 3, 3, 3), np.float32)}, partial=True)

    def test_guard(self):
        session = compiled(ZOO["reshaped_by_constants"](np.random.default_rng(1))).session()
        with pytest.raises(tenon.Error, match="guard: .*'shape2'"):
            session.set_weights({"shape2": np.array([10, 10], np.int64)}, partial=True)
        report = session.set_weights({"shape2": np.array([20, 5], np.int64)}, partial=True)
        assert report["kept"] and not report["replaced"]

    def test_pinned(self):
        session = compiled(conv_norm_relu(np.random.default_rng(1)), pin=["b"]).session()
        with pytest.raises(tenon.Error, match="pinned: 'b'"):
            session.set_weights({"b": np.ones(20, np.float32)}, partial=True)

    def test_unknown_name(self):
        with pytest.raises(tenon.Error, match="no weight 'nothing'"):
            self.session().set_weights({"b": np.ones(20, np.float32)}, partial=True, only=["nothing"])

    def test_not_finite_is_data(self):
        session = compiled(tied_embedding(np.random.default_rng(1))).session()
        weights = np.ones((40, 12), np.float32)
        weights[3, 4] = np.nan
        assert session.set_weights({"e": weights})["not_finite"] == ["e"]
        assert np.isnan(session.run(None, {"ids": np.array([[3]])})[0]).any()


class TestSources:
    def test_safetensors(self, tmp_path):
        a, b = made("gemm_norm", 1), made("gemm_norm", 2)
        feeds = feed(a, np.random.default_rng(3))
        compiled(b, sources="embed").export(tmp_path / "b.safetensors")
        session = compiled(a).session()
        session.set_weights(tmp_path / "b.safetensors", strict=True)
        same(outputs(session, feeds), outputs(compiled(b).session(), feeds))

    def test_npz(self, tmp_path):
        a, b = made("matmul_norm", 1), made("matmul_norm", 2)
        feeds = feed(a, np.random.default_rng(3))
        np.savez(tmp_path / "b.npz", **initializers(b))
        session = compiled(a).session()
        session.set_weights(tmp_path / "b.npz")
        same(outputs(session, feeds), outputs(compiled(b).session(), feeds))

    def test_folder_of_external_data(self, tmp_path):
        models = {}
        for name, seed in (("a", 1), ("b", 2)):
            (tmp_path / name).mkdir()
            models[name] = made("matmul_norm", seed)
            onnx.save(models[name], tmp_path / name / "m.onnx", save_as_external_data=True, location="m.data",
                      size_threshold=0)
        models = {name: made("matmul_norm", seed) for name, seed in (("a", 1), ("b", 2))}
        feeds = feed(models["a"], np.random.default_rng(3))
        artifact = tenon.compile(str(tmp_path / "a" / "m.onnx"))
        session = artifact.session()
        session.set_weights(tmp_path / "b")
        same(outputs(session, feeds), outputs(compiled(models["b"]).session(), feeds))

    def test_arrays_may_change_afterwards(self):
        session = compiled(tied_embedding(np.random.default_rng(1))).session()
        weights = np.ones((40, 12), np.float32)
        session.set_weights({"e": weights})
        weights[:] = 0
        assert session.run(None, {"ids": np.array([[3]])})[0][0, 0, 0] == 12


class TestGroups:
    def test_one_session_does_not_disturb_the_other(self):
        a, b = made("gemm_norm", 1), made("gemm_norm", 2)
        artifact = tenon.compile([a.SerializeToString(), a.SerializeToString()], ["left", "right"])
        left, right = artifact.session("left"), artifact.session("right")
        feeds = feed(a, np.random.default_rng(3))
        before = outputs(right, feeds)
        left.set_weights(initializers(b))
        same(outputs(right, feeds), before)
        tenon.set_weights([left, right], initializers(b))
        same(outputs(left, feeds), outputs(right, feeds))
        same(outputs(left, feeds), outputs(compiled(b).session(), feeds))

    def test_weights_of_another_session(self):
        a, b = made("gemm_norm", 1), made("gemm_norm", 2)
        feeds = feed(a, np.random.default_rng(3))
        session, other = compiled(a).session(), compiled(b).session()
        old = session.weights
        session.use_weights(other.weights)
        same(outputs(session, feeds), outputs(other, feeds))
        session.use_weights(compiled(a).weights())
        session.use_weights(old)
        with pytest.raises(tenon.Error, match="another plan"):
            session.use_weights(compiled(made("matmul_norm", 1)).weights())


class TestDeferred:
    @pytest.mark.parametrize("name", ["conv_norm_relu", "weights_in_bodies", "dequantized"])
    def test_filled_later(self, name, tmp_path):
        a = made(name, 1)
        feeds = feed(a, np.random.default_rng(3))
        path = saved(a, tmp_path / "a.onnx")
        empty = compiled(a, defer_weights=True)
        assert empty.describe()["models"][0]["open_slots"] > 0
        empty_path = empty.save(tmp_path / "empty")[0]
        session = tenon.Artifact.load(empty_path).session()
        with pytest.raises(tenon.Error, match="without its weights"):
            session.run(None, feeds)
        session.set_weights(path)
        expected = outputs(compiled(a).session(), feeds)
        same(outputs(session, feeds), expected)
        filled, _ = tenon.Artifact.load(empty_path).bake(path)
        same(outputs(filled.session(), feeds), expected)
        stripped = compiled(a).strip()
        assert sorted(packed_keys(stripped.bake(path)[0])) == sorted(packed_keys(compiled(a)))


def test_bodies_keep_their_own_weights():
    artifact = compiled(weights_in_bodies(np.random.default_rng(1)))
    names = {s["name"] for s in artifact.describe("sources")["sources"]}
    assert {"If_h.then_branch/w", "If_h.else_branch/w", "Loop_y.body/lw"} <= names
