"""Models that exporters wrote, as the tests have them."""

from pathlib import Path

import numpy as np

FIXTURES = Path(__file__).resolve().parents[3] / "tests" / "exporters" / "fixtures"
NAMES = ("torch/cnn_depthwise_dynamo", "torch/transformer_encoder_torchscript", "torch/decoder_causal_dynamo",
         "torch/unet_torchscript", "keras/bidirectional_lstm")


def fixture(name):
    with np.load(FIXTURES / name / "case.npz") as arrays:
        inputs = {key.removeprefix("input."): arrays[key] for key in arrays.files if key.startswith("input.")}
    return FIXTURES / name / "model.onnx", inputs


MODELS = {name.split("/")[1]: lambda name=name: fixture(name) for name in NAMES}
