// New weights that change what a plan was decided by: the model is compiled again, and the session switches plans.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "plan/keys.h"
#include "runtime/session.h"

namespace tenon {

namespace {

std::shared_ptr<const SourceBytes> loaded_by(std::function<Result<Tensor>()> load) {
  return std::make_shared<SourceBytes>(SourceBytes{{}, std::move(load), std::nullopt});
}

// Elements that stay as they are even when their owner writes to the memory again.
Result<Tensor> lasting_copy(const Tensor& tensor) {
  if (tensor.dtype() == DType::String) return Tensor::of<std::string>(tensor.dims(), tensor.as<std::string>());
  TN_ASSIGN_OR_RETURN(Tensor copy, Tensor::allocate(tensor.dtype(), tensor.dims(), nullptr));
  copy_elements(tensor.view(), copy.view());
  return copy;
}

// By source, what tells it from the others of a model whatever its elements are: its name, or what a literal is.
std::vector<Hash128> identities(const Program& program) {
  std::vector<Hash128> result;
  for (const SourceInfo& source : program.sources) result.push_back(hash_bytes(source.name));
  for (const Guard& guard : program.guards)
    if (guard.property == kLiteral) result[static_cast<size_t>(guard.source)] = hash_bytes("literal " + guard.answer);
  return result;
}

// Slots of the old plan that the new one has too, made of weights that stay.
void keep_slots(const Program& before, const WeightSnapshot& old, const std::vector<bool>& changed,
                const Program& after, WeightSnapshot& weights) {
  std::map<Hash128, Tensor> known;
  const std::vector<Hash128> old_sources = identities(before), new_sources = identities(after);
  for (size_t slot = 0; slot < before.weight_program.size(); ++slot) {
    const WeightEntry& entry = before.weight_program[slot];
    if (std::ranges::none_of(entry.sources, [&](int32_t id) { return changed[static_cast<size_t>(id)]; }))
      known.emplace(packed_key(before, entry, old_sources), old.slots[slot]);
  }
  weights.slots.resize(after.weight_program.size());
  for (size_t slot = 0; slot < after.weight_program.size(); ++slot)
    if (const auto it = known.find(packed_key(after, after.weight_program[slot], new_sources)); it != known.end())
      weights.slots[slot] = it->second;
}

// Guarded weights do not change by the new plan's lights, and it is the old one that the user knows.
void report_replaced(const Program& program, const std::vector<BrokenGuard>& guards, SwapReport& report) {
  for (const SourceInfo& source : program.sources) {
    if (std::ranges::find(guards, source.name, &BrokenGuard::weight) == guards.end()) continue;
    std::erase(report.kept, source.name);
    if (std::ranges::find(report.replaced, source.name) == report.replaced.end())
      report.replaced.push_back(source.name);
  }
}

}  // namespace

ReplacedWeights Session::replaced_weights(const std::shared_ptr<const WeightSource>& source, const SwapOptions& options,
                                          const PlannedSwap& planned) const {
  const auto now = current();
  std::map<std::string, size_t> numbers;
  for (size_t i = 0; i < now->plan->program->sources.size(); ++i)
    numbers.emplace(now->plan->program->sources[i].name, i);
  const bool lasting = source->lasting() && options.map;
  const auto new_bytes = [=](const std::string& name) {
    return loaded_by([=]() -> Result<Tensor> {
      TN_ASSIGN_OR_RETURN(Tensor tensor, source->read(name));
      return lasting ? std::move(tensor) : lasting_copy(tensor);
    });
  };
  return [=, this, changed = planned.changed](const std::string& name) -> std::shared_ptr<const SourceBytes> {
    const auto known = numbers.find(name);
    if (known == numbers.end()) {
      const bool wanted = options.only.empty() || std::ranges::find(options.only, name) != options.only.end();
      if (const auto given = source->find(name); given && given->certain && wanted) return new_bytes(name);
      if (!passed_over_.contains(name)) return nullptr;
      return loaded_by([name] {
        return error(Code::NotFound, "the plan so far had no use for '{}', so its last value was not kept; give it",
                     name);
      });
    }
    if (changed[known->second]) return new_bytes(name);
    if (const auto& bytes = now->weights->sources[known->second]; bytes && bytes->available()) return bytes;
    return loaded_by([name] { return error(Code::NotFound, "the value of '{}' was not kept; give it", name); });
  };
}

Result<Session::Next> Session::make_next_plan(const std::shared_ptr<const WeightSource>& source,
                                              const SwapOptions& options, SharedSlots* shared, PlannedSwap planned) {
  const auto begin = std::chrono::steady_clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
  const auto now = current();
  const auto refusal = [&](const std::string& reason) {
    SwapOptions without = options;
    without.recompile = false;
    const Status guards = plan_swap(*now->plan->program, *now->weights, *source, without).status();
    return Status(Code::GuardViolated, fmt::format("{}\n  {}", guards.to_string(), reason));
  };
  if (!options_.recompile)
    return refusal(
        "recompile: this program uses the runtime library alone, which has no compiler; link libtenon to compile the "
        "model again");
  auto compiled = options_.recompile(replaced_weights(source, options, planned));
  if (!compiled.ok()) return refusal("recompile: " + compiled.status().to_string());
  const Program& before = *now->plan->program;
  const Program& after = *compiled->program;
  keep_slots(before, *now->weights, planned.changed, after, compiled->weights);
  TN_ASSIGN_OR_RETURN(const auto plan, prepare_program(compiled->program, compiled->plan_key));
  if (plan->program->plan.inputs.size() != inputs_.size() || plan->program->plan.output_names != output_names_)
    return refusal("recompile: the new plan computes other values than those that the session gives (keep_values)");
  RecompileReport recompiled{std::move(planned.broken), seconds()};

  TN_ASSIGN_OR_RETURN(SwapTools tools, swap_tools(*plan));
  tools.shared = shared;
  TN_ASSIGN_OR_RETURN(NewWeights made, make_new_weights(tools, compiled->weights, source, options));
  report_replaced(before, recompiled.guards, made.report);
  made.report.seconds = seconds();
  made.report.recompiled = std::move(recompiled);
  return Next{std::make_shared<const Current>(Current{plan, std::move(made.snapshot)}), std::move(made.report)};
}

}  // namespace tenon
