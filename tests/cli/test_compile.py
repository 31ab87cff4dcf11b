"""tenon compile: names, groups, sharing, validation, reports, exit codes."""

import json
import os
import shutil

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from . import models
from .conftest import DONE, FAILED, USAGE


@pytest.fixture
def conv(tmp_path):
    return models.convolution(tmp_path / "conv.onnx")


@pytest.fixture
def pair(tmp_path):
    """Prefill and decode: the same weights, other static shapes."""
    return [models.step(tmp_path / "prefill.onnx", 8), models.step(tmp_path / "decode.onnx", 1)]


@pytest.fixture
def heads(tmp_path):
    return [models.head(tmp_path / f"{name}.onnx", name) for name in ("cat", "dog")]


def flags(paths):
    return [part for path in paths for part in ("-m", path)]


def names_in(folder):
    return sorted(os.listdir(folder))


def weights_file(folder):
    (name,) = [name for name in os.listdir(folder) if name.endswith(".bin")]
    return folder / name


def outputs_of(tenon, model, folder):
    archive = folder / "outputs.npz"
    result = tenon("run", model, "--random", "-o", archive, "--overwrite")
    assert result.code == DONE, result.err
    with np.load(archive) as arrays:
        return {name: arrays[name] for name in arrays}


class TestOneModel:
    def test_writes_two_files_beside_the_model_and_runs_the_same(self, tenon, conv, tmp_path):
        result = tenon("compile", "-m", conv)
        assert result.code == DONE, result.err
        assert "compiled" in result.out and "same" in result.out
        bin_name = weights_file(tmp_path).name
        assert names_in(tmp_path) == sorted(["conv.onnx", "conv_ctx.onnx", bin_name])
        assert bin_name.startswith("conv-") and len(bin_name) == len("conv-01234567.bin")
        plain = outputs_of(tenon, conv, tmp_path)
        compiled = outputs_of(tenon, "conv_ctx.onnx", tmp_path)
        assert np.array_equal(plain["y"], compiled["y"])

    def test_result_is_an_onnx_model_with_the_same_face(self, tenon, conv, tmp_path):
        tenon("compile", "-m", conv)
        source, made = onnx.load(conv), onnx.load(tmp_path / "conv_ctx.onnx")
        assert [i.name for i in made.graph.input] == ["x"] and list(made.graph.output) == list(source.graph.output)
        (node,) = made.graph.node
        assert (node.op_type, node.domain) == ("EPContext", "com.microsoft")

    def test_output_names_exactly_this_file(self, tenon, conv, tmp_path):
        (tmp_path / "app").mkdir()
        assert tenon("compile", "-m", conv, "-o", "app/fast.onnx").code == DONE
        bin_name = weights_file(tmp_path / "app").name
        assert names_in(tmp_path / "app") == sorted(["fast.onnx", bin_name])
        assert bin_name.startswith("fast-")

    def test_bin_name(self, tenon, conv, tmp_path):
        assert tenon("compile", "-m", conv, "--output-dir", "out", "--bin-name", "common").code == DONE
        assert weights_file(tmp_path / "out").name.startswith("common-")

    def test_embed_makes_one_file(self, tenon, conv, tmp_path):
        assert tenon("compile", "-m", conv, "--embed", "--output-dir", "out").code == DONE
        assert names_in(tmp_path / "out") == ["conv_ctx.onnx"]
        plain = outputs_of(tenon, conv, tmp_path)
        assert np.array_equal(plain["y"], outputs_of(tenon, "out/conv_ctx.onnx", tmp_path)["y"])

    def test_folder_whose_name_looks_like_a_file(self, tenon, conv, tmp_path):
        assert tenon("compile", "-m", conv, "--output-dir", "out.onnx/").code == DONE
        assert "conv_ctx.onnx" in names_in(tmp_path / "out.onnx")

    def test_same_bytes_whatever_the_threads(self, tenon, conv, tmp_path):
        for threads in ("1", "2"):
            assert tenon("compile", "-m", conv, "--output-dir", threads, "--threads", threads).code == DONE
        assert names_in(tmp_path / "1") == names_in(tmp_path / "2")
        assert weights_file(tmp_path / "1").read_bytes() == weights_file(tmp_path / "2").read_bytes()

    def test_reference_provider(self, tenon, conv, tmp_path):
        result = tenon("compile", "-m", conv, "--output-dir", "out", "--ep-options", "provider=reference")
        assert result.code == DONE, result.err
        result = tenon("inspect", "out/conv_ctx.onnx", "--kernels", "--format", "json")
        assert all(entry["kernel"].startswith("reference/") for entry in result.json["kernels"])

    def test_exact_kernels_are_another_plan(self, tenon, conv, tmp_path):
        assert tenon("compile", "-m", conv, "--output-dir", "fast").code == DONE
        result = tenon("compile", "-m", conv, "--output-dir", "exact", "--ep-options", "provider=cpu_exact")
        assert result.code == DONE, result.err
        result = tenon("inspect", "exact/conv_ctx.onnx", "--kernels", "--format", "json")
        kernels = [entry["kernel"] for entry in result.json["kernels"]]
        assert "cpu/PackedConv" in kernels, kernels
        assert tenon("verify", "exact/conv_ctx.onnx").code == DONE
        assert names_in(tmp_path / "fast") != names_in(tmp_path / "exact")

    def test_instruction_set_does_not_change_the_result(self, tenon, conv, tmp_path):
        tenon("compile", "-m", conv, "--output-dir", "a")
        assert tenon("compile", "-m", conv, "--output-dir", "b", "--ep-options", "cpu_isa=scalar").code == DONE
        assert names_in(tmp_path / "a") == names_in(tmp_path / "b")


