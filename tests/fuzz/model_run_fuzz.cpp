#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "stop_watch.h"
#include "tenon/tenon.h"

// Any bytes the way a user takes them: load, inspect, make inputs, run, look at the results, all within tight limits.
// Refusing is fine; a crash, a hang, memory beyond the limit or an internal error is a finding.
namespace {

constexpr int64_t kMemoryLimit = int64_t{64} << 20;
constexpr int64_t kInputLimit = int64_t{1} << 20;

template <auto Release>
struct Releaser {
  template <class T>
  void operator()(T* handle) const {
    Release(handle);
  }
};
using Model = std::unique_ptr<tn_model, Releaser<tn_model_release>>;
using Session = std::unique_ptr<tn_session, Releaser<tn_session_release>>;
using Options = std::unique_ptr<tn_options, Releaser<tn_options_release>>;
using Value = std::unique_ptr<tn_value, Releaser<tn_value_release>>;

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

bool succeeded(tn_status* status) {
  if (!status) return true;
  const std::string message = tn_status_message(status);
  require(tn_status_code(status) != TN_INTERNAL, message.c_str());
  require(!message.empty(), "an error says what is wrong");
  tn_status_release(status);
  return false;
}

void set(const Options& options, const std::string& key, const std::string& value) {
  require(succeeded(tn_options_set(options.get(), key.c_str(), value.c_str())), "an option can be set");
}

void inspect(const tn_model* model) {
  for (const char* section : {"summary", "graph", "ops", "weights", "plan"}) {
    char* text = nullptr;
    if (succeeded(tn_model_describe(model, section, &text))) tn_string_release(text);
  }
}

// Every open extent of every input becomes `extent`, so that runs stay small.
Options input_options(const tn_model* model, int64_t extent) {
  Options options(tn_options_create());
  set(options, "memory_limit", std::to_string(kInputLimit));
  for (size_t i = 0; i < tn_model_input_count(model); ++i) {
    const tn_type* type = tn_model_input_type(model, i);
    if (tn_type_kind(type) != TN_KIND_TENSOR || tn_type_rank(type) < 0 || tn_model_input_has_default(model, i))
      continue;
    std::string shape;
    for (size_t axis = 0; axis < static_cast<size_t>(tn_type_rank(type)); ++axis) {
      const int64_t fixed = tn_type_dim(type, axis);
      shape += (axis ? "," : "") + std::to_string(fixed < 0 ? extent : fixed);
    }
    // The values of a key are text up to the first zero byte, as names in C are.
    set(options, std::string("shape:") + tn_model_input_name(model, i), shape);
  }
  return options;
}

std::vector<Value> make_inputs(const tn_model* model, int64_t extent) {
  std::vector<tn_value*> made(tn_model_input_count(model));
  const Options options = input_options(model, extent);
  if (!succeeded(tn_model_random_inputs(model, options.get(), made.data(), made.size()))) return {};
  return {made.begin(), made.end()};
}

void look_at(const tn_value* value) {
  constexpr size_t kElements = 8;
  char* text = nullptr;
  if (succeeded(tn_value_describe(value, kElements, &text))) tn_string_release(text);
}

// False when it makes no sense to try again with other shapes.
bool run(const tn_model* model, const tn_session* session, int64_t extent) {
  // A run may be slow because it has much to do; it must stop when asked to.
  static StopWatch& watch = *new StopWatch(std::chrono::milliseconds(1500));
  const std::vector<Value> inputs = make_inputs(model, extent);
  if (inputs.size() != tn_session_input_count(session)) return false;
  std::vector<const tn_value*> given;
  for (const Value& input : inputs) given.push_back(input.get());
  std::vector<tn_value*> results(tn_session_output_count(session));
  bool done = false;
  watch.time([&](tn_run* handle) {
    done =
        succeeded(tn_session_run(session, handle, given.data(), given.size(), nullptr, results.data(), results.size()));
  });
  int64_t peak = 0;
  tn_session_memory(session, nullptr, &peak);
  require(peak <= kMemoryLimit, "a run stays within its memory limit");
  const std::vector<Value> outputs(results.begin(), results.end());
  for (const Value& output : outputs)
    if (output) look_at(output.get());
  return done;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Options options(tn_options_create());
  set(options, "max_nodes", "2000");
  tn_model* loaded = nullptr;
  if (!succeeded(tn_model_load_memory(nullptr, data, size, options.get(), &loaded))) return 0;
  const Model model(loaded);
  inspect(loaded);
  options.reset(tn_options_create());
  set(options, "memory_limit", std::to_string(kMemoryLimit));
  set(options, "loop_limit", "200");
  set(options, "cached_bindings", "2");
  tn_session* created = nullptr;
  if (!succeeded(tn_session_create(nullptr, loaded, options.get(), &created))) return 0;
  const Session session(created);
  // The second run finds what the first one left: bound shapes, arenas, keys.
  if (run(loaded, created, 3)) run(loaded, created, 2);
  return 0;
}
