"""The demo, as `./dev demo` runs it."""

import os
import pathlib
import subprocess
import sys

DEMO = pathlib.Path(__file__).parents[2] / "examples" / "demo.sh"


def test_every_command_of_the_demo_works(tmp_path):
    folder = pathlib.Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path)}
    for _ in range(2):  # it can be run again
        result = subprocess.run(["bash", DEMO, tmp_path / "demo"], capture_output=True, text=True, env=environment,
                                timeout=300)
        assert result.returncode == 0, result.stderr
    text = result.stdout
    for words in ("already normalized: ", "removed Identity", "nothing it depends on has changed", "up to date in",
                  "10 of 10 packed weights recomputed"):
        assert words in text, words
