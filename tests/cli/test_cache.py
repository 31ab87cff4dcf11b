"""The compile cache: hits give the same bytes, keys have everything that matters, and damage costs only time."""

import json
import os
import shutil
import signal
import subprocess

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

import tenon as library

from . import models
from .conftest import DONE, FAILED, USAGE
from .test_compile import flags, names_in

ENTRY = ["bin", "group", "json", "model", "seen"]


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """The folder of the cache, where the environment says; empty."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache home"))
    return tmp_path / "cache home" / "tenon"


@pytest.fixture
def heads(tmp_path):
    return [models.head(tmp_path / f"{name}.onnx", name) for name in ("cat", "dog")]


def contents(folder):
    return {name: (folder / name).read_bytes() for name in names_in(folder)}


def compile_to(tenon, folder, *arguments):
    """Whether each model was a hit."""
    result = tenon("compile", "--format", "json", "--output-dir", folder, *arguments)
    assert result.code == DONE, result.err
    return [model["cached"] for model in result.json["models"]]


def endings(cache):
    return sorted(name.split(".")[1] for name in names_in(cache))


def age(folder):
    """Nobody has written to these files for a while."""
    for name in names_in(folder):
        os.utime(folder / name, (1e9, 1e9))


class TestHits:
    def test_a_hit_gives_the_same_bytes(self, tenon, cache, heads, tmp_path):
        assert compile_to(tenon, "a", *flags(heads)) == [False, False]
        assert compile_to(tenon, "b", *flags(heads)) == [True, True]
        assert contents(tmp_path / "a") == contents(tmp_path / "b")
        assert tenon("run", "b/cat_ctx.onnx", "--random").code == DONE
        assert tenon("verify", "b").code == DONE

    def test_it_does_not_matter_whether_a_cache_is_there(self, tenon, cache, heads, tmp_path):
        compile_to(tenon, "a", *flags(heads))
        compile_to(tenon, "b", *flags(heads), "--no-cache")
        assert contents(tmp_path / "a") == contents(tmp_path / "b")

    def test_a_group_of_models_from_other_groups(self, tenon, cache, heads, tmp_path):
        for number, path in enumerate(heads):
            compile_to(tenon, f"alone{number}", "-m", path)
        assert compile_to(tenon, "b", *flags(reversed(heads))) == [True, True]
        compile_to(tenon, "a", *flags(heads), "--no-cache")
        assert contents(tmp_path / "a") == contents(tmp_path / "b")

    def test_a_model_of_a_group_alone(self, tenon, cache, heads, tmp_path):
        compile_to(tenon, "group", *flags(heads))
        assert compile_to(tenon, "b", "-m", heads[1]) == [True]
        compile_to(tenon, "a", "-m", heads[1], "--no-cache")
        assert contents(tmp_path / "a") == contents(tmp_path / "b")

    def test_one_changed_model_is_compiled_alone(self, tenon, cache, heads, tmp_path):
        compile_to(tenon, "a", *flags(heads))
        models.head(heads[0], "cat", backbone_seed=7)
        assert compile_to(tenon, "b", *flags(heads)) == [False, True]
        compile_to(tenon, "c", *flags(heads), "--no-cache")
        assert contents(tmp_path / "b") == contents(tmp_path / "c")

    @pytest.mark.parametrize("options", [["--embed"], ["--sources", "embed"], ["--sources", "none"],
                                         ["--defer-weights"], ["--no-validate"], ["--bin-name", "net"],
                                         ["--ep-options", "provider=reference"], ["--pin", "w0"]], ids=str)
    def test_every_kind_of_result(self, tenon, cache, tmp_path, options):
        path = models.head(tmp_path / "cat.onnx", "cat")
        if "--pin" in options:
            options = ["--pin", onnx.load(path).graph.initializer[0].name]
        assert compile_to(tenon, "a", "-m", path, *options) == [False]
        assert compile_to(tenon, "b", "-m", path, *options) == [True]
        assert contents(tmp_path / "a") == contents(tmp_path / "b")

    def test_two_names_for_one_model(self, tenon, cache, tmp_path):
        path = models.head(tmp_path / "cat.onnx", "cat")
        compile_to(tenon, "a", "-m", path)
        shutil.copy(path, tmp_path / "same.onnx")
        assert compile_to(tenon, "b", "-m", "same.onnx") == [False]
        (tmp_path / "other").mkdir()
        shutil.copy(path, tmp_path / "other" / "cat.onnx")
        assert compile_to(tenon, "c", "-m", "other/cat.onnx") == [True]
        assert contents(tmp_path / "a") == contents(tmp_path / "c")

    def test_external_data(self, tenon, cache, tmp_path):
        for folder in ("one", "two"):
            (tmp_path / folder).mkdir()
            models.external(tmp_path / folder / "m.onnx", "m.data")
        assert compile_to(tenon, "a", "-m", "one/m.onnx") == [False]
        assert compile_to(tenon, "b", "-m", "two/m.onnx") == [True]
        data = next(name for name in names_in(tmp_path / "two") if name != "m.onnx")
        bytes_ = bytearray((tmp_path / "two" / data).read_bytes())
        bytes_[3] ^= 1
        (tmp_path / "two" / data).write_bytes(bytes_)
        assert compile_to(tenon, "c", "-m", "two/m.onnx") == [False]

    def test_it_is_said(self, tenon, cache, linear):
        tenon("compile", "-m", linear, "--output-dir", "a")
        result = tenon("compile", "-m", linear, "--output-dir", "b")
        assert "cache hit" in result.out and "same when it was compiled" in result.out

    def test_a_hit_is_not_compared_again(self, program, tenon, cache, linear, tmp_path):
        tenon("compile", "-m", linear, "--output-dir", "a")
        log = tmp_path / "log"
        subprocess.run(["strace", "-f", "-qq", "-e", "trace=execve", "-o", log, program, "compile", "-m", linear,
                        "--output-dir", "b"], cwd=tmp_path, check=True, capture_output=True, timeout=60)
        assert log.read_text().count("execve(") == 1
        result = tenon("compile", "-m", linear, "--output-dir", "c", "--validate", "--format", "json")
        assert result.json["models"][0]["cached"] and "earlier" not in result.json["models"][0]["validation"]

    def test_what_was_never_compared_is(self, tenon, cache, linear, tmp_path):
        tenon("compile", "-m", linear, "--output-dir", "a", "--no-validate")
        result = tenon("compile", "-m", linear, "--output-dir", "b", "--format", "json")
        model = result.json["models"][0]
        assert model["cached"] and model["validation"]["verdict"] == "same" and "earlier" not in model["validation"]
        result = tenon("compile", "-m", linear, "--output-dir", "c", "--format", "json")
        assert result.json["models"][0]["validation"]["earlier"]
        assert contents(tmp_path / "b") == contents(tmp_path / "c")


class TestKeys:
    @pytest.mark.parametrize("options", [["--sources", "embed"], ["--sources", "none"], ["--defer-weights"],
                                         ["--pin", "w"], ["--ep-options", "provider=reference"]], ids=str)
    def test_options_that_decide_about_the_result(self, tenon, cache, linear, options):
        compile_to(tenon, "a", "-m", linear)
        assert compile_to(tenon, "b", "-m", linear, *options) == [False]

    @pytest.mark.parametrize("options", [["--threads", "1"], ["--jobs", "2"], ["--bin-name", "net"], ["--embed"],
                                         ["--ep-options", "cpu_isa=generic"]], ids=str)
    def test_options_that_do_not(self, tenon, cache, linear, options):
        if "cpu_isa=generic" in options:
            options = ["--ep-options", f"cpu_isa={tenon('sys', '--format', 'json').json['cpu']['isas'][-1]}"]
        compile_to(tenon, "a", "-m", linear)
        assert compile_to(tenon, "b", "-m", linear, *options) == [True]

    @pytest.mark.parametrize("weight", ["w", "b"])
    def test_every_weight(self, tenon, cache, linear, weight):
        compile_to(tenon, "a", "-m", linear)
        model = onnx.load(linear)
        tensor = next(t for t in model.graph.initializer if t.name == weight)
        values = numpy_helper.to_array(tensor).copy()
        values.flat[-1] = np.nextafter(values.flat[-1], np.float32(9))
        tensor.CopyFrom(numpy_helper.from_array(values, weight))
        onnx.save(model, linear)
        assert compile_to(tenon, "b", "-m", linear) == [False]

    def test_the_graph(self, tenon, cache, linear):
        compile_to(tenon, "a", "-m", linear)
        model = onnx.load(linear)
        model.graph.node[2].op_type = "Sigmoid"
        onnx.save(model, linear)
        assert compile_to(tenon, "b", "-m", linear) == [False]

    def test_frozen_inputs(self, tenon, cache, linear):
        model = onnx.load(linear)
        model.graph.input.append(models.tensor("b", [2]))
        onnx.save(model, linear)
        compile_to(tenon, "a", "-m", linear)
        assert compile_to(tenon, "b", "-m", linear, "--freeze-inputs") == [False]
        assert compile_to(tenon, "c", "-m", linear, "--freeze-inputs", "b") == [True]


class TestDamage:
    @pytest.mark.parametrize("aged", [False, True])
    @pytest.mark.parametrize("ending", ENTRY)
    @pytest.mark.parametrize("damage", ["flip", "cut", "empty", "gone", "text"])
    def test_damaged_files_are_made_again(self, tenon, cache, heads, tmp_path, ending, damage, aged):
        compile_to(tenon, "a", *flags(heads))
        if aged:  # the bytes of the weights file were checked, and that was noted
            age(cache)
            assert compile_to(tenon, "b", *flags(heads)) == [True, True]
            shutil.rmtree(tmp_path / "b")
        # It may be the published file itself.
        published = contents(tmp_path / "a")
        shutil.rmtree(tmp_path / "a")
        for path in cache.glob(f"*.{ending}"):
            content = bytearray(path.read_bytes())
            middle = len(content) // 2
            if damage == "flip" and content:
                content[middle] ^= 1
            changed = {"cut": content[:middle], "empty": b"", "text": b"{}"}.get(damage, bytes(content))
            if damage == "gone":
                path.unlink()
            else:
                path.write_bytes(changed)
        compile_to(tenon, "b", *flags(heads))
        assert contents(tmp_path / "b") == published
        assert compile_to(tenon, "c", *flags(heads)) == [True, True]
        assert contents(tmp_path / "c") == published
        assert endings(cache) == sorted(["bin", "seen", "group", "json", "json", "model", "model"])

    def test_writing_into_a_published_file_damages_nothing_else(self, tenon, cache, heads, tmp_path):
        compile_to(tenon, "a", *flags(heads))
        published = contents(tmp_path / "a")
        compile_to(tenon, "b", *flags(heads))
        age(cache)
        compile_to(tenon, "c", *flags(heads))
        with open(next((tmp_path / "a").glob("*.bin")), "r+b") as file:
            file.seek(5000)
            file.write(b"oops")
        assert contents(tmp_path / "b") == published
        compile_to(tenon, "d", *flags(heads))
        assert contents(tmp_path / "d") == published

    def test_a_folder_that_cannot_be(self, tenon, linear, tmp_path):
        (tmp_path / "file").write_text("")
        assert compile_to(tenon, "a", "-m", linear) == [False]  # /dev/null has no place for one
        result = tenon("compile", "-m", linear, "--output-dir", "b", "--cache-dir", "file")
        assert result.code == FAILED and "'file'" in result.err and not (tmp_path / "b").exists()


class TestSize:
    @pytest.fixture
    def keep(self, tmp_path):
        """Compiles with a limit, through the library."""
        count = iter(range(100))

        def build(path, limit=None):
            report = library.build(path, output_dir=tmp_path / f"out{next(count)}", cache_dir=tmp_path / "cache",
                                   cache_bytes=limit, validate=False)
            return report["models"][0]["cached"]

        return build

    def test_what_was_not_used_for_long_goes(self, keep, tmp_path):
        paths = [models.linear(tmp_path / f"{name}.onnx", scale) for name, scale in (("a", 1), ("b", 2), ("c", 3))]
        assert not keep(paths[0]) and not keep(paths[1])
        age(tmp_path / "cache")
        size = sum(file.stat().st_size for file in (tmp_path / "cache").iterdir())
        assert keep(paths[0])  # so the other one was not used for longer
        limit = int(size * 1.25)
        assert not keep(paths[2], limit)
        assert keep(paths[0], limit) and keep(paths[2], limit)
        assert not keep(paths[1], limit)
        assert sum(file.stat().st_size for file in (tmp_path / "cache").iterdir()) <= limit

    def test_what_is_too_large_alone_is_not_kept(self, keep, linear, tmp_path):
        assert not keep(linear, 100)
        assert names_in(tmp_path / "cache") == []

    def test_no_limit_removes_what_others_put_there(self, keep, linear, tmp_path):
        (tmp_path / "cache").mkdir()
        for name in ("notes.txt", "0" * 32, "0" * 31 + "x.bin", "0" * 32 + ".onnx"):
            (tmp_path / "cache" / name).write_text("mine")
        assert not keep(linear, 0)
        assert len(names_in(tmp_path / "cache")) == 4


class TestProcesses:
    def test_many_at_once(self, program, tenon, cache, heads, tmp_path):
        compile_to(tenon, "expected", *flags(heads), "--no-cache")
        expected = contents(tmp_path / "expected")
        command = [program, "compile", *map(str, flags(heads)), "--no-validate"]
        compile_to(tenon, "plain", *flags(heads), "--no-cache", "--no-validate")
        plain = contents(tmp_path / "plain")
        for _ in range(3):
            shutil.rmtree(cache, ignore_errors=True)
            started = [subprocess.Popen([*command, "--output-dir", f"out{i}"], cwd=tmp_path, stdout=subprocess.DEVNULL)
                       for i in range(8)]
            assert [process.wait(60) for process in started] == [DONE] * 8
            for i in range(8):
                assert contents(tmp_path / f"out{i}") == plain
                shutil.rmtree(tmp_path / f"out{i}")
        assert compile_to(tenon, "last", *flags(heads)) == [True, True]
        assert contents(tmp_path / "last") == expected

    def test_killed_at_every_call(self, program, tenon, heads, tmp_path):
        """After a kill at any call that changes something, the next compile is right and leaves a whole cache."""
        compile_to(tenon, "expected", *flags(heads), "--no-cache", "--no-validate")
        expected = contents(tmp_path / "expected")
        calls = "write,rename,renameat,linkat,link,unlink,unlinkat,fsync,utimensat"
        command = [program, "compile", *map(str, flags(heads)), "--no-validate", "--cache-dir", "cache"]
        log = tmp_path / "log"

        def run(folder, *strace):
            return subprocess.run(["strace", "-qq", "-e", f"trace={calls}", "-o", log, *strace, *command,
                                   "--output-dir", folder], cwd=tmp_path, capture_output=True, timeout=60).returncode

        assert run("whole") == DONE
        names = [line.split("(")[0] for line in log.read_text().splitlines() if "(" in line]
        seen = {}
        for name in names:
            seen[name] = seen.get(name, 0) + 1
            shutil.rmtree(tmp_path / "cache", ignore_errors=True)
            code = run("killed", "-e", f"inject={name}:signal=KILL:when={seen[name]}")
            assert code in (-signal.SIGKILL, DONE), (name, seen[name], code)
            compile_to(tenon, "after", *flags(heads), "--no-validate", "--cache-dir", "cache")
            assert contents(tmp_path / "after") == expected, (name, seen[name])
            assert not [n for n in os.listdir(tmp_path / "cache") if n.startswith(".tenon")]
            assert compile_to(tenon, "hit", *flags(heads), "--no-validate", "--cache-dir", "cache") == [True, True]
            for folder in ("killed", "after", "hit"):
                shutil.rmtree(tmp_path / folder, ignore_errors=True)

    def test_a_full_disk_leaves_the_result(self, program, tenon, heads, tmp_path):
        command = [program, "compile", *map(str, flags(heads)), "--cache-dir", "cache", "--no-validate"]
        # What comes after the publication is the cache's.
        result = subprocess.run(["strace", "-qq", "-e", "trace=link,linkat,ioctl", "-e", "inject=link,linkat:error=EPERM",
                                 "-P", "cache", *command, "--output-dir", "a"], cwd=tmp_path, capture_output=True,
                                timeout=60)
        assert result.returncode == DONE, result.stderr
        assert compile_to(tenon, "b", *flags(heads), "--cache-dir", "cache", "--no-validate") == [True, True]
        assert contents(tmp_path / "a") == contents(tmp_path / "b")


class TestCommands:
    def test_sys_shows_it_and_clears_it(self, tenon, cache, heads, tmp_path):
        assert tenon("sys", "--format", "json").json["cache"]["models"] == 0
        compile_to(tenon, "a", *flags(heads))
        (cache / "notes.txt").write_text("mine")
        shown = tenon("sys", "--format", "json").json["cache"]
        assert shown["folder"] == str(cache) and shown["models"] == 2 and shown["weights_files"] == 1
        size = sum((cache / name).stat().st_size for name in names_in(cache)) - len("mine")
        assert shown["bytes"] == size and shown["most_bytes"] > 0
        assert f"{cache}: 2 compiled models" in tenon("sys").out
        result = tenon("sys", "--clear-cache", "--format", "json")
        assert result.code == DONE and result.json == {"folder": str(cache), "freed_bytes": size}
        assert names_in(cache) == ["notes.txt"]
        assert compile_to(tenon, "b", *flags(heads)) == [False, False]
        assert contents(tmp_path / "a") == contents(tmp_path / "b")

    def test_clearing_what_is_not_there(self, tenon, cache):
        result = tenon("sys", "--clear-cache")
        assert result.code == DONE and "freed 0 B" in result.out and not cache.exists()

    def test_no_cache_writes_nothing_there(self, tenon, cache, linear):
        compile_to(tenon, "a", "-m", linear, "--no-cache")
        assert not cache.exists()
        compile_to(tenon, "b", "-m", linear)
        assert compile_to(tenon, "c", "-m", linear, "--no-cache") == [False]

    def test_a_folder_of_its_own(self, tenon, cache, linear, tmp_path):
        assert compile_to(tenon, "a", "-m", linear, "--cache-dir", "mine") == [False]
        assert compile_to(tenon, "b", "-m", linear, "--cache-dir", "mine") == [True]
        assert not cache.exists() and endings(tmp_path / "mine") == ENTRY
        assert tenon("sys", "--cache-dir", "mine", "--format", "json").json["cache"]["models"] == 1

    def test_flags_that_exclude_each_other(self, tenon, linear):
        assert tenon("compile", "-m", linear, "--no-cache", "--cache-dir", "x").code == USAGE

    def test_up_to_date_needs_no_cache(self, tenon, cache, linear):
        tenon("compile", "-m", linear, "--output-dir", "a")
        result = tenon("compile", "-m", linear, "--output-dir", "a", "--format", "json")
        assert json.loads(result.out)["status"] == "up to date"
