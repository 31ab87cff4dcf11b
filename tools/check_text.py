#!/usr/bin/env python3
"""Checks the text of all files: no machine paths, no package-registry hosts, no notes to self, no large files."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAX_BYTES = 1_000_000

# Written in pieces, so that this file passes its own check.
RULES = {
    "a path of one machine": r"(?<![\w.])/(?:ro" + r"ot|wo" + r"rk|ho" + r"me|t" + r"mp)/\w+",
    "a registry host": r"(?:py" + r"pi\.org|python" + r"hosted\.org|deb\.deb" + r"ian\.org|conda\.an" + r"aconda)",
    "a note to self": r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X|HA" + r"CK|TB" + r"D|WI" + r"P)\b",
    "an unfinished part": r"(?i)\b(?:for n" + r"ow,|not implemented y" + r"et|unimple" + r"mented)\b",
}


def files():
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    if listed.returncode == 0:
        return [ROOT / name for name in sorted(listed.stdout.split("\0")) if name]
    return [path for path in sorted(ROOT.rglob("*")) if path.relative_to(ROOT).parts[0] not in {"build", ".git"}]


def main():
    rules = {name: re.compile(pattern) for name, pattern in RULES.items()}
    problems = []
    checked = 0
    for path in files():
        if not path.is_file():
            continue
        relative = path.relative_to(ROOT)
        data = path.read_bytes()
        checked += 1
        if len(data) > MAX_BYTES:
            problems.append(f"{relative}: {len(data)} bytes; generate it instead")
        if b"\0" in data:
            continue
        for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
            problems += [
                f"{relative}:{number}: {name}: {line.strip()[:100]}"
                for name, pattern in rules.items()
                if pattern.search(line)
            ]
    print("\n".join(problems) if problems else f"text: {checked} files clean")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
