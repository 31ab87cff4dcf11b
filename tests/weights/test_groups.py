"""Several models with one weights file, and weights that come from folders: nobody gets what belongs to another."""

import os

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import tenon
from oracles.rounding import assert_product

from .test_swap import compiled, initializers, made, outputs, same
from .zoo import FLOAT, feed, floats, model, node, weight

RNG = np.random.default_rng


def product(seed, name="W", width=4):
    return model([node("MatMul", ["x", name], ["y"])], [("x", FLOAT, [2, width])], [("y", FLOAT, None)],
                 [weight(name, floats(RNG(seed), width, width))])


def lookup(seed):
    """Reads a table as it is."""
    return model([node("Gather", ["e", "ids"], ["y"])], [("ids", TensorProto.INT64, [2])], [("y", FLOAT, None)],
                 [weight("e", floats(RNG(seed), 40, 12))])


def projection(seed):
    """Packs the same table."""
    nodes = [node("Transpose", ["e"], ["t"], perm=[1, 0]), node("MatMul", ["x", "t"], ["y"])]
    return model(nodes, [("x", FLOAT, [2, 12])], [("y", FLOAT, None)], [weight("e", floats(RNG(seed), 40, 12))])


def clipped(seed, fused):
    """A Clip whose bounds a kernel reads that computes the product too, or one of its own."""
    nodes = [node("MatMul", ["x", "w"], ["m"]), node("Clip", ["m", "lo", "hi"], ["y"])]
    if not fused:
        nodes[1:] = [node("Softmax", ["m"], ["s"]), node("Clip", ["s", "lo", "hi"], ["y"])]
    bounds = [weight("lo", np.float32(0)), weight("hi", np.float32(6))]
    return model(nodes, [("x", FLOAT, [2, 4])], [("y", FLOAT, None)], [weight("w", floats(RNG(seed), 4, 4)), *bounds])


def reshaped(seed, decides):
    """A constant that one model takes a shape from, and another one a number."""
    nodes = [node("MatMul", ["x", "w"], ["m"]), node("Reshape", ["m", "s"], ["y"])]
    if not decides:
        nodes[1:] = [node("Cast", ["s"], ["c"], to=FLOAT), node("Mul", ["m", "c"], ["y"])]
    weights = [weight("w", floats(RNG(seed), 4, 4)), weight("s", np.array([8]))]
    return model(nodes, [("x", FLOAT, [2, 4])], [("y", FLOAT, None)], weights)


def external(made_model, path):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    onnx.save(made_model, path, save_as_external_data=True, location=os.path.basename(path) + ".data", size_threshold=0)
    return path


def group(*models):
    names = [chr(ord("a") + i) for i in range(len(models))]
    return tenon.compile([m.SerializeToString() for m in models], names, sources="embed")


class TestOrder:
    def test_models_stay_in_the_order_they_were_given_in(self, tmp_path):
        artifact = tenon.compile([product(1).SerializeToString(), product(2).SerializeToString()], ["z", "a"])
        assert artifact.models == ["z", "a"]
        x = floats(RNG(3), 2, 4)
        for position, seed in enumerate((1, 2)):
            assert_product(artifact.session(position).run(None, {"x": x})[0], x, initializers(product(seed))["W"])
        paths = artifact.save(tmp_path, names=["first_ctx.onnx", "second_ctx.onnx"])
        for path, seed in zip(paths, (1, 2)):
            assert_product(tenon.InferenceSession(path).run(None, {"x": x})[0], x, initializers(product(seed))["W"])

    def test_two_models_cannot_have_one_name(self, tmp_path):
        with pytest.raises(tenon.Error, match="two models would be saved as 'q_ctx.onnx'"):
            group(product(1), product(2)).save(tmp_path, names=["q_ctx.onnx", "q_ctx.onnx"])


