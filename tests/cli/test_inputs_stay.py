"""No command changes a file that it reads, and no result replaces another one."""

import json

import numpy as np
import pytest

from . import models
from .conftest import DONE, FAILED, USAGE
from .test_compile import names_in, weights_file
from .test_weights import write


@pytest.fixture
def unchanged(tmp_path):
    """Remembers files; afterwards they are as they were."""
    kept = {}

    def remember(*names):
        kept.update({name: (tmp_path / name).read_bytes() for name in names})

    yield remember
    assert kept and kept == {name: (tmp_path / name).read_bytes() for name in kept}


@pytest.mark.parametrize("output, report", [("q.json", "./q.json"), ("./q.json", "q.json"), ("q.json", "d/../q.json")])
def test_a_report_never_replaces_the_result(tenon, linear, tmp_path, output, report):
    (tmp_path / "d").mkdir()
    result = tenon("compile", "-m", linear, "-o", output, "--report", report)
    assert result.code == USAGE and "--report" in result.err
    assert names_in(tmp_path) == ["d", "linear.onnx"]


@pytest.mark.parametrize("flags", [["-o", "m.onnx.data"], ["-o", "./m.onnx.data"], ["--report", "m.json"]])
def test_external_data_of_a_model_stays(tenon, tmp_path, unchanged, flags):
    location = "m.json" if "m.json" in flags else "m.onnx.data"
    models.external(tmp_path / "m.onnx", location)
    unchanged("m.onnx", location)
    result = tenon("compile", "-m", "m.onnx", *flags, "--overwrite")
    assert result.code == USAGE and location in result.err
    assert names_in(tmp_path) == sorted(["m.onnx", location])


@pytest.mark.parametrize("flags", [["--report", "c.json"], ["--report", "./c.json"], ["-o", "c.json"]])
def test_the_configuration_stays(tenon, linear, tmp_path, unchanged, flags):
    (tmp_path / "c.json").write_text(json.dumps({"compile": {"threads": 1}}))
    unchanged("c.json", "linear.onnx")
    assert tenon("compile", "-m", linear, "--config", "c.json", *flags, "--overwrite").code == USAGE


@pytest.fixture
def compiled(tenon, tmp_path):
    models.convolution(tmp_path / "a.onnx")
    models.convolution(tmp_path / "tuned.onnx", seed=5)
    write(tmp_path / "tuned.safetensors", {"b": np.ones(4, np.float32)})
    assert tenon("compile", "-m", "a.onnx", "--output-dir", "out").code == DONE
    assert tenon("compile", "-m", "a.onnx").code == DONE


@pytest.mark.parametrize("arguments", [
    ["set", "a_ctx.onnx", "--from", "tuned.onnx", "-o", "./tuned.onnx"],
    ["set", "a_ctx.onnx", "--from", "tuned.onnx", "-o", "a.onnx"],
    ["set", "out/a_ctx.onnx", "--from", "tuned.onnx", "-o", "a.onnx"],
    ["set", "out/a_ctx.onnx", "--from", "tuned.safetensors", "-o", "tuned.safetensors"],
    ["strip", "a_ctx.onnx", "-o", "a.onnx"],
    ["strip", "out/a_ctx.onnx", "-o", "a.onnx"],
    ["strip", "a_ctx.onnx", "-o", "./a_ctx.onnx"],
])
def test_weights_never_replace_what_they_read(tenon, compiled, unchanged, arguments):
    unchanged("a.onnx", "a_ctx.onnx", "tuned.onnx", "tuned.safetensors", "out/a_ctx.onnx")
    result = tenon("weights", *arguments, "--overwrite")
    assert result.code == USAGE and "choose another output" in result.err


def test_set_never_replaces_external_data_of_the_new_weights(tenon, tmp_path, unchanged):
    models.external(tmp_path / "m.onnx", "m.data")
    models.external(tmp_path / "new.onnx", "new_ctx.onnx")
    assert tenon("compile", "-m", "m.onnx").code == DONE
    unchanged("new_ctx.onnx", "m.data")
    for output in ("new_ctx.onnx", "m.data"):
        result = tenon("weights", "set", "m_ctx.onnx", "--from", "new.onnx", "-o", output, "--overwrite")
        assert result.code == USAGE and output in result.err


def test_set_never_replaces_files_of_the_folder_it_takes(tenon, tmp_path, unchanged):
    for folder in ("old", "new"):
        (tmp_path / folder).mkdir()
        models.external(tmp_path / folder / "m.onnx", "m.data")
    assert tenon("compile", "-m", "old/m.onnx").code == DONE
    unchanged("new/m.data", "old/m.data")
    for output in ("new/m.data", "old/m.data"):
        result = tenon("weights", "set", "old/m_ctx.onnx", "--from", "new", "-o", output, "--overwrite")
        assert result.code == USAGE and output in result.err


