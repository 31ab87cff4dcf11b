#pragma once

#include <memory>
#include <string>

#include "build/cache/kept_graphs.h"
#include "onnx/import.h"
#include "passes/capability.h"

namespace tenon::build {

struct OptimizedInMemory {
  std::shared_ptr<ImportedModel> model;  // the one that was given where nothing is to be done
  std::string derivation;                // of everything that decides what the passes make of a model
  std::string report;                    // JSON, as optimize_file has it without files
};

// Takes a model through the passes without writing it. `force`: whatever its stamp says. `kept`: where results of
// earlier calls are, and this one goes; may be null.
Result<OptimizedInMemory> optimize_in_memory(const std::shared_ptr<ImportedModel>& model,
                                             const CapabilityChoice& capabilities, bool force,
                                             const KeptGraphs* kept = nullptr);

// Of a graph, and of what is made of it: `derivation` says what. Also of this build of the library.
Result<Hash128> graph_key(const ImportedModel& model, const std::string& derivation);

// Of the passes that are switched on, whatever the model.
std::string passes_key(const CapabilitySet& capabilities);

}  // namespace tenon::build
