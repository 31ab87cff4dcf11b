"""How fast Tenon runs and loads the models of families/, next to onnxruntime and OpenVINO.

Each engine is a process of its own, and while one runs the others are stopped, with real-time priority where that is
allowed. They take turns in short batches. Outputs are compared before a time counts.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from . import picture, report
from .cache import subject
from .engines import MEASURED, use_real_time
from .families import all_models
from .measure import measure_loads, measure_runs
from .profile import profile, share_of_peak


def parse_arguments(names):
    parser = argparse.ArgumentParser(prog="./dev bench models", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default=",".join(names), help="names, separated by commas (default: all)")
    parser.add_argument("--threads", default="1,2", help="numbers of threads (default: 1,2)")
    parser.add_argument("--engines", default="tenon,onnxruntime,openvino", help="default: %(default)s")
    parser.add_argument("--seconds", type=float, default=2, help="per engine, model and number of threads (default: 2)")
    parser.add_argument("--isa", help="the best instruction set that Tenon may use (default: that of the machine)")
    parser.add_argument("--no-loads", action="store_true", help="leave out loading and memory")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything that was measured")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a picture of it")
    parser.add_argument("--list", action="store_true", help="only list the models")
    arguments = parser.parse_args()
    for key, known in (("models", names), ("engines", ["tenon", *report.PEERS])):
        chosen = getattr(arguments, key).split(",")
        unknown = [name for name in chosen if name not in known]
        if unknown:
            parser.error(f"there is no '{unknown[0]}' in --{key}; choose from: {', '.join(known)}")
        setattr(arguments, key, chosen)
    try:
        arguments.threads = [int(count) for count in arguments.threads.split(",")]
    except ValueError:
        parser.error(f"--threads takes numbers separated by commas, not '{arguments.threads}'")
    return arguments


def machine():
    """What the machine is, from a process of its own: an engine in this one would have threads here."""
    code = "import json, tenon; print(json.dumps(tenon.system()))"
    system = json.loads(subprocess.run([sys.executable, "-I", "-c", code], check=True, capture_output=True).stdout)
    cpu = system["cpu"]
    return {"cpu": cpu["model"], "isa": cpu["isas"][0], "isas": cpu["isas"], "cores": system["threads"]["cores"]}


def measure(name, make, arguments):
    print(f"{name}", end="", file=sys.stderr, flush=True)
    found = subject(name, make)
    model = {"name": name, "bytes": found.path.stat().st_size, "runs": {}, "ratios": {}, "profiles": {}}
    for threads in arguments.threads:
        print(f", {threads} thread{'s'[:threads != 1]}", end="", file=sys.stderr, flush=True)
        runs = measure_runs(found, arguments.engines, threads, arguments.isa, arguments.seconds)
        model["runs"][str(threads)], model["ratios"][str(threads)] = runs, report.ratio(runs)
        if "tenon" in arguments.engines:
            profiled = profile(found, threads, arguments.isa)
            model["profiles"][str(threads)] = {**profiled, "share_of_peak": share_of_peak(profiled, runs)}
    if not arguments.no_loads:
        print(", loading", end="", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory(dir=found.path.parent) as folder:
            model["loads"] = measure_loads(found, arguments.engines, max(arguments.threads), arguments.isa, Path(folder))
    print(file=sys.stderr)
    return model


def versions_of(models):
    return {name: result["version"] for model in models for runs in model["runs"].values()
            for name, result in runs.items() if "version" in result}


def main():
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    makers = all_models()
    arguments = parse_arguments(list(makers))
    if arguments.list:
        print("\n".join(makers))
        return
    here = machine()
    if arguments.isa and arguments.isa not in here["isas"]:
        sys.exit(f"--isa: this machine does not run '{arguments.isa}'; choose from: {', '.join(here['isas'])}")
    here["real_time"] = use_real_time(MEASURED)
    models = [measure(name, makers[name], arguments) for name in arguments.models]
    document = {
        "machine": here, "isa": arguments.isa or here["isa"], "engines": arguments.engines,
        "threads": arguments.threads, "versions": versions_of(models), "models": models,
        "geometric_means": {str(t): {key: report.geometric_mean(models, str(t), key) for key in ("min", "median")}
                            for t in arguments.threads},
    }  # fmt: skip
    print(report.text(document), end="")
    if arguments.json:
        arguments.json.write_text(json.dumps(document, indent=1))
    if arguments.html:
        arguments.html.write_text(picture.page(document))


if __name__ == "__main__":
    main()