class TestGroups:
    def test_prefill_and_decode_share_every_weight(self, tenon, pair, tmp_path):
        result = tenon("compile", *flags(pair), "--output-dir", "out", "--format", "json")
        assert result.code == DONE, result.err
        report = result.json
        assert [model["name"] for model in report["models"]] == ["prefill", "decode"]
        for model, other in zip(report["models"], ["decode", "prefill"]):
            assert model["status"] == "compiled" and model["validation"]["verdict"] == "same"
            assert model["shared"]["bytes"] == model["packed_bytes"] > 0
            assert model["shared"]["with"] == [other]
            assert (model["nodes"], model["steps"]) == (4, 2)
        group = report["group"]
        assert group["bytes_saved"] == group["packed_bytes"] == group["bytes_without_sharing"] / 2
        assert all(sorted(tensor["models"]) == ["decode", "prefill"] for tensor in group["tensors"])
        assert group["weights_file"] == weights_file(tmp_path / "out").name
        assert group["weights_file"].startswith("shared-")
        assert group["bytes"] == weights_file(tmp_path / "out").stat().st_size

    def test_order_of_models_does_not_matter(self, tenon, pair, tmp_path):
        tenon("compile", *flags(pair), "--output-dir", "a")
        tenon("compile", *flags(pair[::-1]), "--output-dir", "b", "--jobs", "2")
        assert names_in(tmp_path / "a") == names_in(tmp_path / "b")
        for name in names_in(tmp_path / "a"):
            assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()

    def test_heads_share_their_backbone_only(self, tenon, heads, tmp_path):
        report = tenon("compile", *flags(heads), "--output-dir", "out", "--format", "json").json
        shared = [t for t in report["group"]["tensors"] if len(t["models"]) == 2]
        assert len(shared) == 2 and all("backbone" in t["expression"] for t in shared)
        assert report["group"]["bytes_saved"] == sum(t["bytes"] for t in shared)
        text = tenon("compile", *flags(heads), "--output-dir", "again").out
        assert "backbone.0" in text and "sharing saves" in text

    def test_nothing_shared_is_said(self, tenon, conv, heads):
        result = tenon("compile", "-m", conv, "-m", heads[0], "--output-dir", "out")
        assert result.code == DONE and "nothing is shared" in result.out

    def test_all_models_of_a_group_run(self, tenon, heads, tmp_path):
        tenon("compile", *flags(heads), "--output-dir", "out")
        for path in heads:
            compiled = outputs_of(tenon, f"out/{path.stem}_ctx.onnx", tmp_path)
            assert np.array_equal(outputs_of(tenon, path, tmp_path)["y"], compiled["y"])

    def test_one_bad_model_does_not_stop_the_others(self, tenon, pair, tmp_path):
        (tmp_path / "bad.onnx").write_bytes(b"no model")
        result = tenon("compile", "-m", pair[0], "-m", "bad.onnx", "-m", pair[1], "--output-dir", "out",
                       "--format", "json")
        assert result.code == FAILED
        assert [model["status"] for model in result.json["models"]] == ["compiled", "failed", "compiled"]
        assert "bad.onnx" in result.json["models"][1]["error"] and "bad.onnx" in result.err
        good = tenon("compile", *flags(pair), "--output-dir", "good")
        assert good.code == DONE
        assert weights_file(tmp_path / "out").read_bytes() == weights_file(tmp_path / "good").read_bytes()
        assert names_in(tmp_path / "out") == names_in(tmp_path / "good")

    def test_fail_fast_writes_nothing(self, tenon, pair, tmp_path):
        result = tenon("compile", *flags(pair), "-m", "nix.onnx", "--output-dir", "out", "--fail-fast",
                       "--format", "json")
        assert result.code == FAILED and not (tmp_path / "out").exists()
        assert [model["status"] for model in result.json["models"]] == ["skipped", "skipped", "failed"]

    def test_a_model_that_cannot_be_compiled_leaves_the_old_one(self, tenon, conv, heads, tmp_path):
        assert tenon("compile", "-m", conv, *flags(heads), "--output-dir", "out").code == DONE
        old = (tmp_path / "out/cat_ctx.onnx").read_bytes()
        models.unknown_op(heads[0])
        models.head(heads[1], "dog", backbone_seed=3)
        result = tenon("compile", "-m", conv, *flags(heads), "--output-dir", "out", "--overwrite", "--format", "json")
        assert result.code == FAILED
        assert [model["status"] for model in result.json["models"]] == ["compiled", "failed", "compiled"]
        assert (tmp_path / "out/cat_ctx.onnx").read_bytes() == old
        for name in ("conv", "cat", "dog"):
            assert tenon("run", f"out/{name}_ctx.onnx", "--random").code == DONE


