"""Execution providers: names are onnxruntime's, and "CPUExecutionProvider" is Tenon's CPU."""

import collections.abc

from ._warnings import warn

CPU = "CPUExecutionProvider"
AVAILABLE = (CPU,)
# Names that scripts may ask for; they are not available, so a session falls back to the CPU.
KNOWN = (
    "NvTensorRTRTXExecutionProvider",
    "TensorrtExecutionProvider",
    "CUDAExecutionProvider",
    "MIGraphXExecutionProvider",
    "OpenVINOExecutionProvider",
    "DnnlExecutionProvider",
    "VitisAIExecutionProvider",
    "QNNExecutionProvider",
    "NnapiExecutionProvider",
    "VSINPUExecutionProvider",
    "JsExecutionProvider",
    "CoreMLExecutionProvider",
    "ACLExecutionProvider",
    "DmlExecutionProvider",
    "RknpuExecutionProvider",
    "WebNNExecutionProvider",
    "WebGpuExecutionProvider",
    "XnnpackExecutionProvider",
    "CANNExecutionProvider",
    "AzureExecutionProvider",
    CPU,
)


def get_available_providers():
    return list(AVAILABLE)


def get_all_providers():
    return list(KNOWN)


def get_device():
    return "CPU"


def _pairs(providers, provider_options):
    """(name, options) of each provider in the argument; ValueError if it is not a list of providers."""
    if not isinstance(providers, collections.abc.Sequence):
        raise ValueError("'providers' should be a sequence.")
    if provider_options is not None:
        if not isinstance(provider_options, collections.abc.Sequence):
            raise ValueError("'provider_options' should be a sequence.")
        if len(providers) != len(provider_options):
            raise ValueError("'providers' and 'provider_options' should be the same length if both are given.")
        if not all(isinstance(provider, str) for provider in providers):
            raise ValueError("Only string values for 'providers' are supported if 'provider_options' is given.")
        if not all(isinstance(options, dict) for options in provider_options):
            raise ValueError("'provider_options' values must be dicts.")
        return list(zip(providers, provider_options))
    pairs = []
    for provider in providers:
        if isinstance(provider, str):
            pairs.append((provider, {}))
        elif (isinstance(provider, tuple) and len(provider) == 2 and isinstance(provider[0], str)
              and isinstance(provider[1], dict)):
            pairs.append(provider)
        else:
            raise ValueError("'providers' values must be either strings or (string, dict) tuples.")
    return pairs


def check_and_normalize_provider_args(providers, provider_options, available_provider_names):
    """Names, and options as text, of the providers in both arguments. Warns about unavailable ones."""
    chosen = {}
    for name, options in _pairs(providers, provider_options) if providers is not None else ():
        if name not in available_provider_names:
            warn(f"Specified provider '{name}' is not in available provider names. "
                 f"Available providers: '{', '.join(available_provider_names)}'")
        if name in chosen:
            warn(f"Duplicate provider '{name}' encountered, ignoring.")
            continue
        chosen[name] = {str(key): str(value) for key, value in options.items()}
    return list(chosen), list(chosen.values())


def chosen_providers(providers, provider_options):
    """{name: options} of the providers that will run the model. Warns about unavailable ones and leaves them out;
    an unknown name is a RuntimeError, as in onnxruntime."""
    if not providers:
        return {CPU: {}}
    chosen = {}
    seen = set()
    for name, options in _pairs(providers, provider_options):
        if name in seen:
            warn(f"Duplicate provider '{name}' encountered, ignoring.")
            continue
        seen.add(name)
        if name not in AVAILABLE:
            warn(f"Specified provider '{name}' is not in available provider names. "
                 f"Available providers: '{', '.join(AVAILABLE)}'")
        if name not in KNOWN:
            raise RuntimeError(f"Unknown Provider Type: {name}")
        if name in AVAILABLE:
            # Options of the CPU provider are about memory arenas; none is reported back.
            chosen[name] = {}
    return chosen or {CPU: {}}
