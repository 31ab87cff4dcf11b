"""Ops of the conformance models and the exporter fixtures that are only written as they were read: no form is read as the
same canonical node again. An op that gets a way back leaves this list."""

WITHOUT_WAY_BACK = {
    "ImageDecoder (version 20): Unsupported": "Tenon does not know the op, so its attributes are not in the graph",
    "ai.onnx.preview.training.Gradient (version 1): Unsupported": "the same",
}