class TestNames:
    def test_same_stem_again(self, tenon, tmp_path):
        for folder in ("a", "b", "c"):
            (tmp_path / folder).mkdir()
        paths = [models.convolution(tmp_path / folder / "net.onnx", seed) for seed, folder in enumerate("abc")]
        taken = models.convolution(tmp_path / "net_1.onnx", 7)
        result = tenon("compile", *flags(paths), "-m", taken, "--output-dir", "out", "--format", "json")
        assert result.code == DONE, result.err
        assert [model["name"] for model in result.json["models"]] == ["net", "net_2", "net_3", "net_1"]
        assert result.err.count("another model is named 'net'") == 2
        assert {"net_ctx.onnx", "net_1_ctx.onnx", "net_2_ctx.onnx", "net_3_ctx.onnx"} < set(
            names_in(tmp_path / "out"))
        plain = outputs_of(tenon, paths[1], tmp_path)
        assert np.array_equal(plain["y"], outputs_of(tenon, "out/net_2_ctx.onnx", tmp_path)["y"])

    def test_compiled_models_are_refused(self, tenon, conv, tmp_path):
        tenon("compile", "-m", conv)
        before = names_in(tmp_path)
        result = tenon("compile", "-m", "conv_ctx.onnx")
        assert result.code == FAILED and "already compiled" in result.err
        assert names_in(tmp_path) == before

    def test_results_never_replace_inputs(self, tenon, conv, tmp_path):
        for name in ("conv.onnx", "./conv.onnx"):
            result = tenon("compile", "-m", conv, "-o", name, "--overwrite")
            assert result.code == USAGE and "overwritten" in result.err
        shutil.copy(conv, tmp_path / "conv_ctx.onnx")
        result = tenon("compile", "-m", conv, "-m", "conv_ctx.onnx", "--output-dir", ".", "--overwrite")
        assert result.code == USAGE

    def test_existing_results_need_overwrite(self, tenon, conv, tmp_path):
        (tmp_path / "conv_ctx.onnx").write_bytes(b"mine")
        result = tenon("compile", "-m", conv)
        assert result.code == FAILED and "--overwrite" in result.err
        assert (tmp_path / "conv_ctx.onnx").read_bytes() == b"mine"
        assert names_in(tmp_path) == ["conv.onnx", "conv_ctx.onnx"]
        assert tenon("compile", "-m", conv, "--overwrite").code == DONE
        assert tenon("run", "conv_ctx.onnx", "--random").code == DONE

    def test_replacing_a_group_removes_its_weights_file(self, tenon, conv, tmp_path):
        tenon("compile", "-m", conv, "--output-dir", "out")
        old = weights_file(tmp_path / "out").name
        models.convolution(conv, seed=9)
        assert tenon("compile", "-m", conv, "--output-dir", "out", "--overwrite").code == DONE
        assert weights_file(tmp_path / "out").name != old


