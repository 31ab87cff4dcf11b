// How a session gets new weights while others run it.
#include <fmt/format.h>

#include <algorithm>

#include "plan/keys.h"
#include "runtime/session.h"

namespace tenon {

Hash128 Session::plan_key() const {
  std::call_once(plan_key_made_,
                 [this] { plan_key_ = options_.plan_key ? *options_.plan_key : tenon::plan_key(*program_); });
  return plan_key_;
}

std::shared_ptr<const WeightSnapshot> Session::weights() const {
  std::lock_guard lock(weights_mutex_);
  return weights_;
}

Status Session::check_weights(const WeightSnapshot& weights) const {
  if (weights.slots.size() != program_->weight_program.size())
    return invalid_argument("the weights have {} slots, but the model has {}", weights.slots.size(),
                            program_->weight_program.size());
  if (weights.empty_slot() < 0) return {};
  return error(Code::NotFound, "the weights are not complete; set these first: {}",
               open_weights_text(*program_, weights));
}

Status Session::use_weights_together(std::vector<std::pair<Session*, std::shared_ptr<const WeightSnapshot>>> weights) {
  // Always in one order, so that two groups with the same sessions cannot wait for each other.
  std::ranges::sort(weights, {}, [](const auto& pair) { return pair.first; });
  for (size_t i = 0; i < weights.size(); ++i) {
    TN_RETURN_IF_ERROR(weights[i].first->check_weights(*weights[i].second));
    if (i && weights[i].first == weights[i - 1].first) return invalid_argument("the same session is given twice");
  }
  // What is replaced is freed after the locks.
  std::vector<std::unique_lock<std::mutex>> swapping, publishing;
  for (auto& [session, set] : weights) swapping.emplace_back(session->swap_mutex_);
  for (auto& [session, set] : weights) publishing.emplace_back(session->weights_mutex_);
  for (auto& [session, set] : weights) session->weights_.swap(set);
  return {};
}

// Made when the first swap needs it; a session that only runs does without.
Result<SwapTools> Session::swap_tools() {
  if (!weight_program_) {
    TN_ASSIGN_OR_RETURN(weight_program_, WeightProgram::make(program_));
  }
  return SwapTools{*weight_program_, *spare_, budget_, options_.pool.get(), nullptr};
}

// Everything that is wrong, for all sessions at once.
Status Session::check_together(std::span<Session* const> sessions,
                               const std::map<Session*, std::shared_ptr<const WeightSource>>& sources,
                               const SwapOptions& options) {
  SwapChecks checks;
  std::set<Session*> seen;
  for (size_t i = 0; i < sessions.size(); ++i) {
    if (!seen.insert(sessions[i]).second) continue;
    const auto planned = plan_swap(*sessions[i]->program_, *sessions[i]->weights(), *sources.at(sessions[i]), options);
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

Result<std::vector<SwapReport>> Session::set_weights_together(std::span<Session* const> sessions,
                                                              const SourceOfModel& source_of,
                                                              const SwapOptions& options) {
  // Always in one order, so that two groups with the same sessions cannot wait for each other.
  std::vector<Session*> ordered(sessions.begin(), sessions.end());
  std::ranges::sort(ordered);
  ordered.erase(std::unique(ordered.begin(), ordered.end()), ordered.end());
  std::vector<std::shared_ptr<const WeightSnapshot>> retired;  // freed after the locks
  std::vector<std::unique_lock<std::mutex>> swapping;
  for (Session* session : ordered) swapping.emplace_back(session->swap_mutex_);

  SwapOptions together = options;
  for (const Session* session : ordered)
    for (const SourceInfo& info : session->program_->sources) together.elsewhere.insert(info.name);
  std::map<Session*, std::shared_ptr<const WeightSource>> sources;
  for (Session* session : ordered) {
    TN_ASSIGN_OR_RETURN(sources[session], source_of(*session->weights()));
  }
  if (ordered.size() > 1) TN_RETURN_IF_ERROR(check_together(sessions, sources, together));
  SharedSlots shared;
  std::map<Session*, NewWeights> made;
  for (Session* session : ordered) {
    TN_ASSIGN_OR_RETURN(SwapTools tools, session->swap_tools());
    if (ordered.size() > 1) tools.shared = &shared;
    TN_ASSIGN_OR_RETURN(NewWeights weights, make_new_weights(tools, *session->weights(), sources[session], together));
    made.emplace(session, std::move(weights));
  }
  {
    std::vector<std::unique_lock<std::mutex>> publishing;
    for (Session* session : ordered) publishing.emplace_back(session->weights_mutex_);
    for (Session* session : ordered) {
      retired.push_back(std::move(session->weights_));
      session->weights_ = std::move(made.at(session).snapshot);
    }
  }
  std::vector<SwapReport> reports;
  for (Session* session : sessions) reports.push_back(made.at(session).report);
  return reports;
}

}  // namespace tenon
