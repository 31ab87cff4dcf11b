import os

from . import _tenon
from ._arrays import from_python, to_python


class Model:
    """An ONNX model that was read but not compiled."""

    def __init__(self, native):
        self._native = native

    @classmethod
    def load(cls, path_or_bytes, **options):
        settings = {key: str(int(value) if isinstance(value, bool) else value) for key, value in options.items()}
        if isinstance(path_or_bytes, (bytes, bytearray, memoryview)):
            return cls(_tenon.Model.load_memory(bytes(path_or_bytes), settings))
        return cls(_tenon.Model.load_file(os.fspath(path_or_bytes), settings))

    def save(self, path):
        self._native.save(os.fspath(path))

    def to_bytes(self):
        return self._native.to_bytes()


class InferenceSession:
    def __init__(self, path_or_bytes, sess_options=None, providers=None, provider_options=None, **kwargs):
        model = Model.load(path_or_bytes)._native
        self._session = _tenon.Session.create(model)
        s = self._session
        self._inputs = {s.input_name(i): i for i in range(s.input_count)}
        self._input_types = [s.input_type(i) for i in range(s.input_count)]
        self._outputs = {s.output_name(i): i for i in range(s.output_count)}

    def run(self, output_names, input_feed, run_options=None):
        inputs = [None] * len(self._inputs)
        for name, item in input_feed.items():
            i = self._inputs[name]
            inputs[i] = from_python(item, self._input_types[i])
        results = self._session.run(inputs, [None] * len(self._outputs))
        if output_names is None:
            return [to_python(r) for r in results]
        return [to_python(results[self._outputs[name]]) for name in output_names]


class SessionOptions:
    pass
