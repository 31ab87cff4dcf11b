"""Table entries on which onnx.reference (1.23) disagrees with the standard, left out when it is the engine under test."""

REFERENCE_GAPS = {
    "Loop": "scan outputs are concatenated instead of stacked",
    "Scan": "scan_input_directions and scan_output_directions are not implemented",
    "Flatten": "fails for an empty tensor",
    "LRN": "the window runs over the batch, not over the channels",
    "Softsign": "fails for a 0-d input",
    "DequantizeLinear": "not implemented below opset 19",
    "Quantize and dequantize per channel": "DequantizeLinear is not implemented below opset 19",
    "MatMul between QuantizeLinear and DequantizeLinear": "DequantizeLinear is not implemented below opset 19",
    "MaxPool": "one-dimensional pooling reads past the end with pads",
    "global pools": "GlobalMaxPool of a 3-d input loses a dimension",
    "BatchNormalization": "below opset 14 the default momentum selects training mode",
    "Conv, BatchNormalization and activation": "below opset 14 the default momentum selects training mode",
    "Mean": "adds in place and so cannot broadcast the first input",
}
