"""Exceptions under onnxruntime's names, all derived from `tenon.Error`.

`str(error)` is the message; `error.code` is Tenon's name for the kind of error, such as "invalid argument".
"""

from . import _tenon

Error = _tenon.Error
CODES = (
    "ok",
    "invalid argument",
    "invalid model",
    "not found",
    "unsupported",
    "incompatible",
    "resource limit",
    "guard violated",
    "cancelled",
    "io",
    "internal",
)


class _Coded(Error):
    _code = "internal"

    def __init__(self, message="", code=None):
        super().__init__(message)
        self.code = self._code if code is None else CODES[code]


class Fail(_Coded):
    pass


class InvalidArgument(_Coded):
    _code = "invalid argument"


class NoSuchFile(_Coded):
    _code = "not found"


class NotFound(_Coded):
    _code = "not found"


class NoModel(_Coded):
    _code = "invalid argument"


class InvalidProtobuf(_Coded):
    _code = "invalid model"


class InvalidGraph(_Coded):
    _code = "invalid model"


class NotImplemented(_Coded):
    _code = "unsupported"


class RuntimeException(_Coded):
    pass


class EngineError(_Coded):
    pass


class EPFail(_Coded):
    pass


class ModelLoaded(_Coded):
    pass


class ModelLoadCanceled(_Coded):
    _code = "cancelled"


class ModelRequiresCompilation(_Coded):
    _code = "incompatible"


class DeviceReset(_Coded):
    pass


class InvalidModel(InvalidProtobuf, InvalidGraph, InvalidArgument, Fail):
    """The file is not a valid model. onnxruntime has different exceptions for broken bytes, broken graphs, missing
    graphs and the rest; Tenon does not, so all four names catch this one."""


class UnsupportedModel(NotImplemented, InvalidGraph, Fail):
    """The model uses something that Tenon does not have, such as an unknown op or attribute. onnxruntime has different
    exceptions for unknown ops, ops that it cannot run, and the rest; all three names catch this one."""

    _code = "unsupported"


class Cancelled(Fail):
    """The run was stopped by `RunOptions.terminate`, which onnxruntime reports as Fail."""

    _code = "cancelled"


NAMES = (
    "DeviceReset",
    "EPFail",
    "EngineError",
    "Fail",
    "InvalidArgument",
    "InvalidGraph",
    "InvalidProtobuf",
    "ModelLoadCanceled",
    "ModelLoaded",
    "ModelRequiresCompilation",
    "NoModel",
    "NoSuchFile",
    "NotFound",
    "NotImplemented",
    "RuntimeException",
)

_tenon.set_error_classes(
    {
        CODES.index("invalid argument"): InvalidArgument,
        CODES.index("invalid model"): InvalidModel,
        CODES.index("not found"): NotFound,
        CODES.index("unsupported"): UnsupportedModel,
        CODES.index("incompatible"): Fail,
        CODES.index("resource limit"): RuntimeException,
        CODES.index("guard violated"): Fail,
        CODES.index("cancelled"): Cancelled,
        CODES.index("io"): Fail,
        CODES.index("internal"): RuntimeException,
    }
)
