"""Compiling again: what is there already counts, what is missing is made, what fails says why."""

import os
import subprocess

import pytest

from . import models
from .conftest import DONE, FAILED, USAGE
from .test_compile import flags, names_in, weights_file


@pytest.fixture
def heads(tmp_path):
    return [models.head(tmp_path / f"{name}.onnx", name) for name in ("cat", "dog")]


def statuses(result):
    return [model["status"] for model in result.json["models"]]


def test_a_missing_model_of_a_group_is_made_again(tenon, heads, tmp_path):
    tenon("compile", *flags(heads), "--output-dir", "out")
    before = {name: (tmp_path / "out" / name).read_bytes() for name in names_in(tmp_path / "out")}
    (tmp_path / "out/dog_ctx.onnx").unlink()
    (tmp_path / "out/.tenon-staging-1-0").mkdir()
    result = tenon("compile", *flags(heads), "--output-dir", "out", "--format", "json")
    assert result.code == DONE, result.err
    assert statuses(result) == ["compiled", "compiled"]
    assert before == {name: (tmp_path / "out" / name).read_bytes() for name in names_in(tmp_path / "out")}


def test_what_is_left_over_goes_also_when_the_compile_is_refused(tenon, heads, tmp_path):
    tenon("compile", *flags(heads), "--output-dir", "out")
    (tmp_path / "out/.tenon-staging-1-0").mkdir()
    models.head(heads[0], "cat", backbone_seed=3)
    before = names_in(tmp_path / "out")
    result = tenon("compile", *flags(heads), "--output-dir", "out", "--format", "json", "--report", "r.json")
    assert result.code == FAILED and "'out/cat_ctx.onnx' already exists" in result.err and "--overwrite" in result.err
    assert statuses(result) == ["failed", "skipped"] and (tmp_path / "r.json").exists()
    assert names_in(tmp_path / "out") == [name for name in before if not name.startswith(".")]


def test_a_model_that_fails_again_shows_its_reason_again(tenon, heads, tmp_path):
    bad = models.unknown_op(tmp_path / "odd.onnx")
    for expected in ("compiled", "up to date"):
        result = tenon("compile", "-m", bad, *flags(heads), "--output-dir", "out", "--format", "json")
        assert result.code == FAILED and "NoSuchOp" in result.err and "already exists" not in result.err
        assert statuses(result) == ["failed", expected, expected]


def test_pins_of_a_model_that_fails_do_not_fail_the_others(tenon, heads, tmp_path):
    bad = models.save(tmp_path / "odd.onnx", [models.helper.make_node("NoSuchOp", ["x", "p"], ["y"], domain="com.microsoft")],
                      [models.tensor("x", [2])], [models.tensor("y", [2])], models.weights_of({"p": (2,)}))
    pins = ["--pin", "p", "--pin", "cat.w"]
    for expected in ("compiled", "up to date"):
        result = tenon("compile", "-m", bad, *flags(heads), *pins, "--output-dir", "out", "--format", "json")
        assert result.code == FAILED
        assert statuses(result) == ["failed", expected, expected]
        assert "NoSuchOp" in result.err and "cannot be pinned" not in result.err
    listed = tenon("weights", "list", "out/cat_ctx.onnx", "--format", "json").json["groups"][0]["weights"]
    assert [w["name"] for w in listed if not w["swappable"]] == ["cat.w"]


def test_a_pin_that_only_an_unreadable_model_may_have(tenon, heads, tmp_path):
    (tmp_path / "bad.onnx").write_bytes(b"no model")
    result = tenon("compile", "-m", "bad.onnx", *flags(heads), "--pin", "p", "--output-dir", "out", "--format", "json")
    assert result.code == FAILED and "no model that could be loaded has a weight named 'p'" in result.err
    assert statuses(result) == ["failed", "compiled", "compiled"]


