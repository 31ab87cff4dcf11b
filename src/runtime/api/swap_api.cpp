// New weights for sessions.
#include "plan/keys.h"
#include "runtime/api/artifact_handles.h"

using namespace tenon;

namespace tenon::api {

Result<SwapOptions> read_swap_options(const tn_options* options, bool of_session) {
  SwapOptions swap;
  std::map<std::string, int64_t> only;
  OptionReader reader(options);
  reader.boolean("partial", swap.partial);
  reader.boolean("strict", swap.strict);
  reader.boolean("keep_sources", swap.keep_sources);
  reader.boolean("map", swap.map);
  if (of_session) reader.boolean("recompile", swap.recompile);
  reader.integers_by_name("only", only);
  TN_RETURN_IF_ERROR(reader.finish());
  for (const auto& [name, chosen] : only)
    if (chosen) swap.only.push_back(name);
  return swap;
}

Status set_given_weights(const tn_options* options, Session& session) {
  if (!options || options->weights.empty()) return {};
  std::map<std::string, Tensor> tensors;
  SwapOptions swap;
  swap.partial = true;
  for (const auto& [name, value] : options->weights) {
    tensors.emplace(name, *value.tensor());
    swap.only.push_back(name);
  }
  const std::shared_ptr<const WeightSource> source = weights_in_memory(std::move(tensors), false);
  return session.set_weights(source, swap).status();
}

}  // namespace tenon::api

namespace {

Status set_weights(std::span<tn_session* const> handles, const tn_source& source, const tn_options* options,
                   bool as_list, char** report) {
  TN_ASSIGN_OR_RETURN(const SwapOptions swap, api::read_swap_options(options, true));
  const auto source_of = [&](const WeightSnapshot& current) { return api::weight_source(source, current.layout); };
  std::vector<Session*> sessions;
  for (const tn_session* handle : handles) sessions.push_back(handle->session.get());
  TN_ASSIGN_OR_RETURN(const auto reports, Session::set_weights_together(sessions, source_of, swap));
  for (size_t i = 0; i < handles.size(); ++i)
    if (reports[i].recompiled) api::describe_outputs(*handles[i]);
  if (report) *report = api::copy_text(api::reports_json(reports, as_list));
  return {};
}

}  // namespace

extern "C" {

tn_status* tn_session_set_weights(tn_session* session, const tn_source* source, const tn_options* options,
                                  char** report) {
  return api::guarded([&]() -> Status {
    if (!session || !source) return invalid_argument("session and source must not be NULL");
    return set_weights(std::span(&session, 1), *source, options, false, report);
  });
}

tn_status* tn_sessions_set_weights(tn_session* const* sessions, size_t count, const tn_source* source,
                                   const tn_options* options, char** report) {
  return api::guarded([&]() -> Status {
    if (!sessions || count == 0 || !source) return invalid_argument("sessions and source must not be NULL");
    for (size_t i = 0; i < count; ++i)
      if (!sessions[i]) return invalid_argument("session {} is NULL", i);
    return set_weights({sessions, count}, *source, options, true, report);
  });
}

tn_status* tn_session_weights(const tn_session* session, tn_weights** weights) {
  return api::guarded([&]() -> Status {
    if (!session || !weights) return invalid_argument("session and weights must not be NULL");
    *weights = new tn_weights{session->session->keyed_weights()};
    return {};
  });
}

void tn_weights_release(tn_weights* weights) { delete weights; }

tn_status* tn_session_use_weights(tn_session* session, const tn_weights* weights) {
  return tn_sessions_use_weights(&session, &weights, 1);
}

tn_status* tn_sessions_use_weights(tn_session* const* sessions, const tn_weights* const* weights, size_t count) {
  return api::guarded([&]() -> Status {
    if (!sessions || !weights || count == 0) return invalid_argument("sessions and weights must not be NULL");
    std::vector<std::pair<Session*, Session::KeyedWeights>> all;
    for (size_t i = 0; i < count; ++i) {
      if (!sessions[i] || !weights[i]) return invalid_argument("session {} or its weights must not be NULL", i);
      all.emplace_back(sessions[i]->session.get(), weights[i]->weights);
    }
    return Session::use_weights_together(std::move(all));
  });
}

}  // extern "C"