class TestBakedGroups:
    def test_one_reads_what_the_other_packs(self, tmp_path):
        new = {"e": floats(RNG(9), 40, 12)}
        x, ids = floats(RNG(2), 2, 12), np.array([3, 7])
        results = {"x": ({"x": x}, x @ new["e"].T), "ids": ({"ids": ids}, new["e"][ids])}
        for turn, order in enumerate(((lookup(1), projection(1)), (projection(1), lookup(1)))):
            artifact = group(*order)
            paths = artifact.save(tmp_path / f"old{turn}")
            for number, chosen in enumerate([artifact, *map(tenon.Artifact.load, paths), tenon.Artifact.load(*paths)]):
                for weights in (new, {}):
                    baked, _ = chosen.bake(weights, partial=True)
                    made_paths = baked.save(tmp_path / f"new{turn}{number}{len(weights)}")
                    baked.export(tmp_path / "e.safetensors")
                    assert tenon.Artifact.load(*made_paths).verify()["without_sources"] == 0
                    for path in made_paths if weights else ():
                        session = tenon.InferenceSession(path)
                        feeds, want = results[session.get_inputs()[0].name]
                        np.testing.assert_allclose(session.run(None, feeds)[0], want, rtol=1e-4, atol=1e-5)

    def test_what_one_decides_by_stays_for_all(self, tmp_path):
        for order in ((reshaped(1, False), reshaped(1, True)), (reshaped(1, True), reshaped(1, False))):
            artifact = group(*order)
            stripped = artifact.strip()
            stripped.verify()
            folder = tmp_path / str(id(order))
            filled, _ = tenon.Artifact.load(*stripped.save(folder)).bake({"w": floats(RNG(5), 4, 4)}, partial=True)
            x = floats(RNG(6), 2, 4)
            decides = [i for i, m in enumerate(order) if len(m.graph.node) == 2][0]
            got = filled.session(decides).run(None, {"x": x})[0]
            assert got.shape == (8,)
            assert_product(got.reshape(2, 4), x, floats(RNG(5), 4, 4))

    def test_fused_bounds_are_weights_like_others(self):
        session = group(clipped(1, True)).session()
        new = {"w": floats(RNG(5), 4, 4), "lo": np.full(1, -0.25, np.float32), "hi": np.full(1, 0.5, np.float32)}
        report = session.set_weights(new)
        assert sorted(report["replaced"]) == ["hi", "lo", "w"]
        x = floats(RNG(6), 2, 4)
        assert_product(session.run(None, {"x": x})[0], x, new["w"], lambda y: np.clip(y, -0.25, 0.5))

    def test_not_finite_is_reported_for_every_model(self):
        artifact = group(lookup(1), lookup(1))
        bad = np.full((40, 12), np.nan, np.float32)
        _, reports = artifact.bake({"e": bad})
        assert [report["not_finite"] for report in reports] == [["e"], ["e"]]
        sessions = [artifact.session(i) for i in range(2)]
        assert [r["not_finite"] for r in tenon.set_weights(sessions, {"e": bad})] == [["e"], ["e"]]


class TestPlanKeys:
    """Weights fit a session when their plans are the same, with every number in them."""

    def scaled(self, alpha):
        return model([node("Gemm", ["x", "w"], ["y"], alpha=alpha)], [("x", FLOAT, [2, 4])], [("y", FLOAT, None)],
                     [weight("w", floats(RNG(1), 4, 4))])

    def test_numbers_that_have_no_name(self):
        left, right = compiled(self.scaled(2.0)), compiled(self.scaled(3.0))
        with pytest.raises(tenon.Error, match="another plan"):
            left.session().use_weights(right.weights())
        left.session().use_weights(compiled(self.scaled(2.0)).weights())

    def test_weights_that_are_not_complete(self):
        session = compiled(self.scaled(2.0)).session()
        with pytest.raises(tenon.Error, match="not complete.*'w'"):
            session.use_weights(compiled(self.scaled(2.0), defer_weights=True).weights())
        session.run(None, {"x": floats(RNG(2), 2, 4)})


