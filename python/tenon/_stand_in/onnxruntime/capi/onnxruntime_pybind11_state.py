"""The names of onnxruntime's native module."""

from tenon.capi.onnxruntime_pybind11_state import *  # noqa: F401,F403

from .build_and_package_info import __version__


def get_version_string():
    return __version__