class TestUpToDate:
    def test_second_compile_does_nothing(self, tenon, pair, tmp_path):
        tenon("compile", *flags(pair), "--output-dir", "out")
        before = {name: (tmp_path / "out" / name).stat() for name in names_in(tmp_path / "out")}
        result = tenon("compile", *flags(pair), "--output-dir", "out")
        assert result.code == DONE and "everything is up to date" in result.out
        after = {name: (tmp_path / "out" / name).stat() for name in names_in(tmp_path / "out")}
        assert [(s.st_ino, s.st_mtime_ns) for s in before.values()] == [(s.st_ino, s.st_mtime_ns) for s in after.values()]
        report = tenon("compile", *flags(pair[::-1]), "--output-dir", "out", "--format", "json").json
        assert report["status"] == "up to date"
        assert [model["status"] for model in report["models"]] == ["up to date"] * 2
        assert report["group"]["bytes_saved"] > 0

    @pytest.mark.parametrize("change", ["model", "options", "damage", "embed"])
    def test_what_changed_is_compiled_again(self, tenon, conv, tmp_path, change):
        tenon("compile", "-m", conv, "--output-dir", "out")
        more = []
        if change == "model":
            models.convolution(conv, seed=3)
        elif change == "options":
            more = ["--sources", "embed"]
        elif change == "embed":
            more = ["--embed"]
        else:
            path = weights_file(tmp_path / "out")
            content = bytearray(path.read_bytes())
            content[-10] ^= 1
            path.write_bytes(content)
        refused = tenon("compile", "-m", conv, "--output-dir", "out", *more)
        assert refused.code == FAILED and "--overwrite" in refused.err
        result = tenon("compile", "-m", conv, "--output-dir", "out", "--overwrite", *more)
        assert result.code == DONE and "up to date" not in result.out
        assert tenon("verify", "out", "--source-dir", ".").code == DONE

    def test_external_data_counts(self, tenon, tmp_path):
        def write(seed):
            model = onnx.load(models.convolution(tmp_path / "conv.onnx", seed))
            (tmp_path / "conv.data").unlink(missing_ok=True)
            onnx.save(model, tmp_path / "conv.onnx", save_as_external_data=True, location="conv.data",
                      size_threshold=0)
        write(0)
        assert tenon("compile", "-m", "conv.onnx").code == DONE
        assert "up to date" in tenon("compile", "-m", "conv.onnx").out
        write(1)
        result = tenon("compile", "-m", "conv.onnx", "--overwrite")
        assert result.code == DONE and "up to date" not in result.out


