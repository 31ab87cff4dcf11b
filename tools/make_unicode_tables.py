#!/usr/bin/env python3
"""Writes src/base/text/unicode_tables.inc from the Unicode database that Python carries.

Case mappings are full (one character may become three) and without context; categories are runs of equal ones.
"""

import sys
import unicodedata
from pathlib import Path

TARGET = Path(__file__).resolve().parent.parent / "src/base/text/unicode_tables.inc"
LINE_WIDTH = 118


def case_runs(mapping):
    """Runs (first, last, stride, delta) of characters that move by one distance, and the other mappings."""
    single, special = [], []
    for code in range(sys.maxunicode + 1):
        mapped = mapping(chr(code))
        if len(mapped) > 1:
            special.append((code, [ord(c) for c in mapped]))
        elif ord(mapped) != code:
            single.append((code, ord(mapped) - code))
    runs = []
    for code, delta in single:
        if runs:
            first, last, stride, known = runs[-1]
            step = code - last
            if known == delta and step in (1, 2) and (first == last or step == stride):
                runs[-1] = (first, code, step, delta)
                continue
        runs.append((code, code, 1, delta))
    return runs, special


def category_runs():
    """(first character, category) wherever the category changes."""
    runs = []
    for code in range(sys.maxunicode + 1):
        category = unicodedata.category(chr(code))
        if not runs or runs[-1][1] != category:
            runs.append((code, category))
    return runs


def table(name, element, entries):
    lines, line = [], " "
    for entry in entries:
        if len(line) + len(entry) + 2 > LINE_WIDTH:
            lines.append(line)
            line = " "
        line += f" {entry},"
    return "\n".join([f"constexpr {element} {name}[] = {{", *lines, line, "};"])


def main():
    parts = [f"// Made by tools/make_unicode_tables.py from Unicode {unicodedata.unidata_version}."]
    for name, mapping in (("Lower", str.lower), ("Upper", str.upper)):
        runs, special = case_runs(mapping)
        parts.append(table(f"k{name}Runs", "CaseRun", [f"{{{a},{b},{s},{d}}}" for a, b, s, d in runs]))
        entries = [f"{{{code},{{{','.join(str(c) for c in mapped)}}}}}" for code, mapped in special]
        parts.append(table(f"k{name}Special", "SpecialCase", entries))
    entries = [f"{{{code},{category}}}" for code, category in category_runs()]
    parts.append(table("kCategoryRuns", "CategoryRun", entries))
    TARGET.write_text("\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
