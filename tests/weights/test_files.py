"""Artifacts as files: mapped, shared, replaced while in use, damaged."""

import os
import subprocess
import sys
import threading

import numpy as np
import onnx
import pytest

import tenon

from .test_swap import compiled, made, outputs, same
from .zoo import ZOO, feed, floats, model, node, weight

FLOAT = onnx.TensorProto.FLOAT


def one(tmp_path, name="conv_norm_relu", seed=1, **options):
    """A saved artifact: context file, weights file, the model."""
    net = made(name, seed)
    path = compiled(net, **options).save(tmp_path)[0]
    [weights] = [p for p in os.listdir(tmp_path) if p.endswith(".bin")]
    return path, os.path.join(tmp_path, weights), net


def rewrite(path, data):
    """As files must be replaced: by rename."""
    with open(f"{path}.new", "wb") as file:
        file.write(data)
    os.replace(f"{path}.new", path)


class TestContextFile:
    @pytest.mark.parametrize("name", ZOO)
    def test_is_the_model_to_others(self, name, tmp_path):
        path, weights, net = one(tmp_path, name)
        context = onnx.load(path)
        onnx.checker.check_model(context, full_check=True)
        inputs = [v for v in net.graph.input if net.ir_version >= 4 or v.name not in {t.name for t in net.graph.initializer}]
        assert list(context.graph.input) == inputs
        assert list(context.graph.output) == list(net.graph.output)
        [only] = context.graph.node
        attributes = {a.name: onnx.helper.get_attribute_value(a) for a in only.attribute}
        assert (only.op_type, only.domain) == ("EPContext", "com.microsoft")
        assert attributes["source"] == b"tenon" and attributes["embed_mode"] == 0
        assert attributes["ep_cache_context"].decode() == os.path.basename(weights)

    def test_metadata_stays(self, tmp_path):
        net = made("gemm_norm", 1)
        net.producer_name, net.doc_string, net.domain, net.model_version = "somebody", "about it", "here", 7
        entry = net.metadata_props.add()
        entry.key, entry.value = "author", "she"
        path = compiled(net).save(tmp_path)[0]
        meta = tenon.InferenceSession(path).get_modelmeta()
        assert (meta.producer_name, meta.description, meta.domain, meta.version) == ("somebody", "about it", "here", 7)
        assert meta.custom_metadata_map == {"author": "she"}

    def test_embedded(self, tmp_path):
        net = made("gemm_norm", 1)
        feeds = feed(net, np.random.default_rng(2))
        path = compiled(net).save(tmp_path, embed=True)[0]
        assert os.listdir(tmp_path) == [os.path.basename(path)]
        expected = outputs(compiled(net).session(), feeds)
        same(outputs(tenon.InferenceSession(path), feeds), expected)
        with open(path, "rb") as file:
            same(outputs(tenon.InferenceSession(file.read()), feeds), expected)

    def test_symbolic_dims(self, tmp_path):
        path, _, _ = one(tmp_path)
        session = tenon.InferenceSession(path)
        assert session.get_inputs()[0].shape == ["batch", 3, "h", "v"]
        for batch, h, v in ((1, 3, 3), (2, 5, 4), (1, 3, 3)):
            x = floats(np.random.default_rng(1), batch, 3, h, v)
            assert session.run(None, {"x": x})[0].shape == (batch, 20, h, v)


class TestFilesInUse:
    def test_replaced_while_mapped(self, tmp_path):
        path, weights, net = one(tmp_path)
        feeds = feed(net, np.random.default_rng(2))
        session = tenon.InferenceSession(path)
        fresh = tenon.InferenceSession(path)
        before = outputs(session, feeds)
        other = made("conv_norm_relu", 5)
        compiled(other).save(tmp_path, overwrite=True)
        assert not os.path.exists(weights), "nothing names the old weights file any more"
        same(outputs(session, feeds), before)
        same(outputs(fresh, feeds), before)
        same(outputs(tenon.InferenceSession(path), feeds), outputs(compiled(other).session(), feeds))

    def test_any_order_of_opening_and_closing(self, tmp_path):
        nets = {name: made(name, 1) for name in ("gemm_norm", "matmul_norm")}
        artifact = tenon.compile([net.SerializeToString() for net in nets.values()], list(nets))
        paths = dict(zip(artifact.models, artifact.save(tmp_path)))
        feeds = {name: feed(net, np.random.default_rng(2)) for name, net in nets.items()}
        expected = {name: outputs(artifact.session(name), feeds[name]) for name in nets}
        first = tenon.InferenceSession(paths["gemm_norm"])
        second = tenon.InferenceSession(paths["matmul_norm"])
        del first
        same(outputs(second, feeds["matmul_norm"]), expected["matmul_norm"])
        third = tenon.InferenceSession(paths["gemm_norm"])
        del second
        same(outputs(third, feeds["gemm_norm"]), expected["gemm_norm"])

    def test_threads(self, tmp_path):
        path, _, net = one(tmp_path)
        feeds = feed(net, np.random.default_rng(2))
        expected = outputs(tenon.InferenceSession(path), feeds)
        wrong = []

        def work():
            for _ in range(20):
                got = outputs(tenon.InferenceSession(path), feeds)
                wrong.extend(a.tobytes() != b.tobytes() for a, b in zip(got, expected) if a.tobytes() != b.tobytes())

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong

    def test_processes_share_pages(self, tmp_path):
        """What two processes read of one weights file is in memory once."""
        size = 1500
        rng = np.random.default_rng(1)
        net = model([node("MatMul", ["x", "w"], ["y"])], [("x", FLOAT, ["batch", size])], [("y", FLOAT, None)],
                    [weight("w", floats(rng, size, size))])
        path = compiled(net).save(tmp_path)[0]
        code = f"""
import numpy, os, sys, tenon
session = tenon.InferenceSession({path!r})
session.run(None, {{"x": numpy.ones((1, {size}), numpy.float32)}})
print("ready", flush=True); sys.stdin.readline()
size = shared = 0
with open("/proc/self/smaps") as file:
    inside = False
    for line in file:
        if "-" in line.split()[0]: inside = line.rstrip().endswith(".bin")
        elif inside and line.startswith("Rss:"): size += int(line.split()[1])
        elif inside and line.startswith("Pss:"): shared += int(line.split()[1])
print(size, shared, flush=True); sys.stdin.readline()
"""
        children = [subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
                    for _ in range(2)]
        for child in children:
            assert child.stdout.readline() == "ready\n"
        for child in children:
            child.stdin.write("\n")
            child.stdin.flush()
        for child in children:
            rss, pss = map(int, child.stdout.readline().split())
            assert rss > size * size * 4 // 1024 * 0.9
            assert pss < rss * 0.6
        for child in children:
            child.communicate("\n")


