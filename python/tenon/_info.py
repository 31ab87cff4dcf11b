"""Functions about the library and the machine."""

import json
import os
import platform
import sys

from . import _tenon
from ._errors import Fail, NotImplemented

_seed = None


def default_seed():
    """The seed for sessions created from now on, or None."""
    return _seed


def set_seed(seed):
    """Seeds the random operators of sessions created from now on. For one session: configuration entry "tenon.seed"."""
    global _seed
    _seed = int(seed)


def get_version_string():
    return _tenon.version()


def get_build_info():
    cpu = json.loads(_tenon.system_json())["cpu"]
    return f"Tenon {_tenon.version()}, {cpu['architecture']}, features={' '.join(cpu['features'])}"


def system():
    """Version, CPU features, threads and providers, as a dict."""
    return json.loads(_tenon.system_json())


def has_collective_ops():
    return False


def enable_telemetry_events():
    """Does nothing: Tenon sends nothing."""


def disable_telemetry_events():
    """Does nothing: Tenon sends nothing."""


def set_default_logger_severity(severity):
    """Does nothing: Tenon does not log. Errors are exceptions, and problems of a model are in its warnings."""
    if not 0 <= int(severity) <= 4:
        raise RuntimeError("Invalid logging severity. 0:Verbose, 1:Info, 2:Warning, 3:Error, 4:Fatal")


def set_default_logger_verbosity(verbosity):
    """Does nothing."""
    int(verbosity)


def set_global_thread_pool_sizes(intra_op_num_threads, inter_op_num_threads):
    """Does not affect results; the number of threads follows the machine."""
    int(intra_op_num_threads), int(inter_op_num_threads)


def create_and_register_allocator(memory_info, arena_cfg):
    """Does nothing: sessions have one allocator."""


def create_and_register_allocator_v2(provider_type, memory_info, provider_options, arena_cfg):
    """Does nothing: sessions have one allocator."""


def preload_dlls(cuda=True, cudnn=True, msvc=True, directory=None):
    """Does nothing: no libraries need to be loaded first."""


def register_execution_provider_library(registration_name, library_path):
    raise NotImplemented(f"execution providers of other libraries cannot be loaded ('{library_path}')")


def unregister_execution_provider_library(registration_name):
    raise Fail(f"Execution provider library: {registration_name} was not registered.")


def print_debug_info():
    """Prints the facts that a bug report needs."""
    print(f"tenon version: {_tenon.version()}")
    print(f"platform: {platform.platform()}")
    print(f"python: {sys.version.split()[0]} at {sys.executable}")
    print(f"package: {os.path.dirname(__file__)}")
    print(json.dumps(system(), indent=2))
