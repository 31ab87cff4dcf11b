"""What publishing removes: its own leftovers and weights that nobody needs, and nothing else."""

import fcntl
import os
import subprocess

import onnx
import pytest

from . import models
from .conftest import DONE, FAILED
from .test_compile import flags, names_in, weights_file

MARK = "Tenon keeps files in this folder until they are published.\n"
LOCK = ".tenon-lock"


def bins(folder):
    return [name for name in names_in(folder) if name.endswith(".bin")]


def add_metadata(path, size):
    model = onnx.load(path)
    model.metadata_props.add(key="licence", value="x" * size)
    onnx.save(model, path)


@pytest.fixture
def heads(tmp_path):
    return [models.head(tmp_path / f"{name}.onnx", name) for name in ("cat", "dog")]


class TestWhoNeedsWeights:
    """A folder where 'cat' is replaced and 'dog' still needs the weights file that both came with."""

    @pytest.fixture
    def shared(self, tenon, heads, tmp_path):
        for path in heads:
            add_metadata(path, 20 << 20)
        assert tenon("compile", *flags(heads), "--output-dir", "out", "--no-validate").code == DONE
        return weights_file(tmp_path / "out").name

    def replace_cat(self, tenon, tmp_path, size=0):
        models.head(tmp_path / "cat.onnx", "cat", backbone_seed=7)
        if size:
            add_metadata(tmp_path / "cat.onnx", size)
        return tenon("compile", "-m", "cat.onnx", "--output-dir", "out", "--overwrite", "--no-validate")

    def test_a_large_context_file_keeps_its_own(self, tenon, shared, tmp_path):
        assert (tmp_path / "out/dog_ctx.onnx").stat().st_size > 20 << 20
        result = self.replace_cat(tenon, tmp_path, 20 << 20)
        assert result.code == DONE and "warning" not in result.err
        assert len(bins(tmp_path / "out")) == 2 and shared in bins(tmp_path / "out")
        for name in ("cat", "dog"):
            assert tenon("run", f"out/{name}_ctx.onnx", "--random").code == DONE

    def test_an_old_file_of_large_context_files_goes(self, tenon, heads, shared, tmp_path):
        for path in heads:
            models.head(path, path.stem, backbone_seed=7)
        assert tenon("compile", *flags(heads), "--output-dir", "out", "--overwrite", "--no-validate").code == DONE
        assert len(bins(tmp_path / "out")) == 1 and shared not in bins(tmp_path / "out")

    @pytest.mark.parametrize("how", ["cut", "empty", "nowhere", "no extension"])
    def test_nothing_goes_while_a_context_file_cannot_be_read(self, tenon, shared, tmp_path, how):
        dog = tmp_path / "out/dog_ctx.onnx"
        whole = dog.read_bytes()
        if how == "nowhere":
            os.rename(dog, tmp_path / "elsewhere.onnx")
            dog.symlink_to(tmp_path / "missing.onnx")
        else:
            dog.write_bytes(b"" if how == "empty" else whole[: len(whole) // 2])
        if how == "no extension":
            os.rename(dog, tmp_path / "out/dog")
        result = self.replace_cat(tenon, tmp_path)
        assert result.code == DONE, result.err
        assert shared in bins(tmp_path / "out") and len(bins(tmp_path / "out")) == 2
        assert shared in result.err and "cannot be read" in result.err and "dog" in result.err
        # Once it can be read, it is known whether somebody needs the file.
        (tmp_path / "out/dog").unlink(missing_ok=True)
        dog.unlink(missing_ok=True)
        models.head(tmp_path / "cat.onnx", "cat", backbone_seed=7)
        assert tenon("compile", "-m", "cat.onnx", "--output-dir", "out", "--no-validate").code == DONE
        assert len(bins(tmp_path / "out")) == 1 and not [n for n in names_in(tmp_path / "out") if n.startswith(".")]

    def test_other_files_are_no_obstacle(self, tenon, shared, tmp_path):
        (tmp_path / "out/dog_ctx.onnx").unlink()
        (tmp_path / "out/notes.txt").write_text("hello")
        (tmp_path / "out/data.safetensors").write_bytes(b"\x08\0\0\0\0\0\0\0{}      ")
        assert self.replace_cat(tenon, tmp_path).code == DONE
        assert shared not in bins(tmp_path / "out")

    def test_embedded_weights_name_no_file(self, tenon, shared, tmp_path):
        (tmp_path / "out/dog_ctx.onnx").unlink()
        line = ["compile", "-m", "cat.onnx", "--embed", "-o", "out/cat_ctx.onnx", "--overwrite", "--no-validate"]
        assert tenon(*line).code == DONE
        assert names_in(tmp_path / "out") == ["cat_ctx.onnx"]
        assert tenon("run", "out/cat_ctx.onnx", "--random").code == DONE


class TestPlantedLeftovers:
    @pytest.fixture
    def treasure(self, tmp_path):
        folder = tmp_path / "treasure"
        folder.mkdir()
        (folder / "gold").write_text("mine")
        return folder

    def compile_into(self, tenon, heads, folder="out"):
        result = tenon("compile", *flags(heads), "--output-dir", folder, "--no-validate", "--overwrite")
        assert result.code == DONE, result.err

    @pytest.mark.parametrize("marked", [False, True])
    def test_a_link_is_not_followed(self, tenon, heads, treasure, tmp_path, marked):
        if marked:
            (treasure / LOCK).write_text(MARK)
        (tmp_path / "out").mkdir()
        (tmp_path / "out/.tenon-staging-1-0").symlink_to(treasure)
        self.compile_into(tenon, heads)
        self.compile_into(tenon, heads)  # up to date: only tidied up
        assert (treasure / "gold").read_text() == "mine"
        assert (tmp_path / "out/.tenon-staging-1-0").is_symlink()

    @pytest.mark.parametrize("lock", [None, "", "something else", MARK + "\n"])
    def test_a_folder_without_our_mark_stays(self, tenon, heads, tmp_path, lock):
        staging = tmp_path / "out/.tenon-staging-1-0"
        staging.mkdir(parents=True)
        (staging / "gold").write_text("mine")
        if lock is not None:
            (staging / LOCK).write_text(lock)
        self.compile_into(tenon, heads)
        assert (staging / "gold").read_text() == "mine"

    def test_a_folder_with_our_mark_goes(self, tenon, heads, treasure, tmp_path):
        staging = tmp_path / "out/.tenon-staging-1-0"
        staging.mkdir(parents=True)
        (staging / LOCK).write_text(MARK)
        (staging / "weights.part").write_text("half")
        (staging / "link").symlink_to(treasure / "gold")
        self.compile_into(tenon, heads)
        assert not staging.exists() and (treasure / "gold").read_text() == "mine"

    def test_folders_inside_stay_with_their_mark(self, tenon, heads, tmp_path):
        staging = tmp_path / "out/.tenon-staging-1-0"
        (staging / "inner").mkdir(parents=True)
        (staging / LOCK).write_text(MARK)
        (staging / "inner/gold").write_text("mine")
        self.compile_into(tenon, heads)
        assert (staging / "inner/gold").read_text() == "mine" and (staging / LOCK).exists()

    def test_a_pipe_as_a_lock_is_not_waited_for(self, tenon, heads, tmp_path):
        staging = tmp_path / "out/.tenon-staging-1-0"
        staging.mkdir(parents=True)
        os.mkfifo(staging / LOCK)
        self.compile_into(tenon, heads)
        assert staging.exists()
        assert tenon("verify", "out").code == DONE

    def test_the_mark_of_a_folder_that_has_its_name_goes(self, tenon, heads, tmp_path):
        self.compile_into(tenon, heads)
        (tmp_path / "out" / LOCK).write_text(MARK)
        self.compile_into(tenon, heads)
        assert LOCK not in names_in(tmp_path / "out")


def test_a_held_lock_is_named_and_waited_for(program, heads, tmp_path):
    (tmp_path / "out").mkdir()
    folder = os.open(tmp_path / "out", os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    line = [program, "compile", "-m", str(heads[0]), "--output-dir", "out", "--no-validate"]
    process = subprocess.Popen(line, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    message = process.stderr.readline()
    assert "waiting for the folder 'out'" in message and f"locked by process {os.getpid()}\n" in message
    assert process.poll() is None
    os.close(folder)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == DONE, errors


class TestBaseFiles:
    """Weights in place write only what changed; the rest stays in the file it was in."""

    @pytest.fixture
    def baked(self, tenon, heads, tmp_path):
        tenon("compile", *flags(heads), "--output-dir", "out", "--no-validate")
        base = weights_file(tmp_path / "out")
        models.head(tmp_path / "new.onnx", "cat", backbone_seed=3)
        line = ["weights", "set", "out", "--from", "new.onnx", "--only", "backbone.0", "--in-place"]
        assert tenon(*line).code == DONE
        assert len(bins(tmp_path / "out")) == 2 and base.exists()
        return base

    def runs(self, tenon):
        return tenon("run", "out/dog_ctx.onnx", "--random")

    def test_a_file_of_that_look_is_passed_over(self, tenon, baked, tmp_path):
        (tmp_path / "out" / ("aaa-" + baked.name.rsplit("-")[-1])).write_bytes(b"garbage")
        os.mkfifo(tmp_path / "out" / ("aab-" + baked.name.rsplit("-")[-1]))
        result = self.runs(tenon)
        assert result.code == DONE, result.err

    def test_the_content_counts_and_not_the_name(self, tenon, baked, tmp_path):
        os.rename(baked, tmp_path / "out/renamed")
        result = self.runs(tenon)
        assert result.code == DONE, result.err

    def test_a_link_out_of_the_folder_is_not_read(self, tenon, baked, tmp_path):
        os.rename(baked, tmp_path / "moved.bin")
        baked.symlink_to(tmp_path / "moved.bin")
        result = self.runs(tenon)
        assert result.code != DONE and "is a link to a file outside the model's folder" in result.err

    def test_a_missing_file_is_named(self, tenon, baked, tmp_path):
        baked.unlink()
        (baked.parent / baked.name).write_bytes(b"garbage")
        result = self.runs(tenon)
        assert result.code != DONE and baked.name in result.err and "is a different file" in result.err

    def test_a_renamed_one_is_not_removed(self, tenon, baked, heads, tmp_path):
        os.rename(baked, tmp_path / "out/renamed-12345678.bin")
        models.convolution(tmp_path / "conv.onnx")
        assert tenon("compile", "-m", "conv.onnx", "--output-dir", "out", "--bin-name", "renamed").code == DONE
        assert self.runs(tenon).code == DONE


def test_an_unreadable_note_or_name_is_no_way_out(tenon, heads, tmp_path):
    """A note names files of its folder only."""
    (tmp_path / "precious.bin").write_text("mine")
    staging = tmp_path / "out/.tenon-staging-1-0"
    staging.mkdir(parents=True)
    (staging / LOCK).write_text(MARK)
    (staging / "publishing").write_text("../precious.bin\nnotes.txt\n")
    (tmp_path / "out/notes.txt").write_text("mine")
    assert tenon("compile", *flags(heads), "--output-dir", "out", "--no-validate").code == DONE
    assert (tmp_path / "precious.bin").read_text() == "mine" and (tmp_path / "out/notes.txt").read_text() == "mine"
    assert not staging.exists()


def test_a_refused_compile_says_what_stays(tenon, heads, tmp_path):
    tenon("compile", *flags(heads), "--output-dir", "out", "--no-validate")
    result = tenon("compile", *flags(heads), "--output-dir", "out/cat_ctx.onnx", "--no-validate")
    assert result.code == FAILED and "is a file" in result.err