class TestBakedSets:
    def test_sessions_switch_together(self):
        artifact = group(product(1), product(2, "V"))
        baked, _ = artifact.bake({"W": np.zeros((4, 4), np.float32), "V": np.zeros((4, 4), np.float32)})
        sessions = [artifact.session(i) for i in range(2)]
        x = floats(RNG(1), 2, 4)
        tenon.use_weights(sessions, [baked.weights(i) for i in range(2)])
        assert not any(session.run(None, {"x": x})[0].any() for session in sessions)
        with pytest.raises(tenon.Error, match="another plan"):
            tenon.use_weights(sessions, [artifact.weights(0), compiled(lookup(1)).weights()])
        assert not any(session.run(None, {"x": x})[0].any() for session in sessions)
        with pytest.raises(ValueError, match="2 sessions and 1 sets"):
            tenon.use_weights(sessions, [baked.weights(0)])
        with pytest.raises(tenon.Error, match="given twice"):
            tenon.use_weights([sessions[0], sessions[0]], [baked.weights(0)] * 2)


class TestFolders:
    def test_each_model_has_files_of_its_own(self, tmp_path):
        paths = [external(product(seed), str(tmp_path / "old" / f"{name}.onnx")) for name, seed in (("a", 1), ("b", 2))]
        for name, seed in (("a", 3), ("b", 4)):
            external(product(seed), str(tmp_path / "new" / f"{name}.onnx"))
        x = floats(RNG(5), 2, 4)
        weights = [initializers(product(seed))["W"] for seed in (3, 4)]
        artifact = tenon.compile(paths)
        for sessions in ([artifact.session(i) for i in range(2)], [tenon.compile(p).session() for p in paths],
                         [tenon.InferenceSession(p) for p in paths]):
            sessions[0].set_weights(tmp_path / "new")
            assert_product(sessions[0].run(None, {"x": x})[0], x, weights[0])
            tenon.set_weights(sessions, tmp_path / "new")
            for session, w in zip(sessions, weights):
                assert_product(session.run(None, {"x": x})[0], x, w)
        baked, _ = artifact.bake(tmp_path / "new")
        for i in range(2):
            assert_product(baked.session(i).run(None, {"x": x})[0], x, weights[i])

    def test_files_that_name_their_tensors_are_read_by_name(self, tmp_path):
        for folder in ("old", "new"):
            (tmp_path / folder).mkdir()
        onnx.save(made("gemm_norm", 1), tmp_path / "old" / "m.onnx")
        tuned = made("gemm_norm", 2)
        tuned.doc_string = "its tensors lie elsewhere"
        onnx.save(tuned, tmp_path / "new" / "m.onnx")
        session = tenon.compile(tmp_path / "old" / "m.onnx").session()
        session.set_weights(tmp_path / "new")
        feeds = feed(tuned, RNG(3))
        same(outputs(session, feeds), outputs(compiled(tuned).session(), feeds))

    def test_some_of_the_files(self, tmp_path):
        net = made("matmul_norm", 1)
        (tmp_path / "old").mkdir()
        onnx.save(net, tmp_path / "old" / "m.onnx", save_as_external_data=True, all_tensors_to_one_file=False,
                  size_threshold=0)
        net = made("matmul_norm", 1)
        name = net.graph.initializer[0].name
        (tmp_path / "new").mkdir()
        (tmp_path / "new" / name).write_bytes(np.zeros_like(initializers(net)[name]).tobytes())
        session = tenon.compile(tmp_path / "old" / "m.onnx", sources="embed").session()
        with pytest.raises(tenon.Error, match="missing: "):
            session.set_weights(tmp_path / "new")
        assert session.set_weights(tmp_path / "new", partial=True)["replaced"] == [name]
        (tmp_path / "empty").mkdir()
        with pytest.raises(tenon.Error, match="none of the files"):
            session.set_weights(tmp_path / "empty", partial=True)

    def test_files_that_are_too_short_are_all_named(self, tmp_path):
        net = made("matmul_norm", 1)
        names = [t.name for t in net.graph.initializer]
        for folder in ("old", "new"):
            (tmp_path / folder).mkdir()
            onnx.save(made("matmul_norm", 1), tmp_path / folder / "m.onnx", save_as_external_data=True,
                      all_tensors_to_one_file=False, size_threshold=0)
        for name in names[:2]:
            (tmp_path / "new" / name).write_bytes(b"1")
        session = tenon.compile(tmp_path / "old" / "m.onnx").session()
        with pytest.raises(tenon.Error) as refused:
            session.set_weights(tmp_path / "new")
        for name in names[:2]:
            assert f"unreadable: '{name}'" in str(refused.value)


