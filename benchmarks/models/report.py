"""What was measured, as text: one table of runs per number of threads, one of loading."""

import statistics

PEERS = ("onnxruntime", "openvino")
SLOWEST = 5  # models whose steps are shown
FORMS = ("tenon", "tenon, compiled", "onnxruntime", "onnxruntime, prepared", "openvino", "openvino, imported")


def ratio(runs):
    """How many times as long as Tenon the fastest peer takes: {"peer", "min", "median"}; null where nobody can tell."""
    timed = {name: result for name, result in runs.items() if "min" in result}
    peers = [name for name in timed if name in PEERS]
    if "tenon" not in timed or not peers:
        return None
    peer = min(peers, key=lambda name: timed[name]["min"])
    pairs = zip(timed[peer]["rounds"], timed["tenon"]["rounds"], strict=True)
    return {"peer": peer, "min": timed[peer]["min"] / timed["tenon"]["min"],
            "median": statistics.median(theirs / ours for theirs, ours in pairs)}


def geometric_mean(models, threads, key):
    ratios = [model["ratios"][threads][key] for model in models if model["ratios"].get(threads)]
    return statistics.geometric_mean(ratios) if ratios else None


def milliseconds(seconds):
    return f"{1e3 * seconds:.3f}" if seconds < 0.01 else f"{1e3 * seconds:.1f}"


def megabytes(size):
    return f"{size / 1e6:.1f}"


def lines_of(rows):
    """A table whose first column is flushed left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths)))
            for row in rows]


def run_cell(result):
    if result is None:
        return "-"
    return f"{milliseconds(result['min'])} / {milliseconds(result['median'])}" if "min" in result else "no"


def runs_table(document, threads):
    """The header, and one row per model."""
    engines = document["engines"]
    header = ["model", *[f"{name}, ms" for name in engines], "ratio", "of pairs", "peer", "of peak"]
    rows = []
    for model in document["models"]:
        runs, found = model["runs"][threads], model["ratios"][threads]
        cells = [f"{found['min']:.2f}", f"{found['median']:.2f}", found["peer"]] if found else ["-", "-", "-"]
        share = model["profiles"].get(threads, {}).get("share_of_peak")
        cells.append("-" if share is None else f"{100 * share:.1f} %")
        rows.append([model["name"], *[run_cell(runs.get(name)) for name in engines], *cells])
    means = [document["geometric_means"][threads][key] for key in ("min", "median")]
    rows.append(["geometric mean", *[""] * len(engines), *[f"{m:.2f}" if m else "-" for m in means], "", ""])
    return [header, *rows]


def load_cell(result):
    if result is None:
        return "-"
    if "problem" in result:
        return "no"
    return (f"{milliseconds(result['total'])} / {milliseconds(max(0.0, result['beyond_run']))} / "
            f"{megabytes(result['anonymous'])} / {megabytes(result['resident'])}")


def loads_table(document):
    forms = [form for form in FORMS if any(form in model.get("loads", {}) for model in document["models"])]
    rows = [[model["name"], *[load_cell(model["loads"].get(form)) for form in forms]]
            for model in document["models"] if "loads" in model]
    return [["model", *forms], *rows] if rows else []


def slowest_steps(model, threads, count=3):
    for step in model["profiles"].get(threads, {}).get("steps", [])[:count]:
        dims = "x".join(map(str, step["dims"]))
        yield (f"{model['name']}: {100 * step['share']:.0f} % {milliseconds(step['seconds'])} ms {step['kernel']} "
               f"({step['variant']}) {dims}, {100 * step['share_of_peak']:.0f} % of peak, {step['name'][:60]}")


def machine_line(document, threads):
    """The limits of the machine, as the fastest measurement found them."""
    found = [profiled["machine"] for model in document["models"]
             if "machine" in (profiled := model["profiles"].get(threads, {}))]
    if not found:
        return ""
    flops, copied = (max(machine[key] for machine in found) for key in ("flops_per_second", "bytes_per_second"))
    return f"; the machine computes {flops / 1e9:.0f} GFLOP/s and moves {copied / 1e9:.0f} GB/s outside of caches"


def problems(document):
    for model in document["models"]:
        for threads, profiled in model["profiles"].items():
            if "problem" in profiled:
                yield f"{model['name']}, {threads} threads, profile: {profiled['problem']}"
        for threads, runs in model["runs"].items():
            for name, result in runs.items():
                if "problem" in result:
                    yield f"{model['name']}, {threads} threads, {name}: {result['problem']}"
        for name, result in model.get("loads", {}).items():
            if "problem" in result:
                yield f"{model['name']}, loading, {name}: {result['problem']}"


def text(document):
    machine = document["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in document["versions"].items())
    lines = [f"{machine['cpu']}, {machine['isa']}, {machine['cores']} cores; Tenon uses {document['isa']}", versions,
             "real-time priority" if machine["real_time"] else "without real-time priority, which is not allowed here"]
    for threads in document["threads"]:
        lines += ["", f"A run on {threads} thread{'s'[:threads != 1]}: least / median; how many times as long as Tenon "
                  "the fastest peer takes, by the least times and by the median of pairs"
                  + machine_line(document, str(threads)), ""]
        lines += lines_of(runs_table(document, str(threads)))
    most = str(max(document["threads"]))
    worst = sorted((m for m in document["models"] if m["ratios"].get(most)), key=lambda m: m["ratios"][most]["min"])
    lines += ["", f"The slowest steps of the models with the lowest ratios, {most} threads:", ""]
    lines += [line for model in worst[:SLOWEST] for line in slowest_steps(model, most)]
    loads = loads_table(document)
    if loads:
        lines += ["", "A fresh process, imports excluded: ms to the first result / the same without the best warm run / "
                  "peak of anonymous and of resident memory in MB", "", *lines_of(loads)]
    wrong = list(problems(document))
    return "\n".join([*lines, "", *["not measured:"][: len(wrong)], *[f"  {line}" for line in wrong]]).rstrip() + "\n"
