#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/compile/names.h"
#include "tenon/tenon.hpp"

namespace cli {

// One model on its way through a compile.
struct ModelJob {
  enum class State { Waiting, Compiled, UpToDate, Failed, Skipped };

  std::string path, name, file;  // the model; what the group and the context file call it
  State state = State::Waiting;
  std::string error;
  double seconds = 0;  // of loading, compiling, packing and trying out this model
  std::optional<tenon::Model> model;
  std::vector<std::string> warnings;
  std::set<std::string> weights, optional_inputs;  // their names; filled when flags mention some
  int64_t nodes = 0, steps = 0, context_bytes = 0, packed_bytes = 0;
  int64_t shared_tensors = 0, shared_bytes = 0;
  std::vector<std::string> shared_with;
  Json validation;  // null: not tried

  bool alive() const { return state == State::Waiting; }
  void fail(std::string message) {
    state = State::Failed;
    error = std::move(message);
    model.reset();
  }
  std::string state_text() const;
};

// What the models have in common.
struct GroupResult {
  std::string weights_file;  // "" when embedded
  int64_t weights_bytes = 0, packed_bytes = 0, unshared_bytes = 0;
  Json tensors;  // every packed tensor with its users
  Json sources;  // every weight that they are made of, with its users
};

tenon::Options load_options(const CompileSettings& settings);
// The pinned weights that some of these models have. Pins of a model that failed do not count for the others.
std::vector<std::string> pins_of(const std::vector<ModelJob*>& group, const CompileSettings& settings);
// For the key of one model of a group with these pins, which has no name there.
tenon::Options key_options(const CompileSettings& settings, const ModelJob& job, const std::vector<std::string>& pins);

// Calls f(i) for i from 0 to count - 1, `jobs` at a time.
void for_each_parallel(size_t count, int64_t jobs, const std::function<void(size_t)>& f);

// Loads models, several at a time; those that cannot be loaded or are compiled already have failed then.
void load_jobs(std::vector<ModelJob>& jobs, const CompileSettings& settings, const Console& console);

// Fills in what an artifact's description says of the models and of what they share.
void describe_sharing(const Json& described, std::vector<ModelJob*>& jobs, GroupResult& group);

}  // namespace cli
