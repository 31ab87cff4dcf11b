"""New weights that change what a plan was decided by: refused, or the model is compiled again."""

import threading

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

import tenon

from .shape_models import shape_model
from .storage_forms import FORMS, NODE_FORMS
from .test_groups import reshaped
from .test_swap import PROVIDERS, compiled, outputs, same, saved
from .zoo import FLOAT, feed, floats, model, node, weight

# name of a model: another value for one of its constants
OTHERS = {
    "reshape": {"c1": np.array([4, 6])},
    "slice": {"c2": np.array([1, 3])},
    "pad": {"c1": np.array([0, 1, 2, 0]), "c2": np.array(1.5, np.float32)},
    "tile_1": {"c1": np.array([3], np.float32)},
    "resize_scales": {"c2": np.array([1, 1, 1.5, 2], np.float32)},
    "top_k": {"c1": np.array([3])},
    "range": {"c1": np.array(22)},
    "clip": {"c1": np.array(0.25, np.float32)},
    "cumulative_sum": {"c1": np.array(0)},
    "gather": {"c1": np.array([1, 1])},
    "power": {"c1": np.array(3, np.float32)},
}  # fmt: skip


def with_weights(made, weights):
    changed = onnx.ModelProto()
    changed.CopyFrom(made)
    for tensor in changed.graph.initializer:
        if tensor.name in weights:
            tensor.CopyFrom(numpy_helper.from_array(weights[tensor.name], tensor.name))
    return changed


def others(name):
    known = arrays(shape_model(name))
    return {key: array.reshape(known[key].shape) for key, array in OTHERS[name].items()}


def projected(seed, shape=(2, 8)):
    """A product, whose weight is packed, then a shape that decides about the plan."""
    nodes = [node("MatMul", ["x", "w"], ["m"]), node("Reshape", ["m", "s"], ["y"])]
    weights = [weight("w", floats(np.random.default_rng(seed), 4, 8)), weight("s", np.array(shape))]
    return model(nodes, [("x", FLOAT, [2, 4])], [("y", FLOAT, None)], weights)


def arrays(made):
    return {tensor.name: numpy_helper.to_array(tensor) for tensor in made.graph.initializer}


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("name", OTHERS)
class TestRecompiledIsFresh:
    def test_as_a_compile_of_the_other_model(self, name, provider):
        made, other = shape_model(name), with_weights(shape_model(name), others(name))
        feeds = feed(made, np.random.default_rng(1))
        session, fresh = compiled(made, provider).session(), compiled(other, provider).session()
        session.run(None, feeds)
        report = session.set_weights(others(name), partial=True, recompile=True)
        assert set(report["replaced"]) == set(OTHERS[name])
        same(outputs(session, feeds), outputs(fresh, feeds))
        assert [(v.name, v.shape) for v in session.get_outputs()] == [(v.name, v.shape) for v in fresh.get_outputs()]
        session.use_weights(fresh.weights)  # the plan is the same, not only its results

    def test_and_back(self, name, provider):
        made = shape_model(name)
        feeds = feed(made, np.random.default_rng(1))
        session = compiled(made, provider).session()
        before = outputs(session, feeds)
        for weights in (others(name), {key: arrays(made)[key] for key in OTHERS[name]}):
            session.set_weights(weights, partial=True, recompile=True)
        same(outputs(session, feeds), before)


FORMS_OF_CONSTANTS = {**FORMS, **{f"node_{name}": form for name, form in NODE_FORMS.items()}}


@pytest.mark.parametrize("form", FORMS_OF_CONSTANTS)
def test_wherever_the_model_keeps_its_constants(form, tmp_path):
    stored = FORMS_OF_CONSTANTS[form](projected(1), tmp_path)
    artifact = tenon.compile(stored.SerializeToString() if isinstance(stored, onnx.ModelProto) else stored)
    feeds = feed(projected(1), np.random.default_rng(2))
    session, fresh = artifact.session(), compiled(projected(1, (4, 4))).session()
    session.set_weights({"s": np.array([4, 4])}, partial=True, recompile=True)
    same(outputs(session, feeds), outputs(fresh, feeds))


