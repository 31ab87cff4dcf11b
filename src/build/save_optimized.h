#pragma once

#include <set>
#include <string>

#include "build/json.h"
#include "passes/optimize_model.h"
#include "wire/onnx_write.h"

namespace tenon::build {

struct SaveRequest {
  std::string output;
  CapabilityChoice capabilities = {};
  bool overwrite = false;                             // an output that exists
  uint64_t most_file_bytes = wire::kMaxMessageBytes;  // of the model's file; larger models get a data file
};

// Takes a model through the passes and writes it, wherever its weights are: each is read once and written once. Weights
// in data files of the output's folder stay there. The report is JSON, as optimize_file has it.
Result<std::string> save_optimized(const ImportedModel& model, const SaveRequest& request);

// Writes a rewritten model, its data file first, if it needs one. external_stays: the output refers to the data files
// of the model. Returns the data files that it refers to: [{name, written ("weights" or "nothing"), bytes}].
Result<Json> write_rewritten(const ImportedModel& model, RewrittenModel& rewritten, const SaveRequest& request,
                             bool external_stays);

// The files beside a model that hold weights of this graph.
std::set<std::string> data_files(const wire::Model& model);
bool is_same_file(const std::string& a, const std::string& b);

}  // namespace tenon::build
