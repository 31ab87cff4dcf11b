#!/usr/bin/env python3
"""Adds up the results of `./dev test`: one table of stages, then `N passed, M failed`.

Usage: test_summary.py RESULTS_DIR. It holds `stages.txt` (lines "stage seconds budget exit_code") and per stage a
folder with JUnit files from GoogleTest, ctest (`ctest.xml`) and pytest, or `checks.txt` (lines "name exit_code").
"""

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path


def count_cases(path):
    """(passed, failed, skipped) of a JUnit file."""
    passed = failed = skipped = 0
    for case in ElementTree.parse(path).iter("testcase"):
        tags = {child.tag for child in case}
        if tags & {"failure", "error"}:
            failed += 1
        elif "skipped" in tags or case.get("status") in {"notrun", "disabled"} or case.get("result") == "skipped":
            skipped += 1
        else:
            passed += 1
    return passed, failed, skipped


def count_ctest(folder):
    """Counts test cases where a binary reported them, and the binary itself where it did not or died after."""
    total = [0, 0, 0]
    for entry in ElementTree.parse(folder / "ctest.xml").iter("testcase"):
        ok = entry.get("status") == "run"
        cases = folder / f"{entry.get('name')}.xml"
        counts = count_cases(cases) if cases.exists() else (int(ok), 0, 0)
        total = [a + b for a, b in zip(total, counts)]
        if not ok and counts[1] == 0:
            total[1] += 1
    return total


def count_stage(folder):
    if (folder / "ctest.xml").exists():
        return count_ctest(folder)
    total = [0, 0, 0]
    for path in sorted(folder.glob("*.xml")):
        total = [a + b for a, b in zip(total, count_cases(path))]
    checks = folder / "checks.txt"
    for line in checks.read_text().splitlines() if checks.exists() else []:
        total[line.split()[1] != "0"] += 1
    return total


def main():
    results = Path(sys.argv[1])
    totals, slow = [0, 0, 0], []
    print(f"\n{'stage':14}{'seconds':>9}{'budget':>9}{'passed':>9}{'failed':>9}{'skipped':>9}")
    for line in (results / "stages.txt").read_text().splitlines():
        stage, seconds, budget, exit_code = line.split()
        counts = list(count_stage(results / stage))
        if exit_code != "0" and counts[1] == 0:
            counts[1] = 1  # the stage itself
        totals = [a + b for a, b in zip(totals, counts)]
        print(f"{stage:14}{seconds:>9}{budget:>9}{counts[0]:>9}{counts[1]:>9}{counts[2]:>9}")
        if int(seconds) > int(budget):
            slow.append(f"warning: {stage} took {seconds} s; its budget is {budget} s")
    print("\n".join(slow), end="\n" if slow else "")
    print(f"\n{totals[0]} passed, {totals[1]} failed")
    return 1 if totals[1] else 0


if __name__ == "__main__":
    sys.exit(main())
