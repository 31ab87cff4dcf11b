#pragma once

#include "onnx/export.h"
#include "passes/capability.h"
#include "passes/pipeline.h"

namespace tenon {

// An ONNX model after the passes.
struct RewrittenModel {
  // Whether anything is to be written. False: the file is what the passes would make of it, apart from the stamp.
  bool changed = false;
  std::shared_ptr<const NodeMaker> made;  // what nodes of the exported model refer to
  ExportedModel exported;                 // with the stamp; refers to the imported model
  ChangeLog log;
  size_t nodes_before = 0, nodes_after = 0;  // of the top graph, as ONNX has them
};

// Takes the model through the passes that are switched on and writes it as ONNX again, in the op versions that it
// imports. No weight is read unless the capability for folding them is on.
// observe: told of each patch of a rule, with the whole graph as it is then and the patch's number in the log.
using PatchObserver = std::function<Status(const Graph& graph, const Patch::Change& change, size_t number)>;
Result<RewrittenModel> optimize_model(const ImportedModel& model, const CapabilitySet& capabilities,
                                      const PatchObserver& observe = nullptr);

// Renews the stamp of an exported model whose messages were changed since. bytes, external: as for fingerprint().
Status renew_stamp(ExportedModel& exported, const std::shared_ptr<const void>& bytes, wire::ExternalData* external,
                   const CapabilitySet& capabilities);

// Whether the stamp in a model says, and rightly, that these passes would change nothing. Looks at the model's messages
// and small constants only. external: as for fingerprint().
Result<bool> is_stamped_as_done(const wire::Model& model, const std::shared_ptr<const void>& bytes,
                                wire::ExternalData* external, const CapabilitySet& capabilities);

}  // namespace tenon
