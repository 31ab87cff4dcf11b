#pragma once

#include <optional>
#include <string>

#include "wire/onnx_model.h"

namespace tenon::build {

// What is larger has weights in it that were not there before, and is not worth keeping.
inline constexpr uint64_t kMostGraphBytes = uint64_t{64} << 20;

// A model that passes made of `original`, as ONNX without the nodes and initializers that are those of the original.
// Nothing when the rest is large.
std::optional<std::string> graph_to_bytes(const wire::Model& rewritten, const wire::Model& original);

// The rewritten model again: these nodes and initializers, and all that no rule looks at, are those of the original.
// Refers to both. Nothing when they do not fit together.
std::optional<wire::Model> graph_from_bytes(wire::Bytes bytes, const wire::Model& original);

}  // namespace tenon::build