class TestReports:
    def test_what_changed_is_told(self):
        session = compiled(projected(1)).session()
        report = session.set_weights(arrays(projected(2, (4, 4))), recompile=True)
        (guard,) = report["recompiled"]["guards"]
        assert guard["weight"] == "s" and guard["property"] == "elements" and "Reshape" in guard["asker"]
        assert guard["before"] != guard["after"]
        assert 0 < report["recompiled"]["seconds"] <= report["seconds"]
        assert set(report["replaced"]) == {"w", "s"} and not report["kept"]

    def test_weights_that_fit_need_no_compile(self):
        session = compiled(projected(1)).session()
        assert session.set_weights(arrays(projected(2)), recompile=True)["recompiled"] is None

    def test_weights_that_stay_are_not_packed_again(self):
        session = compiled(projected(1)).session()
        report = session.set_weights({"s": np.array([4, 4])}, partial=True, recompile=True)
        packed = sum(entry["bytes"] for entry in compiled(projected(1)).describe("packed")["packed"])
        assert report["bytes_redone"] < packed


class TestWhereTheModelIs:
    def test_sessions_of_models(self, tmp_path):
        path = saved(projected(1), tmp_path / "net.onnx")
        session = tenon.InferenceSession(path)
        session.set_weights({"s": np.array([4, 4])}, partial=True, recompile=True)
        assert session.get_outputs()[0].shape == [4, 4]
        feeds = feed(projected(1), np.random.default_rng(2))
        same(outputs(session, feeds), outputs(compiled(projected(1, (4, 4))).session(), feeds))

    @pytest.mark.parametrize("provider", PROVIDERS)
    @pytest.mark.parametrize("sources", ["reference", "embed", "none"])
    def test_compiled_files_find_their_model(self, provider, sources, tmp_path):
        model_folder, folder = tmp_path / "models", tmp_path / "compiled"
        model_folder.mkdir()
        saved(projected(1), model_folder / "net.onnx")
        (path,) = tenon.compile(model_folder / "net.onnx", provider=provider, sources=sources).save(folder)
        feeds, new = feed(projected(1), np.random.default_rng(2)), {"s": np.array([4, 4])}
        with pytest.raises(tenon.Error, match="guard: .*'s'(.|\n)*recompile: .*'net.onnx'.*source_dir"):
            tenon.InferenceSession(path).set_weights(new, partial=True, recompile=True)
        session = tenon.Artifact.load(path, source_dirs=[model_folder]).session()
        session.set_weights(new, partial=True, recompile=True)
        same(outputs(session, feeds), outputs(compiled(projected(1, (4, 4)), provider).session(), feeds))

    def test_a_model_that_changed_is_another(self, tmp_path):
        path = saved(projected(1), tmp_path / "net.onnx")
        (context,) = tenon.compile(path).save(tmp_path)
        session = tenon.InferenceSession(context)
        (tmp_path / "net.onnx").rename(tmp_path / "old.onnx")
        saved(projected(2), tmp_path / "net.onnx")
        with pytest.raises(tenon.Error, match="has changed since"):
            session.set_weights({"s": np.array([4, 4])}, partial=True, recompile=True)

    def test_pins_and_frozen_inputs_stay(self, tmp_path):
        made = projected(1)
        made.graph.input.append(onnx.helper.make_tensor_value_info("w", FLOAT, [4, 8]))
        path = saved(made, tmp_path / "net.onnx")
        loaded = tenon.Model.load(path, freeze_inputs=True)
        (context,) = tenon.compile(loaded, pin=["w"]).save(tmp_path, ["net_ctx.onnx"])
        session = tenon.InferenceSession(context)
        session.set_weights({"s": np.array([4, 4])}, partial=True, recompile=True)
        assert len(session.get_inputs()) == 1 and session.get_outputs()[0].shape == [4, 4]
        with pytest.raises(tenon.Error, match="pinned: 'w'"):
            session.set_weights({"w": np.zeros((4, 8), np.float32)}, partial=True, recompile=True)

    def test_weights_that_came_before_stay(self):
        session = compiled(projected(1)).session()
        session.set_weights({"w": arrays(projected(5))["w"]}, partial=True, keep_sources=True)
        session.set_weights({"s": np.array([4, 4])}, partial=True, recompile=True)
        feeds = feed(projected(1), np.random.default_rng(2))
        same(outputs(session, feeds), outputs(compiled(projected(5, (4, 4))).session(), feeds))

    def test_arrays_may_change_afterwards(self):
        session, shape = compiled(projected(1)).session(), np.array([4, 4])
        session.set_weights({"s": shape}, partial=True, recompile=True)
        shape[:] = 100
        assert session.run(None, feed(projected(1), np.random.default_rng(2)))[0].shape == (4, 4)
        report = session.set_weights({"s": np.array([4, 4])}, partial=True, recompile=True)
        assert report["recompiled"] is None


