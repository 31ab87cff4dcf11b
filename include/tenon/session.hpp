// Running models, and replacing the weights of running ones.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "tenon/model.hpp"
#include "tenon/weights.hpp"

namespace tenon {
inline namespace v0 {

// Settings and results of runs: cancelling, profiling.
class Run {
 public:
  Run() : handle_(tn_run_create()) {}
  void cancel() { tn_run_cancel(get()); }
  void reset() { tn_run_reset(get()); }
  // Cancelling either one cancels both.
  void follow(const Run& leader) { tn_run_follow(get(), leader.get()); }
  // must_stop is called in the thread that runs, about every 50 ms; what is not 0 stops the run.
  void ask(int (*must_stop)(void*), void* user = nullptr) { tn_run_ask(get(), must_stop, user); }
  void enable_profile(bool enable = true) { tn_run_enable_profile(get(), enable); }
  std::string profile_json() const {
    char* text = nullptr;
    detail::check(tn_run_profile_json(get(), &text));
    return detail::take_text(text);
  }
  tn_run* get() const { return handle_.get(); }

 private:
  detail::Owner<tn_run, tn_run_release> handle_;
};

class Artifact;

// A model ready to run. Any number of threads may run one session.
class Session {
 public:
  explicit Session(const Model& model, const Options& options = {}) : Session(nullptr, model, options) {}
  Session(const Context& context, const Model& model, const Options& options = {})
      : Session(context.get(), model, options) {}

  size_t input_count() const { return tn_session_input_count(get()); }
  std::string input_name(size_t i) const { return tn_session_input_name(get(), i); }
  TypeView input_type(size_t i) const { return TypeView(tn_session_input_type(get(), i)); }
  bool input_has_default(size_t i) const { return tn_session_input_has_default(get(), i) != 0; }
  size_t output_count() const { return tn_session_output_count(get()); }
  std::string output_name(size_t i) const { return tn_session_output_name(get(), i); }
  TypeView output_type(size_t i) const { return TypeView(tn_session_output_type(get(), i)); }
  // The node that computes an output; "" when it is an input or a weight.
  std::string output_node(size_t i) const { return tn_session_output_node(get(), i); }
  // Bytes of run memory.
  struct Memory {
    int64_t used, peak;
  };
  Memory memory() const {
    Memory memory{};
    tn_session_memory(get(), &memory.used, &memory.peak);
    return memory;
  }

  // One value per input; an empty Value takes the input's default.
  std::vector<Value> run(std::span<const Value> inputs, Run* run = nullptr) const {
    std::vector<Value> outputs(output_count());
    this->run(inputs, outputs, run);
    return outputs;
  }
  std::vector<Value> run(std::initializer_list<Value> inputs, Run* run = nullptr) const {
    return this->run(std::span<const Value>(inputs.begin(), inputs.size()), run);
  }
  // Outputs that hold a tensor are written in place, empty ones are allocated.
  void run(std::span<const Value> inputs, std::span<Value> outputs, Run* run = nullptr,
           const unsigned char* wanted = nullptr) const {
    std::vector<const tn_value*> in;
    std::vector<tn_value*> out;
    for (const Value& v : inputs) in.push_back(v.get());
    for (const Value& v : outputs) out.push_back(v.get());
    detail::check(
        tn_session_run(get(), run ? run->get() : nullptr, in.data(), in.size(), wanted, out.data(), out.size()));
    for (size_t i = 0; i < outputs.size(); ++i)
      if (!outputs[i] && out[i]) outputs[i] = Value(out[i]);
  }

  // Takes new weights by name, also while others run the session; the report is JSON. With recompile=1, weights that
  // change the plan lead to a new one.
  std::string set_weights(const Source& source, const Options& options = {}) {
    char* report = nullptr;
    detail::check(tn_session_set_weights(get(), source.get(), options.get(), &report));
    return detail::take_text(report);
  }
  Weights weights() const {
    tn_weights* weights = nullptr;
    detail::check(tn_session_weights(get(), &weights));
    return Weights(weights);
  }
  // Weights of the same plan; no byte moves.
  void use_weights(const Weights& weights) { detail::check(tn_session_use_weights(get(), weights.get())); }
  tn_session* get() const { return handle_.get(); }

 private:
  friend class Artifact;
  explicit Session(tn_session* handle) : handle_(handle) {}
  Session(tn_context* context, const Model& model, const Options& options) {
    tn_session* session = nullptr;
    detail::check(tn_session_create(context, model.get(), options.get(), &session));
    handle_.reset(session);
  }
  detail::Owner<tn_session, tn_session_release> handle_;
};

// Several sessions that switch to new weights together; the report is a JSON list.
inline std::string set_weights(std::span<Session* const> sessions, const Source& source, const Options& options = {}) {
  std::vector<tn_session*> handles;
  for (const Session* session : sessions) handles.push_back(session->get());
  char* report = nullptr;
  detail::check(tn_sessions_set_weights(handles.data(), handles.size(), source.get(), options.get(), &report));
  return detail::take_text(report);
}

// Several sessions that switch to weights of their plans together.
inline void use_weights(std::span<Session* const> sessions, std::span<const Weights> weights) {
  if (sessions.size() != weights.size()) throw Error(TN_INVALID_ARGUMENT, "there must be weights for each session");
  std::vector<tn_session*> handles;
  std::vector<const tn_weights*> sets;
  for (const Session* session : sessions) handles.push_back(session->get());
  for (const Weights& set : weights) sets.push_back(set.get());
  detail::check(tn_sessions_use_weights(handles.data(), sets.data(), handles.size()));
}

}  // namespace v0
}  // namespace tenon
