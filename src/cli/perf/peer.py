"""Runs a model in another engine, a few runs whenever it is asked: one JSON document per line in both directions.

Started with {"engine", "model", "threads", "inputs", "outputs"}, where the last two are .npz files. Answers when it has
imported the engine; then {"open": true} makes a session, runs it once and writes the outputs, and {"runs": N} runs it N
times. It ends with its input.
"""

import json
import os
import sys
import time

try:
    import numpy as np
except ImportError:
    np = None


class Missing(Exception):
    """A package that is not installed."""


def use_onnxruntime():
    try:
        import onnxruntime
    except ImportError as error:
        raise Missing("onnxruntime") from error

    def open_it(request, feeds):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = request["threads"]
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(request["model"], options, providers=["CPUExecutionProvider"])
        return lambda: session.run(None, feeds)

    return onnxruntime.__version__, open_it


def use_openvino():
    try:
        import openvino
    except ImportError as error:
        raise Missing("openvino") from error

    def open_it(request, feeds):
        core = openvino.Core()
        model = core.read_model(request["model"])
        return openvino_runner(with_extents(core, model, feeds, openvino_settings(request)), feeds)

    return openvino.get_version().split("-")[0], open_it


def openvino_settings(request):
    """Full precision, which it leaves by itself where the CPU computes in less."""
    return {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32",
            "INFERENCE_NUM_THREADS": request["threads"], "NUM_STREAMS": 1}


def with_extents(core, model, feeds, settings):
    """Compiled for the extents of the inputs, or where it refuses that, for any."""
    if not model.is_dynamic():
        return core.compile_model(model, "CPU", settings)
    try:
        fixed = model.clone()
        fixed.reshape({name: list(value.shape) for name, value in feeds.items()})
        return core.compile_model(fixed, "CPU", settings)
    except RuntimeError:
        return core.compile_model(model, "CPU", settings)


def openvino_runner(compiled, feeds):
    request = compiled.create_infer_request()

    def run():
        results = request.infer(feeds, share_inputs=True, share_outputs=True)
        return [results[i] for i in range(len(compiled.outputs))]

    return run


ENGINES = {"onnxruntime": use_onnxruntime, "openvino": use_openvino}


def seconds_of(work):
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def feeds_of(path):
    with np.load(path) as arrays:
        return dict(arrays)


def open_session(open_it, request, feeds):
    """The session and how long it and its first run took; the outputs are in a file."""
    created, run = seconds_of(lambda: open_it(request, feeds))
    first, results = seconds_of(run)
    np.savez(request["outputs"], **{f"{i:04}": np.asarray(value) for i, value in enumerate(results)})
    return run, {"create": created, "first": first}


def serve(engines, request, questions, answer):
    if np is None:
        raise Missing("numpy")
    version, open_it = engines[request["engine"]]()
    feeds = feeds_of(request["inputs"])
    answer({"version": version})
    run = None
    for line in questions:
        question = json.loads(line)
        if "open" in question:
            run, times = open_session(open_it, request, feeds)
            answer(times)
        else:
            answer({"seconds": [seconds_of(run)[0] for _ in range(question["runs"])]})


def main(engines):
    # What libraries print must not get between the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def answer(document):
        print(json.dumps(document), file=answers, flush=True)

    try:
        serve(engines, json.loads(sys.argv[1]), sys.stdin, answer)
    except Missing as error:
        answer({"missing": str(error)})
    except Exception as error:  # whatever an engine raises is for the one who asked
        answer({"error": f"{type(error).__name__}: {error}"})
    os._exit(0)  # engines need not put their things away


if __name__ == "__main__":
    main(ENGINES)
