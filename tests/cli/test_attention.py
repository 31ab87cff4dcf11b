"""Attention that exporters take apart runs as one kernel, which never writes the scores."""

from pathlib import Path

import pytest

FIXTURES = Path(__file__).parents[1] / "exporters" / "fixtures" / "torch"
# Each with the number of its attentions.
MODELS = {"attention_with_cache_torchscript": 1, "decoder_causal_dynamo": 1, "decoder_causal_opset_23_dynamo": 1, "decoder_causal_torchscript": 1,
          "rotary_block_dynamo": 1, "rotary_block_opset_23_dynamo": 1, "rotary_block_torchscript": 1,
          "transformer_encoder_dynamo": 2, "transformer_encoder_torchscript": 2, "vision_transformer_dynamo": 1,
          "vision_transformer_torchscript": 1}


@pytest.mark.parametrize("name", MODELS)
def test_one_kernel(tenon, name):
    kernels = tenon("inspect", FIXTURES / name / "model.onnx", "--kernels", "--format", "json").json["kernels"]
    steps = {}
    for entry in kernels:
        steps[entry["kernel"]] = steps.get(entry["kernel"], 0) + len(entry["nodes"])
    assert steps["cpu/Attention"] == MODELS[name]
    assert not {"cpu/Softmax", "cpu/MatMul", "reference/Attention"} & set(steps)
