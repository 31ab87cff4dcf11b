"""The name `onnxruntime` for Tenon.

A folder that contains only a package `onnxruntime` is placed before the installed packages. This is the ordinary way
for Python to find a module, so all ways to look for it agree: imports, `importlib.util.find_spec`,
`importlib.metadata`, and child processes, which get the folder from PYTHONPATH or from `sys.path`.
"""

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_stand_in")
# Parts of onnxruntime in plain Python. They work on models and call onnxruntime by its name, which is Tenon's then.
BORROWED = ("backend", "datasets", "quantization", "tools", "transformers")


def installed_package():
    """The folders of an installed onnxruntime; empty if there is none. Imports nothing."""
    others = [entry for entry in sys.path if os.path.abspath(entry) != FOLDER]
    spec = importlib.machinery.PathFinder.find_spec("onnxruntime", others)
    return list(spec.submodule_search_locations or ()) if spec is not None else []


class ExplainMissing(importlib.abc.MetaPathFinder):
    """Says what to install. It comes last, so it sees only modules that were not found."""

    def find_spec(self, fullname, path=None, target=None):
        package, _, name = fullname.partition(".")
        if package == "onnxruntime" and name in BORROWED:
            raise ModuleNotFoundError(
                f"Tenon stands in for onnxruntime and takes {fullname} from an installed onnxruntime package, of which "
                "it uses the Python files alone. There is none here; install it with: pip install onnxruntime",
                # Not fullname: `from onnxruntime import quantization` passes over an error that names what it asks for.
                name="onnxruntime")


def for_child_processes():
    """Makes Python processes that are started from now on use Tenon as onnxruntime, too."""
    others = os.environ.get("PYTHONPATH")
    folders = [entry for entry in others.split(os.pathsep) if entry != FOLDER] if others else []
    os.environ["PYTHONPATH"] = os.pathsep.join([FOLDER, *folders])


def _already_imported():
    module = sys.modules.get("onnxruntime")
    if module is None or os.path.dirname(os.path.dirname(getattr(module, "__file__", None) or "")) == FOLDER:
        return None
    return module


def install_as_onnxruntime():
    """Makes `import onnxruntime` give Tenon, in this process and in Python processes that it starts from now on.

    Call it before anything imports onnxruntime: objects that other modules have imported cannot be replaced, so it then
    raises an ImportError and changes nothing. Calling it again does nothing."""
    module = _already_imported()
    if module is not None:
        raise ImportError(f"onnxruntime {getattr(module, '__version__', '')} is already imported, from "
                          f"'{module.__file__}'. Call tenon.install_as_onnxruntime() before anything imports it, or "
                          "start the program with: python -m tenon.as_onnxruntime", name="onnxruntime")
    if FOLDER not in sys.path:
        # After the program's own folder, where it looks for its other modules.
        sys.path.insert(min(1, len(sys.path)), FOLDER)
        importlib.invalidate_caches()
    import onnxruntime

    if os.path.dirname(os.path.dirname(onnxruntime.__file__ or "")) != FOLDER:
        del sys.modules["onnxruntime"]
        raise ImportError(f"'{onnxruntime.__file__}' hides Tenon's onnxruntime; rename it or remove its folder from "
                          "sys.path", name="onnxruntime")
    for_child_processes()