class TestValidation:
    def test_numbers_are_in_the_report(self, tenon, conv):
        report = tenon("compile", "-m", conv, "--format", "json").json
        (output,) = report["models"][0]["validation"]["outputs"]
        assert output["name"] == "y" and output["mismatches"] == 0
        assert 0 <= output["max_abs"] <= output["allowed_abs"] < 1e-2

    def test_no_validate(self, tenon, conv):
        report = tenon("compile", "-m", conv, "--no-validate", "--format", "json").json
        assert report["models"][0]["validation"] is None

    def test_reference_with_nan_is_inconclusive(self, tenon, tmp_path):
        nodes = [helper.make_node("Add", ["x", "c"], ["y"])]
        weights = {"c": np.array([np.nan, 1], np.float32)}
        path = models.save(tmp_path / "m.onnx", nodes, [models.tensor("x", [2])], [models.tensor("y", [2])], weights)
        result = tenon("compile", "-m", path)
        assert result.code == DONE and "inconclusive" in result.err and "NaN" in result.err

    def test_reference_that_fails_is_inconclusive(self, tenon, tmp_path):
        nodes = [helper.make_node("Reshape", ["x", "s"], ["y"])]
        inputs = [models.tensor("x", [4]), models.tensor("s", [2], TensorProto.INT64)]
        path = models.save(tmp_path / "m.onnx", nodes, inputs, [models.tensor("y", None)])
        result = tenon("compile", "-m", path, "--format", "json")
        assert result.code == DONE, result.err
        assert result.json["models"][0]["validation"]["verdict"] in ("inconclusive", "same")

    def test_choices_of_ties_may_differ(self, tenon, tmp_path):
        # Two sums of the same numbers in another order: which is larger is decided by rounding.
        count = 4096
        w = np.random.default_rng(0).standard_normal((count, 1)).astype(np.float32) * np.float32(1e4)
        weights = {"w": w, "v": w[::-1].copy(), "order": np.arange(count, dtype=np.int64)[::-1].copy()}
        nodes = [
            helper.make_node("MatMul", ["x", "w"], ["a"]),
            helper.make_node("Gather", ["x", "order"], ["turned"], axis=1),
            helper.make_node("MatMul", ["turned", "v"], ["b"]),
            helper.make_node("Concat", ["a", "b"], ["both"], axis=1),
            helper.make_node("ArgMax", ["both"], ["index"], axis=1),
            helper.make_node("Cast", ["index"], ["y"], to=TensorProto.INT32),
        ]
        path = models.save(tmp_path / "m.onnx", nodes, [models.tensor("x", [64, count])],
                           [models.tensor("y", [64, 1], TensorProto.INT32)], weights)
        result = tenon("compile", "-m", path, "--format", "json")
        assert result.code == DONE, result.err
        validation = result.json["models"][0]["validation"]
        assert validation["verdict"] == "same" and validation["outputs"][0]["ties"] > 0


