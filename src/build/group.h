#pragma once

#include <memory>
#include <string>
#include <vector>

#include "build/compiler.h"
#include "build/job.h"

namespace tenon::build {

// Thrown, by whoever notices first, once a build is cancelled. No failure of a model, so not a tenon::Error.
struct Cancelled {};

// Takes loaded models to files: compiles those that are alive as one group, stages, tries, publishes; again without
// the ones that fail on the way, until a group stands or none is left.
class GroupCompiler {
 public:
  // Refers to all of it.
  GroupCompiler(const BuildRequest& request, const OutputNames& names, std::vector<ModelJob>& jobs,
                const Compiler& compiler, const Listener& tell, const std::atomic<bool>& cancelled)
      : request_(request), names_(names), jobs_(jobs), compiler_(compiler), tell_(tell), cancelled_(cancelled),
        context_(context_options(request)) {}

  void run();
  const GroupResult& group() const { return group_; }

 private:
  static Options context_options(const BuildRequest& request);
  std::vector<ModelJob*> alive();
  bool any_failed() const;
  void skip_rest();
  void check_cancelled() const;
  void progress(const std::string& text) const { tell_(Event::Progress, kNoModel, text); }
  GroupToCompile to_compile(const std::vector<ModelJob*>& group, std::vector<std::string> pins) const;
  GroupToCompile to_compile(const std::vector<ModelJob*>& group) const;
  bool is_up_to_date(std::vector<ModelJob*>& group);
  void take(const ExistingResults& existing, std::vector<ModelJob*>& group);
  // False: the build is refused, because something else has the name of a result.
  bool check_free(const std::vector<ModelJob*>& group, bool& completes);
  void tidy() const;
  // Null when models have failed.
  std::unique_ptr<CompiledGroup> compile(const std::vector<ModelJob*>& group);
  void fail_bad_ones(const std::vector<ModelJob*>& group);
  // False: the group has lost a model, or all of them.
  bool publish(CompiledGroup& compiled, std::vector<ModelJob*>& group, bool overwrite);
  bool stage_and_publish(CompiledGroup& compiled, std::vector<ModelJob*>& group, bool overwrite);
  bool has_all_files(const StagedGroup& staged, const std::vector<ModelJob*>& order) const;
  bool validate(const std::vector<std::string>& paths, const std::vector<ModelJob*>& order);
  // The same but for models whose verdicts the cache knows.
  bool validate_new(const CompiledGroup& compiled, const std::vector<std::string>& paths,
                    const std::vector<ModelJob*>& order);
  void keep(const CompiledGroup& compiled, const StagedGroup& staged, const std::vector<ModelJob*>& order) const;
  void try_out(ModelJob& job, const std::string& path, int64_t share);
  bool is_unchanged(const Json& described, const std::vector<ModelJob*>& order);
  void note_verdicts(const std::vector<std::string>& paths, const std::vector<ModelJob*>& order) const;

  const BuildRequest& request_;
  const OutputNames& names_;
  std::vector<ModelJob>& jobs_;
  const Compiler& compiler_;
  const Listener& tell_;
  const std::atomic<bool>& cancelled_;
  Context context_;
  GroupResult group_;
};

}  // namespace tenon::build
