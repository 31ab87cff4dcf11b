#!/usr/bin/env python3
"""Checks that the innermost kernels keep their vectors in registers.

Usage: check_spills.py BUILD_DIR [--all]. Reads the objects of src/providers/cpu/*_simd.cpp and looks for vectors that
are stored to the stack in functions marked TENON_HOT, which gcc puts into sections of their own; with --all in any
function. Instruction sets that few machines are limited to are left out.
"""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

SECTION = re.compile(r"^Disassembly of section (\S+):")
FUNCTION = re.compile(r"^[0-9a-f]+ <(.+)>:$")
# A move of a vector register to an address on the stack. Where rbp is not a frame it holds other addresses.
STORE = re.compile(r"\tv?mov(?:[au]p[sd]|dq[au]\d*) +%([xyz]mm\d+),(-?0x[0-9a-f]+)?\(%(rsp|rbp)[,)]")
FRAME = re.compile(r"\tmov +%rsp,%rbp")
CHECKED = re.compile(r"\bN_(AVX2|AVX3|NEON)\b")
ARM_STORE = re.compile(r"\tst[pr]\t[qdv]\d+.*\[sp")


def spills(lines, everywhere):
    """(functions looked at, stores to the stack of each function that has some)."""
    found, hot, name, frame, looked_at = Counter(), everywhere, "", False, 0
    for line in lines:
        if match := SECTION.match(line):
            hot = everywhere or match[1].startswith(".text.hot")
        elif match := FUNCTION.match(line):
            name, frame = match[1], False
            looked_at += hot and bool(CHECKED.search(name))
        elif hot and CHECKED.search(name):
            frame = frame or bool(FRAME.search(line))
            store = STORE.search(line)
            if (store and (store[3] == "rsp" or frame)) or ARM_STORE.search(line):
                found[name] += 1
    return looked_at, found


def disassemble(path):
    command = ["objdump", "--disassemble", "--demangle", "--no-show-raw-insn", path]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def main():
    folder, everywhere = Path(sys.argv[1]), "--all" in sys.argv[2:]
    root = Path(__file__).resolve().parent.parent
    problems, functions = [], 0
    for source in sorted((root / "src/providers/cpu").glob("*_simd.cpp")):
        path = folder / "src/CMakeFiles/layer_providers.dir/providers/cpu" / f"{source.name}.o"
        looked_at, found = spills(disassemble(path), everywhere)
        functions += looked_at
        problems += [f"{source.name}: {name} stores {n} vectors to the stack" for name, n in sorted(found.items())]
    if functions == 0:
        problems.append(f"{folder} has no function marked TENON_HOT")
    print("\n".join(problems) if problems else f"spills: none in {functions} hot functions")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
