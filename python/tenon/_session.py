"""InferenceSession."""

import concurrent.futures
import json
import os
import sys
import threading

from . import _info, _providers, _tenon
from ._arrays import explain_names, value_from_array
from ._binding import IOBinding
from ._config import DENORMALS, EXTERNAL_FOLDER, NATIVE_PREFIX, RECORD_ASSIGNMENT
from ._devices import cpu_memory, get_ep_devices
from ._errors import Fail, InvalidArgument, ModelLoadCanceled, NotImplemented
from ._inner import InnerSession
from ._model import load_native
from ._nodes import ModelMetadata, NodeArg, OrtEpAssignedNode, OrtEpAssignedSubgraph
from ._options import RunOptions, SessionOptions
from ._profile import Profile
from ._values import OrtValue, OrtValueVector
from ._warnings import warn
from ._weights import Weights, set_weights, use_weights

_pool_lock = threading.Lock()
_pool = None


def _threads():
    """The threads of run_async, created when they are first needed."""
    global _pool
    with _pool_lock:
        if _pool is None:
            _pool = concurrent.futures.ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="tenon")
        return _pool


def _load(path_or_bytes, options):
    """The native model with the initializers and files from the options."""
    settings = {}
    if EXTERNAL_FOLDER in options._entries:
        settings["external_folder"] = options._entries[EXTERNAL_FOLDER]
    if not options._initializers:
        return load_native(path_or_bytes, settings, options._files, options._external_initializers)
    # onnxruntime passes over initializers that the model does not have, so that options can serve several models.
    described = json.loads(load_native(path_or_bytes, settings, options._files).describe("weights"))
    names = {weight["name"] for weight in described["weights"]}
    weights = dict(options._external_initializers)
    for name, value in options._initializers.items():
        if name in names:
            weights[name] = value
        else:
            warn(f"add_initializer: the model has no initializer named '{name}'")
    return load_native(path_or_bytes, settings, options._files, weights)


def _native_settings(options, dim_names):
    """The native session's options for a model whose inputs name these dimensions."""
    # As in onnxruntime, numbers below 0 are no wish.
    settings = {"threads": str(max(0, options.intra_op_num_threads))}
    if _info.default_seed() is not None:
        settings["seed"] = str(_info.default_seed())
    for key, value in options._entries.items():
        if key.startswith(NATIVE_PREFIX):
            settings[key[len(NATIVE_PREFIX):]] = value
        elif key == DENORMALS:
            settings["keep_subnormals"] = "0" if value == "1" else "1"
    for name, extent in options._dims_by_name.items():
        # As in onnxruntime, options can serve several models.
        if name in dim_names:
            settings[f"dim:{name}"] = str(extent)
        else:
            warn(f"add_free_dimension_override_by_name: no input of the model has a dimension named '{name}'")
    for name, extent in options._dims_by_denotation.items():
        settings[f"denotation:{name}"] = str(extent)
    return settings


