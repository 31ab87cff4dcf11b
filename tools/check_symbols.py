#!/usr/bin/env python3
"""Checks what the shared libraries export: `tn_*`, and from the runtime also what libtenon uses of it.

Usage: check_symbols.py BUILD_DIR
"""

import re
import subprocess
import sys
from pathlib import Path

PUBLIC = re.compile(r"tn_\w+@@TENON_0$")
INTERNAL = re.compile(r"_Z\w+(?:\.\w+)*@@TENON_INTERNAL_[\d.]+$")
VERSION_NODE = re.compile(r"TENON_(0|INTERNAL_[\d.]+)(@@\S+)?$")
MUTABLE = "BbDdu"
CONSTANT_WITH_ADDRESSES = "R"


def symbols(library, *options):
    """(kind, name) of every defined symbol. Constants that hold addresses are of the kind of other constants, although
    the loader writes them once."""
    lines = subprocess.run(
        ["nm", "--defined-only", "--format=sysv", *options, library], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    rows = [[cell.strip() for cell in line.split("|")] for line in lines if line.count("|") == 6]
    return [
        (CONSTANT_WITH_ADDRESSES if section.startswith(".data.rel.ro") else kind, name)
        for name, _, kind, _, _, _, section in rows
    ]


def export_problems(library, allowed):
    return [
        f"{library.name} exports {name}"
        for kind, name in symbols(library, "-D")
        if not any(pattern.match(name) for pattern in allowed) and not VERSION_NODE.match(name)
    ]


def twin_problems(runtime, compiler):
    """State that a header defines would exist once per library, each half seeing its own."""
    shared = {name.split("@")[0] for kind, name in symbols(runtime, "-D") if kind in MUTABLE}
    return [
        f"{name} is a variable of both libraries: move its definition into a .cpp file"
        for kind, name in symbols(compiler)
        if kind in MUTABLE and name in shared
    ]


def main():
    folder = Path(sys.argv[1]) / "src"
    runtime, compiler = folder / "libtenon_runtime.so", folder / "libtenon.so"
    problems = export_problems(runtime, [PUBLIC, INTERNAL]) + export_problems(compiler, [PUBLIC])
    problems += twin_problems(runtime, compiler)
    both = {name for _, name in symbols(runtime, "-D")} & {name for _, name in symbols(compiler, "-D")}
    problems += [f"{name} is exported by both libraries" for name in sorted(both) if PUBLIC.match(name)]
    if problems:
        print("\n".join(problems))
        return 1
    counts = [sum(bool(PUBLIC.match(name)) for _, name in symbols(path, "-D")) for path in (runtime, compiler)]
    print(f"symbols: {counts[0]} public functions in libtenon_runtime, {counts[1]} in libtenon")
    return 0


if __name__ == "__main__":
    sys.exit(main())
