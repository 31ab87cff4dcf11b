"""Reduces a failing model to a small one that fails in the same way, and saves it.

    python shrink.py MODEL.onnx INPUTS.npz     (or: python shrink.py --seed S)
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import onnx

from conformance.isolation import IsolatedCall, Limits
from differential import reductions_of_models as reductions
from differential.compare import Finding, compare, oracle_values
from differential.generator import generate_for_engine
from differential.storage import load, save

CALL_LIMITS = Limits(seconds=20)


def judge(task):
    """The finding for (model bytes, feeds), or None."""
    model_bytes, feeds = task
    return compare(model_bytes, [feeds])


def intermediate_values(task):
    try:
        return oracle_values(*task)
    except Exception:  # a model the oracle refuses has no values to cut at
        return {}


class Shrinker:
    """`judge_isolated(task)` gives (answered, Finding or None or the reason why the process died)."""

    def __init__(self, judge_isolated, values_isolated):
        self.judge_isolated = judge_isolated
        self.values_isolated = values_isolated
        self.tried = 0

    def kind_of(self, model_bytes, feeds):
        self.tried += 1
        answered, outcome = self.judge_isolated((model_bytes, feeds))
        if not answered:
            return outcome.split(" (limit")[0]  # "crashed ..." or "timed out"
        return outcome.kind if isinstance(outcome, Finding) else None

    def shrink(self, model_bytes, feeds):
        kind = self.kind_of(model_bytes, feeds)
        if kind is None:
            raise ValueError("the model does not fail")
        state = (model_bytes, feeds)
        while True:
            smaller = self.one_step(state, kind)
            if smaller is None:
                return state
            state = smaller

    def one_step(self, state, kind):
        """The first candidate that is smaller and still fails like that."""
        model = onnx.load_from_string(state[0])
        answered, values = self.values_isolated(state)
        values = values if answered else {}
        for propose in reductions.PROPOSALS:
            for candidate_model, candidate_feeds in propose(model, state[1], values):
                candidate = reductions.without_unused(candidate_model, candidate_feeds)
                if candidate is None or reductions.size(*candidate) >= reductions.size(model, state[1]):
                    continue
                packed = candidate[0].SerializeToString()
                if self.kind_of(packed, candidate[1]) == kind:
                    return packed, candidate[1]
        return None


def shrink_isolated(model_bytes, feeds):
    with IsolatedCall(judge, CALL_LIMITS) as judging, IsolatedCall(intermediate_values, CALL_LIMITS) as computing:
        return Shrinker(judging, computing).shrink(model_bytes, feeds)


def failing_binding(generated):
    """The inputs of the first binding for which the model fails."""
    with IsolatedCall(judge, CALL_LIMITS) as judging:
        for feeds in generated.feeds:
            answered, outcome = judging((generated.model, feeds))
            if not answered or outcome is not None:
                return feeds
    return None


def describe_model(model_bytes, feeds):
    model = onnx.load_from_string(model_bytes)
    shapes = ", ".join(f"{name}: {np.asarray(value).dtype}{list(np.shape(value))}" for name, value in feeds.items())
    return f"opset {model.opset_import[0].version}; {shapes}\n" + onnx.printer.to_text(model.graph)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", type=Path, help="the inputs lie next to it as .npz")
    parser.add_argument("--seed", type=int, help="take the model the generator makes from this seed")
    parser.add_argument("--dry-run", action="store_true", help="print the result, save nothing")
    options = parser.parse_args()
    if options.seed is not None:
        generated = generate_for_engine(options.seed)
        model_bytes, feeds = generated.model, failing_binding(generated)
    elif options.model:
        model_bytes, feeds = load(options.model)
    else:
        parser.error("a model or --seed is needed")
    if feeds is None:
        print("the engines agree")
        return 0
    model_bytes, feeds = shrink_isolated(model_bytes, feeds)
    print(describe_model(model_bytes, feeds))
    if not options.dry_run:
        print(f"saved as {save(model_bytes, feeds).name}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
