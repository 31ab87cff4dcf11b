"""Small Python programs that tests run in processes of their own."""

import json
import os
import subprocess
import sys

TENON = ("-m", "tenon.as_onnxruntime")


def run_python(*arguments, folder=None, environment=None, check=True, stdin=None):
    """Runs this Python. The program must succeed unless check is off."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run([sys.executable, *map(str, arguments)], cwd=folder, text=True, input=stdin,
                          capture_output=True, env={**clean, "ORT_DISABLE_TELEMETRY": "1", **(environment or {})})
    if check:
        assert done.returncode == 0, done.stderr
    return done


def told_by(code, *options, **keywords):
    """What the last line of a program's output says, as JSON, when the program runs with Tenon as onnxruntime."""
    return json.loads(run_python(*options, *TENON, "-c", code, **keywords).stdout.splitlines()[-1])