class InferenceSession:
    """A model, ready to run. Any number of threads may use one session."""

    def __init__(self, path_or_bytes, sess_options=None, providers=None, provider_options=None, **kwargs):
        self._sess_options = options = sess_options if sess_options is not None else SessionOptions()
        if not isinstance(options, SessionOptions):
            raise TypeError(f"sess_options must be SessionOptions, not {type(options).__name__}")
        self._enable_fallback = bool(int(kwargs.get("enable_fallback", 1)))
        self._providers = self._choose(providers, provider_options)
        if options._load_cancelled:
            raise ModelLoadCanceled("loading was cancelled by set_load_cancellation_flag")
        self._model_path = os.fspath(path_or_bytes) if isinstance(path_or_bytes, (str, os.PathLike)) else None
        self._profile = Profile(options.profile_file_prefix) if options.enable_profiling else None
        model = _load(path_or_bytes, options)
        self._metadata = ModelMetadata(model)
        if options.optimized_model_filepath:
            model.save_optimized(options.optimized_model_filepath, {"overwrite": "1"})
        self._start(_tenon.create_session(model, _native_settings(options, model.dim_names)), options, model)

    @classmethod
    def _of_artifact(cls, artifact, position, options):
        """A session for a model of an artifact."""
        self = cls.__new__(cls)
        self._sess_options = options = options if options is not None else SessionOptions()
        self._enable_fallback = True
        self._providers = {_providers.CPU: {}}
        self._metadata = self._model_path = None
        self._profile = Profile(options.profile_file_prefix) if options.enable_profiling else None
        settings = _native_settings(options, options._dims_by_name)
        if artifact._cpu_isa:
            settings.setdefault("cpu_isa", artifact._cpu_isa)
        self._start(artifact._native.session(position, settings), options, None)
        return self

    def _start(self, native, options, model):
        self._native = native
        self._nodes = None
        if model is not None and options._entries.get(RECORD_ASSIGNMENT) == "1":
            self._nodes = [OrtEpAssignedNode(node) for node in json.loads(model.describe("graph"))["graph"]["nodes"]]
        inputs = [NodeArg(native.input_name(i), native.input_type(i)) for i in range(native.input_count)]
        defaults = [native.input_has_default(i) for i in range(native.input_count)]
        self._inputs = [arg for arg, default in zip(inputs, defaults) if not default]
        self._overridable = [arg for arg, default in zip(inputs, defaults) if default]
        self._describe_outputs()
        self._input_index = {arg.name: i for i, arg in enumerate(inputs)}
        self._output_index = {arg.name: i for i, arg in enumerate(self._outputs)}
        self._profile_start = self._profile.start_ns if self._profile is not None else 0

    def _describe_outputs(self):
        native = self._native
        self._outputs = [NodeArg(native.output_name(i), native.output_type(i)) for i in range(native.output_count)]

    def _choose(self, providers, provider_options):
        try:
            return _providers.chosen_providers(providers, provider_options)
        except (RuntimeError, ValueError) as error:
            if not self._enable_fallback:
                raise
            warn(f"{error} Falling back to {_providers.CPU}.")
            return {_providers.CPU: {}}

    # What scripts reach for in onnxruntime although it is not public.
    _sess = property(InnerSession)
    _inputs_meta = property(lambda self: self.get_inputs())
    _outputs_meta = property(lambda self: self.get_outputs())
    _model_meta = property(lambda self: self.get_modelmeta())

    # What the model is.

    def get_inputs(self):
        return list(self._inputs)

    def get_outputs(self):
        return list(self._outputs)

    def get_overridable_initializers(self):
        """Initializers that are listed as inputs; a run may override them."""
        return list(self._overridable)

    def get_modelmeta(self):
        return self._metadata

    def get_input_memory_infos(self):
        return [cpu_memory() for _ in self._inputs]

    def get_output_memory_infos(self):
        return [cpu_memory() for _ in self._outputs]

    def get_input_epdevices(self):
        return get_ep_devices() * len(self._inputs)

    def get_session_options(self):
        return self._sess_options

    # Weights.

    def set_weights(self, weights, *, partial=False, strict=False, only=None, keep_sources=False, map=True,
                    recompile=False):
        """Sets new weights by name, even while other threads run the session, and returns a report. If something does
        not fit, the error lists everything that is wrong, and the old weights stay.

        weights: a path (ONNX model, .safetensors, .npz or a folder of external data), or a dict of arrays by name:
        numpy's, torch's (a state_dict, say) or OrtValues. partial: weights that are not given stay as they are;
        otherwise the new weights must include all that the model needs. strict: a tensor that the model does not have
        is an error. only: the names (or one name) of the weights to replace; without `partial` it must name all that
        the model needs, and an empty list is an error. keep_sources: keep a copy of tensors in memory for later partial
        swaps. map: False reads the file, so that it may be written to afterwards; a mapped file must only be replaced
        by renaming another file over it. recompile: if new weights change a value that the plan depends on, compile the
        model again instead of refusing them; report["recompiled"] has the reasons, and get_outputs() may have other
        shapes afterwards. For a compiled model this needs its source model, in its folder or in source_dirs."""
        return set_weights([self], weights, partial=partial, strict=strict, only=only, keep_sources=keep_sources,
                           map=map, recompile=recompile)[0]

    @property
    def weights(self):
        """The current weights."""
        return Weights(_tenon.session_weights(self._native))

    def use_weights(self, weights):
        """Switches to weights of the same plan, from another session or artifact. Copies nothing."""
        use_weights([self], [weights])

    # Where it runs.

    def get_providers(self):
        return list(self._providers)

    def get_provider_options(self):
        return {name: dict(options) for name, options in self._providers.items()}

    def set_providers(self, providers=None, provider_options=None):
        self._providers = _providers.chosen_providers(providers, provider_options)

    def disable_fallback(self):
        self._enable_fallback = False

    def enable_fallback(self):
        self._enable_fallback = True

    def get_provider_graph_assignment_info(self):
        """All nodes, on the CPU."""
        if self._nodes is None:
            raise Fail(f"Session configuration entry '{RECORD_ASSIGNMENT}' must be set to \"1\" to retrieve EP graph "
                       "assignment information.")
        return [OrtEpAssignedSubgraph(_providers.CPU, self._nodes)]

    def get_tuning_results(self):
        return []

    def set_tuning_results(self, results, *, error_on_invalid=False):
        if results and error_on_invalid:
            raise InvalidArgument("Tenon has no kernels to tune")

    def set_ep_dynamic_options(self, options):
        raise NotImplemented("Tenon has no provider with dynamic options")

    def release_captured_graph(self, graph_annotation_id=0):
        """Does nothing: Tenon does not capture graphs."""

    # Runs.

    def _chosen(self, output_names):
        """Positions of the named outputs; None for all."""
        if not output_names:
            return None
        if isinstance(output_names, str):
            raise TypeError("output_names must be a list of names, not a str")
        try:
            return [self._output_index[name] for name in output_names]
        except KeyError as error:
            raise InvalidArgument(f"Invalid output name: {error.args[0]}") from None

    def run(self, output_names, input_feed, run_options=None):
        """The outputs of the given names, or all: arrays, lists for sequences, dicts for maps, None for an empty
        optional. Inputs are not copied unless they are strings, sub-byte, not row-major or inside a list or dict."""
        if not isinstance(input_feed, dict):
            input_feed = _as_dict(input_feed)
        chosen = self._chosen(output_names) if output_names else None
        if self._profile is not None:
            return self._profile.run(run_options, lambda run: self._native.run_feed(input_feed, chosen, run))
        return self._native.run_feed(input_feed, chosen, _native_run(run_options))

    def run_async(self, output_names, input_feed, callback, user_data, run_options=None):
        """Runs in another thread, which then calls callback(results, user_data, error). error is "" on success, else
        the message, and then there are no results."""
        if not callable(callback):
            raise TypeError(f"the callback must be callable, not {type(callback).__name__}")
        explain_names(input_feed, self._native)

        def work():
            try:
                results, message = self.run(output_names, input_feed, run_options), ""
            except Exception as error:
                results, message = [], str(error) or type(error).__name__
            try:
                callback(results, user_data, message)
            except BaseException:
                threading.excepthook(threading.ExceptHookArgs((*sys.exc_info(), threading.current_thread())))

        _threads().submit(work)

    def _run_native(self, inputs, outputs, wanted, run_options):
        if self._profile is not None:
            return self._profile.run(run_options, lambda run: self._native.run_values(inputs, outputs, wanted, run))
        return self._native.run_values(inputs, outputs, wanted, _native_run(run_options))

    def run_with_ort_values(self, output_names, input_dict_ort_values, run_options=None):
        """Runs with OrtValues as inputs and outputs."""
        explain_names(input_dict_ort_values, self._native)
        inputs = [None] * len(self._input_index)
        for name, value in input_dict_ort_values.items():
            inputs[self._input_index[name]] = _native_of(name, value)
        chosen = self._chosen(output_names) or range(len(self._outputs))
        wanted = [i in chosen for i in range(len(self._outputs))]
        results = self._run_native(inputs, [None] * len(wanted), wanted, run_options)
        return [OrtValue(results[i]) for i in chosen]

    def run_with_iobinding(self, iobinding, run_options=None):
        """Runs with bound inputs and outputs; the outputs are read from the binding."""
        if iobinding._session is not self:
            raise ValueError("IOBinding must be used with the session that created it.")
        iobinding._run(run_options)

    def run_with_ortvaluevector(self, run_options, feed_names, feeds, fetch_names, fetches, fetch_devices):
        """Runs with lists of names and values; the outputs are put into `fetches`."""
        results = self.run_with_ort_values(fetch_names, dict(zip(feed_names, feeds)), run_options)
        fetches[:] = OrtValueVector(results)

    def io_binding(self):
        return IOBinding(self)

    def create_ortvalue_from_shape_and_type(self, shape, element_type, device_type, device_id=0, vendor_id=-1):
        return OrtValue.ortvalue_from_shape_and_type(shape, element_type, device_type, device_id, vendor_id)

    # Profiles.

    def end_profiling(self):
        """Writes the profile as a Chrome trace and returns the file name; "" if profiling is off."""
        if self._profile is None:
            return ""
        profile, self._profile = self._profile, None
        return profile.write()

    def get_profiling_start_time_ns(self):
        """The time when profiling began; 0 if it never did."""
        return self._profile_start


def _as_dict(feed):
    """Feeds may be other mappings, such as NumPy archives."""
    if not hasattr(feed, "keys"):
        # As in onnxruntime, where a feed that is no mapping has no keys.
        raise AttributeError(f"input_feed must be a dict of names and values, not {type(feed).__name__}")
    return {name: feed[name] for name in feed.keys()}


def _native_run(run_options):
    if run_options is None:
        return None
    if not isinstance(run_options, RunOptions):
        raise TypeError(f"run_options must be RunOptions, not {type(run_options).__name__}")
    return run_options._run


def _native_of(name, value):
    native = getattr(value, "_native", None)
    sparse = getattr(value, "_sparse", None)
    if sparse is not None:
        native = value_from_array(sparse._dense(), True)
    if not isinstance(native, _tenon.Value):
        raise InvalidArgument(f"input '{name}': expected an OrtValue, not {type(value).__name__}")
    return native
