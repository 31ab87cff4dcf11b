#pragma once

#include "plan/artifact.h"
#include "swap/recompile.h"

namespace tenon {

// The model that a compiled one was made from, as far as the compiled one tells, and where to look for it.
struct SourceModel {
  std::string file;
  ModelRecord record;
  std::vector<std::string> folders;
};

// Finds the model and compiles it again. Where there is a compiler, it installs this when the library is loaded.
using RecompileSourceModel = Result<RecompiledModel> (*)(const SourceModel& model, const ReplacedWeights& replaced);
void install_recompile(RecompileSourceModel recompile) noexcept;
// Null where nobody installed one.
Recompile recompile_source_model(SourceModel model);

}  // namespace tenon
