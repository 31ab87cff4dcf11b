"""tenon weights: list, set, strip, export; inspect and verify of compiled models."""

import json
import os

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from . import models
from .conftest import CANNOT_LOAD, DONE, FAILED, USAGE
from .test_compile import flags, names_in, outputs_of, weights_file
from .test_compile_faults import unstable


@pytest.fixture
def conv(tmp_path, tenon):
    path = models.convolution(tmp_path / "conv.onnx")
    assert tenon("compile", "-m", path).code == DONE
    return path


@pytest.fixture
def tuned(tmp_path):
    return models.convolution(tmp_path / "tuned.onnx", seed=5)


@pytest.fixture
def group(tenon, tmp_path):
    """Two heads on one backbone, compiled together into the folder out."""
    paths = [models.head(tmp_path / f"{name}.onnx", name) for name in ("cat", "dog")]
    assert tenon("compile", *flags(paths), "--output-dir", "out").code == DONE
    return paths


def tensors_of(path):
    return {t.name: numpy_helper.to_array(t).copy() for t in onnx.load(path).graph.initializer}


def load_safetensors(path):
    content = path.read_bytes()
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:start])
    header.pop("__metadata__", None)
    return {name: np.frombuffer(content[start + entry["data_offsets"][0]:start + entry["data_offsets"][1]],
                                {"F32": np.float32}[entry["dtype"]]).reshape(entry["shape"])
            for name, entry in header.items()}


