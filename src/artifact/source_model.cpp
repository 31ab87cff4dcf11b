#include "artifact/source_model.h"

#include <atomic>

namespace tenon {

namespace {

std::atomic<RecompileSourceModel> installed_recompile{nullptr};

}  // namespace

void install_recompile(RecompileSourceModel recompile) noexcept { installed_recompile = recompile; }

Recompile recompile_source_model(SourceModel model) {
  const RecompileSourceModel recompile = installed_recompile;
  if (!recompile) return nullptr;
  return [recompile, model = std::move(model)](const ReplacedWeights& replaced) { return recompile(model, replaced); };
}

}  // namespace tenon
