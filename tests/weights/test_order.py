"""Files do not depend on the order in which models were loaded, and keys not on how a session came about."""

import itertools

import numpy as np
import onnx
import pytest

import tenon

from .zoo import FLOAT, conv_norm_relu, floats, model, node, weight


def linear(rng, name, width):
    return model([node("MatMul", ["x", "w"], ["m"]), node("Add", ["m", name], ["y"])], [("x", FLOAT, ["n", 8])],
                 [("y", FLOAT, None)], [weight("w", floats(rng, 8, width)), weight(name, floats(rng, width))])


def members(folder, seed=1):
    """Models that share some weights."""
    folder.mkdir()
    rng = lambda: np.random.default_rng(seed)  # noqa: E731
    made = {"a": linear(rng(), "b1", 32), "b": linear(rng(), "b2", 32), "c": conv_norm_relu(rng())}
    for name, one in made.items():
        onnx.save(one, folder / f"{name}.onnx")
    return [folder / f"{name}.onnx" for name in made]


def new_weights(paths, seed):
    values = {}
    for path in paths:
        for tensor in onnx.load(path).graph.initializer:
            shape = tuple(tensor.dims)
            values[tensor.name] = (np.random.default_rng(seed).random(shape) + 0.5).astype(np.float32)
    return values


def weights_file(folder):
    (path,) = folder.glob("*.bin")
    return path.read_bytes()


@pytest.fixture(scope="module")
def group(tmp_path_factory):
    folder = tmp_path_factory.mktemp("order")
    paths = members(folder / "sources")
    contexts = tenon.compile(paths, sources="embed").save(folder / "group")
    return folder, paths, contexts


def test_saved_again(group, tmp_path):
    folder, _, contexts = group
    files = {weights_file(folder / "group")}
    for i, order in enumerate(itertools.permutations(contexts)):
        tenon.Artifact.load(*order).save(tmp_path / str(i))
        files.add(weights_file(tmp_path / str(i)))
    assert len(files) == 1


@pytest.mark.parametrize("only", [["n.gamma"], ["b1", "b2"], ["n.gamma", "n.var", "b1", "b2"]])
@pytest.mark.parametrize("from_file", [False, True], ids=["arrays", "file"])
def test_baked(group, from_file, only, tmp_path):
    _, paths, contexts = group
    weights = new_weights(paths, 3)
    if from_file:
        np.savez(tmp_path / "new.npz", **weights)
        weights = tmp_path / "new.npz"
    files = set()
    for i, order in enumerate(itertools.permutations(contexts)):
        baked, _ = tenon.Artifact.load(*order).bake(weights, partial=True, only=only)
        baked.save(tmp_path / str(i))
        files.add(weights_file(tmp_path / str(i)))
    assert len(files) == 1


def test_stripped(group, tmp_path):
    _, _, contexts = group
    files = set()
    for i, order in enumerate(itertools.permutations(contexts)):
        tenon.Artifact.load(*order).strip().save(tmp_path / str(i))
        files.add(weights_file(tmp_path / str(i)))
    assert len(files) == 1


@pytest.mark.parametrize("options", [{}, {"n": 5}], ids=["open", "fixed"])
def test_weights_fit_sessions_of_model_and_artifact(options, tmp_path):
    path = members(tmp_path / "sources")[0]
    settings = tenon.SessionOptions()
    for name, extent in options.items():
        settings.add_free_dimension_override_by_name(name, extent)
    artifact = tenon.compile(path)
    direct = tenon.InferenceSession(path, settings)
    stored = artifact.session(sess_options=settings) if options else artifact.session()
    feeds = {"x": np.ones((5, 8), np.float32)}
    expected = stored.run(None, feeds)[0]
    direct.set_weights(new_weights([path], 7))
    changed = direct.run(None, feeds)[0]
    assert changed.tobytes() != expected.tobytes()
    direct.use_weights(stored.weights)
    assert direct.run(None, feeds)[0].tobytes() == expected.tobytes()
    direct.set_weights(new_weights([path], 7))
    stored.use_weights(direct.weights)
    assert stored.run(None, feeds)[0].tobytes() == changed.tobytes()
