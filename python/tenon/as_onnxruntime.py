"""Runs a Python program that imports onnxruntime with Tenon instead.

usage: python [OPTIONS] -m tenon.as_onnxruntime PROGRAM.py [ARGUMENT ...]
       python [OPTIONS] -m tenon.as_onnxruntime -m MODULE [ARGUMENT ...]
       python [OPTIONS] -m tenon.as_onnxruntime -c CODE [ARGUMENT ...]

The arguments after it are those of python itself. Python programs that this one starts use Tenon, too.
"""

import os
import sys

from ._onnxruntime_name import for_child_processes


def _interpreter_options():
    """The options between `python` and `-m tenon.as_onnxruntime`."""
    before = sys.orig_argv[1:len(sys.orig_argv) - len(sys.argv[1:])]
    # "-m name", or one word that ends with both: "-Im name", "-mname".
    if before and not before[-1].startswith("-"):
        before.pop()
    if before:
        flags = before.pop().partition("m")[0]
        before += [flags] if flags != "-" else []
    return before


def main():
    arguments = sys.argv[1:]
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__.strip(), file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 2
    if sys.flags.ignore_environment:
        print("tenon.as_onnxruntime: python was started with -I or -E, so it ignores PYTHONPATH, which gives "
              "Tenon the name onnxruntime; leave the option out, or call tenon.install_as_onnxruntime() in the program",
              file=sys.stderr)
        return 2
    for_child_processes()
    # A new interpreter in this process: the program has arguments, paths, tracebacks and exit codes as ever.
    os.execv(sys.executable, [sys.executable, *_interpreter_options(), *arguments])


if __name__ == "__main__":
    sys.exit(main())
