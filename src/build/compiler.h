#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "build/json.h"
#include "build/names.h"
#include "build/request.h"
#include "tenon/tenon.hpp"

// What a build asks of a compiler. Tenon's own works in this process (tenon_compiler.h); those that load other people's
// libraries work in processes of their own (program_compiler.h), where a crash or a hang is only a result.
// Every function may throw tenon::Error.
namespace tenon::build {

struct ModelToCompile {
  std::string path, name, file;  // the model; what the group and the context file call it
  std::string provider;
  const Model* model = nullptr;  // loaded, with the inputs frozen that the request says
};

// Models that are compiled together. Refers to what its maker keeps alive.
struct GroupToCompile {
  std::vector<ModelToCompile> models;
  std::vector<std::string> pins;  // weights of these models that no swap may change
  const BuildRequest& request;
  const OutputNames& names;
  const Context& context;
  const std::atomic<bool>& cancelled;
  const Listener& tell;
};

struct Abilities {
  bool groups = true;     // several models can share one weights file
  bool embed = true;      // weights can be inside the context file
  bool runs_here = true;  // Tenon can load the results, so they can be tried
};

// Files that are written but have not got their names yet. They go with the object unless they are published.
class StagedGroup {
 public:
  virtual ~StagedGroup() = default;
  // Where the context file of a model is now, by the order of CompiledGroup::names().
  virtual std::string path(size_t model) const = 0;
  virtual std::string weights_name() const = 0;  // "" when embedded
  virtual int64_t weights_bytes() const = 0;
  virtual void publish() = 0;
};

class CompiledGroup {
 public:
  virtual ~CompiledGroup() = default;
  // The models, in the order of the result.
  virtual std::vector<std::string> names() const = 0;
  virtual std::unique_ptr<StagedGroup> stage(bool overwrite) = 0;
  // {models: [{name, steps, made_from, seconds_spent}], packed, sources} as tn_artifact_describe has it; made_from is
  // what Compiler::key gave for the files that were really read.
  virtual Json describe() const = 0;
  // Whether a model comes from the cache, and how it was validated when it went there ("": it was not). By the order of
  // names().
  virtual bool is_cached(size_t /*model*/) const { return false; }
  virtual std::string earlier_verdict(size_t /*model*/) const { return ""; }
  // After the publication: keeps the models, with these verdicts, for later builds.
  virtual void keep(const StagedGroup& /*staged*/, const std::vector<std::string>& /*verdicts*/) const {}
};

// Results of an earlier build that are just what this one would make.
struct ExistingResults {
  std::string weights_file;              // "" when embedded
  Json described;                        // as CompiledGroup::describe, the models in the order of the group
  std::vector<std::string> validations;  // the verdicts noted in the files, in the same order; "": never tried
};

class Compiler {
 public:
  virtual ~Compiler() = default;
  virtual std::string name() const = 0;
  virtual Abilities abilities() const { return {}; }
  // Why it cannot be used here, found out now; "" when it can.
  virtual std::string problem() const { return ""; }
  // Of everything that decides about the result for a model of the group.
  virtual std::string key(const ModelToCompile& model, const GroupToCompile& group) const = 0;
  // None when anything is missing or different; also for a compiler that cannot tell.
  virtual std::optional<ExistingResults> find_existing(const GroupToCompile&, const Listener&) const { return {}; }
  virtual std::unique_ptr<CompiledGroup> compile(const GroupToCompile& group) const = 0;
  // Notes in a context file how its comparison ended, for find_existing.
  virtual void note_validation(const std::string& /*path*/, const std::string& /*verdict*/) const {}
};

}  // namespace tenon::build