def test_the_same_compile_twice_at_once(program, heads, tmp_path):
    for round in range(5):
        line = [program, "compile", *map(str, flags(heads)), "--output-dir", f"out{round}", "--no-validate", "--threads", "1"]
        running = [subprocess.Popen(line, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                   for _ in range(4)]
        for process in running:
            out, errors = process.communicate(timeout=60)
            assert process.returncode == 0, errors
            assert "compiled" in out or "up to date" in out
        assert len(names_in(tmp_path / f"out{round}")) == 3
        assert not [name for name in names_in(tmp_path) if name.startswith(".")]


class TestHalfReplaced:
    def interrupt(self, tenon, heads, tmp_path):
        """As if killed after the first context file."""
        tenon("compile", *flags(heads), "--output-dir", "out")
        for path in heads:
            models.head(path, path.stem, backbone_seed=5)
        tenon("compile", *flags(heads), "--output-dir", "new")
        staging = tmp_path / "out/.tenon-staging-1-0"
        staging.mkdir()
        (staging / ".tenon-lock").write_text("Tenon keeps files in this folder until they are published.\n")
        os.rename(weights_file(tmp_path / "new"), tmp_path / "out" / weights_file(tmp_path / "new").name)
        os.rename(tmp_path / "new/dog_ctx.onnx", staging / "dog_ctx.onnx")
        return staging

    def test_is_reported_and_completed(self, tenon, heads, tmp_path):
        self.interrupt(tenon, heads, tmp_path)
        assert tenon("verify", "out").code == DONE  # no context file is replaced yet
        os.rename(tmp_path / "new/cat_ctx.onnx", tmp_path / "out/cat_ctx.onnx")
        result = tenon("verify", "out")
        assert result.code == FAILED and "only a part of this group was replaced" in result.out and "'dog_ctx.onnx'" in result.out
        document = tenon("verify", "out", "--format", "json").json
        assert not document["good"] and [group["good"] for group in document["groups"]].count(False) == 1
        assert tenon("compile", *flags(heads), "--output-dir", "out", "--overwrite").code == DONE
        assert tenon("verify", "out").code == DONE

    def test_stays_known_until_the_group_is_published_again(self, tenon, heads, tmp_path):
        staging = self.interrupt(tenon, heads, tmp_path)
        os.rename(tmp_path / "new/cat_ctx.onnx", tmp_path / "out/cat_ctx.onnx")
        assert tenon("compile", *flags(heads), "--output-dir", "out").code == FAILED
        models.convolution(tmp_path / "conv.onnx")
        assert tenon("compile", "-m", "conv.onnx", "--output-dir", "out").code == DONE
        assert tenon("verify", "out").code == FAILED and staging.exists()
        assert tenon("compile", "-m", heads[1], "--output-dir", "out", "--overwrite").code == DONE
        assert tenon("verify", "out").code == DONE and not staging.exists()

    def test_a_publication_under_way_is_none(self, tenon, heads, tmp_path):
        import fcntl
        staging = self.interrupt(tenon, heads, tmp_path)
        os.rename(tmp_path / "new/cat_ctx.onnx", tmp_path / "out/cat_ctx.onnx")
        with open(staging / ".tenon-lock") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            assert tenon("verify", "out").code == DONE


class TestValidateAgain:
    def test_what_is_up_to_date_is_tried_when_asked(self, tenon, heads):
        tenon("compile", "-m", heads[0], "--no-validate", "--output-dir", "out")
        report = tenon("compile", "-m", heads[0], "--output-dir", "out", "--format", "json").json
        assert report["models"][0]["validation"]["verdict"] == "never validated"
        report = tenon("compile", "-m", heads[0], "--output-dir", "out", "--validate", "--format", "json").json
        assert report["status"] == "up to date" and report["models"][0]["validation"]["verdict"] == "same"


@pytest.mark.parametrize("arguments, message", [
    (["--list", "-m", "nope"], "--model"),
    (["--list", "--embed"], "--embed"),
    (["--list", "--jobs", "1"], "--jobs"),
    (["--ep-options", "help", "--ep-options", "xx=1"], "xx=1"),
    (["--ep-options", "help", "-m", "a"], "--model"),
    (["-m", "a", "--defer-weights", "--validate"], "--validate"),
    (["-m", "a", "--defer-weights", "--sources", "embed"], "--sources embed"),
    (["-m", "a", "--embd"], "did you mean '--embed'? see 'tenon compile --help'"),
])
def test_flags_that_would_not_count(tenon, arguments, message):
    result = tenon("compile", *arguments)
    assert (result.code, result.out) == (USAGE, "")
    assert message in result.err


class TestFreezing:
    def test_a_weight_that_is_no_input(self, tenon, linear):
        result = tenon("compile", "-m", linear, "--freeze-inputs", "w")
        assert result.code == USAGE and "no model has an initializer among its inputs named 'w'" in result.err

    def test_a_typo_beside_a_model_that_cannot_be_read(self, tenon, linear, tmp_path):
        (tmp_path / "bad.onnx").write_bytes(b"no model")
        result = tenon("compile", "-m", linear, "-m", "bad.onnx", "--freeze-inputs", "typo", "--output-dir", "out")
        assert result.code == FAILED and "'typo'" in result.err

    def test_the_warning_names_the_flag(self, tenon, tmp_path):
        model = models.onnx.load(models.linear(tmp_path / "m.onnx"))
        model.graph.input.append(models.tensor("w", [2, 2]))
        models.onnx.save(model, tmp_path / "m.onnx")
        assert "--freeze-inputs makes it a weight" in tenon("compile", "-m", "m.onnx").err


class TestNamesThatAreNotText:
    def test_a_model(self, tenon, tmp_path):
        path = os.fsencode(tmp_path) + b"/x\xff.onnx"
        models.linear(tmp_path / "m.onnx")
        os.rename(tmp_path / "m.onnx", path)
        result = tenon("compile", "-m", os.fsdecode(path), "--no-validate", "--output-dir", "out", errors="surrogateescape")
        assert result.code == FAILED and "not UTF-8" in result.err and not (tmp_path / "out").exists()

    def test_an_output(self, tenon, linear, tmp_path):
        for more in (["-o", os.fsdecode(b"x\xff.onnx")], ["--bin-name", os.fsdecode(b"x\xff")]):
            result = tenon("compile", "-m", linear, *more, errors="surrogateescape")
            assert result.code == USAGE and "not UTF-8" in result.err
        assert names_in(tmp_path) == ["linear.onnx"]

    def test_folders_may_be_called_anything(self, tenon, tmp_path):
        folder = os.fsdecode(os.fsencode(tmp_path) + b"/d\xff")
        os.mkdir(folder)
        models.linear(folder + "/m.onnx")
        result = tenon("compile", "-m", folder + "/m.onnx", errors="surrogateescape")
        assert result.code == DONE, result.err
        assert "same" in result.out


class TestPlacesThatCannotBeReached:
    @pytest.fixture(params=["loop", "long"])
    def bad(self, request, tmp_path):
        if request.param == "long":
            return "n" * 300
        os.symlink("loop", tmp_path / "loop")
        return "loop"

    def test_outputs(self, tenon, linear, bad):
        for more in (["-o", f"{bad}/x.onnx"], ["--output-dir", bad], ["--output-dir", f"{bad}/deep"],
                     ["--report", f"{bad}/r.json"]):
            result = tenon("compile", "-m", linear, *more)
            assert result.code == FAILED and "unexpected" not in result.err, more
            assert "too many" in result.err.lower() or "too long" in result.err, result.err

    def test_a_reason_is_given(self, tenon, linear, bad):
        result = tenon("compile", "-m", linear, "-o", f"{bad}/x.onnx")
        assert "cannot access the folder" in result.err and "does not exist" not in result.err

    def test_models_and_folders(self, tenon, bad):
        for arguments in (["verify", bad], ["weights", "list", bad], ["run", bad, "--random"], ["inspect", bad]):
            result = tenon(*arguments)
            assert result.code == 3 and "unexpected" not in result.err, arguments


def test_files_that_may_not_grow_are_an_error(program, tmp_path):
    models.head(tmp_path / "m.onnx", "m", width=512)
    line = f"ulimit -f 4; exec '{program}' compile -m m.onnx --output-dir out"
    process = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True)
    assert process.returncode == FAILED and "File too large" in process.stderr
    assert names_in(tmp_path) == ["m.onnx"]


