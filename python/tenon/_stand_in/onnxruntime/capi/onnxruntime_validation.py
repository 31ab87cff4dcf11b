"""What the package says of itself."""

from tenon.capi.onnxruntime_validation import check_distro_info, check_training_module  # noqa: F401

from .build_and_package_info import __version__, package_name


def get_package_name_and_version_info():
    return package_name, __version__, ""