class TestWeightFlags:
    def listed_inputs(self, path):
        """An initializer that is also listed as an input."""
        model = onnx.load(models.linear(path))
        model.graph.input.append(models.tensor("w", [2, 2]))
        model.graph.input.append(models.tensor("b", [2]))
        onnx.save(model, path)
        return path

    @pytest.mark.parametrize("more, inputs", [([], ["x", "w", "b"]), (["--freeze-inputs"], ["x"]),
                                              (["--freeze-inputs", "w"], ["x", "b"]),
                                              (["--freeze-inputs=b", "--freeze-inputs", "w"], ["x"])])
    def test_freeze_inputs(self, tenon, tmp_path, more, inputs):
        path = self.listed_inputs(tmp_path / "m.onnx")
        result = tenon("compile", *more, "-m", path)
        assert result.code == DONE, result.err
        assert [i.name for i in onnx.load(tmp_path / "m_ctx.onnx").graph.input] == inputs
        warnings = {1: "", 2: "the initializer 'b' (8 bytes) is also listed as an input",
                    3: "2 initializers (24 bytes) are also listed as inputs"}
        assert warnings[len(inputs)] in result.err and ("also listed" in result.err) == (len(inputs) > 1)
        assert "up to date" in tenon("compile", *more, "-m", path).out
        assert tenon("verify", "m_ctx.onnx").code == DONE

    def test_freezing_what_is_not_there(self, tenon, linear):
        result = tenon("compile", "-m", linear, "--freeze-inputs", "nix")
        assert result.code == USAGE and "'nix'" in result.err

    def test_pinned_weights_cannot_be_set(self, tenon, conv, tmp_path):
        assert tenon("compile", "-m", conv, "--pin", "w").code == DONE
        other = models.convolution(tmp_path / "other.onnx", seed=4)
        result = tenon("weights", "set", "conv_ctx.onnx", "--from", other, "-o", "new_ctx.onnx")
        assert result.code == FAILED and "pinned: 'w'" in result.err
        assert not (tmp_path / "new_ctx.onnx").exists()

    def test_pin_in_a_group_and_pin_of_nothing(self, tenon, heads):
        assert tenon("compile", *flags(heads), "--output-dir", "out", "--pin", "cat.w").code == DONE
        result = tenon("compile", *flags(heads), "--output-dir", "no", "--pin", "cow.w")
        assert result.code == USAGE and "cow.w" in result.err

    def test_deferred_weights_are_filled_later(self, tenon, conv, tmp_path):
        result = tenon("compile", "-m", conv, "--defer-weights", "-o", "open_ctx.onnx", "--format", "json")
        assert result.code == DONE, result.err
        assert result.json["models"][0]["validation"]["verdict"] == "not tried"
        assert tenon("run", "open_ctx.onnx", "--random").code != DONE
        assert tenon("weights", "set", "open_ctx.onnx", "--from", conv, "-o", "full_ctx.onnx").code == DONE
        plain = outputs_of(tenon, conv, tmp_path)
        assert np.array_equal(plain["y"], outputs_of(tenon, "full_ctx.onnx", tmp_path)["y"])


class TestReports:
    def test_json(self, tenon, pair, tmp_path):
        result = tenon("compile", *flags(pair), "--output-dir", "out", "--report", "r.json", "--format", "json")
        assert json.loads((tmp_path / "r.json").read_text()) == result.json

    def test_html(self, tenon, pair, tmp_path):
        assert tenon("compile", *flags(pair), "--output-dir", "out", "--report", "r.html").code == DONE
        page = (tmp_path / "r.html").read_text()
        assert page.startswith("<!doctype html>") and page.rstrip().endswith("</html>")
        assert "prefill" in page and "PackPanels" in page and "Sharing saves" in page
        assert "http://" not in page and "https://" not in page and "src=" not in page

    def test_existing_reports_stay(self, tenon, conv, tmp_path):
        (tmp_path / "r.json").write_text("mine")
        result = tenon("compile", "-m", conv, "--report", "r.json")
        assert result.code == FAILED and "--overwrite" in result.err
        assert (tmp_path / "r.json").read_text() == "mine" and not (tmp_path / "conv_ctx.onnx").exists()