class TestRefusalsOfGroups:
    def test_all_models_are_named_at_once(self):
        artifact = group(product(1, "u"), product(2, "v"))
        with pytest.raises(tenon.Error) as refused:
            tenon.set_weights([artifact.session(0), artifact.session(1)],
                              {"u": np.zeros(3, np.float32), "v": np.zeros((4, 4))})
        assert "shape: 'u'" in str(refused.value) and "element type: 'v'" in str(refused.value)


class TestSourcesThatFollow:
    """Weights that were set are drawn on by the next partial swap, where their file can be found."""

    @pytest.mark.parametrize("kind", ["npz", "safetensors", "onnx"])
    def test_the_new_file_is_named(self, kind, tmp_path):
        a, b = made("gemm_norm", 1), made("gemm_norm", 2)
        onnx.save(a, tmp_path / "a.onnx")
        source = tmp_path / f"b.{kind}"
        if kind == "npz":
            np.savez(source, **initializers(b))
        elif kind == "onnx":
            onnx.save(b, source)
        else:
            compiled(b, sources="embed").export(source)
        baked, _ = tenon.compile(tmp_path / "a.onnx").bake(source)
        (path,) = baked.save(tmp_path)
        places = {s["name"]: (s["place"], s["file"]) for s in tenon.Artifact.load(path).describe("sources")["sources"]}
        assert ("file", source.name) in places.values()
        name = next(name for name, place in places.items() if place == ("file", source.name))
        session = tenon.InferenceSession(path)
        session.set_weights({name: initializers(a)[name]}, partial=True)
        source.rename(tmp_path / "gone")
        with pytest.raises(tenon.Error, match="absent: "):
            tenon.InferenceSession(path).set_weights({name: initializers(a)[name]}, partial=True)

    def test_links_into_a_folder_of_blobs(self, tmp_path):
        (tmp_path / "blobs").mkdir()
        (tmp_path / "snapshot").mkdir()
        net = made("gemm_norm", 1)
        onnx.save(net, tmp_path / "blobs" / "0123")
        (tmp_path / "snapshot" / "m.onnx").symlink_to("../blobs/0123")
        (path,) = tenon.compile(tmp_path / "snapshot" / "m.onnx").save(tmp_path / "snapshot")
        artifact = tenon.Artifact.load(path)
        assert artifact.verify()["without_sources"] == 0
        artifact.export(tmp_path / "w.safetensors")


class TestConstantsOfNodes:
    def net(self, value=1.0):
        constant = node("Constant", [], ["c"], value=numpy_helper.from_array(np.full(4, value, np.float32), "c"))
        return model([constant, node("Add", ["x", "c"], ["s"]), node("Mul", ["s", "w"], ["y"])],
                     [("x", FLOAT, [2, 4])], [("y", FLOAT, None)], [weight("w", np.ones(4, np.float32))])

    def test_they_are_there_when_weights_are_not(self, tmp_path):
        x = floats(RNG(1), 2, 4)
        for empty in (compiled(self.net(), defer_weights=True), compiled(self.net()).strip()):
            (path,) = empty.save(tmp_path / str(id(empty)))
            for artifact in (empty, tenon.Artifact.load(path)):
                session = artifact.session()
                report = session.set_weights({"w": np.full(4, 2, np.float32)})
                assert (report["replaced"], report["kept"], report["open"]) == (["w"], ["c"], [])
                np.testing.assert_array_equal(session.run(None, {"x": x})[0], (x + 1) * 2)


