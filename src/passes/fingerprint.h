#pragma once

#include "base/hash.h"
#include "onnx/import.h"

namespace tenon {

// What the normal form of a model depends on: its graph with names and declarations, functions, op versions, where its
// weights lie, and the elements of every constant that a rule may ask about. Not the elements of other weights, so it
// costs the structure of a model and not its bytes; not metadata, so a stamp can be part of the file.
// external: reads the constants that lie in other files; null when the model has none.
Result<Hash128> fingerprint(const wire::Model& model, const std::shared_ptr<const void>& bytes,
                            wire::ExternalData* external);

}  // namespace tenon
