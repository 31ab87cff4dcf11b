"""How long runs take while another process keeps one core busy.

Usage: busy_core.py [--runs N] [MODEL ...]

Each model of benchmarks/models runs on one thread and on all, alone and beside a process that never rests on the last
core. Threads that wait for each other would wait for that process; the caller takes over what a helper does not come to.
The figure that counts is the median on all threads beside the busy process, as a multiple of the median of one thread.
Other work on the machine spoils it: run it on a quiet one.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time
from contextlib import contextmanager

import tenon
from models.cache import subject
from models.families import all_models

MODELS = ["resnet50", "mobilenet_v2", "minilm_s128", "wake_word"]
WARM_UP = 5


def session(path, threads):
    options = tenon.SessionOptions()
    options.intra_op_num_threads = threads
    return tenon.InferenceSession(str(path), options)


def median_ms(of, feeds, runs):
    times = []
    for _ in range(WARM_UP + runs):
        started = time.perf_counter()
        of.run(None, feeds)
        times.append(time.perf_counter() - started)
    return statistics.median(times[WARM_UP:]) * 1e3


@contextmanager
def busy_process(core):
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    os.sched_setaffinity(process.pid, {core})
    time.sleep(0.2)
    try:
        yield
    finally:
        process.kill()
        process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=MODELS, metavar="MODEL")
    parser.add_argument("--runs", type=int, default=200)
    arguments = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        sys.exit("this takes two cores")
    makers = all_models()
    print(f"{'model':20}{'one thread':>12}{'all':>10}{'one, busy':>12}{'all, busy':>12}{'of one':>9}")
    for name in arguments.models:
        files = subject(name, makers[name])
        feeds = files.feeds()
        sessions = [session(files.path, threads) for threads in (1, 0)]
        alone = [median_ms(s, feeds, arguments.runs) for s in sessions]
        with busy_process(cores[-1]):
            beside = [median_ms(s, feeds, arguments.runs) for s in sessions]
        print(f"{name:20}{alone[0]:12.3f}{alone[1]:10.3f}{beside[0]:12.3f}{beside[1]:12.3f}{beside[1] / alone[0]:9.2f}")


if __name__ == "__main__":
    main()
