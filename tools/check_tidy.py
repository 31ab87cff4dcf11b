#!/usr/bin/env python3
"""Runs clang-tidy on every file of the library and its Python module.

Reading headers is most of the work, so files of one folder with the same flags are looked at together, as one file that
includes them. Where their private names clash, each is looked at alone. SIMD code is seen for one instruction set.

A clean result is kept in the user's cache folder, by the content of the file, the project's headers it includes and the
configuration, so that nothing is looked at twice, in whichever checkout it is.
"""

import argparse
import hashlib
import json
import os
import shlex
import subprocess
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TIDY = "clang-tidy-19"
GROUP = 8
FLAGS = ["-Wno-everything", "-DHWY_COMPILE_ONLY_STATIC"]


@dataclass
class Source:
    path: Path
    flags: tuple  # what the compiler is told, without the names of files
    key: Path  # exists when this content was found clean


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
    digest.update(" ".join([*command, *FLAGS]).encode())
    for path in sources:
        digest.update(path.read_bytes() if path.exists() else b"")
    return digest.hexdigest()


def compiler_flags(command):
    """The arguments of a compile command between the compiler and the file that is written."""
    words = shlex.split(command)
    compiler = max(i for i, word in enumerate(words) if Path(word).name.startswith(("c++", "g++", "clang++", "cc", "gcc")))
    return tuple(words[compiler + 1 : words.index("-o")])


def is_simd(path):
    return path.name.endswith("_simd.cpp")


def files_alone():
    """Files that cannot share a translation unit with others of their folder."""
    lines = (ROOT / "src" / "compiled_alone.txt").read_text().splitlines()
    return {ROOT / "src" / line for line in lines if line and not line.startswith("#")}


def make_groups(sources, alone=frozenset(), size=GROUP):
    """Lists of sources that are looked at together, in a fixed order."""
    groups, together = [], defaultdict(list)
    for source in sources:
        if source.path in alone or is_simd(source.path):
            groups.append([source])
        else:
            together[(source.path.parent, source.flags)].append(source)
    for members in together.values():
        groups += [members[i : i + size] for i in range(0, len(members), size)]
    return groups


def tidy(folder, group):
    """What clang-tidy says about the files of a group; empty when it is nothing."""
    target = group[0].path
    if len(group) > 1:
        target = folder / (hashlib.sha256(str(target).encode()).hexdigest()[:16] + ".cpp")
        target.write_text("".join(f'#include "{source.path}"\n' for source in group))
    result = subprocess.run(
        [TIDY, "--quiet", f"--config-file={ROOT / '.clang-tidy'}", target, "--", *group[0].flags, *FLAGS],
        capture_output=True, text=True,
    )  # fmt: skip
    text = result.stdout.strip()
    if result.returncode and not text:
        text = result.stderr.strip()
    if len(group) > 1 and (result.returncode or "warning:" in text):
        return "\n".join(filter(None, (tidy(folder, [source]) for source in group)))
    if result.returncode or "warning:" in text:
        return text
    for source in group:
        source.key.touch()
    return ""


def find_sources(build, cache):
    dependencies = project_dependencies(build)
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = Path(entry["file"])
        if path.is_relative_to(ROOT / "src") or path.is_relative_to(ROOT / "python"):
            command = entry["command"].replace(str(ROOT), "").split()
            key = cache / content_key(command, dependencies.get(path, [path]))
            yield Source(path, compiler_flags(entry["command"]), key)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path, help="a build folder with compile_commands.json")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tenon" / "tidy"
    cache.mkdir(parents=True, exist_ok=True)
    folder = build / "tidy"
    folder.mkdir(exist_ok=True)

    sources = list(find_sources(build, cache))
    pending = [source for source in sources if not source.key.exists()]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda group: tidy(folder, group), make_groups(pending, files_alone())))
    findings = [text for text in results if text]
    print("\n".join(findings), end="\n" if findings else "")
    known = len(sources) - len(pending)
    print(f"tidy: {len(pending)} checked, {known} known clean, {len(findings)} groups with findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