class TestDeferred:
    def test_the_files_of_weights_need_not_be_there(self, tmp_path):
        path = external(product(1), str(tmp_path / "m.onnx"))
        os.remove(f"{path}.data")
        artifact = tenon.compile(path, defer_weights=True)
        (saved,) = artifact.save(tmp_path)
        session = tenon.InferenceSession(saved)
        new = initializers(product(2))["W"]
        session.set_weights({"W": new})
        x = floats(RNG(5), 2, 4)
        assert_product(session.run(None, {"x": x})[0], x, new)

    def test_what_is_missing_is_named(self):
        session = group(product(1)).strip().session()
        with pytest.raises(tenon.Error, match="set these first: 'W'"):
            session.run(None, {"x": floats(RNG(5), 2, 4)})

    def test_stripped_weights_are_gone_in_memory_too(self, tmp_path):
        for empty in (group(product(1)).strip(), tenon.compile(product(1).SerializeToString(), defer_weights=True)):
            with pytest.raises(tenon.Error, match="not kept"):
                empty.export(tmp_path / "w.safetensors")


class TestFoldersOfArtifacts:
    @pytest.mark.parametrize("ending", ["/", "//", "/."])
    def test_spellings_of_a_new_folder(self, ending, tmp_path):
        (path,) = group(product(1)).save(f"{tmp_path}/new{ending}")
        assert os.path.exists(path) and sorted(os.listdir(tmp_path)) == ["new"]

    def test_changes_alone_need_the_rest_beside_them(self, tmp_path):
        artifact = group(product(1), product(2, "V"))
        artifact.save(tmp_path / "here")
        loaded = tenon.Artifact.load(tmp_path / "here" / "a_ctx.onnx", tmp_path / "here" / "b_ctx.onnx")
        baked, _ = loaded.bake({"V": np.zeros((4, 4), np.float32)}, partial=True)
        with pytest.raises(tenon.Error, match="save all models in its folder"):
            baked.save(tmp_path / "there", only_changes=True)
        assert not (tmp_path / "there").exists()
        baked.save(tmp_path / "here", overwrite=True, only_changes=True)


def test_products_of_constants_are_computed_once():
    nodes = [node("MatMul", ["a", "b"], ["ab"]), node("Add", ["w", "ab"], ["sum"]), node("MatMul", ["x", "sum"], ["y"])]
    shapes = {"w": (8, 8), "a": (8, 2), "b": (2, 8)}

    def adapted(seed):
        weights = [weight(name, floats(RNG(seed), *shape)) for name, shape in shapes.items()]
        return model(nodes, [("x", FLOAT, [2, 8])], [("y", FLOAT, None)], weights)

    artifact = compiled(adapted(1))
    assert [step["kernel"] for step in artifact.describe("plan")["plan"][0]["steps"]] == ["cpu/PackedMatMul"]
    session = artifact.session()
    session.set_weights(initializers(adapted(2)))
    feeds = {"x": floats(RNG(3), 2, 8)}
    same(outputs(session, feeds), outputs(compiled(adapted(2)).session(), feeds))


def test_weights_given_with_a_session_decide_too(tmp_path):
    onnx.save(clipped(1, True), tmp_path / "m.onnx")
    options = tenon.SessionOptions()
    bound = tenon.OrtValue.ortvalue_from_numpy(np.full(1, 0.25, np.float32))
    options.add_initializer("hi", bound)
    x = floats(RNG(2), 2, 4)
    got = tenon.InferenceSession(tmp_path / "m.onnx", options).run(None, {"x": x})[0]
    assert_product(got, x, floats(RNG(1), 4, 4), lambda y: np.clip(y, 0, 0.25))


