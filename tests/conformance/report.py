"""Writes a run's summary as markdown. The text depends on the results and the onnx version only."""

import onnx

from conformance.exceptions import EXCEPTIONS, reason_for


def write_report(path, results):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(report_text(results), encoding="utf-8")


def report_text(results):
    lines = [
        "# Conformance",
        "",
        "Written by `./dev test conformance`; not edited by hand.",
        "",
        f"ONNX backend tests of the `onnx` package {onnx.__version__} (IR {onnx.IR_VERSION}, opset"
        f" {onnx.defs.onnx_opset_version()}). Integers, bools and strings are compared exactly, floats by the suite's"
        " own tolerance, element types and shapes exactly.",
        "",
        "| Suite | Passed | Total |",
        "|---|---|---|",
        *(f"| {result.suite} | {result.passed} | {len(result.names)} |" for result in results),
        "",
        "## Exceptions",
        "",
        *exception_lines(results),
    ]
    surprises = [line for result in results for line in result.surprises()]
    if surprises:
        lines += ["", "## Undocumented", "", *(f"- {line}" for line in surprises)]
    return "\n".join(lines) + "\n"


def exception_lines(results):
    failed = [name for result in results for name in result.failures]
    lines = []
    for _, reason in EXCEPTIONS:
        names = [f"`{name}`" for name in failed if reason_for(name) == reason]
        if names:
            lines.append(f"- {reason} ({len(names)}): {', '.join(names)}")
    return lines or ["None."]
