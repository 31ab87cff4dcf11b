"""How long Tenon takes to see that a model with 2 GB of weights is in normal form.

Usage: skip.py [GIGABYTES]

The weights are holes in sparse files, once in a data file and once inside the model (which ends below 2 GB). Each round
asks both, in this process and by starting the command. Nothing is written.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import tenon
from normal_form.large_models import bytes_in_memory, write_external, write_inline

ROUNDS = 25
LAYERS = 64
LARGEST_MODEL = 2**31 - 2**24


def in_process(path):
    report = tenon.optimize_file(path, path, check=True)
    assert report["evidence"] == "stamp", report


def by_command(path):
    command = [str(Path(sys.executable).with_name("tenon")), "optimize", "-m", str(path), "-o", str(path), "--overwrite"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "by its stamp" in result.stdout, result.stdout


def time_of(action, path):
    started = time.perf_counter()
    action(path)
    return (time.perf_counter() - started) * 1e3


def main():
    gigabytes = float(sys.argv[1]) if len(sys.argv) > 1 else 2.0
    each = int(gigabytes * 2**30) // LAYERS // 2**16 * 2**16
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        external, data = write_external(folder, LAYERS, each)
        inline = write_inline(folder, LAYERS, min(each, LARGEST_MODEL // LAYERS // 2**16 * 2**16))
        read_before = bytes_in_memory(inline)
        subjects = [("in a data file", external), ("in the model", inline)]
        times = {}
        for _ in range(ROUNDS):
            for weights, path in subjects:
                for how, action in (("in a process", in_process), ("by the command", by_command)):
                    times.setdefault((weights, how), []).append(time_of(action, path))
        print(f"{'weights':<16} {'asked':<16} {'first ms':>9} {'min ms':>9} {'median ms':>9}")
        for (weights, how), ms in times.items():
            print(f"{weights:<16} {how:<16} {ms[0]:>9.2f} {min(ms):>9.2f} {statistics.median(ms):>9.2f}")
        read = {data: bytes_in_memory(data), inline: bytes_in_memory(inline) - read_before}
        for path, count in read.items():
            print(f"read of {path.name}: {count} of {path.stat().st_size} bytes ({count / path.stat().st_size:.3%})")


if __name__ == "__main__":
    main()