class TestReports:
    def test_of_a_compile_that_cannot_be_written(self, tenon, linear, tmp_path):
        (tmp_path / "out").write_text("mine")
        result = tenon("compile", "-m", linear, "--output-dir", "out", "--report", "r.json", "--format", "json")
        assert result.code == FAILED and statuses(result) == ["failed"]
        assert "'out' is a file" in result.json["models"][0]["error"]
        assert (tmp_path / "r.json").exists()

    def test_one_model_that_is_left_is_not_compared_with_others(self, tenon, heads, tmp_path):
        (tmp_path / "bad.onnx").write_bytes(b"no model")
        result = tenon("compile", "-m", heads[0], "-m", "bad.onnx", "--output-dir", "out", "--report", "r.html")
        assert result.code == FAILED and "nothing is shared" not in result.out
        assert "Nothing is shared" not in (tmp_path / "r.html").read_text()

    def test_names_do_not_steer_the_terminal(self, tenon, tmp_path):
        models.linear(tmp_path / "a\x1b[31m.onnx")
        result = tenon("compile", "-m", "a\x1b[31m.onnx")
        assert result.code == DONE and "\x1b" not in result.out + result.err
        result = tenon("weights", "set", "a\x1b[31m_ctx.onnx", "--from", "a\x1b[31m.onnx", "--in-place")
        assert result.code == DONE and "\x1b" not in result.out + result.err


class TestConfig:
    @pytest.mark.parametrize("text, message", [
        ('{"compile": {"threads": 1, "threads": 2}}', "compile.threads occurs twice"),
        ('{"compile": {}, "compile": {}}', "compile occurs twice"),
        ('{"compile": {"models": {"a": {}, "a": {}}}}', "compile.models.a occurs twice"),
        ('{"compile": ', "line 1, column"),
    ])
    def test_mistakes_in_plain_words(self, tenon, linear, tmp_path, text, message):
        (tmp_path / "c.json").write_text(text)
        result = tenon("compile", "-m", linear, "--config", "c.json")
        assert result.code == USAGE and message in result.err and "json.exception" not in result.err
