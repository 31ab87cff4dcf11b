"""Engines in processes of their own, of which one runs at a time: the others are stopped."""

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

WORKER = Path(__file__).resolve().parent / "worker.py"
SECONDS_TO_ANSWER = 600
MEASURED, WATCHER = 10, 11  # priorities: who watches must get a turn while engines spin


class Unusable(Exception):
    """An engine that cannot run the model, with the reason."""


class Engine:
    """A process that has imported an engine and waits, stopped."""

    def __init__(self, name, subject, threads, isa, prepared=None):
        self.name = name
        handle, self.outputs = tempfile.mkstemp(suffix=".npz")
        os.close(handle)
        request = {"engine": name, "model": str(subject.path), "threads": threads, "isa": isa,
                   "inputs": str(subject.inputs), "outputs": self.outputs, "prepared": str(prepared)}
        self.log = tempfile.TemporaryFile(mode="w+")
        self.process = subprocess.Popen([sys.executable, "-I", WORKER, json.dumps(request)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self.log, text=True)
        try:
            self.version = self._answer()["version"]
        except Unusable:
            self.close()
            raise

    def open(self):
        """Seconds for the session and for its first run."""
        return self.ask({"open": True})

    def run(self, count):
        """The seconds of each of several runs, one after the other."""
        return self.ask({"runs": count})["seconds"]

    def results(self):
        with np.load(self.outputs) as arrays:
            return [arrays[key] for key in sorted(arrays.files)]

    def ask(self, question):
        self.process.send_signal(signal.SIGCONT)
        print(json.dumps(question), file=self.process.stdin, flush=True)
        return self._answer()

    def _answer(self):
        readable, _, _ = select.select([self.process.stdout], [], [], SECONDS_TO_ANSWER)
        if not readable:
            raise Unusable(f"no answer within {SECONDS_TO_ANSWER} seconds")
        line = self.process.stdout.readline()
        if not line:
            raise Unusable(self._last_words())
        self.process.send_signal(signal.SIGSTOP)
        answer = json.loads(line)
        if "missing" in answer:
            raise Unusable(f"{answer['missing']} is not installed")
        if "error" in answer:
            raise Unusable(answer["error"])
        return answer

    def _last_words(self):
        self.process.wait()
        self.log.seek(0)
        lines = self.log.read().strip().splitlines()
        return f"ended with code {self.process.returncode}: {lines[-1] if lines else 'no message'}"

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        self.log.close()
        Path(self.outputs).unlink(missing_ok=True)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


def prepare(name, subject, threads, folder):
    """Makes in the folder what an engine loads faster than the model."""
    request = {"engine": name, "model": str(subject.path), "inputs": str(subject.inputs), "threads": threads,
               "prepared": str(folder)}
    done = subprocess.run([sys.executable, "-I", WORKER, json.dumps(request), "prepare"], capture_output=True, text=True)
    if done.returncode != 0:
        raise Unusable((done.stderr.strip().splitlines() or [f"ended with code {done.returncode}"])[-1])


def use_real_time(priority):
    """Lets this thread and the processes it starts run before all others, where that is allowed."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
    except (AttributeError, PermissionError):
        return False
    return True
