"""What a process took: time, and bytes as the system counts them."""

import os
import resource
import subprocess
import tempfile
import time
from dataclasses import asdict, dataclass

SECONDS = 1800


@dataclass
class Run:
    seconds: float
    cpu_seconds: float
    read: int  # from storage
    written: int  # to files, pipes and terminals
    peak: int  # of memory
    output: str = ""

    def json(self):
        return {key: value for key, value in asdict(self).items() if key != "output"}


class Failed(Exception):
    """A process that did not end well, with the reason."""


def forget(folder):
    """Takes the files of a folder out of memory, so that whoever reads them reads them from storage."""
    for path in folder.rglob("*"):
        if path.is_file():
            with open(path, "rb") as file:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def counted(pid):
    with open(f"/proc/{pid}/io") as file:
        return {key: int(value) for key, value in (line.split(": ") for line in file)}


def memory_left():
    with open("/proc/meminfo") as file:
        return int(next(line for line in file if line.startswith("MemAvailable")).split()[1]) * 1024


def run(command, folder, environment=None):
    """Runs a command in a folder whose files are not in memory. It may take most of the memory that is left, not all."""
    forget(folder)
    limit = memory_left() * 4 // 5
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        started = time.perf_counter()
        process = subprocess.Popen(command, cwd=folder, stdout=out, stderr=errors, text=True,
                                   env={**os.environ, **(environment or {})},
                                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit)))
        # It has ended, but the system still knows what it did.
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        seconds = time.perf_counter() - started
        count = counted(process.pid)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        for file in (out, errors):
            file.seek(0)
        if process.returncode != 0:
            lines = errors.read().strip().splitlines()
            raise Failed(lines[-1] if lines else f"it ended with code {process.returncode}")
        return Run(seconds, usage.ru_utime + usage.ru_stime, count["read_bytes"], count["wchar"],
                   usage.ru_maxrss * 1024, out.read())
