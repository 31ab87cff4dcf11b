"""Runs tasks in worker processes with a time and memory limit each: a crash, a hang or too much memory costs one task."""

import multiprocessing
import signal
import time
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path

POLL_SECONDS = 0.05
START_SECONDS = 120  # a fresh worker imports numpy, onnx and the engine before its first task
PAGE_MB = 4096 / 2**20


@dataclass
class Limits:
    seconds: float = 60.0
    memory_mb: float = 4096.0


class Worker:
    """One process and the task it works on."""

    def __init__(self, function):
        # A spawned process has none of the parent's threads and none of its engine state.
        context = multiprocessing.get_context("spawn")
        self.connection, child = context.Pipe()
        self.process = context.Process(target=serve, args=(function, child), daemon=True)
        self.process.start()
        child.close()
        self.index = None
        self.deadline = None
        self.ready = False

    def give(self, index, task, limits):
        self.index = index
        self.deadline = time.monotonic() + limits.seconds + (0 if self.ready else START_SECONDS)
        try:
            self.connection.send(task)
        except OSError:
            pass  # the process is gone; the next poll says why

    def poll(self, limits):
        """The outcome when the task is over, as (answered, result or reason); else None."""
        try:
            if self.connection.poll():
                message = self.connection.recv()
                if message == READY:
                    self.ready, self.deadline = True, time.monotonic() + limits.seconds
                    return None
                return True, message
        except (EOFError, OSError):
            pass
        if not self.process.is_alive():
            return False, death_reason(self.process.exitcode)
        if self.memory_mb() > limits.memory_mb:
            return False, f"out of memory (limit {limits.memory_mb:.0f} MB)"
        if time.monotonic() > self.deadline:
            return False, f"timed out (limit {limits.seconds:.0f} s)"
        return None

    def memory_mb(self):
        try:
            return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * PAGE_MB
        except OSError:
            return 0.0  # the process ended, or the system has no /proc

    def stop(self):
        self.process.kill()
        self.process.join()
        self.connection.close()


READY = "worker is ready"


def serve(function, connection):
    connection.send(READY)
    while True:
        try:
            task = connection.recv()
        except EOFError:
            return
        connection.send(function(task))


def death_reason(exitcode):
    if exitcode is not None and exitcode < 0:
        return f"crashed (signal {-exitcode} {signal.Signals(-exitcode).name})"
    return f"ended the process (exit code {exitcode})"


def run_isolated(function, tasks, jobs=2, limits=Limits()):
    """Yields (index of the task, answered, result of function(task) or reason why there is none), in order of completion.

    `function` is a module-level function that returns something picklable and raises nothing.
    """
    waiting = iter(enumerate(tasks))
    workers = []
    try:
        while True:
            workers = [worker for worker in workers if assign(worker, waiting, limits)]
            while len(workers) < jobs:
                worker = Worker(function)
                if not assign(worker, waiting, limits):
                    break
                workers.append(worker)
            if not workers:
                return
            wait([w.connection for w in workers] + [w.process.sentinel for w in workers], timeout=POLL_SECONDS)
            for worker in list(workers):
                outcome = worker.poll(limits)
                if outcome is None:
                    continue
                index, worker.index = worker.index, None
                if not outcome[0]:
                    worker.stop()
                    workers.remove(worker)
                yield index, *outcome
    finally:
        for worker in workers:
            worker.stop()


def assign(worker, waiting, limits):
    """Gives an idle worker its next task; stops it and returns False when there is none."""
    if worker.index is not None:
        return True
    index, task = next(waiting, (None, None))
    if index is None:
        worker.stop()
        return False
    worker.give(index, task, limits)
    return True


class IsolatedCall:
    """Calls one function in a worker again and again; a worker that dies is replaced. For use in a `with` statement."""

    def __init__(self, function, limits=Limits()):
        self.function, self.limits, self.worker = function, limits, None

    def __call__(self, task):
        """(True, result) or (False, why there is none)."""
        self.worker = self.worker or Worker(self.function)
        self.worker.give(0, task, self.limits)
        outcome = None
        while outcome is None:
            wait([self.worker.connection, self.worker.process.sentinel], timeout=POLL_SECONDS)
            outcome = self.worker.poll(self.limits)
        if not outcome[0]:
            self.close()
        return outcome

    def close(self):
        if self.worker:
            self.worker.stop()
        self.worker = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