class TestRefusals:
    def test_without_the_option(self):
        session = compiled(projected(1)).session()
        with pytest.raises(tenon.Error, match="guard: .*'s'"):
            session.set_weights({"s": np.array([4, 4])}, partial=True)

    def test_what_the_model_cannot_be_compiled_with(self):
        session = compiled(projected(1)).session()
        feeds = feed(projected(1), np.random.default_rng(2))
        before = outputs(session, feeds)
        with pytest.raises(tenon.Error, match="recompile: .*Reshape"):
            session.set_weights({"s": np.array([3, 5])}, partial=True, recompile=True)
        same(outputs(session, feeds), before)
        assert session.get_outputs()[0].shape == [2, 8]

    def test_other_wrongs_come_first(self):
        session = compiled(projected(1)).session()
        with pytest.raises(tenon.Error, match="shape: 'w'"):
            session.set_weights({"s": np.array([4, 4]), "w": np.zeros(3, np.float32)}, partial=True, recompile=True)

    def test_artifacts_are_never_compiled_again(self):
        with pytest.raises(TypeError):
            compiled(projected(1)).bake({"s": np.array([4, 4])}, recompile=True)

    def test_old_weights_are_of_another_plan(self):
        session = compiled(projected(1)).session()
        before = session.weights
        session.set_weights({"s": np.array([4, 4])}, partial=True, recompile=True)
        with pytest.raises(tenon.Error, match="another plan"):
            session.use_weights(before)


class TestGroups:
    def test_those_that_need_it_are_compiled_again(self):
        a, b = compiled(reshaped(1, True)).session(), compiled(reshaped(1, False)).session()
        first, second = tenon.set_weights([a, b], {"s": np.array([-1])}, partial=True, recompile=True)
        assert first["recompiled"] and not second["recompiled"]
        feeds = feed(reshaped(1, True), np.random.default_rng(2))
        for session, decides in ((a, True), (b, False)):
            other = with_weights(reshaped(1, decides), {"s": np.array([-1])})
            same(outputs(session, feeds), outputs(compiled(other).session(), feeds))

    def test_all_or_nothing(self):
        pinned = compiled(projected(1), pin=["s"]).session()
        free = compiled(projected(1)).session()
        feeds = feed(projected(1), np.random.default_rng(2))
        before = outputs(free, feeds)
        with pytest.raises(tenon.Error, match="pinned: 's'"):
            tenon.set_weights([free, pinned], {"s": np.array([4, 4])}, partial=True, recompile=True)
        same(outputs(free, feeds), before)


def test_runs_see_one_plan_and_its_weights():
    session = compiled(projected(1)).session()
    feeds = feed(projected(1), np.random.default_rng(2))
    sets = [arrays(projected(1)), arrays(projected(2, (4, 4)))]
    wanted = {compiled(projected(*key)).session().run(None, feeds)[0].tobytes() for key in ((1,), (2, (4, 4)))}
    done, seen, failures = threading.Event(), set(), []

    def work():
        while not done.is_set():
            try:
                seen.add(session.run(None, feeds)[0].tobytes())
            except Exception as error:
                failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for turn in range(30):
        session.set_weights(sets[(turn + 1) % 2], recompile=True)
    done.set()
    for thread in threads:
        thread.join()
    assert not failures and seen <= wanted
