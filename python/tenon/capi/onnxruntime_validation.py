"""What onnxruntime's module of this name tells about the package."""

from .._tenon import version


def get_package_name_and_version_info():
    return "tenon", version(), ""


def check_distro_info():
    """Without effect."""
