#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "build/json.h"
#include "build/request.h"
#include "tenon/tenon.hpp"

namespace tenon::build {

struct OutputNames;

// One model on its way through a build.
struct ModelJob {
  enum class State { Waiting, Compiled, UpToDate, Failed, Skipped };

  size_t number = 0;             // in the request
  std::string path, name, file;  // the model; what the group and the context file call it
  std::string provider;
  State state = State::Waiting;
  std::string error;
  double seconds = 0;  // of loading, compiling, packing and trying out this model
  std::optional<Model> model;
  Json optimized;  // what the passes did; null: they did not run
  std::vector<std::string> warnings;
  std::set<std::string> weights, optional_inputs;  // their names; filled when options mention some
  int64_t nodes = 0, steps = 0, context_bytes = 0, packed_bytes = 0;
  int64_t shared_tensors = 0, shared_bytes = 0;
  std::vector<std::string> shared_with;
  Json validation;      // null: not tried
  bool cached = false;  // nothing was to be compiled

  bool alive() const { return state == State::Waiting; }
  bool is_good() const { return state == State::Compiled || state == State::UpToDate; }
  void fail(std::string message) {
    state = State::Failed;
    error = std::move(message);
    model.reset();
  }
  const char* state_text() const;
};

// What the models have in common.
struct GroupResult {
  std::string weights_file;  // "" when embedded
  int64_t weights_bytes = 0, packed_bytes = 0, unshared_bytes = 0;
  Json tensors = Json::array();  // every packed tensor with its users
  Json sources = Json::array();  // every weight that they are made of, with its users
};

Options load_options(const BuildRequest& request);
// For what the cache keeps of graphs.
void add_cache(const CacheOptions& cache, Options& options);
// The model as it is compiled: read, and optimized if that is asked for; then `report` gets what was done.
Model load_model(const std::string& path, const BuildRequest& request, const ModelRequest& model, Json* report);
// The pinned weights that some of these models have. Pins of a model that failed do not count for the others.
std::vector<std::string> pins_of(const std::vector<ModelJob*>& group, const BuildRequest& request);

std::vector<ModelJob> make_jobs(const BuildRequest& request, const OutputNames& names);

// Loads models, several at a time; those that cannot be loaded or are compiled already have failed then. tenon::Error
// with TN_INVALID_ARGUMENT for a pinned or frozen name that no model has.
void load_jobs(std::vector<ModelJob>& jobs, const BuildRequest& request, const Listener& tell);

// Fills in what a compiler's description says of the models and of what they share.
void describe_sharing(const Json& described, std::vector<ModelJob*>& jobs, GroupResult& group);

}  // namespace tenon::build
