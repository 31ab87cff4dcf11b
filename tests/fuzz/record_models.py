"""A pytest plugin: `-p fuzz.record_models --record-models DIR` writes every model that tests run, with its inputs."""

import hashlib
from pathlib import Path

import onnx
import tenon

from fuzz.embedded_inputs import with_inputs


def pytest_addoption(parser):
    parser.addoption("--record-models", type=Path, required=True)


def pytest_configure(config):
    folder = config.getoption("--record-models")
    folder.mkdir(parents=True, exist_ok=True)
    create, run = tenon.InferenceSession.__init__, tenon.InferenceSession.run

    def record(model):
        (folder / hashlib.sha1(model).hexdigest()).write_bytes(model)

    def recording_create(self, path_or_bytes, *args, **kwargs):
        self.recorded = path_or_bytes if isinstance(path_or_bytes, bytes) else Path(path_or_bytes).read_bytes()
        record(self.recorded)
        create(self, path_or_bytes, *args, **kwargs)

    def recording_run(self, output_names, feeds, *args, **kwargs):
        for constant in (False, True):
            record(with_inputs(onnx.load_from_string(self.recorded), feeds, constant).SerializeToString())
        return run(self, output_names, feeds, *args, **kwargs)

    tenon.InferenceSession.__init__, tenon.InferenceSession.run = recording_create, recording_run
