"""How long it takes to export a PyTorch module with many weights in normal form, how much memory that needs beside the
weights, and how many bytes are written; next to torch's own export, optimized afterwards.

Usage: export_pytorch.py [MEGABYTES]

Each way runs in a fresh process. Memory is how far the peak of the process grows over what it has with the module and all
imports; bytes written are those of the process (/proc/self/io).
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time

LAYERS = 10


def make_module(megabytes):
    import torch

    width = int((megabytes * 1e6 / 4 / LAYERS) ** 0.5)
    layers = []
    for i in range(LAYERS):
        layer = torch.nn.Linear(width, width, device="meta").to_empty(device="cpu")
        with torch.no_grad():
            layer.weight.fill_(1 / (i + 1))
            layer.bias.zero_()
        layers += [layer, torch.nn.ReLU()]
    return torch.nn.Sequential(*layers).eval(), (torch.zeros(1, width),)


def with_tenon(dynamo):
    def export(module, args, folder):
        import tenon

        tenon.export_pytorch(module, args, f"{folder}/net.onnx", dynamo=dynamo)

    return export


def with_torch(module, args, folder):
    import tenon
    import torch

    torch.onnx.export(module, args, f"{folder}/raw.onnx", dynamo=True, optimize=False, verbose=False)
    os.makedirs(f"{folder}/optimized")
    tenon.optimize(f"{folder}/raw.onnx", f"{folder}/optimized/net.onnx")


WAYS = {
    "tenon.export_pytorch, dynamo": with_tenon(True),
    "tenon.export_pytorch, TorchScript": with_tenon(False),
    "torch.onnx.export, then tenon.optimize": with_torch,
}


def bytes_written():
    with open("/proc/self/io") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("wchar"))


def peak_bytes():
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def measure(way, megabytes):
    with tempfile.TemporaryDirectory() as folder:
        small, args = make_module(0.1)
        WAYS[way](small, args, folder)  # imports
    module, args = make_module(megabytes)
    weights = sum(tensor.nbytes for tensor in module.parameters())
    with tempfile.TemporaryDirectory() as folder:
        peak, written, start = peak_bytes(), bytes_written(), time.perf_counter()
        WAYS[way](module, args, folder)
        seconds = time.perf_counter() - start
        print(json.dumps([weights, seconds, peak_bytes() - peak, bytes_written() - written]))


def main():
    megabytes = sys.argv[1] if len(sys.argv) > 1 else "2500"
    print(f"{'':40} {'weights MB':>11} {'seconds':>8} {'more memory MB':>15} {'written MB':>11}")
    for way in WAYS:
        command = [sys.executable, __file__, "--measure", way, megabytes]
        told = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()[-1]
        weights, seconds, memory, written = json.loads(told)
        print(f"{way:40} {weights / 1e6:11.0f} {seconds:8.1f} {memory / 1e6:15.0f} {written / 1e6:11.0f}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure(sys.argv[2], float(sys.argv[3]))
    else:
        main()
