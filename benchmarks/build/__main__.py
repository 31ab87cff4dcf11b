"""What building a large model a second time costs, beside tools that normalize it again.

Generates a transformer of GIGABYTES, and builds it twice with `tenon build`, then with --rehash, and into a new folder from
the cache; optimizes it twice with `tenon optimize`; and lets onnxruntime, onnxsim and onnxslim, as far as they are
installed, normalize it, and then their own result once more. Before each run, all files are taken out of memory, so
that what the system reads from storage is what a program looks at. Nothing is validated unless --validate says so.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

from . import peers, report
from .measured import Failed, Run, forget, run
from .model import write_model

TENON = str(Path(sys.executable).with_name("tenon"))


def parse_arguments():
    parser = argparse.ArgumentParser(prog="./dev bench build", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=2.0, help="of weights (default: 2)")
    parser.add_argument("--tools", default=",".join(peers.TOOLS), help="beside Tenon (default: %(default)s)")
    parser.add_argument("--validate", action="store_true", help="compare what is built with the reference interpreter")
    parser.add_argument("--folder", type=Path, help="where to work (default: a temporary folder in build/)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything that was measured")
    arguments = parser.parse_args()
    arguments.tools = [tool for tool in arguments.tools.split(",") if tool]
    unknown = [tool for tool in arguments.tools if tool not in peers.TOOLS]
    if unknown:
        parser.error(f"there is no '{unknown[0]}' in --tools; choose from: {', '.join(peers.TOOLS)}")
    return arguments


def copied(data, folder):
    """Writing as many bytes, durably."""
    target = folder / "copy"
    started = time.perf_counter()
    with open(data, "rb") as source, open(target, "wb") as file:
        shutil.copyfileobj(source, file, 1 << 20)
        file.flush()
        os.fsync(file.fileno())
    seconds = time.perf_counter() - started
    target.unlink()
    return Run(seconds, 0, 0, data.stat().st_size, 0)


def builds(folder, validate):
    """[(what, the run, the manifest)] of tenon build."""
    command = [TENON, "build", "-m", "model.onnx", "--cache-dir", "cache", "--format", "json",
               *([] if validate else ["--no-validate"])]
    for what, arguments in (("first build", ["-o", "out"]), ("second build", ["-o", "out"]),
                            ("with --rehash", ["-o", "out", "--rehash"]), ("to a new folder, cached", ["-o", "new"]),
                            ("once more", ["-o", "newer"])):
        done = run([*command, *arguments], folder)
        yield what, done, json.loads(done.output)
        for name in ("new", "newer"):
            shutil.rmtree(folder / name, ignore_errors=True)


def optimizations(folder):
    for what, source in (("first time", "model.onnx"), ("its result again", "once.onnx")):
        done = run([TENON, "optimize", "-m", source, "-o", "once.onnx", "--overwrite", "--format", "json"], folder)
        yield what, done, json.loads(done.output)["status"]


def normalizations(tool, folder):
    """Twice, the second time what it made itself."""
    names = ["model.onnx", f"{tool}1.onnx", f"{tool}2.onnx"]
    try:
        for what, source, result in zip(("first time", "its result again"), names, names[1:]):
            done = run([sys.executable, "-I", peers.__file__, tool, source, result], folder,
                       {"ORT_DISABLE_TELEMETRY": "1"})
            if not (folder / result).exists():
                raise Failed("it wrote no model")
            yield what, done
    finally:
        for path in folder.glob(f"{tool}[12].onnx*"):
            path.unlink()


def measure(folder, arguments):
    say = lambda text: print(text, file=sys.stderr, flush=True)
    say(f"writing a model of {arguments.gigabytes:g} GB")
    path, data = write_model(folder, arguments.gigabytes)
    document = {"weights": data.stat().st_size, "validated": arguments.validate, "runs": [], "stages": {}, "missing": {},
                "versions": {}}

    def add(tool, what, done):
        document["runs"].append({"tool": tool, "what": what, **done.json()})

    say("copying its weights")
    forget(folder)
    add("copy", "as many bytes, synced", copied(data, folder))
    say("tenon build")
    for what, done, manifest in builds(folder, arguments.validate):
        add("tenon build", what, done)
        document["stages"][what] = {"read": manifest["bytes_read"], "written": manifest["bytes_written"],
                                    "stages": manifest["models"][0]["stages"]}
    say("tenon optimize")
    for what, done, status in optimizations(folder):
        add("tenon optimize", what, done)
    if status != "already normalized":
        sys.exit(f"the result of tenon optimize is '{status}' when it is optimized again")
    shutil.rmtree(folder / "out")
    shutil.rmtree(folder / "cache")
    for tool in arguments.tools:
        if not (version := peers.version(tool)):
            document["missing"][tool] = "not installed"
            continue
        document["versions"][tool] = version
        say(tool)
        try:
            for what, done in normalizations(tool, folder):
                add(tool, what, done)
        except Failed as problem:
            document["missing"][tool] = str(problem)
    return document


def main():
    arguments = parse_arguments()
    parent = arguments.folder or Path(__file__).resolve().parents[2] / "build"
    with tempfile.TemporaryDirectory(dir=parent, prefix="bench-build-") as folder:
        document = measure(Path(folder), arguments)
    document["ratios"] = report.ratios(document)
    print(report.text(document), end="")
    if arguments.json:
        arguments.json.write_text(json.dumps(document, indent=1))


if __name__ == "__main__":
    main()