class TestNpz:
    def test_arrays_that_cannot_be_read_matter_only_when_wanted(self, tmp_path):
        new = np.zeros((4, 4), np.float32)
        np.savez(tmp_path / "w.npz", W=new, thing=np.array([{"an": "object"}], dtype=object))
        session = group(product(1)).session()
        assert session.set_weights(tmp_path / "w.npz")["replaced"] == ["W"]
        np.savez(tmp_path / "v.npz", W=np.array([{"an": "object"}], dtype=object))
        with pytest.raises(tenon.Error, match="unreadable: 'W'.*v.npz"):
            session.set_weights(tmp_path / "v.npz")

    def test_bfloat16(self, tmp_path):
        import ml_dtypes

        nodes = [node("Cast", ["w"], ["f"], to=FLOAT), node("MatMul", ["x", "f"], ["y"])]
        new = floats(RNG(1), 4, 4).astype(ml_dtypes.bfloat16)
        net = model(nodes, [("x", FLOAT, [2, 4])], [("y", FLOAT, None)], [weight("w", new)])
        np.savez(tmp_path / "w.npz", w=(new * 2).astype(ml_dtypes.bfloat16))
        session = compiled(net).session()
        session.set_weights(tmp_path / "w.npz")
        x = floats(RNG(5), 2, 4)
        assert_product(session.run(None, {"x": x})[0], x, new.astype(np.float32) * 2)


def test_files_that_are_no_weights(tmp_path):
    session = group(product(1)).session()
    (tmp_path / "empty.safetensors").write_bytes(b"")
    with pytest.raises(tenon.Error, match="is empty"):
        session.set_weights(tmp_path / "empty.safetensors", partial=True)


def test_files_may_be_copied(tmp_path):
    net, tuned = lookup(1), lookup(2)
    compiled(tuned, sources="embed").export(tmp_path / "w.safetensors")
    session = compiled(net).session()
    session.set_weights(tmp_path / "w.safetensors", map=False)
    with open(tmp_path / "w.safetensors", "r+b") as file:
        size = os.path.getsize(tmp_path / "w.safetensors")
        file.seek(size - 40 * 12 * 4)
        file.write(bytes(40 * 12 * 4))
    ids = np.array([1, 2])
    np.testing.assert_array_equal(session.run(None, {"ids": ids})[0], initializers(tuned)["e"][ids])


def test_sessions_open_compiled_models_as_they_are_told(tmp_path):
    onnx.save(made("gemm_norm", 1), tmp_path / "m.onnx")
    (path,) = tenon.compile(tmp_path / "m.onnx").save(tmp_path / "out")
    options = tenon.SessionOptions()
    options.add_session_config_entry(f"tenon.source_dir:{tmp_path}", "1")
    options.add_session_config_entry("tenon.verify_weights", "1")
    weight_name = made("gemm_norm", 1).graph.initializer[0].name
    new = {weight_name: initializers(made("gemm_norm", 2))[weight_name]}
    with pytest.raises(tenon.Error, match="absent: "):
        tenon.InferenceSession(path).set_weights(new, partial=True)
    tenon.InferenceSession(path, options).set_weights(new, partial=True)
    (weights,) = (tmp_path / "out").glob("*.bin")
    data = bytearray(weights.read_bytes())
    data[4096] ^= 1
    weights.write_bytes(data)
    tenon.InferenceSession(path)
    with pytest.raises(tenon.Error, match="packed"):
        tenon.InferenceSession(path, options)
    with pytest.raises(tenon.Error, match="unknown option"):
        tenon.InferenceSession(tmp_path / "m.onnx", options)
