"""SessionOptions and RunOptions. docs/python.md describes every entry."""

import operator

from . import _tenon
from ._config import check_run_entry, check_session_entry
from ._enums import ExecutionMode, ExecutionOrder, GraphOptimizationLevel
from ._errors import InvalidArgument, NotImplemented


class _Setting:
    """A property of a fixed type. refuse(value) may return the reason why a value is not supported."""

    def __init__(self, kind, default, refuse=None):
        self.kind, self.default, self.refuse = kind, default, refuse

    def __set_name__(self, owner, name):
        self.name, self.slot = name, "_" + name

    def __get__(self, instance, owner=None):
        return self if instance is None else getattr(instance, self.slot, self.default)

    def __set__(self, instance, value):
        if self.kind in (int, bool) and hasattr(value, "__index__"):
            value = self.kind(operator.index(value))
        if not isinstance(value, self.kind):
            raise TypeError(f"{self.name} must be of type {self.kind.__name__}, it is {type(value).__name__}")
        reason = self.refuse(value) if self.refuse else None
        if reason:
            raise NotImplemented(reason)
        setattr(instance, self.slot, value)


def _checked_entry(key, value):
    if not isinstance(key, str) or not isinstance(value, str):
        raise TypeError("the key and value of a configuration entry must be str")
    if not 0 < len(key) <= 1024:
        raise InvalidArgument("the key of a configuration entry must have 1 to 1024 characters")


def _text(name):
    if not isinstance(name, str):
        raise TypeError(f"a dimension is named by a str, not by {type(name).__name__}")
    return name


def _extent(value):
    if not hasattr(value, "__index__"):
        raise TypeError(f"the extent of a dimension must be of type int, it is {type(value).__name__}")
    return operator.index(value)


