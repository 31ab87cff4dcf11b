"""Tables of what was measured."""

OWN = ("tenon build", "tenon optimize", "copy")


def found(document, tool, what):
    return next(run for run in document["runs"] if (run["tool"], run["what"]) == (tool, what))


def ratios(document):
    """How much faster Tenon is the second time, by tool, and what a hit of the cache costs beside what it must."""
    second = {what: found(document, tool, run)["seconds"] for what, tool, run in (
        ("build", "tenon build", "second build"), ("rehash", "tenon build", "with --rehash"),
        ("optimize", "tenon optimize", "its result again"))}
    faster = {run["tool"]: {what: run["seconds"] / seconds for what, seconds in second.items()}
              for run in document["runs"] if run["tool"] not in OWN and run["what"] == "its result again"}
    least = second["rehash"] + found(document, "copy", "as many bytes, synced")["seconds"]
    hits = {what: found(document, "tenon build", what)["seconds"] / least
            for what in ("to a new folder, cached", "once more")}
    return {"second_time": faster, "hits": hits}


def size(count):
    for unit, bytes_of_it in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if count >= bytes_of_it:
            return f"{count / bytes_of_it:.2f} {unit}"
    return f"{count} B"


def time(seconds):
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.1f} ms"


def runs_table(document):
    yield f"{'':16} {'':24} {'time':>9} {'CPU':>9} {'from storage':>13} {'written':>10} {'memory':>10}"
    for run in document["runs"]:
        yield (f"{run['tool']:16} {run['what']:24} {time(run['seconds']):>9} {time(run['cpu_seconds']):>9} "
               f"{size(run['read']):>13} {size(run['written']):>10} {size(run['peak']):>10}")
    for tool, reason in document["missing"].items():
        yield f"{tool:16} {reason}"


def stages_table(document):
    for what, manifest in document["stages"].items():
        yield f"\n{what}, by its manifest: {size(manifest['read'])} read, {size(manifest['written'])} written"
        for name, stage in manifest["stages"].items():
            yield (f"  {name:10} {stage['status']:8} {time(stage['seconds']):>9} {size(stage['bytes_read']):>10} read "
                   f"{size(stage['bytes_written']):>10} written  {stage['why']}")


def ratios_table(document):
    yield ""
    for tool, faster in document["ratios"]["second_time"].items():
        yield (f"than {tool} the second time: tenon build {faster['build']:.0f}x faster, with --rehash "
               f"{faster['rehash']:.1f}x; tenon optimize {faster['optimize']:.0f}x")
    for what, ratio in document["ratios"]["hits"].items():
        yield f"a build {what}: {ratio:.2f} of hashing the model and writing its weights"


def text(document):
    head = f"a model with {size(document['weights'])} of weights; {', '.join(f'{k} {v}' for k, v in document['versions'].items())}"
    return "\n".join([head, "", *runs_table(document), *stages_table(document), *ratios_table(document)]) + "\n"
