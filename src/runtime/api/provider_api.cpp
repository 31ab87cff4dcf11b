// Providers of other compilers.
#include "providers/provider.h"
#include "runtime/api/handles.h"

using namespace tenon;

namespace {

Status taken(tn_status* status) {
  if (!status) return {};
  Status result = error(static_cast<Code>(status->code), "{}", status->message);
  tn_status_release(status);
  return result;
}

Result<std::shared_ptr<void>> open_blob(const tn_provider& table, std::span<const std::byte> blob) {
  void* opened = nullptr;
  TN_RETURN_IF_ERROR(taken(table.open(table.user, blob.data(), blob.size(), &opened)));
  return std::shared_ptr<void>(opened, [table](void* handle) {
    if (table.close) table.close(table.user, handle);
  });
}

// The outputs that a call made are released whatever becomes of it.
struct Outputs {
  std::vector<tn_value*> handles;
  explicit Outputs(size_t count) : handles(count, nullptr) {}
  Outputs(const Outputs&) = delete;
  Outputs& operator=(const Outputs&) = delete;
  ~Outputs() {
    for (tn_value* handle : handles) tn_value_release(handle);
  }
};

Status run_opened(const tn_provider& table, void* opened, std::span<const Value> inputs, std::span<Value> outputs) {
  std::vector<tn_value> given;
  for (const Value& value : inputs) given.push_back({value});
  std::vector<const tn_value*> pointers;
  for (size_t i = 0; i < given.size(); ++i) pointers.push_back(inputs[i].empty() ? nullptr : &given[i]);
  Outputs made(outputs.size());
  TN_RETURN_IF_ERROR(
      taken(table.run(table.user, opened, pointers.data(), pointers.size(), made.handles.data(), made.handles.size())));
  for (size_t i = 0; i < outputs.size(); ++i)
    if (made.handles[i]) outputs[i] = made.handles[i]->value;
  return {};
}

}  // namespace

extern "C" {

tn_status* tn_provider_register(const tn_provider* provider) {
  return api::guarded([&]() -> Status {
    if (!provider || provider->size < sizeof(tn_provider) || !provider->name || !provider->open || !provider->run)
      return invalid_argument("a provider needs its size, a name, an open function and a run function");
    const tn_provider table = *provider;
    return register_external_provider({provider->name,
                                       [table](std::span<const std::byte> blob) { return open_blob(table, blob); },
                                       [table](void* opened, std::span<const Value> inputs, std::span<Value> outputs) {
                                         return run_opened(table, opened, inputs, outputs);
                                       }});
  });
}

}  // extern "C"
