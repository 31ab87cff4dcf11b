#include "runtime/api/session_request.h"

#include <algorithm>
#include <limits>

namespace tenon::api {

namespace {

void fix_dims(Plan& plan, const std::map<std::string, int64_t>& dims) {
  for (PlanValue& v : plan.values) {
    if (!v.type.shape) continue;
    for (Dim& d : *v.type.shape)
      d = d.substitute([&](const std::string& name) -> std::optional<Dim> {
        auto it = dims.find(name);
        return it == dims.end() ? std::nullopt : std::optional(Dim(it->second));
      });
  }
}

// Makes every named value that some step computes an output, after the model's own and in order of computation.
void keep_named_values(Plan& plan) {
  for (const Step& step : plan.steps)
    for (PlanValueId v : step.outputs) {
      if (v == kNoValue || plan.values[static_cast<size_t>(v)].name.empty()) continue;
      plan.outputs.push_back(v);
      plan.output_names.push_back(plan.values[static_cast<size_t>(v)].name);
    }
}

}  // namespace

void SessionRequest::read(tn_context* context, OptionReader& reader) {
  int64_t seed = 0, threads = 0;
  settings.limits = context_or_default(context).limits;
  settings.isa = context_or_default(context).isa;
  reader.integer("memory_limit", settings.limits.memory_bytes, 1);
  reader.integer("loop_limit", settings.limits.loop_iterations, 1);
  reader.integer("cached_bindings", settings.limits.cached_bindings, 1);
  reader.isa("cpu_isa", settings.isa);
  reader.integer("seed", seed, std::numeric_limits<int64_t>::min());
  reader.integer("threads", threads, 0);
  reader.boolean("keep_subnormals", settings.keep_subnormals);
  reader.boolean("keep_values", keep_values);
  reader.integers_by_name("dim", dims);
  settings.seed = static_cast<uint64_t>(seed);
  // A session that runs alone does not make the context's threads.
  if (threads != 1) settings.pool = context_pool(context);
  if (threads > 0) settings.max_helpers = static_cast<int>(std::min<int64_t>(threads - 1, settings.max_helpers));
}

std::shared_ptr<const Program> SessionRequest::apply(const std::shared_ptr<const Program>& program) const {
  if (!changes_plan()) return program;
  auto changed = std::make_shared<Program>(*program);
  fix_dims(changed->plan, dims);
  if (keep_values) keep_named_values(changed->plan);
  return changed;
}

SessionOptions SessionRequest::settings_for(std::optional<Hash128> plan_key, Recompile recompile) const {
  SessionOptions result = settings;
  result.plan_key = plan_key;
  if (!recompile) return result;
  // What the caller wants of the plan counts for the next one too.
  SessionRequest request;
  request.dims = dims;
  request.keep_values = keep_values;
  result.recompile = [recompile = std::move(recompile),
                      request](const ReplacedWeights& replaced) -> Result<RecompiledModel> {
    TN_ASSIGN_OR_RETURN(RecompiledModel model, recompile(replaced));
    model.program = request.apply(model.program);
    return model;
  };
  return result;
}

}  // namespace tenon::api
