#include "base/small_array.h"
#include "runtime/api/handles.h"

using namespace tenon;

tn_session* api::make_session_handle(std::unique_ptr<Session> session,
                                     decltype(tn_session::name_extents) name_extents) {
  auto handle = std::make_unique<tn_session>();
  for (size_t i = 0; i < session->input_count(); ++i)
    handle->input_types.push_back(std::make_unique<tn_type>(session->input(i).type));
  handle->name_extents = std::move(name_extents);
  handle->session = std::move(session);
  describe_outputs(*handle);
  return handle.release();
}

void api::describe_outputs(tn_session& handle) {
  const auto program = handle.session->program();
  const Plan& plan = program->plan;
  std::vector<const Step*> makers(plan.values.size());
  for (const Step& step : plan.steps)
    for (PlanValueId v : step.outputs)
      if (v != kNoValue) makers[static_cast<size_t>(v)] = &step;
  tn_session::Outputs outputs;
  for (PlanValueId v : plan.outputs) {
    const Step* maker = v == kNoValue ? nullptr : makers[static_cast<size_t>(v)];
    outputs.types.push_back(std::make_unique<tn_type>(plan.values[static_cast<size_t>(v)].type));
    outputs.nodes.push_back(maker ? maker->origin : "");
  }
  const std::lock_guard lock(handle.outputs_mutex);
  if (handle.name_extents) handle.name_extents(handle.input_types, outputs.types);
  handle.outputs.push_back(std::move(outputs));
}

namespace {

Status run_session(const tn_session& handle, tn_run* run, const tn_value* const* inputs, size_t input_count,
                   const unsigned char* wanted, tn_value** outputs, size_t output_count) {
  const Session& session = *handle.session;
  if (output_count != session.output_count())
    return invalid_argument("the model has {} outputs, but there is room for {}", session.output_count(), output_count);
  SmallArray<const Value*, 8> values(input_count);
  for (size_t i = 0; i < input_count; ++i)
    values[i] = inputs[i] && !inputs[i]->value.empty() ? &inputs[i]->value : nullptr;
  SmallArray<OutputTarget, 8> targets(output_count);
  for (size_t i = 0; i < output_count; ++i) {
    if (!outputs[i] || (wanted && !wanted[i])) continue;
    const Tensor* t = outputs[i]->value.tensor();
    if (!t || t->dtype() == DType::String)
      return invalid_argument("the buffer for output '{}' must be a numeric tensor", session.output_name(i));
    targets[i] = t->view();
  }
  RunOptions options;
  if (run) {
    options.cancelled = run->cancelled.get();
    options.stop = run->stop;
    // Runs without a profile may share the handle, so they do not touch the steps.
    if (run->profile) {
      run->steps.clear();
      options.profile = &run->steps;
    }
  }
  SmallArray<Value, 8> results(output_count);
  TN_RETURN_IF_ERROR(session.run(values, targets, results, options));
  for (size_t i = 0; i < output_count; ++i)
    if (!outputs[i] && (!wanted || wanted[i])) outputs[i] = new tn_value{std::move(results[i])};
  return {};
}

}  // namespace

extern "C" {

void tn_session_release(tn_session* session) { delete session; }

size_t tn_session_input_count(const tn_session* session) { return session ? session->session->input_count() : 0; }
const char* tn_session_input_name(const tn_session* session, size_t index) {
  return index < tn_session_input_count(session) ? session->session->input(index).name.c_str() : nullptr;
}
const tn_type* tn_session_input_type(const tn_session* session, size_t index) {
  return index < tn_session_input_count(session) ? session->input_types[index].get() : nullptr;
}
int tn_session_input_has_default(const tn_session* session, size_t index) {
  return index < tn_session_input_count(session) && session->session->input_has_default(index);
}
size_t tn_session_output_count(const tn_session* session) { return session ? session->session->output_count() : 0; }
const char* tn_session_output_name(const tn_session* session, size_t index) {
  return index < tn_session_output_count(session) ? session->session->output_name(index).c_str() : nullptr;
}
const tn_type* tn_session_output_type(const tn_session* session, size_t index) {
  if (index >= tn_session_output_count(session)) return nullptr;
  const std::lock_guard lock(session->outputs_mutex);
  return session->outputs.back().types[index].get();
}

const char* tn_session_output_node(const tn_session* session, size_t index) {
  if (index >= tn_session_output_count(session)) return nullptr;
  const std::lock_guard lock(session->outputs_mutex);
  return session->outputs.back().nodes[index].c_str();
}

void tn_session_memory(const tn_session* session, int64_t* used, int64_t* peak) {
  if (used) *used = session ? session->session->memory().used() : 0;
  if (peak) *peak = session ? session->session->memory().peak() : 0;
}

tn_run* tn_run_create(void) {
  try {
    return new tn_run();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void tn_run_release(tn_run* run) { delete run; }
void tn_run_cancel(tn_run* run) {
  if (run) run->cancelled->store(true);
}
void tn_run_reset(tn_run* run) {
  if (run) run->cancelled->store(false);
}
void tn_run_follow(tn_run* run, const tn_run* leader) {
  if (run && leader) run->cancelled = leader->cancelled;
}
void tn_run_ask(tn_run* run, int (*must_stop)(void*), void* user) {
  if (run) run->stop = {must_stop, user};
}
void tn_run_enable_profile(tn_run* run, int enable) {
  if (run) run->profile = enable != 0;
}

tn_status* tn_session_run(const tn_session* session, tn_run* run, const tn_value* const* inputs, size_t input_count,
                          const unsigned char* wanted, tn_value** outputs, size_t output_count) {
  return api::guarded([&]() -> Status {
    if (!session || (!inputs && input_count) || (!outputs && output_count))
      return invalid_argument("session, inputs and outputs must not be NULL");
    return run_session(*session, run, inputs, input_count, wanted, outputs, output_count);
  });
}

}  // extern "C"
