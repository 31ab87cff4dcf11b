#!/usr/bin/env python3
"""Runs clang-tidy on every file of the library and its Python module.

A clean result is kept in the user's cache folder, by the content of the file, the project's headers it includes and the
configuration, so that nothing is looked at twice, in whichever checkout it is.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TIDY = "clang-tidy-19"


def project_dependencies(build):
    """Per source file: the files of this project its object was compiled from."""
    output = subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True).stdout
    result = {}
    for block in output.split("\n\n"):
        lines = [line.strip() for line in block.splitlines()[1:]]
        paths = [Path(os.path.normpath(build / line)) for line in lines]
        own = [path for path in paths if path.is_relative_to(ROOT) and not path.is_relative_to(ROOT / "build")]
        for path in own[:1]:
            result[path] = own
    return result


def content_key(command, sources):
    digest = hashlib.sha256((ROOT / ".clang-tidy").read_bytes())
    digest.update(" ".join(command).encode())
    for path in sources:
        digest.update(path.read_bytes() if path.exists() else b"")
    return digest.hexdigest()


def tidy(build, path):
    result = subprocess.run(
        [TIDY, "--quiet", "-p", build, "--extra-arg=-Wno-everything", path],
        capture_output=True, text=True,
    )  # fmt: skip
    text = result.stdout.strip()
    if result.returncode and not text:
        text = result.stderr.strip()
    return text if result.returncode or "warning:" in text else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path, help="a build folder with compile_commands.json")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tenon" / "tidy"
    cache.mkdir(parents=True, exist_ok=True)

    dependencies = project_dependencies(build)
    pending, cached = [], 0
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = Path(entry["file"])
        if not path.is_relative_to(ROOT / "src") and not path.is_relative_to(ROOT / "python"):
            continue
        command = entry["command"].replace(str(ROOT), "").split()
        key = cache / content_key(command, dependencies.get(path, [path]))
        if key.exists():
            cached += 1
        else:
            pending.append((path, key))

    def check(item):
        path, key = item
        text = tidy(build, path)
        if not text:
            key.touch()
        return text

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(check, pending))
    findings = [text for text in results if text]
    print("\n".join(findings), end="\n" if findings else "")
    print(f"tidy: {len(results)} checked, {cached} known clean, {len(findings)} with findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