def save_safetensors(tensors, path):
    header, data = {}, b""
    for name, array in tensors.items():
        header[name] = {"dtype": {"float32": "F32"}[str(array.dtype)], "shape": array.shape,
                        "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def write(path, tensors):
    if path.suffix == ".npz":
        np.savez(path, **tensors)
    else:
        save_safetensors(tensors, path)
    return path


class TestList:
    def test_of_a_compiled_model(self, tenon, conv):
        (listed,) = tenon("weights", "list", "conv_ctx.onnx", "--format", "json").json["groups"]
        entries = {w["name"]: w for w in listed["weights"]}
        assert set(entries) == {"w", "b", "scale", "shift", "mean", "variance"}
        assert entries["w"]["shape"] == [4, 3, 3, 3] and entries["w"]["bytes"] == 432
        assert entries["scale"]["packed"] == 2 and entries["w"]["packed"] == 1
        assert all(w["swappable"] and w["models"] == ["conv"] for w in listed["weights"])
        text = tenon("weights", "list", "conv_ctx.onnx").out
        assert "can be set" in text and "variance" in text

    def test_of_a_source_model_has_the_same_hashes(self, tenon, conv):
        (source,) = tenon("weights", "list", conv, "--format", "json").json["groups"]
        (made,) = tenon("weights", "list", "conv_ctx.onnx", "--format", "json").json["groups"]
        hashes = [{w["name"]: w["hash"] for w in group["weights"]} for group in (source, made)]
        assert hashes[0] == hashes[1]

    def test_of_a_folder(self, tenon, group):
        (listed,) = tenon("weights", "list", "out", "--format", "json").json["groups"]
        assert len(listed["paths"]) == 2
        entries = {w["name"]: w for w in listed["weights"]}
        assert entries["backbone.0"]["models"] == ["cat", "dog"] and entries["cat.w"]["models"] == ["cat"]

    def test_says_why_a_weight_cannot_be_set(self, tenon, conv):
        tenon("compile", "-m", conv, "--pin", "w", "--overwrite")
        (listed,) = tenon("weights", "list", "conv_ctx.onnx", "--format", "json").json["groups"]
        (w,) = [w for w in listed["weights"] if w["name"] == "w"]
        assert not w["swappable"] and w["guards"][0]["property"] == "pinned"
        assert "no: pinned" in tenon("weights", "list", "conv_ctx.onnx").out


    def test_says_when_the_file_of_a_weight_is_missing(self, tenon, conv, tmp_path):
        def listed(*more):
            (group,) = tenon("weights", "list", "far/conv_ctx.onnx", *more, "--format", "json").json["groups"]
            return {w["name"]: (w["place"], w["found"]) for w in group["weights"]}

        tenon("compile", "-m", conv, "--output-dir", "far")
        assert listed()["w"] == ("file", False) and listed("--source-dir", ".")["w"] == ("file", True)
        assert "file, not found: conv.onnx" in tenon("weights", "list", "far/conv_ctx.onnx").out
        assert "not found" not in tenon("weights", "list", "conv_ctx.onnx").out

    def test_counts_shared_entries_once(self, tenon, group):
        (listed,) = tenon("weights", "list", "out", "--format", "json").json["groups"]
        assert {w["name"]: w["packed"] for w in listed["weights"]} == dict.fromkeys(
            ["backbone.0", "backbone.1", "cat.w", "dog.w"], 1)


@pytest.mark.parametrize("arguments", [["weights", "list", "conv_ctx.onnx"], ["verify", "conv_ctx.onnx"], ["verify", "."],
                                       ["weights", "export", "conv_ctx.onnx", "-o", "w.safetensors"],
                                       ["weights", "set", "conv_ctx.onnx", "--from", "conv.onnx", "-o", "n_ctx.onnx"]])
def test_source_folders_must_be_there(tenon, conv, arguments):
    result = tenon(*arguments, "--source-dir", "nosuch")
    assert result.code == USAGE and "--source-dir: the folder 'nosuch' does not exist" in result.err


class TestSet:
    @pytest.mark.parametrize("suffix", [".onnx", ".safetensors", ".npz"])
    def test_is_as_if_compiled_with_the_new_weights(self, tenon, conv, tuned, tmp_path, suffix):
        source = tuned if suffix == ".onnx" else write(tmp_path / f"new{suffix}", tensors_of(tuned))
        result = tenon("weights", "set", "conv_ctx.onnx", "--from", source, "-o", "new_ctx.onnx", "--format", "json")
        assert result.code == DONE, result.err
        (report,) = result.json["groups"]
        assert len(report["replaced"]) == 6 and report["kept"] == report["ignored"] == report["not_finite"] == []
        expected = outputs_of(tenon, tuned, tmp_path)
        assert np.array_equal(expected["y"], outputs_of(tenon, "new_ctx.onnx", tmp_path)["y"])
        assert not np.array_equal(expected["y"], outputs_of(tenon, "conv_ctx.onnx", tmp_path)["y"])
        assert tenon("verify", "new_ctx.onnx").code == DONE

    def test_partial(self, tenon, conv, tmp_path):
        shift = np.arange(4, dtype=np.float32)
        source = write(tmp_path / "new.safetensors", {"shift": shift, "unknown": shift})
        result = tenon("weights", "set", "conv_ctx.onnx", "--from", source, "-o", "new_ctx.onnx", "--format", "json")
        assert result.code == DONE, result.err
        (report,) = result.json["groups"]
        assert report["replaced"] == ["shift"] and report["ignored"] == ["unknown"]
        assert len(report["kept"]) == 5 and (report["slots_redone"], report["slots"]) == (1, 2)
        model = onnx.load(conv)
        for t in model.graph.initializer:
            if t.name == "shift":
                t.CopyFrom(numpy_helper.from_array(shift, "shift"))
        onnx.save(model, tmp_path / "expected.onnx")
        expected = outputs_of(tenon, "expected.onnx", tmp_path)
        assert np.array_equal(expected["y"], outputs_of(tenon, "new_ctx.onnx", tmp_path)["y"])

    def test_only(self, tenon, conv, tuned):
        result = tenon("weights", "set", "conv_ctx.onnx", "--from", tuned, "--only", "b", "--only", "mean", "-o",
                       "new_ctx.onnx", "--format", "json")
        assert result.code == DONE and result.json["groups"][0]["replaced"] == ["b", "mean"]

    def test_every_mistake_is_listed_and_nothing_written(self, tenon, conv, tmp_path):
        tensors = {"w": np.zeros((4, 3, 3, 2), np.float32), "b": np.zeros(4, np.float64),
                   "extra": np.zeros(1, np.float32), "mean": np.zeros(4, np.float32)}
        source = write(tmp_path / "new.npz", tensors)
        before = names_in(tmp_path)
        result = tenon("weights", "set", "conv_ctx.onnx", "--from", source, "-o", "new_ctx.onnx", "--strict")
        assert (result.code, result.out) == (FAILED, "")
        for part in ("shape: 'w'", "element type: 'b'", "extra: 'extra'"):
            assert part in result.err
        assert names_in(tmp_path) == before
        result = tenon("weights", "set", "conv_ctx.onnx", "--from", source, "-o", "new_ctx.onnx", "--only", "nix")
        assert result.code == FAILED and "'nix'" in result.err

    def test_not_finite_is_said(self, tenon, conv, tmp_path):
        source = write(tmp_path / "new.safetensors", {"b": np.array([1, np.inf, 0, np.nan], np.float32)})
        result = tenon("weights", "set", "conv_ctx.onnx", "--from", source, "-o", "new_ctx.onnx")
        assert result.code == DONE and "'b'" in result.err and "finite" in result.err

    def test_other_attributes_are_said(self, tenon, conv, tuned, tmp_path):
        model = onnx.load(tuned)
        (normalization,) = [node for node in model.graph.node if node.op_type == "BatchNormalization"]
        del normalization.attribute[:]
        normalization.attribute.append(onnx.helper.make_attribute("epsilon", 0.5))
        onnx.save(model, tuned)
        result = tenon("weights", "set", "conv_ctx.onnx", "--from", tuned, "-o", "new_ctx.onnx")
        assert result.code == DONE and "'epsilon' stays" in result.err and "it is 0.5;" in result.err
        result = tenon("weights", "set", "conv_ctx.onnx", "--from", tuned, "-o", "json_ctx.onnx", "--format", "json")
        (report,) = result.json["groups"]
        assert len(report["warnings"]) == 1 and "tuned.onnx" in report["warnings"][0]

    def test_only_what_changed_is_written_beside_a_full_file_elsewhere(self, tenon, tmp_path):
        path = models.step(tmp_path / "m.onnx", 4)
        tenon("compile", "-m", path, "--output-dir", "out")
        old = weights_file(tmp_path / "out")
        source = write(tmp_path / "new.npz", {"bias": np.ones(16, np.float32)})
        result = tenon("weights", "set", "out/m_ctx.onnx", "--from", source, "-o", "out/n_ctx.onnx", "--format", "json")
        assert result.code == DONE, result.err
        (report,) = result.json["groups"]
        assert report["bytes"] < old.stat().st_size - 4000
        assert tenon("verify", "out").code == DONE
        assert tenon("weights", "set", "out/m_ctx.onnx", "--from", source, "--output-dir", "new").code == DONE
        assert weights_file(tmp_path / "new").stat().st_size > report["bytes"] + 4000
        outputs = [outputs_of(tenon, p, tmp_path)["y"] for p in ("out/n_ctx.onnx", "new/m_ctx.onnx")]
        assert np.array_equal(*outputs)

    def test_group_in_place(self, tenon, group, tmp_path):
        new = models.head(tmp_path / "new.onnx", "cat", backbone_seed=8)
        old = weights_file(tmp_path / "out").name
        result = tenon("weights", "set", "out", "--from", new, "--in-place", "--format", "json")
        assert result.code == DONE, result.err
        (report,) = result.json["groups"]
        assert report["replaced"] == ["backbone.0", "backbone.1", "cat.w"] and report["kept"] == ["dog.w"]
        assert report["ignored"] == []
        assert report["weights_file"] != old and report["weights_file"].startswith("shared-")
        assert tenon("verify", "out").code == DONE
        models.head(tmp_path / "dog.onnx", "dog", backbone_seed=8)
        for source, made in (("new.onnx", "out/cat_ctx.onnx"), ("dog.onnx", "out/dog_ctx.onnx")):
            expected = outputs_of(tenon, source, tmp_path)
            assert np.array_equal(expected["y"], outputs_of(tenon, made, tmp_path)["y"])

    def test_group_refusals_count_for_all_models(self, tenon, group, tmp_path):
        bad = {"backbone.0": np.zeros((1, 1), np.float32), "cat.w": np.zeros(1, np.float32), "dog.w": np.zeros(2, np.float32)}
        source = write(tmp_path / "new.npz", bad)
        before = {name: (tmp_path / "out" / name).read_bytes() for name in names_in(tmp_path / "out")}
        result = tenon("weights", "set", "out", "--from", source, "--in-place")
        assert result.code == FAILED
        for name in bad:
            assert f"'{name}'" in result.err
        assert before == {name: (tmp_path / "out" / name).read_bytes() for name in names_in(tmp_path / "out")}

    def test_strict_in_a_group_looks_at_all_models(self, tenon, group, tmp_path):
        source = write(tmp_path / "new.npz", {"cat.w": np.zeros((8, 5), np.float32)})
        assert tenon("weights", "set", "out", "--from", source, "--strict", "--only", "cat.w", "--in-place").code == DONE

    def test_shared_entries_count_once(self, tenon, group, tmp_path):
        new = models.head(tmp_path / "new.onnx", "cat", backbone_seed=8)
        (report,) = tenon("weights", "set", "out", "--from", new, "--in-place", "--format", "json").json["groups"]
        (listed,) = tenon("weights", "list", "out", "--format", "json").json["groups"]
        compiled = tenon("compile", *flags([new, group[1]]), "--output-dir", "b", "--format", "json").json["group"]
        assert (report["slots"], report["slots_redone"]) == (4, 3) and len(listed["weights"]) == 4
        sizes = {t["expression"].split("(")[1].split(",")[0].split(";")[0]: t["bytes"] for t in compiled["tensors"]}
        assert report["bytes_redone"] == sum(size for name, size in sizes.items() if name != "dog.w")

    def test_a_compiled_model_is_no_source(self, tenon, conv, tuned):
        result = tenon("weights", "set", "conv_ctx.onnx", "--from", "conv_ctx.onnx", "-o", "new_ctx.onnx")
        assert result.code == FAILED and "is compiled" in result.err and "weights export" in result.err

    def test_help_says_what_a_folder_is(self, tenon):
        text = " ".join(tenon("weights", "--help").out.split())
        assert "a folder of such files" not in text and "a folder of external-data files" in text

    def test_several_files_exist(self, tenon, group, tmp_path):
        (tmp_path / "new").mkdir()
        for name in ("cat_ctx.onnx", "dog_ctx.onnx"):
            (tmp_path / "new" / name).write_text("mine")
        result = tenon("weights", "set", "out", "--from", group[0], "--output-dir", "new")
        assert result.code == FAILED and "'new/cat_ctx.onnx', 'new/dog_ctx.onnx' already exist" in result.err

    def test_embedded_stays_embedded(self, tenon, conv, tuned, tmp_path):
        tenon("compile", "-m", conv, "--embed", "--output-dir", "one")
        assert tenon("weights", "set", "one/conv_ctx.onnx", "--from", tuned, "-o", "one/new_ctx.onnx").code == DONE
        assert names_in(tmp_path / "one") == ["conv_ctx.onnx", "new_ctx.onnx"]
        expected = outputs_of(tenon, tuned, tmp_path)
        assert np.array_equal(expected["y"], outputs_of(tenon, "one/new_ctx.onnx", tmp_path)["y"])

    def test_sources_elsewhere(self, tenon, conv, tmp_path):
        tenon("compile", "-m", conv, "--output-dir", "far/away")
        source = write(tmp_path / "new.npz", {"scale": np.ones(4, np.float32)})
        result = tenon("weights", "set", "far/away/conv_ctx.onnx", "--from", source, "--in-place")
        assert result.code == FAILED and "absent: 'w'" in result.err and "--source-dir" in result.err
        result = tenon("weights", "set", "far/away/conv_ctx.onnx", "--from", source, "--in-place", "--source-dir", ".")
        assert result.code == DONE, result.err

    def test_no_file_is_replaced_without_being_asked(self, tenon, conv, tuned, tmp_path):
        (tmp_path / "new_ctx.onnx").write_text("mine")
        result = tenon("weights", "set", "conv_ctx.onnx", "--from", tuned, "-o", "new_ctx.onnx")
        assert result.code == FAILED and "--overwrite" in result.err
        assert (tmp_path / "new_ctx.onnx").read_text() == "mine"
        assert tenon("weights", "set", "conv_ctx.onnx", "--from", tuned, "-o", "new_ctx.onnx", "--overwrite").code == DONE


class TestFoldersWithSeveralGroups:
    """Every tensor is for whichever model has it."""

    @pytest.fixture
    def folder(self, tenon, tmp_path):
        for name in ("cat", "dog"):
            path = models.head(tmp_path / f"{name}.onnx", name)
            assert tenon("compile", "-m", path, "--output-dir", "out").code == DONE
        return tmp_path / "out"

    def new(self, tmp_path, **more):
        tensors = {name: np.ones((8, 5), np.float32) for name in ("cat.w", "dog.w")}
        return write(tmp_path / "new.npz", tensors | more)

    def test_extra_is_what_no_model_has(self, tenon, folder, tmp_path):
        result = tenon("weights", "set", "out", "--from", self.new(tmp_path), "--strict", "--in-place", "--format", "json")
        assert result.code == DONE, result.err
        assert [(g["replaced"], g["ignored"]) for g in result.json["groups"]] == [(["cat.w"], []), (["dog.w"], [])]
        before = {name: (folder / name).read_bytes() for name in names_in(folder)}
        source = self.new(tmp_path, cow=np.ones(1, np.float32))
        result = tenon("weights", "set", "out", "--from", source, "--strict", "--in-place")
        assert result.code == FAILED and "extra: 'cow'" in result.err and "cat.w" not in result.err
        assert before == {name: (folder / name).read_bytes() for name in names_in(folder)}
        result = tenon("weights", "set", "out", "--from", source, "--in-place", "--format", "json")
        assert all(g["ignored"] == ["cow"] for g in result.json["groups"])

    def test_only_needs_one_model_that_has_it(self, tenon, folder, tmp_path):
        before = (folder / "dog_ctx.onnx").read_bytes()
        line = ["weights", "set", "out", "--from", self.new(tmp_path), "--format", "json", "--only"]
        result = tenon(*line, "cat.w", "--in-place")
        assert result.code == DONE, result.err
        assert [g["replaced"] for g in result.json["groups"]] == [["cat.w"]]
        assert (folder / "dog_ctx.onnx").read_bytes() == before
        result = tenon(*line, "cat.w", "--output-dir", "new")
        assert result.code == DONE and {"cat_ctx.onnx", "dog_ctx.onnx"} < set(names_in(tmp_path / "new"))
        assert tenon("verify", "new").code == DONE
        result = tenon(*line, "cow.w", "--in-place")
        assert result.code == FAILED and "no model has a weight named 'cow.w'" in result.err


class TestStripAndExport:
    def test_what_is_still_open_is_not_kept(self, tenon, tmp_path):
        path = models.step(tmp_path / "m.onnx", 4)
        tenon("compile", "-m", path)
        tenon("weights", "strip", "m_ctx.onnx", "-o", "empty_ctx.onnx")
        part = write(tmp_path / "p.npz", {"bias": np.ones(16, np.float32)})
        line = ["weights", "set", "empty_ctx.onnx", "--from", part]
        (report,) = tenon(*line, "-o", "a_ctx.onnx", "--format", "json").json["groups"]
        assert (report["replaced"], report["kept"], report["still_open"]) == (["bias"], [], ["down", "up"])
        text = tenon(*line, "-o", "b_ctx.onnx").out
        assert "not set: down, up" in text and "kept:" not in text
        rest = write(tmp_path / "r.npz", {k: v for k, v in tensors_of(path).items() if k != "bias"})
        (report,) = tenon("weights", "set", "a_ctx.onnx", "--from", rest, "-o", "c_ctx.onnx", "--format", "json").json["groups"]
        assert (report["kept"], report["still_open"]) == (["bias"], [])
        assert tenon("run", "c_ctx.onnx", "--random").code == DONE

    def test_strip_then_set(self, tenon, conv, tmp_path):
        result = tenon("weights", "strip", "conv_ctx.onnx", "-o", "empty_ctx.onnx", "--format", "json")
        assert result.code == DONE and result.json["open_slots"] == 2
        assert tenon("run", "empty_ctx.onnx", "--random").code != DONE
        assert tenon("weights", "set", "empty_ctx.onnx", "--from", conv, "-o", "full_ctx.onnx").code == DONE
        expected = outputs_of(tenon, conv, tmp_path)
        assert np.array_equal(expected["y"], outputs_of(tenon, "full_ctx.onnx", tmp_path)["y"])

    @pytest.mark.parametrize("kind", ["onnx", "npz", "safetensors"])
    def test_what_was_filled_can_be_exported(self, tenon, conv, tmp_path, kind):
        expected = tensors_of(conv)
        new = conv if kind == "onnx" else write(tmp_path / f"new.{kind}", expected)
        tenon("weights", "strip", "conv_ctx.onnx", "-o", "empty_ctx.onnx")
        assert tenon("weights", "set", "empty_ctx.onnx", "--from", new, "-o", "full_ctx.onnx").code == DONE
        assert tenon("weights", "export", "full_ctx.onnx", "-o", "filled.safetensors").code == DONE
        written = load_safetensors(tmp_path / "filled.safetensors")
        assert set(written) == set(expected)
        assert all(np.array_equal(written[name], expected[name]) for name in expected)

    def test_export(self, tenon, conv, tmp_path):
        assert tenon("weights", "export", "conv_ctx.onnx", "-o", "w.safetensors").code == DONE
        written, expected = load_safetensors(tmp_path / "w.safetensors"), tensors_of(conv)
        assert set(written) == set(expected)
        assert all(np.array_equal(written[name], expected[name]) for name in expected)

    def test_export_without_sources(self, tenon, conv, tmp_path):
        tenon("compile", "-m", conv, "--sources", "none", "--output-dir", "out")
        result = tenon("weights", "export", "out/conv_ctx.onnx", "-o", "w.safetensors")
        assert result.code == FAILED and "'scale'" in result.err and not (tmp_path / "w.safetensors").exists()
        tenon("compile", "-m", conv, "--sources", "embed", "--output-dir", "all")
        assert tenon("weights", "export", "all/conv_ctx.onnx", "-o", "w.safetensors").code == DONE


@pytest.mark.parametrize("arguments, message", [
    (["show", "m.onnx"], "the actions are list, set"),
    (["lst", "m.onnx"], "did you mean 'list'"),
    (["diff", "m.onnx"], "unknown action 'diff'"),
    (["list"], "model"),
    (["list", "m.onnx", "--from", "x"], "--from does not apply to 'weights list'"),
    (["set", "m.onnx", "--in-place"], "needs --from"),
    (["set", "m.onnx", "--from", "x"], "one of --output"),
    (["set", "m.onnx", "--from", "x", "--in-place", "-o", "y"], "only one of"),
    (["set", "m.onnx", "--from", "x", "--in-place", "--overwrite"], "--overwrite"),
    (["set", ".", "--from", "x", "-o", "y"], "--output-dir"),
    (["strip", "m.onnx"], "needs --output"),
    (["export", "m.onnx", "-o", "w.bin"], ".safetensors"),
])
def test_wrong_command_lines(tenon, arguments, message):
    result = tenon("weights", *arguments)
    assert (result.code, result.out) == (USAGE, "")
    assert message in result.err


def test_models_that_are_not_compiled(tenon, linear, tmp_path):
    for arguments in (["set", linear, "--from", linear, "--in-place"], ["strip", linear, "-o", "x.onnx"],
                      ["export", linear, "-o", "w.safetensors"], ["set", "nix", "--from", linear, "--in-place"]):
        assert tenon("weights", *arguments).code == CANNOT_LOAD
    assert names_in(tmp_path) == ["linear.onnx"]


class TestInspect:
    def test_weight_program_of_both_forms_is_the_same(self, tenon, conv):
        plain = tenon("inspect", conv, "--weight-program", "--format", "json").json["weight_program"]
        made = tenon("inspect", "conv_ctx.onnx", "--weight-program", "--format", "json").json["weight_program"]
        assert plain == made
        slots = plain[0]["slots"]
        assert len(slots) == 2 and "Sqrt(Add(variance" in slots[0]["expression"]
        assert slots[0]["users"] == ["conv + norm + cut (cpu/PackedConv)"]

    def test_text(self, tenon, conv):
        result = tenon("inspect", "conv_ctx.onnx", "--weight-program", "--plan", "--kernels")
        assert result.code == DONE
        for part in ("conv.onnx", "packed", "sources", "slot 0 = PackPanels(", "used by", "cpu/PackedConv"):
            assert part in result.out

    def test_a_compiled_model_has_no_graph(self, tenon, conv):
        assert tenon("inspect", "conv_ctx.onnx", "--ops").code == USAGE


class TestVerify:
    def test_bytes_program_and_numbers(self, tenon, conv):
        document = tenon("verify", "conv_ctx.onnx", "--format", "json").json
        (checked,) = document["groups"]
        assert document["good"] and checked["checked"]["recomputed"] == checked["checked"]["packed"] == 2
        assert checked["numbers"][0]["verdict"] == "same"

    def test_against_another_model(self, tenon, conv, tuned):
        assert tenon("verify", "conv_ctx.onnx", conv).code == DONE
        assert tenon("verify", "conv_ctx.onnx", tuned).code == FAILED

    def test_every_flipped_byte_is_found(self, tenon, conv, tmp_path):
        path = weights_file(tmp_path)
        content = path.read_bytes()
        for position in range(0, len(content), 487):
            damaged = bytearray(content)
            damaged[position] ^= 0x10
            os.unlink(path)
            path.write_bytes(damaged)
            assert tenon("verify", "conv_ctx.onnx").code in (FAILED, CANNOT_LOAD), position

    @pytest.mark.parametrize("harm", ["missing", "other", "context"])
    def test_half_replaced_groups(self, tenon, group, tmp_path, harm):
        assert tenon("verify", "out").code == DONE
        if harm == "missing":
            weights_file(tmp_path / "out").unlink()
        elif harm == "other":
            other = models.head(tmp_path / "other.onnx", "other")
            tenon("compile", "-m", other, "--output-dir", "other")
            os.replace(weights_file(tmp_path / "other"), weights_file(tmp_path / "out"))
        else:
            (tmp_path / "out/cat_ctx.onnx").write_bytes((tmp_path / "out/cat_ctx.onnx").read_bytes()[:100])
        result = tenon("verify", "out", "--format", "json")
        assert result.code == FAILED and not result.json["good"]
        assert "cat_ctx.onnx" in [g for g in result.json["groups"] if not g["good"]][0]["error"]

    def test_shows_the_numbers_of_every_output(self, tenon, conv):
        text = tenon("verify", "conv_ctx.onnx").out
        assert all(part in text for part in ("max abs", "max rel", "cosine", "same")) and " y " in text

    def test_a_mismatch_shows_the_worst_of_all_samples(self, tenon, tmp_path):
        tenon("compile", "-m", unstable(tmp_path / "m.onnx"), "--no-validate")
        samples = [tenon("verify", "m_ctx.onnx", "--samples", 1, "--seed", seed, "--format", "json") for seed in range(3)]
        assert [result.code for result in samples] == [FAILED] * 3
        single = [result.json["groups"][0]["numbers"][0]["outputs"][0] for result in samples]
        result = tenon("verify", "m_ctx.onnx", "--samples", 3, "--seed", 0, "--format", "json")
        (merged,) = result.json["groups"][0]["numbers"][0]["outputs"]
        assert merged["max_abs"] == max(o["max_abs"] for o in single)
        assert merged["max_rel"] == max(o["max_rel"] for o in single)
        assert merged["cosine"] == min(o["cosine"] for o in single)
        assert merged["mismatches"] == sum(o["mismatches"] for o in single)
        text = tenon("verify", "m_ctx.onnx").out
        assert "different" in text and "differ, allowed" in text and "cosine" in text

    def test_other_weights_are_not_compared_with_the_source(self, tenon, conv, tuned):
        tenon("weights", "set", "conv_ctx.onnx", "--from", tuned, "--in-place")
        document = tenon("verify", "conv_ctx.onnx", "--format", "json").json
        assert document["good"] and document["groups"][0]["numbers"][0]["verdict"] == "not compared"


def test_a_wrong_file_under_the_name_of_the_weights_cannot_be_loaded(tenon, conv, tuned, tmp_path):
    own = weights_file(tmp_path)
    tenon("compile", "-m", tuned, "--output-dir", "other")
    own.write_bytes(weights_file(tmp_path / "other").read_bytes())
    for arguments in (["run", "conv_ctx.onnx", "--random"], ["verify", "conv_ctx.onnx", conv], ["verify", conv, "conv_ctx.onnx"],
                      ["verify", "conv_ctx.onnx"]):
        result = tenon(*arguments)
        assert result.code == CANNOT_LOAD and own.name in result.err, arguments


def test_pinned_weights_are_named_in_plain_words(tenon, conv):
    tenon("compile", "-m", conv, "--pin", "w", "--overwrite")
    text = tenon("inspect", "conv_ctx.onnx", "--weight-program").out
    assert "'w' is pinned" in text and "the pinned of" not in text


def test_set_from_a_folder_of_the_same_layout(tenon, tmp_path):
    def write_external(folder, seed):
        (tmp_path / folder).mkdir()
        path = models.convolution(tmp_path / folder / "conv.onnx", seed)
        onnx.save(onnx.load(path), path, save_as_external_data=True, location="conv.data", size_threshold=0)
        return path

    old, new = write_external("old", 0), write_external("new", 1)
    assert tenon("compile", "-m", old).code == DONE
    result = tenon("weights", "set", "old/conv_ctx.onnx", "--from", "new", "-o", "old/new_ctx.onnx", "--format", "json")
    assert result.code == DONE, result.err
    assert len(result.json["groups"][0]["replaced"]) == 6
    expected = outputs_of(tenon, new, tmp_path)
    assert np.array_equal(expected["y"], outputs_of(tenon, "old/new_ctx.onnx", tmp_path)["y"])


def test_setting_weights_again_keeps_what_is_still_needed(tenon, group, tmp_path):
    base = weights_file(tmp_path / "out").name
    for seed in (7, 8):
        new = models.head(tmp_path / "new.onnx", "cat", backbone_seed=seed)
        assert tenon("weights", "set", "out", "--from", new, "--in-place").code == DONE
        # The weights of the other head are still in the first file.
        files = [name for name in names_in(tmp_path / "out") if name.endswith(".bin")]
        assert len(files) == 2 and base in files
    assert tenon("verify", "out").code == DONE
    assert tenon("compile", *flags(group), "--output-dir", "out", "--overwrite").code == DONE
    assert weights_file(tmp_path / "out").name == base
