"""Profiles of sessions as Chrome traces."""

import datetime
import json
import os
import threading
import time

from . import _tenon
from ._errors import Fail


class Profile:
    """Collects the steps of every run, from any thread, until it is written."""

    def __init__(self, prefix):
        self.start_ns = time.time_ns()
        self._clock = time.perf_counter_ns()
        now = datetime.datetime.now()
        self._path = f"{prefix}_{now:%Y-%m-%d_%H-%M-%S}_{now.microsecond // 1000:03}.json"
        self._lock = threading.Lock()
        self._events = []
        self._check_writable()

    def _check_writable(self):
        """Raises an error now that would otherwise appear after all runs."""
        try:
            with open(self._path, "x", encoding="utf-8"):
                pass
            os.remove(self._path)
        except FileExistsError:
            pass  # another session's of the same millisecond
        except (OSError, ValueError) as error:
            raise Fail(f"enable_profiling: the profile '{self._path}' cannot be written "
                       f"({getattr(error, 'strerror', None) or error}); set profile_file_prefix") from None

    def run(self, run_options, work):
        """Calls work(run) with a native run that records its steps and stops when run_options request it."""
        run = _tenon.Run()
        if run_options is not None:
            run.follow(run_options._run)
        run.enable_profile()
        begin = time.perf_counter_ns()
        try:
            return work(run)
        finally:
            self._add(run, begin, time.perf_counter_ns())

    def _add(self, run, begin, end):
        origin = (begin - self._clock) / 1e3
        place = {"pid": os.getpid(), "tid": threading.get_native_id(), "ph": "X"}
        duration = (end - begin) / 1e3
        events = [{"cat": "Session", "name": "model_run", "ts": origin, "dur": duration, "args": {}, **place}]
        for step in json.loads(run.profile_json()):
            events.append({
                "cat": "Node",
                "name": f"{step['name']}_kernel_time",
                "ts": origin + step["start_us"],
                "dur": step["duration_us"],
                "args": {"op_name": step["kernel"].rpartition("/")[2], "kernel": step["kernel"],
                         "provider": "CPUExecutionProvider"},
                **place,
            })
        with self._lock:
            self._events += events

    def write(self):
        """Writes the trace and returns the file's name."""
        with self._lock, open(self._path, "w", encoding="utf-8") as file:
            json.dump(self._events, file, indent=1)
        return self._path
