import pytest

from conformance.isolation import IsolatedCall
from differential.campaign import SEED_LIMITS, run_seeds
from differential.shrink import judge
from differential.storage import load, saved_models

MODELS, CHUNK = 300, 30


@pytest.mark.parametrize("first", range(0, MODELS, CHUNK))
def test_generated_models_agree_with_onnxruntime(first):
    outcomes = dict(run_seeds(range(first, first + CHUNK), jobs=1))
    assert len(outcomes) == CHUNK
    differences = [f"seed {seed}: {text}" for seed, text in sorted(outcomes.items()) if text]
    assert not differences, "\n".join(differences)


def test_saved_models_agree_with_onnxruntime():
    differences = []
    with IsolatedCall(judge, SEED_LIMITS) as judging:
        for path in saved_models():
            answered, outcome = judging(load(path))
            if not answered or outcome is not None:
                differences.append(f"{path.name}: {outcome}")
    assert not differences, "\n".join(differences)
