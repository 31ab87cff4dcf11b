#pragma once

#include "build/compiler.h"

namespace tenon::build {

// Tenon's own compiler, in this process.
class TenonCompiler final : public Compiler {
 public:
  std::string name() const override { return "tenon"; }
  std::string key(const ModelToCompile& model, const GroupToCompile& group) const override;
  // Looks at the context files, which must be one group: made from the same models with the same options and names, and
  // whole.
  std::optional<ExistingResults> find_existing(const GroupToCompile& group, const Listener& tell) const override;
  std::unique_ptr<CompiledGroup> compile(const GroupToCompile& group) const override;
  void note_validation(const std::string& path, const std::string& verdict) const override;
};

}  // namespace tenon::build
