#pragma once

#include "onnx/onnx_map.h"

// Ops of com.microsoft that are several canonical ops in one. Import takes them apart; what runs fast together is
// found again by the compiler, whoever wrote the model.
namespace tenon {

void map_microsoft_activations(OnnxMap& map);
void map_microsoft_attention(OnnxMap& map);
void map_microsoft_block_quantized(OnnxMap& map);
void map_microsoft_convolutions(OnnxMap& map);
void map_microsoft_matmuls(OnnxMap& map);
void map_microsoft_normalizations(OnnxMap& map);
void map_microsoft_quantized(OnnxMap& map);
void map_microsoft_quantized_layers(OnnxMap& map);
void map_microsoft_sequences(OnnxMap& map);
void map_microsoft_transforms(OnnxMap& map);

}  // namespace tenon