class TestDamage:
    def test_every_flipped_byte_of_the_weights(self, tmp_path):
        path, weights, net = one(tmp_path, "matmul_norm")
        data = open(weights, "rb").read()
        assert len(data) < 40_000
        for at in range(0, len(data), 1 if len(data) < 12_000 else 3):
            rewrite(weights, data[:at] + bytes([data[at] ^ 0x41]) + data[at + 1:])
            with pytest.raises(tenon.Error):
                tenon.Artifact.load(path, verify_weights=True)

    def test_every_flipped_byte_of_the_context(self, tmp_path):
        """A damaged context file is refused, or differs in words only."""
        path, _, net = one(tmp_path, "matmul_norm")
        data = open(path, "rb").read()
        feeds = feed(net, np.random.default_rng(2))
        expected = outputs(tenon.InferenceSession(path), feeds)
        for at in range(len(data)):
            rewrite(path, data[:at] + bytes([data[at] ^ 0x41]) + data[at + 1:])
            try:
                session = tenon.Artifact.load(path, verify_weights=True).session()
                got = session.run(None, {arg.name: feeds["x"] for arg in session.get_inputs()})
            except tenon.Error:
                continue
            same([np.asarray(v) for v in got], expected)

    def test_truncated(self, tmp_path):
        path, weights, _ = one(tmp_path)
        data = open(weights, "rb").read()
        for length in (0, 10, 63, 384, 4096, len(data) // 2, len(data) - 1):
            rewrite(weights, data[:length])
            with pytest.raises(tenon.Error, match="shared|model|bytes|file"):
                tenon.Artifact.load(path)

    def test_weights_of_another_model(self, tmp_path):
        (tmp_path / "a").mkdir()
        (tmp_path / "b").mkdir()
        path, weights, _ = one(tmp_path / "a")
        _, others, _ = one(tmp_path / "b", seed=2)
        rewrite(weights, open(others, "rb").read())
        with pytest.raises(tenon.Error, match="is not the one the model was compiled with"):
            tenon.InferenceSession(path)

    def test_missing_weights(self, tmp_path):
        path, weights, _ = one(tmp_path)
        os.remove(weights)
        with pytest.raises(tenon.Error, match=os.path.basename(weights)):
            tenon.InferenceSession(path)

    def test_packed_bytes_are_found_by_verification(self, tmp_path):
        path, weights, _ = one(tmp_path, "gemm_norm")
        data = bytearray(open(weights, "rb").read())
        data[4096 + 5] ^= 1
        rewrite(weights, bytes(data))
        artifact = tenon.Artifact.load(path)
        with pytest.raises(tenon.Error):
            artifact.verify()


class TestOnlyRegularFilesAreReplaced:
    @pytest.fixture(params=["link", "pipe", "folder"])
    def taken(self, request, tmp_path):
        path = tmp_path / "taken.onnx"
        if request.param == "link":
            (tmp_path / "target").write_text("mine")
            path.symlink_to("target")
        elif request.param == "pipe":
            os.mkfifo(path)
        else:
            path.mkdir()
        words = {"link": "is a symbolic link", "pipe": "is a named pipe", "folder": "is a folder"}
        return path, words[request.param]

    def test_by_models_and_artifacts(self, taken, tmp_path):
        path, words = taken
        before, names = path.lstat().st_mode, sorted(os.listdir(tmp_path))
        artifact = compiled(made("conv_norm_relu", 1))
        for write in (lambda: tenon.Model.load(made("conv_norm_relu", 1).SerializeToString()).save(path),
                      lambda: artifact.save(tmp_path, [path.name], overwrite=True),
                      lambda: artifact.export(path)):
            with pytest.raises(tenon.Error, match=words):
                write()
        assert path.lstat().st_mode == before and sorted(os.listdir(tmp_path)) == names


def test_weights_that_a_damaged_file_may_need_stay_with_a_warning(tmp_path):
    path, weights, _ = one(tmp_path)
    with open(tmp_path / "other_ctx.onnx", "wb") as file:
        file.write(b"\x08\x0a\x3a\xff")
    with pytest.warns(RuntimeWarning, match="stays in .* cannot be read: .*other_ctx.onnx"):
        compiled(made("conv_norm_relu", 2)).save(tmp_path, [os.path.basename(path)], overwrite=True)
    assert os.path.exists(weights)
