"""Exported models with every capability whose results are exact or rounded: they keep their results in onnxruntime, a second
run finds nothing, and the patterns that exporters write become the ops that are meant for them."""

import onnx
import pytest
import tenon
from exporters.fixture_case import feeds, fixture_folders, load_case, mismatches
from oracles.peer import load_in_peer, peer_refusal

from .rule_case import ops_of

# onnxruntime has no BiasSoftmax for CPUs.
SWITCHES = {c["name"].replace("-", "_"): True for c in tenon.capabilities()
            if c["result"] != "approximate" and c["name"] != "fuse-bias-softmax"}
FUSED = {
    "torch/decoder_causal_dynamo": {"com.microsoft.Attention"},
    "torch/decoder_causal_torchscript": {"com.microsoft.Attention"},
    "torch/rotary_block_dynamo": {"com.microsoft.RotaryEmbedding", "SimplifiedLayerNormalization"},
    "torch/rotary_block_torchscript": {"com.microsoft.RotaryEmbedding", "SimplifiedLayerNormalization"},
    "torch/rotary_block_opset_23_dynamo": {"RotaryEmbedding", "Attention", "RMSNormalization"},
}


def name_of(folder):
    return f"{folder.parent.name}/{folder.name}"


@pytest.mark.parametrize("folder", fixture_folders(), ids=name_of)
def test_exported_models_keep_their_results(folder):
    case = load_case(folder)
    result, _ = tenon.Model.load(case.model_path).optimized(**SWITCHES)
    again, report = tenon.Model.load(result).optimized(**SWITCHES)
    assert report["changes"] == [] and again == result
    assert FUSED.get(name_of(folder), set()) <= set(ops_of(onnx.load_from_string(result)))
    # Some ops of Keras and scikit-learn are not known there, or rounded differently.
    before = case.model_path.read_bytes()
    if not peer_refusal(before) and not mismatches(case, load_in_peer(before, optimize=False).run(None, feeds(case))):
        assert mismatches(case, load_in_peer(result, optimize=False).run(None, feeds(case))) == []


def test_every_fused_model_is_there():
    assert set(FUSED) <= {name_of(folder) for folder in fixture_folders()}
