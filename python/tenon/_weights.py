"""New weights for sessions and artifacts: their sources and how they are set."""

import json
import os
import sys

import numpy as np

from . import _tenon
from ._arrays import NUMPY_TYPES, dtype_code, value_from_array
from ._errors import Error
from ._settings import as_names, settings
from ._warnings import warn


class Weights:
    """The weights of a session or of a compiled model when this object was created. Cheap to hold."""

    def __init__(self, native):
        self._native = native


def source_of(weights):
    """The native source of a path, or of arrays by name."""
    if isinstance(weights, (str, os.PathLike)):
        return _tenon.Source.open(os.fspath(weights))
    if not hasattr(weights, "keys"):
        raise TypeError(f"weights must be a path or a dict of arrays by name, not {type(weights).__name__}")
    source = _tenon.Source()
    for name in weights.keys():
        if not isinstance(name, str):
            raise TypeError(f"the names of weights must be str, but {name!r} is of type {type(name).__name__}")
        source.add(name, _weight(name, weights[name]))
    return source


def _weight(name, item):
    try:
        return _value_of(item)
    except Error as error:
        raise type(error)(f"weight '{name}': {error}") from None
    except (TypeError, ValueError, RuntimeError) as error:  # of numpy or torch, about what cannot be an array
        raise TypeError(f"weight '{name}': {error}") from error


def _value_of(item):
    native = getattr(item, "_native", None)
    if isinstance(native, _tenon.Value):
        return native
    if item is None:
        raise TypeError("expected an array, not None; to keep the old weight, leave it out and pass partial=True")
    if _is_torch(item):
        return _value_of_torch(item)
    array = np.asarray(item)
    if array.dtype.kind == "O" and not all(isinstance(text, (str, bytes)) for text in array.ravel()):
        raise TypeError(f"expected an array, not {type(item).__name__}")
    return value_from_array(array)


def _is_torch(item):
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(item, torch.Tensor)


def _value_of_torch(tensor):
    """Parameters and tensors of any device. Types that numpy lacks are passed as bits."""
    torch = sys.modules["torch"]
    if getattr(tensor, "is_sparse", False):
        raise TypeError("the tensor is sparse; pass tensor.to_dense()")
    tensor = tensor.detach().cpu().contiguous()
    code = _ML_TYPES.get(str(tensor.dtype).removeprefix("torch."))
    if code is None:
        return value_from_array(tensor.numpy())
    bits = tensor.view(torch.int16 if NUMPY_TYPES[code].itemsize == 2 else torch.uint8).numpy()
    return value_from_array(bits.view(NUMPY_TYPES[code]))


# Element types that numpy lacks, by their names in torch and ml_dtypes.
_ML_TYPES = {name: dtype_code(name) for name in (
    "bfloat16", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu")}


def swap_settings(*, partial, strict, only, map, keep_sources=None, recompile=None):
    """The native options of a swap. `map` is on by default."""
    chosen = as_names(only, "only")
    if only is not None and not chosen:
        raise ValueError("only names no weight; leave it out to replace all weights that are given")
    return settings(partial=partial, strict=strict, only=chosen, keep_sources=keep_sources, recompile=recompile,
                    map=None if map else False)


def _native_sessions(sessions, method):
    if isinstance(getattr(sessions, "_native", None), _tenon.Session):
        raise TypeError(f"sessions must be a list; for one session, use its method {method}")
    sessions = list(sessions)
    if not sessions:
        raise ValueError("no session is given")
    for session in sessions:
        if not isinstance(getattr(session, "_native", None), _tenon.Session):
            raise TypeError(f"sessions must be InferenceSessions, not {type(session).__name__}")
    return [session._native for session in sessions]


def with_warnings(reports):
    """The reports of a swap, after raising each of their warnings once."""
    for text in dict.fromkeys(text for report in reports for text in report["warnings"]):
        warn(text)
    return reports


def set_weights(sessions, weights, *, partial=False, strict=False, only=None, keep_sources=False, map=True,
                recompile=False):
    """Sets new weights for several sessions, which switch together; returns one report each. The arguments are those of
    `InferenceSession.set_weights`."""
    sessions = sessions if hasattr(sessions, "_native") else list(sessions)
    native = _native_sessions(sessions, "set_weights")
    options = swap_settings(partial=partial, strict=strict, only=only, map=map, keep_sources=keep_sources,
                            recompile=recompile)
    reports = json.loads(_tenon.set_weights(native, source_of(weights), options))
    for session, report in zip(sessions, reports):
        if report["recompiled"]:
            session._describe_outputs()
    return with_warnings(reports)


def use_weights(sessions, weights):
    """Switches several sessions together, each to weights of its plan from `session.weights` or `Artifact.weights()`,
    in the order of the sessions. Copies nothing."""
    native, weights = _native_sessions(sessions, "use_weights"), list(weights)
    for one in weights:
        if not isinstance(one, Weights):
            raise TypeError("use_weights takes what `session.weights` and `Artifact.weights()` give, not "
                            f"{type(one).__name__}; set_weights takes paths and arrays")
    if len(weights) != len(native):
        raise ValueError(f"there are {len(native)} sessions and {len(weights)} sets of weights")
    _tenon.use_weights(native, [one._native for one in weights])
