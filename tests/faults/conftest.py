"""The built command under strace, which makes system calls fail or kill the process at them."""

import re
import shutil
import subprocess

import pytest
from cli import models
from cli.conftest import program  # noqa: F401

# Whatever changes a folder or makes a change last.
CHANGING = ["write", "pwrite64", "fsync", "rename", "renameat", "renameat2", "mkdir", "mkdirat", "unlink", "unlinkat",
            "rmdir", "ftruncate", "fallocate", "openat"]


class Faults:
    """One command line, run once per call that it makes."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.known = {}  # what folders with some content hold
        self.strace = shutil.which("strace")
        assert self.strace, "these tests need strace"

    def run(self, arguments, *strace_arguments, trace=None):
        log = self.folder / ".." / "strace.log"
        command = [self.strace, "-qq", "-o", str(log), "-e", f"trace={trace or ','.join(CHANGING)}", *strace_arguments,
                   self.program, *map(str, arguments)]
        result = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=60)
        return result, log.read_text()

    def plain(self, *arguments, **options):
        command = [self.program, *map(str, arguments)]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=60, **options)

    def calls(self, arguments):
        """(system call, its number among calls of the same name) of everything that changes a folder."""
        result, log = self.run(arguments)
        assert result.returncode == 0, result.stderr
        seen, found = {}, []
        for name, rest in re.findall(r"^(\w+)\((.*)$", log, re.M):
            seen[name] = seen.get(name, 0) + 1
            if name != "openat" or "O_CREAT" in rest:
                found.append((name, seen[name]))
        return found


@pytest.fixture
def faults(program, tmp_path):  # noqa: F811
    folder = tmp_path / "work"
    folder.mkdir()
    return Faults(program, folder)


@pytest.fixture
def heads(faults):
    """Writes two models on one backbone, with the weights of a version."""

    def write(version):
        return [models.head(faults.folder / f"{name}.onnx", name, backbone_seed=version) for name in ("cat", "dog")]

    return write
