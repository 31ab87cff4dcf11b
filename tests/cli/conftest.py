"""Runs the built command: $TENON_CLI, or `tenon` on the PATH."""

import json
import os
import shutil
import subprocess

import pytest

from . import models

DONE, FAILED, USAGE, CANNOT_LOAD, CANNOT_RUN = range(5)


class Result:
    def __init__(self, process):
        self.code, self.out, self.err = process.returncode, process.stdout, process.stderr

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture(scope="session")
def program():
    path = os.environ.get("TENON_CLI") or shutil.which("tenon")
    assert path, "no tenon: set TENON_CLI or put it on the PATH"
    return os.path.abspath(path)


@pytest.fixture
def tenon(program, tmp_path):
    def run(*arguments, **options):
        command = [program, *map(str, arguments)]
        return Result(subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=tmp_path, **options))

    return run


@pytest.fixture
def linear(tmp_path):
    return models.linear(tmp_path / "linear.onnx")
