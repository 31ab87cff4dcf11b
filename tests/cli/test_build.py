"""tenon build: stages run only where what they depend on has changed, and nothing but their own outputs is touched."""

import json
import os
import re
import shutil
import signal
import subprocess

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from . import models
from .conftest import DONE, FAILED, USAGE
from .test_compile import names_in

STAGES = ("import", "optimize", "analyze", "compile")


def messy(path, scale=1.0, op="Relu"):
    """y = op(x @ w + b) with an Identity that the normal form has not."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["product"], name="multiply"),
        helper.make_node("Identity", ["product"], ["same"], name="same"),
        helper.make_node("Add", ["same", "b"], ["sum"], name="shift"),
        helper.make_node(op, ["sum"], ["y"], name="cut"),
    ]
    weights = {"w": np.arange(1, 5, dtype=np.float32).reshape(2, 2) * np.float32(scale),
               "b": np.array([-10, 1], np.float32)}
    return models.save(path, nodes, [models.tensor("x", ["n", 2])], [models.tensor("y", ["n", 2])], weights)


def large(path, scale=1.0, location=None):
    """One product with 4 MB of weights."""
    w = np.full((1024, 1024), scale, np.float32)
    nodes = [helper.make_node("Identity", ["x"], ["same"]), helper.make_node("MatMul", ["same", "w"], ["y"])]
    models.save(path, nodes, [models.tensor("x", [1, 1024])], [models.tensor("y", [1, 1024])], {"w": w})
    if location:
        onnx.save(onnx.load(path), path, save_as_external_data=True, location=location, size_threshold=0)
    return path


@pytest.fixture
def build(tenon):
    """Builds into out, without a cache that could hide what ran."""

    def run(*arguments, code=DONE, cache=()):
        result = tenon("build", *arguments, "-o", "out", *(cache or ["--no-cache"]), "--format", "json")
        assert result.code == code, result.err
        return result.json

    return run


def stages(report, number=0):
    return {name: stage["status"] for name, stage in report["models"][number]["stages"].items()}


def ran(report, number=0):
    return [name for name, status in stages(report, number).items() if status == "ran" and name != "import"]


def contents(folder, but=("manifest.json",)):
    return {name: (folder / name).read_bytes() for name in names_in(folder) if name not in but}


def settle(*folders):
    """Files that were written long ago, as far as file systems tell."""
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.suffix != ".json":
                os.utime(path, (1e9, 1e9))


def edit(path, change):
    model = onnx.load(path)
    change(model)
    onnx.save(model, path)


class TestResults:
    def test_a_group_with_manifest_and_analysis(self, build, tenon, tmp_path):
        paths = [messy(tmp_path / "a.onnx"), messy(tmp_path / "b.onnx", op="Sigmoid")]
        report = build("-m", paths[0], "-m", paths[1])
        assert report["status"] == "built"
        assert [ran(report, i) for i in (0, 1)] == [["optimize", "analyze", "compile"]] * 2
        weights = report["group"]["weights_file"]
        assert names_in(tmp_path / "out") == sorted(["a_ctx.onnx", "b_ctx.onnx", "analysis.json", "manifest.json", weights])
        manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
        assert manifest["models"] == report["models"] and "report" not in manifest
        analysis = json.loads((tmp_path / "out" / "analysis.json").read_text())
        assert [model["analysis"]["summary"]["nodes"] for model in analysis["models"]] == [3, 3]
        assert report["report"]["models"][0]["optimize"]["status"] == "optimized"
        assert report["report"]["models"][0]["validation"]["verdict"] == "same"
        for name in ("a", "b"):
            assert tenon("verify", f"{name}.onnx", f"out/{name}_ctx.onnx").code == DONE
        assert tenon("verify", "out").code == DONE

    def test_the_face_is_that_of_the_model(self, build, tmp_path):
        path = messy(tmp_path / "m.onnx")
        edit(path, lambda model: helper.set_model_props(model, {"who": "me"}))
        build("-m", path)
        face = onnx.load(tmp_path / "out" / "m_ctx.onnx")
        # Without a stamp, which speaks of the graph that was written with it.
        assert {entry.key: entry.value for entry in face.metadata_props} == {"who": "me", "tenon.validation": "same"}

    def test_no_optimize_is_a_compile(self, build, tenon, tmp_path):
        path = messy(tmp_path / "m.onnx")
        report = build("-m", path, "--no-optimize")
        assert stages(report)["optimize"] == "off"
        assert tenon("compile", "-m", path, "--output-dir", "alone", "--no-cache").code == DONE
        assert contents(tmp_path / "alone") == contents(tmp_path / "out", ("manifest.json", "analysis.json"))

    def test_keep_optimized(self, build, tenon, tmp_path):
        path = messy(tmp_path / "m.onnx")
        build("-m", path, "--keep", "optimized")
        assert [node.op_type for node in onnx.load(tmp_path / "out" / "m_opt.onnx").graph.node] == ["MatMul", "Add", "Relu"]
        assert tenon("optimize", "-m", "out/m_opt.onnx", "--check").out.startswith("already normalized")

    def test_no_compile_leaves_the_optimized_model_alone(self, build, tmp_path):
        path = messy(tmp_path / "m.onnx")
        report = build("-m", path, "--no-compile")
        assert names_in(tmp_path / "out") == ["analysis.json", "m_opt.onnx", "manifest.json"]
        assert stages(report)["compile"] == "off"
        assert build("-m", path, "--no-compile")["status"] == "up to date"

    def test_a_model_in_normal_form_is_said(self, build, tenon, tmp_path):
        messy(tmp_path / "m.onnx")
        tenon("optimize", "-m", "m.onnx", "-o", "normal.onnx")
        report = build("-m", "normal.onnx")
        assert report["models"][0]["stages"]["optimize"]["status"] == "skipped"
        assert "stamp" in report["models"][0]["stages"]["optimize"]["why"]

    def test_same_result_whatever_was_there_before(self, build, tmp_path):
        path = messy(tmp_path / "m.onnx")
        build("-m", path)
        first = contents(tmp_path / "out")
        build("-m", path, "--rebuild")
        assert contents(tmp_path / "out") == first
        shutil.rmtree(tmp_path / "out")
        build("-m", path, cache=["--cache-dir", "cache"])
        assert contents(tmp_path / "out") == first
        shutil.rmtree(tmp_path / "out")
        report = build("-m", path, cache=["--cache-dir", "cache"])
        assert contents(tmp_path / "out") == first
        assert report["models"][0]["stages"]["compile"]["why"] == "the cache has its result"

    def test_one_bad_model_does_not_stop_the_others(self, build, tmp_path):
        (tmp_path / "bad.onnx").write_bytes(b"no model")
        report = build("-m", "bad.onnx", "-m", messy(tmp_path / "m.onnx"), code=FAILED)
        assert report["status"] == "failed" and "bad.onnx" in report["models"][0]["error"]
        stages = report["models"][0]["stages"]
        assert [stage["status"] for stage in stages.values()] == ["failed", "skipped", "skipped", "skipped"]
        assert stages["import"]["why"] == "the model cannot be used" and stages["compile"]["why"] == "an earlier stage failed"
        assert ran(report, 1) == ["optimize", "analyze", "compile"]
        assert "m_ctx.onnx" in names_in(tmp_path / "out")
        messy(tmp_path / "bad.onnx")
        report = build("-m", "bad.onnx", "-m", "m.onnx")
        assert report["status"] == "built" and "bad_ctx.onnx" in names_in(tmp_path / "out")


class TestSwaps:
    def test_weights_of_the_original_names_fit(self, build, tenon, tmp_path):
        path = messy(tmp_path / "m.onnx")
        build("-m", path)
        messy(tmp_path / "tuned.onnx", scale=3)
        assert tenon("weights", "set", "out/m_ctx.onnx", "--from", "tuned.onnx", "-o", "swapped_ctx.onnx").code == DONE
        assert tenon("verify", "tuned.onnx", "swapped_ctx.onnx").code == DONE
        assert tenon("verify", "m.onnx", "swapped_ctx.onnx").code == FAILED

    def test_equal_biases_stay_two(self, build, tenon, tmp_path):
        def two(path, values):
            nodes = [helper.make_node("Add", ["x", "first"], ["a"]), helper.make_node("Add", ["a", "second"], ["y"])]
            weights = {name: np.full(64, value, np.float32) for name, value in zip(("first", "second"), values)}
            return models.save(path, nodes, [models.tensor("x", [64])], [models.tensor("y", [64])], weights)

        build("-m", two(tmp_path / "m.onnx", (2, 2)))
        two(tmp_path / "tuned.onnx", (3, 50))
        assert tenon("weights", "set", "out/m_ctx.onnx", "--from", "tuned.onnx", "-o", "swapped_ctx.onnx").code == DONE
        np.save(tmp_path / "x.npy", np.zeros(64, np.float32))
        assert tenon("run", "swapped_ctx.onnx", "--input", "x=x.npy", "-o", "y.npz").code == DONE
        assert np.array_equal(np.load(tmp_path / "y.npz")["y"], np.full(64, 53, np.float32))


class TestSkips:
    def test_nothing_changed(self, build, tmp_path):
        path = messy(tmp_path / "m.onnx")
        build("-m", path)
        before = {name: (tmp_path / "out" / name).stat().st_mtime_ns for name in names_in(tmp_path / "out")}
        report = build("-m", path)
        assert report["status"] == "up to date" and ran(report) == []
        assert report["report"] is None and report["bytes_written"] == 0
        after = {name: (tmp_path / "out" / name).stat().st_mtime_ns for name in names_in(tmp_path / "out")}
        del before["manifest.json"], after["manifest.json"]
        assert before == after

    @pytest.mark.parametrize("make, change, expected", [
        (large, lambda path: large(path, scale=2), ["optimize", "compile"]),
        # What is small may be what a rule asks about.
        (messy, lambda path: messy(path, scale=2), ["optimize", "analyze", "compile"]),
        (messy, lambda path: messy(path, op="Sigmoid"), ["optimize", "analyze", "compile"]),
    ], ids=["a weight", "a small weight", "the graph"])
    def test_a_change_runs_what_depends_on_it(self, build, tenon, tmp_path, make, change, expected):
        path = make(tmp_path / "m.onnx")
        build("-m", path)
        change(path)
        report = build("-m", path)
        assert report["status"] == "built" and ran(report) == expected
        assert tenon("verify", "m.onnx", "out/m_ctx.onnx").code == DONE
        assert build("-m", path)["status"] == "up to date"

    @pytest.mark.parametrize("flags, expected", [
        (["--disable", "remove-no-ops"], ["optimize", "analyze", "compile"]),
        (["--no-optimize"], ["analyze", "compile"]),
        (["--no-validate"], []),
        (["--keep", "optimized"], ["optimize"]),
        (["--force"], []),
        (["--jobs", "2"], []),
        (["--threads", "1"], []),
    ], ids=str)
    def test_a_flag_runs_what_depends_on_it(self, build, tmp_path, flags, expected):
        path = messy(tmp_path / "m.onnx")
        build("-m", path)
        report = build("-m", path, *flags)
        assert ran(report) == expected

    def test_a_missing_or_changed_result_is_made_again(self, build, tmp_path):
        path = messy(tmp_path / "m.onnx")
        build("-m", path)
        first = contents(tmp_path / "out")
        for name in names_in(tmp_path / "out"):
            if name == "manifest.json":
                continue
            for damage in (os.unlink, lambda p: p.write_bytes(p.read_bytes()[:-1])):
                damage(tmp_path / "out" / name)
                build("-m", path)
                assert contents(tmp_path / "out") == first, name

    def test_without_a_manifest_nothing_is_trusted(self, build, tmp_path):
        path = messy(tmp_path / "m.onnx")
        build("-m", path)
        first = contents(tmp_path / "out")
        for text in (None, "{", "[]", '{"format": 99}'):
            if text is None:
                (tmp_path / "out" / "manifest.json").unlink()
            else:
                (tmp_path / "out" / "manifest.json").write_text(text)
            result = build("-m", path, code=USAGE)
            assert "no build into this folder made it" in result["error"]
            build("-m", path, "--overwrite")
            assert contents(tmp_path / "out") == first

    def test_one_changed_model_of_a_group(self, build, tmp_path):
        paths = [messy(tmp_path / "a.onnx"), messy(tmp_path / "b.onnx", op="Sigmoid")]
        cache = ["--cache-dir", "cache"]
        build("-m", paths[0], "-m", paths[1], cache=cache)
        messy(paths[0], scale=2)
        report = build("-m", paths[0], "-m", paths[1], cache=cache)
        assert "compile" in ran(report, 0) and "compile" not in ran(report, 1)
        assert report["models"][1]["stages"]["compile"]["why"] == "the cache has its result"

    def test_a_model_that_is_added_or_left_out(self, build, tmp_path):
        paths = [messy(tmp_path / "a.onnx"), messy(tmp_path / "b.onnx", op="Sigmoid")]
        build("-m", paths[0])
        build("-m", paths[0], "-m", paths[1])
        assert "b_ctx.onnx" in names_in(tmp_path / "out")
        build("-m", paths[0])
        report = build("-m", paths[0])
        assert report["status"] == "up to date"

    def test_dry_run_writes_nothing(self, build, tmp_path):
        path = large(tmp_path / "m.onnx")
        report = build("-m", path, "--dry-run")
        assert report["status"] == "dry run" and not (tmp_path / "out").exists()
        assert [stages(report)[name] for name in STAGES[1:]] == ["would run"] * 3
        build("-m", path)
        before = contents(tmp_path / "out", ())
        large(path, scale=2)
        report = build("-m", path, "--dry-run")
        assert stages(report)["compile"] == "would run" and stages(report)["analyze"] == "skipped"
        assert contents(tmp_path / "out", ()) == before


class TestHashes:
    @staticmethod
    def sources(report):
        return [file["source"] for file in report["models"][0]["files"]]

    def test_a_file_that_is_certainly_the_same_is_not_read(self, build, tmp_path):
        path = large(tmp_path / "m.onnx", location="m.data")
        settle(tmp_path)
        report = build("-m", path)
        assert self.sources(report) == ["hashed", "hashed"] and report["bytes_read"] > 4 << 20
        report = build("-m", path)
        assert self.sources(report) == ["hash known", "hash known"] and report["bytes_read"] == 0
        assert report["status"] == "up to date"
        report = build("-m", path, "--rehash")
        assert self.sources(report) == ["hashed", "hashed"] and report["bytes_read"] > 4 << 20
        assert report["status"] == "up to date"

    def test_a_young_file_is_read(self, build, tmp_path):
        path = large(tmp_path / "m.onnx")
        build("-m", path)
        assert self.sources(build("-m", path)) == ["hashed"]

    def test_same_size_and_time_but_other_bytes(self, build, tenon, tmp_path):
        path = large(tmp_path / "m.onnx", location="m.data")
        settle(tmp_path)
        build("-m", path)
        data = tmp_path / "m.data"
        before = data.stat()
        np.full((1024, 1024), 7, np.float32).tofile(data)
        os.utime(data, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert data.stat().st_size == before.st_size and data.stat().st_mtime_ns == before.st_mtime_ns
        report = build("-m", path)
        assert self.sources(report) == ["hash known", "hashed"]
        assert report["status"] == "built" and "compile" in ran(report)
        assert tenon("verify", "m.onnx", "out/m_ctx.onnx").code == DONE


class TestFiles:
    def test_an_input_in_the_output_folder_is_safe(self, build, tmp_path):
        (tmp_path / "out").mkdir()
        path = messy(tmp_path / "out" / "m.onnx")
        before = path.read_bytes()
        for flags in ([], ["--rebuild"], ["--keep", "optimized", "--rebuild"]):
            build("-m", path, *flags)
            assert path.read_bytes() == before

    @pytest.mark.parametrize("name", ["m_ctx.onnx", "m_opt.onnx", "manifest.json", "analysis.json"])
    def test_an_input_is_never_an_output(self, build, tmp_path, name):
        (tmp_path / "out").mkdir()
        path = messy(tmp_path / "out" / name)
        (tmp_path / "m.onnx").symlink_to(path)
        before = path.read_bytes()
        result = build("-m", "m.onnx", "--keep", "optimized", code=USAGE)
        assert "would be overwritten" in result["error"] and path.read_bytes() == before

    def test_rebuild_removes_its_own_outputs_only(self, build, tmp_path):
        paths = [messy(tmp_path / "a.onnx"), messy(tmp_path / "b.onnx", op="Sigmoid")]
        build("-m", paths[0], "-m", paths[1], "--keep", "optimized")
        (tmp_path / "out" / "notes.txt").write_text("mine")
        (tmp_path / "out" / "b_opt.onnx").write_text("mine now")
        build("-m", paths[0], "--rebuild")
        left = names_in(tmp_path / "out")
        assert "b_ctx.onnx" not in left and "a_opt.onnx" not in left
        assert "notes.txt" in left and "b_opt.onnx" in left and "a_ctx.onnx" in left

    def test_rebuild_removes_data_files_of_its_own_only(self, build, tmp_path):
        (tmp_path / "in").mkdir()
        path = large(tmp_path / "in" / "m.onnx", location="m.data")
        build("-m", path, "--keep", "optimized")
        assert {"m.data", "m_opt.onnx"} <= set(names_in(tmp_path / "out"))
        build("-m", path, "--keep", "optimized", "--rebuild")
        assert {"m.data", "m_opt.onnx"} <= set(names_in(tmp_path / "out"))
        build("-m", path, "--rebuild")
        assert not {"m.data", "m_opt.onnx"} & set(names_in(tmp_path / "out"))
        assert names_in(tmp_path / "in") == ["m.data", "m.onnx"]

    def test_what_somebody_else_made_stays(self, build, tmp_path):
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "m_ctx.onnx").write_text("mine")
        result = build("-m", messy(tmp_path / "m.onnx"), code=USAGE)
        assert "m_ctx.onnx" in result["error"] and names_in(tmp_path / "out") == ["m_ctx.onnx"]
        build("-m", "m.onnx", "--overwrite")

    def test_killed_at_every_call(self, program, build, tmp_path):
        """After a kill, each context file is the old or the new one, and the next build completes it."""
        path = messy(tmp_path / "m.onnx")
        build("-m", path)
        shutil.copytree(tmp_path / "out", tmp_path / "old")
        messy(path, scale=2)
        build("-m", path)
        new = contents(tmp_path / "out")
        old = contents(tmp_path / "old")
        command = [program, "build", "-m", path, "-o", "out", "--no-cache", "--no-validate"]
        log = tmp_path / "log"
        calls = "rename,renameat,renameat2,unlink,unlinkat,fsync,mkdir,mkdirat"

        def run(*strace):
            shutil.rmtree(tmp_path / "out")
            shutil.copytree(tmp_path / "old", tmp_path / "out")
            return subprocess.run(["strace", "-qq", "-e", f"trace={calls}", "-o", log, *strace, *command], cwd=tmp_path,
                                  capture_output=True, timeout=60).returncode

        assert run() == DONE
        seen = {}
        for name in re.findall(r"^(\w+)\(", log.read_text(), re.M):
            seen[name] = seen.get(name, 0) + 1
            code = run("-e", f"inject={name}:signal=KILL:when={seen[name]}")
            assert code in (-signal.SIGKILL, DONE)
            context = (tmp_path / "out" / "m_ctx.onnx").read_bytes()
            # The verdict of the validation apart, which only some of these builds note.
            assert named_in(context) in (named_in(old["m_ctx.onnx"]), named_in(new["m_ctx.onnx"]))
            assert (tmp_path / "out" / named_in(context)[0]).exists()
            build("-m", path, "--no-validate")
            assert build("-m", path, "--no-validate")["status"] == "up to date"

    @pytest.mark.parametrize("other", [False, True], ids=["a new folder", "one more model"])
    def test_results_of_a_build_that_was_killed_are_its_own(self, program, build, tmp_path, other):
        models_ = ["-m", messy(tmp_path / "m.onnx")]
        if other:
            build(*models_)
            models_ += ["-m", messy(tmp_path / "n.onnx", op="Sigmoid")]
        command = [program, "build", *models_, "--keep", "optimized", "-o", "out", "--no-cache", "--no-validate"]
        log = tmp_path / "log"
        before = tmp_path / "before"
        if other:
            shutil.copytree(tmp_path / "out", before)

        def run(*strace):
            shutil.rmtree(tmp_path / "out", ignore_errors=True)
            if other:
                shutil.copytree(before, tmp_path / "out")
            return subprocess.run(["strace", "-qq", "-e", "trace=rename,renameat,renameat2", "-o", log, *strace, *command],
                                  cwd=tmp_path, capture_output=True, timeout=60).returncode

        assert run() == DONE
        calls = re.findall(r"^(\w+)\(", log.read_text(), re.M)
        assert len(calls) >= 5
        for i, name in enumerate(calls):
            code = run("-e", f"inject={name}:signal=KILL:when={calls[:i + 1].count(name)}")
            assert code == -signal.SIGKILL
            build(*models_, "--keep", "optimized", "--no-validate")
            assert build(*models_, "--keep", "optimized", "--no-validate")["status"] == "up to date"

    @pytest.mark.parametrize("first", range(1, 8))
    def test_a_build_without_results_makes_no_folder(self, program, build, tmp_path, first):
        result = subprocess.run(["strace", "-f", "-qq", "-o", "/dev/null", "-e",
                                 f"inject=fsync:error=ENOSPC:when={first}+", program,
                                 "build", "-m", messy(tmp_path / "m.onnx"), "-o", "a/b", "--no-cache"], cwd=tmp_path,
                                capture_output=True, text=True, timeout=60)
        assert result.returncode == FAILED and names_in(tmp_path) == ["m.onnx"]

    def test_a_full_disk_leaves_the_previous_build(self, program, build, tmp_path):
        path = messy(tmp_path / "m.onnx")
        build("-m", path)
        before = contents(tmp_path / "out", ())
        messy(path, scale=2)
        result = subprocess.run(["strace", "-f", "-qq", "-o", "/dev/null", "-e", "inject=fsync:error=ENOSPC", program,
                                 "build", "-m", path, "-o", "out", "--no-cache"], cwd=tmp_path, capture_output=True,
                                text=True, timeout=60)
        assert result.returncode == FAILED and "No space left" in result.stderr
        assert contents(tmp_path / "out", ()) == before


def named_in(context):
    """The weights file and the plan that a context file names."""
    attributes = {a.name: a.s.decode() for a in onnx.load_from_string(context).graph.node[0].attribute}
    return attributes["ep_cache_context"], attributes["partition_name"]


class TestConfig:
    def write(self, tmp_path, **content):
        (tmp_path / "build.json").write_text(json.dumps(content))
        return tmp_path / "build.json"

    def test_everything_in_it_counts(self, tenon, tmp_path):
        messy(tmp_path / "a.onnx")
        messy(tmp_path / "b.onnx", op="Sigmoid")
        config = self.write(tmp_path, models=["a.onnx", {"path": "b.onnx", "name": "other",
                                                         "optimize": {"disable": ["remove-no-ops"]},
                                                         "compile": {"provider_options": {"provider": "reference"}}}],
                            optimize={"enable": ["fold-constants"], "keep_functions": True},
                            analyze={"auto": False, "max_rounds": 2, "fail_on": None},
                            compile={"sources": "none", "validate": False}, output="made")
        result = tenon("build", "-c", config, "--no-cache", "--format", "json")
        assert result.code == DONE, result.err
        assert {"a_ctx.onnx", "other_ctx.onnx"} <= set(names_in(tmp_path / "made"))
        first, second = result.json["models"]
        assert "inline-functions" not in first["capabilities"]["on"]
        assert "remove-no-ops" in first["capabilities"]["on"] and "remove-no-ops" not in second["capabilities"]["on"]
        assert result.json["report"]["models"][0]["validation"] is None
        found = tenon("analyze", "b.onnx", "--format", "json")
        assert found.code == DONE
        analysis = json.loads((tmp_path / "made" / "analysis.json").read_text())["models"][1]["analysis"]
        assert analysis["target"] == "reference"

    def test_an_edit_runs_what_depends_on_it(self, tenon, tmp_path):
        messy(tmp_path / "a.onnx")
        config = self.write(tmp_path, models=["a.onnx"], output="out")
        run = ["build", "-c", config, "--no-cache", "--format", "json"]
        assert ran(tenon(*run).json) == ["optimize", "analyze", "compile"]
        assert ran(tenon(*run).json) == []
        self.write(tmp_path, models=["a.onnx"], output="out", compile={"sources": "embed"})
        assert "compile" in ran(tenon(*run).json) and ran(tenon(*run).json) == []
        self.write(tmp_path, models=["a.onnx"], output="out", compile={"sources": "embed"},
                   optimize={"disable": ["merge-equal-nodes"]})
        assert ran(tenon(*run).json) == ["optimize", "analyze", "compile"]

    def test_every_mistake_is_listed(self, tenon, tmp_path):
        config = self.write(tmp_path, models=[3, {"nam": "x"}], optimise={}, optimize={"enable": ["no-such"]},
                            analyze={"auto": 1, "max_rounds": 9, "fail_on": "x"},
                            compile={"embed": 1, "sourcse": "none"}, output=1)
        result = tenon("build", "-c", config)
        assert result.code == USAGE
        for text in ("models[0]", "models[1]", "'models[1].nam'", "unknown key 'optimise'; did you mean 'optimize'?",
                     "no-such", "analyze.auto", "analyze.max_rounds", "analyze.fail_on", "compile.embed",
                     "'compile.sourcse'; did you mean 'compile.sources'?", "output must be text"):
            assert text in result.err, text

    def test_flags_beat_it(self, tenon, tmp_path):
        messy(tmp_path / "a.onnx")
        messy(tmp_path / "b.onnx")
        config = self.write(tmp_path, models=["a.onnx"], output="made", optimize={"disable": ["remove-no-ops"]})
        result = tenon("build", "-c", config, "-m", "b.onnx", "-o", "out", "--enable", "remove-no-ops", "--no-cache",
                       "--format", "json")
        assert result.code == DONE, result.err
        assert "b_ctx.onnx" in names_in(tmp_path / "out") and not (tmp_path / "made").exists()
        assert "remove-no-ops" in result.json["models"][0]["capabilities"]["on"]

    def test_the_config_is_an_input(self, tenon, tmp_path):
        messy(tmp_path / "a.onnx")
        config = tmp_path / "manifest.json"
        config.write_text(json.dumps({"models": ["a.onnx"], "output": "."}))
        before = config.read_bytes()
        assert tenon("build", "-c", config).code == USAGE and config.read_bytes() == before

    def test_fail_on_reference(self, tenon, tmp_path):
        messy(tmp_path / "a.onnx")
        config = self.write(tmp_path, models=["a.onnx"], output="out", analyze={"fail_on": "reference"},
                            compile={"provider_options": {"provider": "reference"}})
        result = tenon("build", "-c", config, "--no-cache")
        assert result.code == FAILED and "fall back to the reference" in result.err and not (tmp_path / "out").exists()


class TestAuto:
    @pytest.fixture
    def helped(self, tmp_path):
        from .test_analyze import helped
        return helped(tmp_path / "m.onnx")

    def test_what_is_switched_off_stays_off(self, tenon, helped, tmp_path):
        (tmp_path / "build.json").write_text(json.dumps({
            "models": ["m.onnx"], "output": "out", "optimize": {"disable": ["inline-constant-if"]},
            "analyze": {"auto": True}}))
        result = tenon("build", "-c", "build.json", "--no-cache", "--format", "json")
        assert result.code == DONE, result.err
        assert result.json["models"][0]["rounds"] == []
        effective = json.loads((tmp_path / "out" / "effective_build.json").read_text())
        assert effective["models"][0]["optimize"] == {"enable": [], "disable": ["inline-constant-if"]}
        assert effective["models"][0]["path"] == "../m.onnx"
        (tmp_path / "out" / "effective_build.json").rename(tmp_path / "out" / "again.json")
        assert tenon("build", "-c", "out/again.json", "-o", "second", "--no-cache").code == DONE
        assert (tmp_path / "second" / "m_ctx.onnx").read_bytes() == (tmp_path / "out" / "m_ctx.onnx").read_bytes()

    def test_the_effective_configuration_has_the_providers(self, tenon, tmp_path):
        for name in "ab":
            messy(tmp_path / f"{name}.onnx")
        own = {"path": "a.onnx", "compile": {"provider_options": {"provider": "cpu"}}}
        (tmp_path / "build.json").write_text(json.dumps({
            "models": [own, "b.onnx"], "output": "out", "analyze": {"auto": True},
            "compile": {"provider_options": {"provider": "reference"}}}))
        assert tenon("build", "-c", "build.json", "--no-cache").code == DONE
        assert tenon("build", "-c", "out/effective_build.json", "-o", "second", "--no-cache").code == DONE
        for name in ("a_ctx.onnx", "b_ctx.onnx"):
            assert (tmp_path / "second" / name).read_bytes() == (tmp_path / "out" / name).read_bytes()

    def test_what_is_suggested_is_enabled(self, tenon, tmp_path):
        nodes = [helper.make_node("Cast", ["x"], ["wide"], "widen", to=TensorProto.FLOAT16),
                 helper.make_node("Cast", ["wide"], ["y"], "widen more", to=TensorProto.INT32)]
        models.save(tmp_path / "m.onnx", nodes, [models.tensor("x", [4], TensorProto.INT8)],
                    [models.tensor("y", [4], TensorProto.INT32)], {})
        (tmp_path / "build.json").write_text(json.dumps({"models": ["m.onnx"], "output": "out", "analyze": {"auto": True}}))
        result = tenon("build", "-c", "build.json", "--no-cache", "--format", "json")
        assert result.json["models"][0]["rounds"] == [{"enabled": ["merge-casts"]}]
        effective = json.loads((tmp_path / "out" / "effective_build.json").read_text())
        assert effective["models"][0]["optimize"]["enable"] == ["merge-casts"]
        assert tenon("build", "-c", "out/effective_build.json", "-o", "second", "--no-cache").code == DONE
        assert (tmp_path / "second" / "m_ctx.onnx").read_bytes() == (tmp_path / "out" / "m_ctx.onnx").read_bytes()


@pytest.mark.parametrize("arguments", [
    ["-o", "out"], ["-m", "m.onnx"], ["-m", "", "-o", "out"], ["-m", "m.onnx", "-o", "out", "--no-optimize", "--no-compile"],
    ["-m", "m.onnx", "-o", "out", "--no-optimize", "--keep", "optimized"], ["-m", "m.onnx", "-o", "out", "--keep", "all"],
    ["-m", "m.onnx", "-o", "out", "--enable", "no-such"], ["-c", "missing.json"],
    ["-m", "m.onnx", "-o", "out", "--no-cache", "--cache-dir", "x"]], ids=str)
def test_wrong_flags(tenon, tmp_path, arguments):
    messy(tmp_path / "m.onnx")
    assert tenon("build", *arguments).code == USAGE
    assert names_in(tmp_path) == ["m.onnx"]


def test_text(tenon, tmp_path):
    messy(tmp_path / "m.onnx")
    result = tenon("build", "-m", "m.onnx", "-o", "out", "--no-cache")
    assert result.code == DONE and "what it depends on" not in result.out and "built in" in result.out
    result = tenon("build", "-m", "m.onnx", "-o", "out", "--no-cache")
    assert "nothing it depends on has changed" in result.out and "up to date in" in result.out