def test_export_never_replaces_where_weights_came_from(tenon, compiled, unchanged):
    assert tenon("weights", "set", "a_ctx.onnx", "--from", "tuned.safetensors", "--in-place").code == DONE
    unchanged("tuned.safetensors")
    result = tenon("weights", "export", "a_ctx.onnx", "-o", "tuned.safetensors", "--overwrite")
    assert result.code == USAGE and "tuned.safetensors" in result.err


def test_weights_files_without_a_context_file_beside_them_stay(tenon, tmp_path):
    """Somebody may have moved the context file and want it back."""
    path = models.convolution(tmp_path / "a.onnx")
    assert tenon("compile", "-m", path).code == DONE
    first = weights_file(tmp_path).name
    (tmp_path / "bak").mkdir()
    (tmp_path / "a_ctx.onnx").rename(tmp_path / "bak/a_ctx.onnx")
    models.convolution(path, seed=4)
    for _ in range(2):
        assert tenon("compile", "-m", path).code == DONE
        assert len([name for name in names_in(tmp_path) if name.endswith(".bin")]) == 2
    (tmp_path / "bak/a_ctx.onnx").rename(tmp_path / "old_ctx.onnx")
    assert first in names_in(tmp_path) and tenon("verify", ".").code == DONE


def test_weights_that_replaced_weights_refer_to_go_with_them(tenon, tmp_path):
    path = models.step(tmp_path / "m.onnx", 4)
    assert tenon("compile", "-m", path, "--output-dir", "out").code == DONE
    source = write(tmp_path / "new.npz", {"bias": np.ones(16, np.float32)})
    assert tenon("weights", "set", "out", "--from", source, "--in-place").code == DONE
    assert len(names_in(tmp_path / "out")) == 3
    models.step(path, 4, seed=3)
    assert tenon("compile", "-m", path, "--output-dir", "out", "--overwrite").code == DONE
    assert len(names_in(tmp_path / "out")) == 2


class TestOccupiedWeightsNames:
    def occupy(self, tenon, tmp_path, how):
        """A file at the name that the weights will have; its content."""
        path = models.convolution(tmp_path / "a.onnx")
        assert tenon("compile", "-m", path).code == DONE
        weights = weights_file(tmp_path)
        whole = weights.read_bytes()
        (tmp_path / "a_ctx.onnx").unlink()
        weights.unlink()
        if how == "part":
            weights.write_bytes(whole[:1000])
        elif how == "text":
            weights.write_text("mine")
        else:
            models.convolution(tmp_path / "b.onnx", seed=8)
            assert tenon("compile", "-m", "b.onnx", "--output-dir", "other").code == DONE
            weights.write_bytes(weights_file(tmp_path / "other").read_bytes())
        return weights

    @pytest.mark.parametrize("how", ["part", "text", "other"])
    def test_what_is_not_what_its_name_says_needs_overwrite(self, tenon, tmp_path, how):
        weights = self.occupy(tenon, tmp_path, how)
        before = weights.read_bytes()
        result = tenon("compile", "-m", "a.onnx")
        assert result.code == FAILED and weights.name in result.err and "--overwrite" in result.err
        assert "not the weights file of this group" in result.err
        assert weights.read_bytes() == before and not (tmp_path / "a_ctx.onnx").exists()
        assert tenon("compile", "-m", "a.onnx", "--overwrite").code == DONE
        assert tenon("verify", "a_ctx.onnx").code == DONE

    def test_a_folder_there_is_never_replaced(self, tenon, tmp_path):
        weights = self.occupy(tenon, tmp_path, "text")
        weights.unlink()
        weights.mkdir()
        result = tenon("compile", "-m", "a.onnx", "--overwrite")
        assert result.code == FAILED and "is a folder" in result.err
        assert names_in(tmp_path) == sorted(["a.onnx", weights.name])


@pytest.mark.parametrize("more", [[], ["--overwrite"]])
def test_a_folder_in_the_place_of_a_result(tenon, tmp_path, more):
    models.convolution(tmp_path / "a.onnx")
    (tmp_path / "a_ctx.onnx").mkdir()
    result = tenon("compile", "-m", "a.onnx", *more)
    assert result.code == FAILED and "'a_ctx.onnx' is a folder" in result.err
    assert names_in(tmp_path) == ["a.onnx", "a_ctx.onnx"]
