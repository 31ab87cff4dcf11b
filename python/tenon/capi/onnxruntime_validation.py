"""What onnxruntime's module of this name tells about the package."""

from .._tenon import version


def get_package_name_and_version_info():
    return "tenon", version(), ""


def check_distro_info():
    """Without effect."""


def check_training_module():
    """What a training build says of itself: none of it is here."""
    return False, "tenon", version(), ""
