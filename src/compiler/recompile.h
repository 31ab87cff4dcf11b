#pragma once

#include "compiler/compile.h"
#include "onnx/import.h"
#include "swap/recompile.h"

namespace tenon {

// The weights of a compiled model as its file has them. The file stays open, so that they can be read again.
WeightSnapshot own_weights(const CompiledModel& compiled, const std::shared_ptr<const ImportedModel>& model);

// Compiles the model with the same options whenever weights come that change its plan.
Recompile recompile_with(std::shared_ptr<const ImportedModel> model, CompileOptions options);
// Makes this compiler the one that compiled models turn to, where their source model is found.
void offer_recompile() noexcept;

}  // namespace tenon