class SessionOptions:
    """Options for creating a session."""

    intra_op_num_threads = _Setting(int, 0)
    inter_op_num_threads = _Setting(int, 0)
    enable_cpu_mem_arena = _Setting(bool, True)
    enable_mem_pattern = _Setting(bool, True)
    enable_mem_reuse = _Setting(bool, True)
    enable_profiling = _Setting(bool, False)
    profile_file_prefix = _Setting(str, "tenon_profile_")
    execution_mode = _Setting(ExecutionMode, ExecutionMode.ORT_SEQUENTIAL)
    execution_order = _Setting(ExecutionOrder, ExecutionOrder.DEFAULT)
    graph_optimization_level = _Setting(GraphOptimizationLevel, GraphOptimizationLevel.ORT_ENABLE_ALL)
    log_severity_level = _Setting(int, -1)
    log_verbosity_level = _Setting(int, 0)
    logid = _Setting(str, "")
    optimized_model_filepath = _Setting(str, "")
    use_deterministic_compute = _Setting(bool, False)
    use_per_session_threads = _Setting(bool, True)

    __slots__ = tuple("_" + name for name, value in list(locals().items()) if isinstance(value, _Setting)) + (
        "_entries",
        "_dims_by_name",
        "_dims_by_denotation",
        "_initializers",
        "_external_initializers",
        "_files",
        "_providers",
        "_load_cancelled",
    )

    def __init__(self):
        self._entries = {}
        self._dims_by_name = {}
        self._dims_by_denotation = {}
        self._initializers = {}
        self._external_initializers = {}
        self._files = {}
        self._providers = []
        self._load_cancelled = False

    def add_session_config_entry(self, key, value):
        """Sets an entry. An unsupported entry that would change results or files raises NotImplemented."""
        _checked_entry(key, value)
        check_session_entry(key, value)
        self._entries[key] = value

    def get_session_config_entry(self, key):
        if key not in self._entries:
            raise RuntimeError(f"SessionOptions does not have configuration with key: {key}")
        return self._entries[key]

    def add_free_dimension_override_by_name(self, name, value):
        """Fixes a symbolic dimension of the model's inputs."""
        self._dims_by_name[_text(name)] = _extent(value)

    def add_free_dimension_override_by_denotation(self, denotation, value):
        """Fixes the dimensions of the model's inputs that carry this denotation."""
        self._dims_by_denotation[_text(denotation)] = _extent(value)

    def add_initializer(self, name, value):
        """Replaces the values of the initializer of this name; type and shape stay the same. `value` is an OrtValue."""
        self._initializers[str(name)] = _native_tensor(value)

    def add_external_initializers(self, names, values):
        """Sets the values of initializers whose data is in other files; these files are then not read."""
        if len(names) != len(values):
            raise InvalidArgument(f"{len(names)} names and {len(values)} values are given")
        for name, value in zip(names, values):
            self._external_initializers[str(name)] = _native_tensor(value)

    def add_external_initializers_from_files_in_memory(self, file_names, buffers, lengths):
        """Sets the contents of external-data files. Buffers that are bytes are kept, not copied."""
        if not len(file_names) == len(buffers) == len(lengths):
            raise InvalidArgument("there must be as many buffers and lengths as file names")
        for name, buffer, length in zip(file_names, buffers, lengths):
            view = memoryview(buffer).cast("B")
            if length > len(view):
                raise InvalidArgument(f"the buffer of '{name}' has {len(view)} bytes, not {length}")
            whole = isinstance(buffer, bytes) and length == len(buffer)
            self._files[str(name)] = buffer if whole else bytes(view[:length])

    def register_custom_ops_library(self, path):
        raise NotImplemented(f"custom operator libraries cannot be loaded ('{path}'): Tenon has no such interface")

    def add_provider(self, name, options):
        from ._providers import AVAILABLE

        if name not in AVAILABLE:
            raise RuntimeError(f"Unknown Provider Type: {name}")
        self._providers.append((name, dict(options)))

    def add_provider_for_devices(self, devices, options):
        for device in devices:
            self.add_provider(device.ep_name, options)

    def has_providers(self):
        return bool(self._providers)

    def set_provider_selection_policy(self, policy):
        """Does nothing: there is only one provider."""

    def set_provider_selection_policy_delegate(self, delegate):
        raise NotImplemented("provider selection delegates are not supported; name the providers in providers=")

    def set_load_cancellation_flag(self, value):
        """While True, creating a session with these options raises ModelLoadCanceled."""
        self._load_cancelled = bool(value)

    def set_ep_context_data_read_func(self, read_func, max_data_size=None):
        raise NotImplemented("Tenon does not read EP contexts through callbacks")

    def clear_ep_context_data_read_func(self):
        """Does nothing: there is never such a function."""


def _native_tensor(value):
    native = getattr(value, "_native", None)
    if not isinstance(native, _tenon.Value):
        raise InvalidArgument(f"expected an OrtValue with a tensor, not {type(value).__name__}")
    return native


class RunOptions:
    """Options for a run. Several runs may share them; setting `terminate` stops all of them."""

    log_severity_level = _Setting(int, -1)
    log_verbosity_level = _Setting(int, 0)
    logid = _Setting(str, "")
    tag = _Setting(str, "")
    only_execute_path_to_fetches = _Setting(bool, False)
    training_mode = _Setting(bool, False, lambda on: on and "Tenon runs models for inference only")

    __slots__ = tuple("_" + name for name, value in list(locals().items()) if isinstance(value, _Setting)) + (
        "_run",
        "_terminate",
        "_entries",
    )

    def __init__(self):
        self._run = _tenon.Run()
        self._terminate = False
        self._entries = {}

    @property
    def terminate(self):
        """True makes runs that use these options stop soon, and new runs fail."""
        return self._terminate

    @terminate.setter
    def terminate(self, value):
        self._terminate = bool(value)
        self._run.cancel() if value else self._run.reset()

    def add_run_config_entry(self, key, value):
        _checked_entry(key, value)
        check_run_entry(key, value)
        self._entries[key] = value

    def get_run_config_entry(self, key):
        if key not in self._entries:
            raise RuntimeError(f"RunOptions does not have configuration with key: {key}")
        return self._entries[key]

    def add_active_adapter(self, adapter):
        raise NotImplemented("LoRA adapters are not supported")
