"""Times of runs in turns, and of loading in fresh processes."""

import statistics
import threading
import time
from contextlib import ExitStack

from .agreement import agreeing
from .engines import WATCHER, Engine, Unusable, prepare, use_real_time

BATCH_SECONDS = 0.05
LEAST_ROUNDS, MOST_RUNS = 5, 2000
LOADS, WARM_RUNS = 3, 5
PREPARED = {"tenon": "tenon, compiled", "onnxruntime": "onnxruntime, prepared", "openvino": "openvino, imported"}


def measure_runs(subject, engines, threads, isa, seconds):
    """engine -> {"min", "median", "runs", "rounds"} in seconds, or {"problem"}."""
    results = {}
    with ExitStack() as stack:
        running = {}
        for name in engines:
            try:
                engine = stack.enter_context(Engine(name, subject, threads, isa))
                engine.open()
                running[name] = engine
                results[name] = {"version": engine.version}
            except Unusable as problem:
                results[name] = {"problem": str(problem)}
        wrong = agreeing({name: engine.results() for name, engine in running.items()})
        for name, reason in wrong.items():
            if reason:
                results[name]["problem"] = reason
                del running[name]
        for name, rounds in take_turns(running, seconds).items():
            results[name].update(summary(rounds))
    return results


def take_turns(running, seconds):
    """engine -> the seconds of its runs, by round. The first round only warms up."""
    times = {name: [] for name in running}
    batches = {}
    for name, engine in running.items():
        first = min(engine.run(2))
        batches[name] = max(1, min(MOST_RUNS, round(BATCH_SECONDS / first)))
        engine.run(batches[name])
    end = time.monotonic() + seconds * len(running)
    order = list(running)
    while running and (time.monotonic() < end or len(times[order[0]]) < LEAST_ROUNDS):
        for name in order:
            times[name].append(running[name].run(batches[name]))
        order.append(order.pop(0))  # nobody always runs after the same one
    return times


def summary(rounds):
    every = [second for batch in rounds for second in batch]
    return {"min": min(every), "median": statistics.median(every), "runs": len(every),
            "rounds": [min(batch) for batch in rounds]}


def measure_loads(subject, engines, threads, isa, folder):
    """engine or prepared form -> {"total", "beyond_run", "anonymous", "resident"}: seconds and bytes, or {"problem"}."""
    results = {}
    for name in engines:
        results[name] = _load(name, subject, threads, isa, None)
        form = PREPARED[name]
        prepared = folder / form.replace(", ", "-")
        prepared.mkdir(parents=True)
        try:
            prepare(form, subject, threads, prepared)
        except Unusable as problem:
            results[form] = {"problem": str(problem)}
            continue
        results[form] = _load(form, subject, threads, isa, prepared)
    return results


def _load(name, subject, threads, isa, prepared):
    totals, beyond = [], []
    try:
        for _ in range(LOADS):
            with Engine(name, subject, threads, isa, prepared) as engine:
                opened = engine.open()
                totals.append(opened["create"] + opened["first"])
                beyond.append(totals[-1] - min(engine.run(WARM_RUNS)))
        with Engine(name, subject, threads, isa, prepared) as engine, _Memory(engine.process.pid) as memory:
            engine.open()
            engine.run(1)
            peak = memory.peak()
    except Unusable as problem:
        return {"problem": str(problem)}
    return {"total": min(totals), "beyond_run": min(beyond), **peak}


class _Memory:
    """Looks again and again at the memory of a process; what its imports took before does not count."""

    def __init__(self, pid):
        self.path, self.done = f"/proc/{pid}/status", threading.Event()
        with open(f"/proc/{pid}/clear_refs", "w") as file:
            file.write("5")  # the peak of resident memory begins anew
        self.before = self._look("VmRSS")
        self.most = self.before["anonymous"]
        self.thread = threading.Thread(target=self._watch)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *error):
        self.done.set()
        self.thread.join()

    def peak(self):
        now = self._look("VmHWM")
        most = {"anonymous": max(self.most, now["anonymous"]), "resident": now["resident"]}
        return {name: most[name] - self.before[name] for name in most}

    def _look(self, resident):
        with open(self.path) as file:
            fields = dict(line.split(":", 1) for line in file)
        return {name: 1024 * int(fields[field].split()[0])
                for name, field in (("anonymous", "RssAnon"), ("resident", resident))}

    def _watch(self):
        use_real_time(WATCHER)
        while not self.done.wait(0.001):
            self.most = max(self.most, self._look("VmRSS")["anonymous"])
