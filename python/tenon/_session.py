"""InferenceSession."""

import warnings

from . import _providers, _tenon
from ._arrays import from_python, to_python
from ._config import EXTERNAL_FOLDER, NATIVE_PREFIX
from ._errors import InvalidArgument, ModelLoadCanceled
from ._model import load_native
from ._nodes import ModelMetadata, NodeArg
from ._options import SessionOptions


def _native_settings(options):
    """The native session's options."""
    settings = {}
    for key, value in options._entries.items():
        if key.startswith(NATIVE_PREFIX):
            settings[key[len(NATIVE_PREFIX):]] = value
    for name, extent in options._dims_by_name.items():
        settings[f"dim:{name}"] = str(extent)
    return settings


class InferenceSession:
    """A model, ready to run. Any number of threads may use one session."""

    def __init__(self, path_or_bytes, sess_options=None, providers=None, provider_options=None, **kwargs):
        self._sess_options = sess_options
        options = sess_options if sess_options is not None else SessionOptions()
        self._enable_fallback = bool(int(kwargs.get("enable_fallback", 1)))
        self._providers = self._choose(providers, provider_options)
        if options._load_cancelled:
            raise ModelLoadCanceled("loading was cancelled by set_load_cancellation_flag")
        load_settings = {}
        if EXTERNAL_FOLDER in options._entries:
            load_settings["external_folder"] = options._entries[EXTERNAL_FOLDER]
        self._model = load_native(path_or_bytes, load_settings, options._files)
        weights = {**options._initializers, **options._external_initializers}
        self._native = native = _tenon.Session.create(self._model, _native_settings(options), weights)
        inputs = [NodeArg(native.input_name(i), native.input_type(i)) for i in range(native.input_count)]
        defaults = [native.input_has_default(i) for i in range(native.input_count)]
        self._inputs = [arg for arg, default in zip(inputs, defaults) if not default]
        self._overridable = [arg for arg, default in zip(inputs, defaults) if default]
        self._outputs = [NodeArg(native.output_name(i), native.output_type(i)) for i in range(native.output_count)]
        self._input_index = {arg.name: i for i, arg in enumerate(inputs)}
        self._input_types = [native.input_type(i) for i in range(native.input_count)]
        self._output_index = {arg.name: i for i, arg in enumerate(self._outputs)}
        self._required = [arg.name for arg in self._inputs]

    def _choose(self, providers, provider_options):
        try:
            return _providers.chosen_providers(providers, provider_options)
        except ValueError as error:
            if not self._enable_fallback:
                raise
            warnings.warn(f"{error} Falling back to {_providers.CPU}.", stacklevel=3)
            return {_providers.CPU: {}}

    def get_inputs(self):
        return list(self._inputs)

    def get_outputs(self):
        return list(self._outputs)

    def get_overridable_initializers(self):
        return list(self._overridable)

    def get_modelmeta(self):
        return ModelMetadata(self._model)

    def get_session_options(self):
        return self._sess_options

    def get_providers(self):
        return list(self._providers)

    def get_provider_options(self):
        return {name: dict(options) for name, options in self._providers.items()}

    def _chosen(self, output_names):
        if not output_names:
            return range(len(self._outputs))
        if isinstance(output_names, str):
            raise TypeError("output_names must be a list of names, not a str")
        try:
            return [self._output_index[name] for name in output_names]
        except KeyError as error:
            raise InvalidArgument(f"Invalid output name: {error.args[0]}") from None

    def _check_names(self, feed):
        missing = [name for name in self._required if name not in feed]
        if missing:
            raise ValueError(f"Required inputs ({missing}) are missing from input feed ({list(feed)}).")
        for name in feed:
            if name not in self._input_index:
                raise InvalidArgument(f"Invalid input name: {name}")

    def run(self, output_names, input_feed, run_options=None):
        """The outputs of the given names, or all: arrays, lists for sequences, dicts for maps, None for an empty
        optional. Inputs are not copied unless they are strings, sub-byte or not row-major."""
        self._check_names(input_feed)
        chosen = self._chosen(output_names)
        inputs = [None] * len(self._input_types)
        for name, item in input_feed.items():
            i = self._input_index[name]
            inputs[i] = from_python(item, self._input_types[i])
        wanted = [False] * len(self._outputs)
        for i in chosen:
            wanted[i] = True
        results = self._native.run(inputs, [None] * len(wanted), wanted, run_options._run if run_options else None)
        return [to_python(results[i]) for i in chosen]
