#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "artifact/write_image.h"
#include "artifact_mutation.h"
#include "base/hash.h"
#include "plan/context_model.h"
#include "plan/keys.h"
#include "plan/weights_file.h"
#include "runtime/api/artifact_handles.h"
#include "stop_watch.h"
#include "tenon/tenon.h"
#include "wire/onnx_write.h"

// Compiles a model, changes what the artifact says with checksums that fit, and does with it what users do: load,
// describe, run, swap weights, run, bake, verify. Refusing is fine; a crash, a hang or an internal error is a finding.
// The bytes of the model decide about the changes, so an input is a model and nothing else.
namespace {

using namespace tenon;

constexpr int kMutants = 6;
constexpr const char* kMemoryLimit = "67108864";

template <auto Release>
struct Releaser {
  template <class T>
  void operator()(T* handle) const {
    Release(handle);
  }
};
template <class T, auto Release>
using Handle = std::unique_ptr<T, Releaser<Release>>;
using ModelHandle = Handle<tn_model, tn_model_release>;
using ArtifactHandle = Handle<tn_artifact, tn_artifact_release>;
using SessionHandle = Handle<tn_session, tn_session_release>;
using OptionsHandle = Handle<tn_options, tn_options_release>;
using ValueHandle = Handle<tn_value, tn_value_release>;
using SourceHandle = Handle<tn_source, tn_source_release>;

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

bool succeeded(tn_status* status) {
  if (!status) return true;
  const std::string message = tn_status_message(status);
  require(tn_status_code(status) != TN_INTERNAL, message.c_str());
  tn_status_release(status);
  return false;
}

OptionsHandle options_of(const std::vector<std::pair<std::string, std::string>>& entries) {
  OptionsHandle options(tn_options_create());
  for (const auto& [key, value] : entries)
    require(succeeded(tn_options_set(options.get(), key.c_str(), value.c_str())), "an option can be set");
  return options;
}

std::vector<ValueHandle> inputs_of(const tn_model* model) {
  std::vector<std::pair<std::string, std::string>> entries = {{"memory_limit", "1048576"}};
  for (size_t i = 0; i < tn_model_input_count(model); ++i) {
    const tn_type* type = tn_model_input_type(model, i);
    if (tn_type_kind(type) != TN_KIND_TENSOR || tn_type_rank(type) < 0 || tn_model_input_has_default(model, i))
      continue;
    std::string shape;
    for (size_t axis = 0; axis < static_cast<size_t>(tn_type_rank(type)); ++axis) {
      const int64_t fixed = tn_type_dim(type, axis);
      shape += (axis ? "," : "") + std::to_string(fixed < 0 ? 2 : fixed);
    }
    entries.emplace_back(std::string("shape:") + tn_model_input_name(model, i), shape);
  }
  std::vector<tn_value*> made(tn_model_input_count(model));
  if (!succeeded(tn_model_random_inputs(model, options_of(entries).get(), made.data(), made.size()))) return {};
  return {made.begin(), made.end()};
}

void run(const tn_session* session, const std::vector<ValueHandle>& inputs) {
  static StopWatch& watch = *new StopWatch(std::chrono::milliseconds(1500));
  if (inputs.size() != tn_session_input_count(session)) return;
  std::vector<const tn_value*> given;
  for (const ValueHandle& input : inputs) given.push_back(input.get());
  std::vector<tn_value*> results(tn_session_output_count(session));
  watch.time([&](tn_run* handle) {
    succeeded(tn_session_run(session, handle, given.data(), given.size(), nullptr, results.data(), results.size()));
  });
  const std::vector<ValueHandle> outputs(results.begin(), results.end());
  for (const ValueHandle& output : outputs) {
    char* text = nullptr;
    if (output && succeeded(tn_value_describe(output.get(), 4, &text))) tn_string_release(text);
  }
}

// The weights that the artifact came with.
SourceHandle weights_of(const Image& image) {
  SourceHandle source(tn_source_create());
  for (size_t i = 0; i < image.contents().sources.size(); ++i)
    if (auto tensor = image.source(i); tensor.ok())
      source->tensors.emplace(image.contents().sources[i].info.name, std::move(*tensor));
  return source;
}

void use(const tn_artifact* artifact, const std::vector<ValueHandle>& inputs, const tn_source* weights) {
  char* text = nullptr;
  if (succeeded(tn_artifact_describe(artifact, "models,packed,sources,weight_program,plan", &text)))
    tn_string_release(text);
  const auto limits = options_of({{"memory_limit", kMemoryLimit}, {"loop_limit", "200"}, {"cached_bindings", "2"}});
  tn_session* made = nullptr;
  if (succeeded(tn_artifact_session(nullptr, artifact, 0, limits.get(), &made))) {
    const SessionHandle session(made);
    run(made, inputs);
    const auto partly = options_of({{"partial", "1"}});
    if (succeeded(tn_session_set_weights(made, weights, partly.get(), nullptr))) run(made, inputs);
  }
  tn_artifact* baked = nullptr;
  if (succeeded(tn_artifact_bake(nullptr, artifact, weights, options_of({{"partial", "1"}}).get(), &baked, nullptr))) {
    const ArtifactHandle handle(baked);
    StringSink sink;
    // What is written is read again, with the checks that anybody's file meets.
    if (write_image(*baked->image, sink, {}).ok()) (void)WeightsFile::from_memory(sink.take(), nullptr, "baked");
    tn_session* session = nullptr;
    if (succeeded(tn_artifact_session(nullptr, baked, 0, limits.get(), &session))) {
      const SessionHandle owned(session);
      run(session, inputs);
    }
  }
  succeeded(tn_artifact_verify(artifact, nullptr));
}

// A context model that has the weights file in itself.
std::string context_of(const Image& image, const Hash128& key, std::string_view file, const Hash128& content_id) {
  ContextNode node;
  node.embedded = true;
  node.payload = file;
  node.plan_key = key;
  node.model_name = image.contents().models[0].name;
  node.content_id = content_id;
  node.version = "0.1.0";
  node.architecture = kAnyLittleEndian;
  node.source_model = "m.onnx";
  wire::MessageBuilder builder;
  const auto context = make_context_model(image.face(0), image.contents().models[0].program->plan, node, builder);
  if (!context.ok()) return "";
  auto bytes = wire::write_model(*context);
  return bytes.ok() ? std::move(*bytes) : "";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  tn_model* loaded = nullptr;
  if (!succeeded(tn_model_load_memory(nullptr, data, size, options_of({{"max_nodes", "500"}}).get(), &loaded)))
    return 0;
  const ModelHandle model(loaded);
  const std::vector<ValueHandle> inputs = inputs_of(loaded);
  const Hash128 seed = hash_bytes(bytes);
  const auto options = options_of({{"provider", seed.low % 4 == 0 ? "reference" : "cpu"}});
  const char* name = "m";
  tn_artifact* compiled = nullptr;
  if (!succeeded(tn_compile(nullptr, &loaded, &name, 1, options.get(), &compiled))) return 0;
  const ArtifactHandle artifact(compiled);
  StringSink sink;
  if (!write_image(*compiled->image, sink, {}).ok()) return 0;
  const std::string file = sink.take();
  const auto original = WeightsFile::from_memory(file, nullptr, "original");
  require(original.ok(), "what was written can be read");
  const SourceHandle weights = weights_of(*compiled->image);
  for (int mutant = 0; mutant < kMutants; ++mutant) {
    ArtifactContents contents = (*original)->contents();
    fuzz::ArtifactMutation mutation(seed.high + static_cast<uint64_t>(mutant) * 0x9e3779b97f4a7c15ull);
    if (mutant > 0) mutation.change(contents);
    const std::string changed = fuzz::with_contents(file, (*original)->frame(), contents);
    const Hash128 content_id = read_frame(changed).value().content_id, key = plan_key(*contents.models[0].program);
    const std::string context = context_of(*compiled->image, key, changed, content_id);
    tn_artifact* read = nullptr;
    const bool good = !context.empty() && succeeded(tn_artifact_load_memory(nullptr, context.data(), context.size(),
                                                                            nullptr, nullptr, &read));
    require(good || mutant > 0, "what was compiled can be loaded");
    if (!good) continue;
    const ArtifactHandle handle(read);
    use(read, inputs, weights.get());
  }
  return 0;
}
