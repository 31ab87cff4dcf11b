"""What was measured, as one page without other files: bars for the ratios, and the tables."""

import html
import math

from . import report

BAR, GAP, LABEL, WIDTH = 16, 6, 230, 980
STYLE = """
body { font: 14px/1.4 system-ui, sans-serif; margin: 2em auto; max-width: 1100px; color: #222; background: #fff }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
td, th { padding: 2px 10px; text-align: right; border-bottom: 1px solid #ddd }
td:first-child, th:first-child { text-align: left }
svg text { font: 12px system-ui, sans-serif; fill: #222 }
.faster { fill: #2a7f62 } .slower { fill: #b5523b } .axis { stroke: #999 } .one { stroke: #222 }
"""
MARKS = (0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)


def bars(document, threads):
    """One bar per model from 1 to its ratio, on a logarithmic scale."""
    rows = [(m["name"], m["ratios"][threads]) for m in document["models"] if m["ratios"].get(threads)]
    mean = document["geometric_means"][threads]
    if mean["min"]:
        rows.append(("geometric mean", mean))
    if not rows:
        return "<p>No model was run by Tenon and by a peer.</p>"
    logs = [math.log2(found["min"]) for _, found in rows]
    low, high = min(-0.5, *logs), max(0.5, *logs)
    unit = (WIDTH - LABEL - 80) / (high - low)
    height = (len(rows) + 1) * (BAR + GAP) + 20

    def place(value):
        return LABEL + (value - low) * unit

    parts = [f'<svg width="{WIDTH}" height="{height}" role="img" aria-label="ratios at {threads} threads">']
    for mark in MARKS:
        x = place(math.log2(mark))
        if LABEL <= x <= WIDTH - 60:
            kind = "one" if mark == 1 else "axis"
            parts.append(f'<line class="{kind}" x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{height - 20}"/>'
                         f'<text x="{x:.1f}" y="{height - 5}" text-anchor="middle">{mark:g}</text>')
    for i, ((name, found), value) in enumerate(zip(rows, logs)):
        y, zero, end = i * (BAR + GAP) + GAP, place(0), place(value)
        left, kind = min(zero, end), "faster" if value >= 0 else "slower"
        parts.append(f'<text x="0" y="{y + 13}">{html.escape(name)}</text><rect class="{kind}" x="{left:.1f}" y="{y}" '
                     f'width="{max(abs(end - zero), 1):.1f}" height="{BAR}"/><text x="{max(zero, end) + 5:.1f}" '
                     f'y="{y + 13}">{found["min"]:.2f}</text>')
    return "".join([*parts, "</svg>"])


def table(rows):
    head, *body = rows
    cells = ["<tr>" + "".join(f"<th>{html.escape(cell)}</th>" for cell in head) + "</tr>"]
    cells += ["<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in body]
    return "<table>" + "".join(cells) + "</table>"


def page(document):
    machine = document["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in document["versions"].items())
    parts = [f"<p>{html.escape(machine['cpu'])}, {machine['isa']}, {machine['cores']} cores; Tenon uses "
             f"{document['isa']}. {html.escape(versions)}.</p>"]
    for threads in map(str, document["threads"]):
        parts += [f"<h2>Runs on {threads} thread{'s'[: threads != '1']}</h2>",
                  "<p>How many times as long as Tenon the fastest peer takes: above 1 Tenon is faster.</p>",
                  bars(document, threads), "<p>Milliseconds, least and median.</p>",
                  table(report.runs_table(document, threads))]
    loads = report.loads_table(document)
    if loads:
        parts += ["<h2>Loading</h2><p>In a fresh process, imports excluded: ms to the first result / the same without "
                  "the best warm run / peak of anonymous and of resident memory in MB.</p>", table(loads)]
    parts += [f"<p>not measured: {html.escape(line)}</p>" for line in report.problems(document)]
    return (f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Tenon next to other engines</title>'
            f"<style>{STYLE}</style><h1>Tenon next to other engines</h1>{''.join(parts)}</html>\n")
