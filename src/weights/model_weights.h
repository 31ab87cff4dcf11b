#pragma once

#include "weights/weight_source.h"

namespace tenon {

// The weights of an ONNX model under the names that a compile of it gives them. Reads structure only.
Result<std::unique_ptr<WeightSource>> open_model_weights(const std::string& path);

}  // namespace tenon
