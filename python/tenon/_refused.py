"""Classes for things that Tenon does not support. Creating one raises NotImplemented with the reason."""

from ._errors import NotImplemented


def refused_function(name, reason):
    """A function that raises NotImplemented with the reason."""
    def refuse(*arguments, **keywords):
        raise NotImplemented(f"{name}: {reason}")

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = f"Cannot be called: {reason}."
    return refuse


def refused_class(name, reason, methods=""):
    """A class without objects: creating one raises NotImplemented with the reason."""
    refuse = refused_function(name, reason)
    body = {"__doc__": f"Cannot be made: {reason}.", "__init__": refuse, "__module__": "tenon"}
    return type(name, (), body | {method: refuse for method in methods.split()})


_ADAPTERS = "LoRA adapters are not supported; pass their weights as initializers of the session"
_CONTEXTS = "EP context models are not supported here"
ModelCompiler = refused_class(
    "ModelCompiler",
    _CONTEXTS,
    "compile_to_bytes compile_to_file compile_to_stream set_ep_context_data_write_func "
    "clear_ep_context_data_write_func",
)
AdapterFormat = refused_class(
    "AdapterFormat",
    _ADAPTERS,
    "read_adapter export_adapter get_format_version set_adapter_version get_adapter_version set_model_version "
    "get_model_version set_parameters get_parameters",
)
LoraAdapter = refused_class("LoraAdapter", _ADAPTERS, "Load")
OrtEpContextData = refused_class("OrtEpContextData", _CONTEXTS, "read size")
OrtEpContextDataBuffer = refused_class("OrtEpContextDataBuffer", _CONTEXTS, "allocate is_allocated max_size size write")
OrtSyncStream = refused_class("OrtSyncStream", "there are no streams on the CPU", "get_handle")


class OrtExternalInitializerInfo:
    """Where an initializer's data is in a file."""

    def __init__(self, filepath, file_offset, byte_size):
        self._fields = (filepath, int(file_offset), int(byte_size))

    filepath = property(lambda self: self._fields[0])
    file_offset = property(lambda self: self._fields[1])
    byte_size = property(lambda self: self._fields[2])
