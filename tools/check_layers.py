#!/usr/bin/env python3
"""Checks that every #include follows the order of the layers: a folder includes only folders above it, and that
kernels of the reference provider compute the same bits everywhere."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# src/<folder>, in the order they may depend on each other.
LAYERS = [
    "base", "tensor", "wire", "ops", "weights", "plan", "providers", "executor", "swap", "artifact", "runtime",
    "ir", "evaluate", "trials", "onnx", "passes", "compiler", "build", "training", "serving", "api",
]  # fmt: skip

# Folders that use the library as a user does.
PUBLIC_ONLY = ["src/cli", "python/bindings", "tests/api", "examples"]
PROTOZERO_HEADER = Path("src/wire/protozero_config.h")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
# Weight programs run these folders, and what the C library computes differs from one machine to the next.
EXACT = ["src/ops", "src/providers/reference"]
LIBRARY_MATH = re.compile(
    r"std::(exp2?|expm1|log(?:1p|2|10)?|pow|a?(?:sin|cos|tan)h?|atan2|erfc?|cbrt|hypot|[lt]gamma|polar)[fl]?\("
)
SUFFIXES = {".h", ".hpp", ".c", ".cpp"}


def includes(path):
    text = path.read_text(encoding="utf-8")
    for match in INCLUDE.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, match[1] == '"', match[2]


def problem_in_layer(layer, target):
    folder = target.split("/")[0]
    if folder == "tenon":
        return None
    if folder not in LAYERS:
        return f'"{target}" names no layer; write the path from src/'
    if LAYERS.index(folder) > LAYERS.index(layer):
        return f"src/{layer} is above src/{folder} and must not include it"
    return None


def problem_in_user(folder, target):
    if target.startswith("tenon/"):
        return None
    own = target.split("/")[0] == Path(folder).name or (ROOT / folder / target).exists()
    return None if own else f"{folder} uses include/tenon only"


def problem(path, quoted, target):
    if target.startswith("protozero/") and path != PROTOZERO_HEADER:
        return f"include {PROTOZERO_HEADER} instead: it makes protozero's asserts throw"
    if not quoted:
        return None
    if path.is_relative_to("include"):
        return None if target.startswith("tenon/") else "public headers include only tenon/"
    for folder in PUBLIC_ONLY:
        if path.is_relative_to(folder):
            return problem_in_user(folder, target)
    if path.parts[0] != "src":
        return None
    if path.parts[1] not in LAYERS:
        return f"src/{path.parts[1]} is not a layer"
    return problem_in_layer(path.parts[1], target)


def library_math(path, relative):
    if not any(relative.is_relative_to(folder) for folder in EXACT):
        return
    text = path.read_text(encoding="utf-8")
    for match in LIBRARY_MATH.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, match[1]


def main():
    files = [
        path
        for folder in ["include", "src", "python", "tests", "benchmarks", "examples"]
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in SUFFIXES
    ]
    problems = []
    for path in files:
        relative = path.relative_to(ROOT)
        for line, quoted, target in includes(path):
            text = problem(relative, quoted, target)
            if text:
                problems.append(f"{relative}:{line}: {text}")
        for line, name in library_math(path, relative):
            problems.append(f"{relative}:{line}: write exact::{name} (base/exact_math.h), whose bits are the same everywhere")
    print("\n".join(problems) if problems else f"layers: {len(files)} files in order")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