class TestCommandLine:
    @pytest.mark.parametrize("arguments, message", [
        ([], "no model"),
        (["-m", "a", "-m", "b"], "--output-dir"),
        (["-m", "a", "-m", "b", "-o", "c"], "--output-dir"),
        (["-m", "a", "-o", "c", "--output-dir", "d"], "--output"),
        (["-m", "a", "-m", "b", "--output-dir", "d", "--embed"], "--embed"),
        (["-m", "a", "--embed", "--bin-name", "x"], "--bin-name"),
        (["-m", "a", "--bin-name", "x/y"], "--bin-name"),
        (["-m", "a", "--compiler", "tenno"], "did you mean 'tenon'"),
        (["-m", "a", "--sources", "all"], "one of reference, embed, none"),
        (["-m", "a", "--validate", "--no-validate"], "validate"),
        (["-m", "a", "--keep-going", "--fail-fast"], "keep-going"),
        (["-m", "a", "--jobs", "0"], "--jobs"),
        (["-m", "a", "--report", "r.txt"], ".json or .html"),
        (["-m", "a", "--ep-options", "provider"], "KEY=VALUE"),
        (["-m", "a", "--ep-options", "providr=cpu"], "did you mean 'provider'"),
        (["-m", "a", "--ep-options", "provider=gpu"], "one of cpu, cpu_exact, reference"),
        (["-m", "a", "--ep-options", "cpu_isa=mmx"], "one of"),
        (["-m", "a", "--config", "nix.json"], "nix.json"),
        (["-m", "a", "--no-cash"], "unknown flag '--no-cash'"),
        (["a"], "unexpected argument"),
    ])
    def test_wrong_ones(self, tenon, arguments, message):
        result = tenon("compile", *arguments)
        assert (result.code, result.out) == (USAGE, "")
        assert message in result.err

    def test_list(self, tenon):
        compilers = {entry["name"]: entry for entry in tenon("compile", "--list", "--format", "json").json["compilers"]}
        assert list(compilers) == ["tenon", "ort", "ort_session", "qairt"]
        assert compilers["tenon"]["usable"] and compilers["tenon"]["reason"] is None
        for name in ("ort", "ort_session", "qairt"):
            assert not compilers[name]["usable"] and "this version of Tenon cannot use it yet" in compilers[name]["reason"]
        text = tenon("compile", "--list").out
        assert "usable" in text and "ort_jit" in text

    @pytest.mark.parametrize("name", ["ort", "ort_session", "ort_jit", "qairt"])
    def test_compilers_that_cannot_be_used(self, tenon, conv, tmp_path, name):
        result = tenon("compile", "-m", conv, "--compiler", name)
        assert result.code == FAILED and "this version of Tenon cannot use it yet" in result.err
        assert names_in(tmp_path) == ["conv.onnx"]

    def test_option_help(self, tenon):
        result = tenon("compile", "--ep-options", "help")
        assert result.code == DONE and "provider" in result.out and "cpu_isa" in result.out


class TestConfig:
    def compile(self, tenon, tmp_path, config, *arguments):
        (tmp_path / "c.json").write_text(json.dumps(config))
        return tenon("compile", "--config", "c.json", *arguments)

    def test_every_mistake_is_listed(self, tenon, conv, tmp_path):
        config = {"compile": {"compilr": "x", "embed": 1, "threads": "2", "sources": "all", "models": {"conv": 3},
                              "provider_options": {"provider": "gpu", "x": 1}}, "more": {}}
        result = self.compile(tenon, tmp_path, config, "-m", conv)
        assert result.code == USAGE
        for part in ("compilr", "embed", "threads", "sources", "models.conv", "provider must be", "'x'", "more"):
            assert part in result.err

    @pytest.mark.parametrize("text", ["", "[1]", "{", '{"compile": 3}', "{}"])
    def test_files_that_are_no_configuration(self, tenon, conv, tmp_path, text):
        (tmp_path / "c.json").write_text(text)
        assert tenon("compile", "-m", conv, "--config", "c.json").code == USAGE

    def test_flags_beat_models_beat_the_rest(self, tenon, conv, heads, tmp_path):
        config = {"compile": {"provider_options": {"provider": "cpu"}, "validate": False,
                              "models": {"conv": {"provider_options": {"provider": "reference"}}}}}

        def kernels(folder, name):
            result = tenon("inspect", f"{folder}/{name}_ctx.onnx", "--kernels", "--format", "json")
            return {entry["kernel"].split("/")[0] for entry in result.json["kernels"]}

        both = ["-m", conv, "-m", heads[0]]
        assert self.compile(tenon, tmp_path, config, *both, "--output-dir", "a").code == DONE
        assert kernels("a", "conv") == {"reference"} and "cpu" in kernels("a", "cat")
        assert "up to date" in self.compile(tenon, tmp_path, config, *both, "--output-dir", "a").out
        result = self.compile(tenon, tmp_path, config, *both, "--output-dir", "b", "--ep-options", "provider=cpu")
        assert result.code == DONE and "cpu" in kernels("b", "conv")

    def test_validate_flag_beats_config(self, tenon, conv, tmp_path):
        config = {"compile": {"validate": False}}
        result = self.compile(tenon, tmp_path, config, "-m", conv, "--validate", "--format", "json")
        assert result.json["models"][0]["validation"]["verdict"] == "same"
