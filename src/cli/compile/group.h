#pragma once

#include <vector>

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
  void check_free(const std::vector<ModelJob*>& group) const;
  std::optional<tenon::Artifact> compile(const std::vector<ModelJob*>& group);
  tenon::Options compile_options(const std::vector<ModelJob*>& group) const;
  // False: the group has lost a model.
  bool publish(const tenon::Artifact& artifact, std::vector<ModelJob*>& group);
  bool validate(const tenon::Publication& staged, const std::vector<ModelJob*>& order);
  bool is_unchanged(const Json& described, const std::vector<ModelJob*>& order);

  const CompileSettings& settings_;
  const OutputNames& names_;
  std::vector<ModelJob>& jobs_;
  Console& console_;
  tenon::Context context_;
  GroupResult group_;
};

}  // namespace cli
