#pragma once

#include <vector>

#include "cli/compile/existing.h"
#include "cli/compile/job.h"

namespace cli {

// Takes loaded models to files: compiles those that are alive as one group, stages, tries, publishes; again without
// the ones that fail on the way, until a group stands or none is left.
class GroupCompiler {
 public:
  GroupCompiler(const CompileSettings& settings, const OutputNames& names, std::vector<ModelJob>& jobs,
                Console& console)
      : settings_(settings), names_(names), jobs_(jobs), console_(console), context_(context_options(settings)) {}

  void run();
  const GroupResult& group() const { return group_; }

 private:
  static tenon::Options context_options(const CompileSettings& settings);
  std::vector<ModelJob*> alive();
  bool any_failed() const;
  void skip_rest();
  bool is_up_to_date(std::vector<ModelJob*>& group);
  void take(const ExistingResults& existing, std::vector<ModelJob*>& group);
  // False: the compile is refused, because something else has the name of a result.
  bool check_free(const std::vector<ModelJob*>& group, bool& completes);
  void tidy() const;
  std::optional<tenon::Artifact> compile(const std::vector<ModelJob*>& group);
  tenon::Options compile_options(const std::vector<ModelJob*>& group) const;
  void fail_bad_ones(const std::vector<ModelJob*>& group);
  tenon::Artifact compile_some(const std::vector<ModelJob*>& some);
  // False: the group has lost a model, or all of them.
  bool publish(const tenon::Artifact& artifact, std::vector<ModelJob*>& group, bool overwrite);
  bool stage_and_publish(const tenon::Artifact& artifact, std::vector<ModelJob*>& group, bool overwrite);
  bool validate(const std::vector<std::string>& paths, const std::vector<ModelJob*>& order);
  void try_out(ModelJob& job, const std::string& path, int64_t share);
  bool is_unchanged(const Json& described, const std::vector<ModelJob*>& order);

  const CompileSettings& settings_;
  const OutputNames& names_;
  std::vector<ModelJob>& jobs_;
  Console& console_;
  tenon::Context context_;
  GroupResult group_;
};

}  // namespace cli
