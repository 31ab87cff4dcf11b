// How a session gets new weights while others run it.
#include <fmt/format.h>

#include <algorithm>

#include "plan/keys.h"
#include "runtime/session.h"

namespace tenon {

Hash128 Session::PreparedProgram::plan_key() const {
  std::call_once(key_made, [this] { key = known_key ? *known_key : tenon::plan_key(*program); });
  return key;
}

std::shared_ptr<const Session::Current> Session::current() const {
  std::lock_guard lock(current_mutex_);
  return current_;
}

Session::KeyedWeights Session::keyed_weights() const {
  const auto held = current();
  return {held->plan->plan_key(), held->weights};
}

Status Session::check_weights(const KeyedWeights& given) const {
  const auto held = current();
  if (const Hash128 key = held->plan->plan_key(); key != given.plan_key)
    return error(Code::Incompatible,
                 "the weights belong to another plan ({}) than the session ({}); set them from their source instead",
                 given.plan_key.hex(), key.hex());
  const Program& program = *held->plan->program;
  if (given.weights->slots.size() != program.weight_program.size())
    return invalid_argument("the weights have {} slots, but the model has {}", given.weights->slots.size(),
                            program.weight_program.size());
  if (given.weights->empty_slot() < 0) return {};
  return error(Code::NotFound, "the weights are not complete; set these first: {}",
               open_weights_text(program, *given.weights));
}

Status Session::use_weights_together(std::vector<std::pair<Session*, KeyedWeights>> weights) {
  // Always in one order, so that two groups with the same sessions cannot wait for each other.
  std::ranges::stable_sort(weights, {}, [](const auto& pair) { return pair.first; });
  for (size_t i = 1; i < weights.size(); ++i)
    if (weights[i].first == weights[i - 1].first) return invalid_argument("the same session is given twice");
  std::vector<std::shared_ptr<const Current>> next;  // then what is replaced, which is freed after the locks
  std::vector<std::unique_lock<std::mutex>> swapping, publishing;
  for (auto& [session, set] : weights) swapping.emplace_back(session->swap_mutex_);
  for (auto& [session, set] : weights) {
    TN_RETURN_IF_ERROR(session->check_weights(set));
    next.push_back(std::make_shared<const Current>(Current{session->current()->plan, std::move(set.weights)}));
  }
  for (auto& [session, set] : weights) publishing.emplace_back(session->current_mutex_);
  for (size_t i = 0; i < weights.size(); ++i) weights[i].first->current_.swap(next[i]);
  return {};
}

// Made when the first swap needs it; a session that only runs does without.
Result<SwapTools> Session::swap_tools(PreparedProgram& plan) {
  if (!plan.weight_program) {
    TN_ASSIGN_OR_RETURN(plan.weight_program, WeightProgram::make(plan.program));
  }
  return SwapTools{*plan.weight_program, *spare_, budget_, options_.pool.get(), nullptr};
}

// Everything that is wrong, for all sessions at once.
Status Session::check_together(std::span<Session* const> sessions,
                               const std::map<Session*, std::shared_ptr<const WeightSource>>& sources,
                               const SwapOptions& options) {
  SwapChecks checks;
  std::set<Session*> seen;
  for (size_t i = 0; i < sessions.size(); ++i) {
    if (!seen.insert(sessions[i]).second) continue;
    const auto planned = plan_swap(*sessions[i]->program(), *sessions[i]->weights(), *sources.at(sessions[i]), options);
    checks.add(fmt::format("session {}", i + 1), planned.status());
  }
  return checks.finish();
}

Result<SwapReport> Session::set_weights(const std::shared_ptr<const WeightSource>& source, const SwapOptions& options) {
  Session* self = this;
  const auto always = [&](const WeightSnapshot&) { return Result<std::shared_ptr<const WeightSource>>(source); };
  TN_ASSIGN_OR_RETURN(auto reports, set_weights_together(std::span(&self, 1), always, options));
  return std::move(reports[0]);
}

Result<Session::Next> Session::make_next(const std::shared_ptr<const WeightSource>& source, const SwapOptions& options,
                                         SharedSlots* shared) {
  const auto now = current();
  if (options.recompile) {
    TN_ASSIGN_OR_RETURN(PlannedSwap planned, plan_swap(*now->plan->program, *now->weights, *source, options));
    if (!planned.broken.empty()) return make_next_plan(source, options, shared, std::move(planned));
  }
  TN_ASSIGN_OR_RETURN(SwapTools tools, swap_tools(*now->plan));
  tools.shared = shared;
  TN_ASSIGN_OR_RETURN(NewWeights made, make_new_weights(tools, *now->weights, source, options));
  return Next{std::make_shared<const Current>(Current{now->plan, std::move(made.snapshot)}), std::move(made.report)};
}

Result<std::vector<SwapReport>> Session::set_weights_together(std::span<Session* const> sessions,
                                                              const SourceOfModel& source_of,
                                                              const SwapOptions& options) {
  // Always in one order, so that two groups with the same sessions cannot wait for each other.
  std::vector<Session*> ordered(sessions.begin(), sessions.end());
  std::ranges::sort(ordered);
  ordered.erase(std::unique(ordered.begin(), ordered.end()), ordered.end());
  std::map<Session*, Next> made;  // then what is replaced, which is freed after the locks
  std::vector<std::unique_lock<std::mutex>> swapping;
  for (Session* session : ordered) swapping.emplace_back(session->swap_mutex_);

  SwapOptions together = options;
  for (const Session* session : ordered)
    for (const SourceInfo& info : session->program()->sources) together.elsewhere.insert(info.name);
  std::map<Session*, std::shared_ptr<const WeightSource>> sources;
  for (Session* session : ordered) {
    TN_ASSIGN_OR_RETURN(sources[session], source_of(*session->weights()));
  }
  if (ordered.size() > 1) TN_RETURN_IF_ERROR(check_together(sessions, sources, together));
  SharedSlots shared;
  for (Session* session : ordered) {
    TN_ASSIGN_OR_RETURN(Next next,
                        session->make_next(sources[session], together, ordered.size() > 1 ? &shared : nullptr));
    made.emplace(session, std::move(next));
  }
  {
    std::vector<std::unique_lock<std::mutex>> publishing;
    for (Session* session : ordered) publishing.emplace_back(session->current_mutex_);
    for (Session* session : ordered) session->current_.swap(made.at(session).current);
  }
  std::vector<SwapReport> reports;
  for (Session* session : sessions) {
    reports.push_back(made.at(session).report);
    session->passed_over_.insert(reports.back().ignored.begin(), reports.back().ignored.end());
  }
  return reports;
}

}  // namespace tenon
