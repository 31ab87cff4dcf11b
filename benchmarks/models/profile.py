"""Where Tenon's time goes, from `tenon perf`: the slowest steps, and what a run computes against the machine's limits."""

import json
import os
import subprocess
from pathlib import Path

PROGRAM = Path(__file__).resolve().parents[2] / "build" / "release" / "bin" / "tenon"
SECONDS, SHOWN = 0.3, 10


def profile(subject, threads, isa):
    """{"machine", "flops", "steps"}, or {"problem"}."""
    command = [PROGRAM, "perf", subject.path, "--inputs", subject.inputs, "--duration", str(SECONDS), "--threads",
               str(threads), "--format", "json", "--quiet"]
    environment = {**os.environ, **({"TENON_CPU_ISA": isa} if isa else {})}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        return {"problem": (done.stderr.strip().splitlines() or ["no message"])[-1]}
    document = json.loads(done.stdout)
    return {"machine": document["machine"], "flops": document["work"]["flops"], "steps": document["steps"][:SHOWN]}


def share_of_peak(profiled, runs):
    """Which share of the machine's arithmetic the fastest run used; null where that is not known."""
    if "problem" in profiled or "min" not in runs.get("tenon", {}):
        return None
    return profiled["flops"] / runs["tenon"]["min"] / profiled["machine"]["flops_per_second"]
