#!/usr/bin/env python3
"""Prints how large files, functions and include lists are, against the budgets; fails on hard limits only."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAX_FILE_LINES = 900
MAX_FUNCTION_LINES = 200
SUFFIXES = {".h", ".hpp", ".c", ".cpp"}

NOT_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|^\s*#(?:\\\n|[^\n])*',
    re.DOTALL | re.MULTILINE,
)
CONTAINER = re.compile(r'\b(namespace|class|struct|union|enum|extern)\b[^()]*$')


def blank(text):
    """The text without comments, literals and directives, every line kept."""
    return NOT_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def functions(text):
    """Yields (first line, number of lines) of every function body outside other functions."""
    code = blank(text)
    open_braces = []  # per open brace: the start of a function's head, or None for anything else
    inside_function = 0
    head_start = 0
    for match in re.finditer(r"[{};]", code):
        head = code[head_start : match.start()]
        if match[0] == "{":
            is_function = not inside_function and "(" in head and not CONTAINER.search(head)
            first = head_start + len(head) - len(head.lstrip())
            open_braces.append(first if is_function else None)
            inside_function += is_function
        elif match[0] == "}" and open_braces:
            first = open_braces.pop()
            if first is not None:
                inside_function = 0
                line = code.count("\n", 0, first) + 1
                yield line, code.count("\n", 0, match.start()) + 2 - line
        head_start = match.end()


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0


def main():
    files = {
        path.relative_to(ROOT): path.read_text(encoding="utf-8")
        for folder in ["include", "src", "python", "benchmarks", "examples"]
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in SUFFIXES
    }
    file_lines = {path: text.count("\n") for path, text in files.items()}
    function_lines = {
        (path, line): length for path, text in files.items() for line, length in functions(text)
    }
    header_includes = [
        len(re.findall(r"^\s*#\s*include\b", text, re.MULTILINE))
        for path, text in files.items()
        if path.suffix in {".h", ".hpp"}
    ]
    rows = [
        ("file lines, median", percentile(file_lines.values(), 0.5), 200),
        ("file lines, p90", percentile(file_lines.values(), 0.9), 500),
        ("function lines, p90", percentile(function_lines.values(), 0.9), 40),
        ("function lines, p99", percentile(function_lines.values(), 0.99), 120),
        ("header includes, p90", percentile(header_includes, 0.9), 6),
    ]
    print(f"budgets: {len(files)} files, {sum(file_lines.values())} lines, {len(function_lines)} functions")
    for name, value, budget in rows:
        print(f"  {name:22} {value:4} of {budget}{'  over' if value > budget else ''}")

    problems = [
        f"{path}: {lines} lines, the limit is {MAX_FILE_LINES}"
        for path, lines in file_lines.items()
        if lines > MAX_FILE_LINES
    ] + [
        f"{path}:{line}: a function of {lines} lines, the limit is {MAX_FUNCTION_LINES}"
        for (path, line), lines in function_lines.items()
        if lines > MAX_FUNCTION_LINES
    ]
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
