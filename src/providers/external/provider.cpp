// Steps that other providers run.
#include "providers/external/provider.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "ops/external.h"
#include "providers/reference/kernel.h"

namespace tenon {

namespace {

// What was made of blobs, as long as the weights are there that the blobs belong to.
class OpenedBlobs {
 public:
  Result<std::shared_ptr<void>> get(const ExternalProvider& provider, const Tensor& blob) {
    const std::span bytes(static_cast<const std::byte*>(blob.data()), static_cast<size_t>(blob.bytes()));
    if (!blob.owner()) return provider.open(bytes);
    const std::lock_guard lock(mutex_);
    std::erase_if(entries_, [](const Entry& entry) { return entry.owner.expired(); });
    for (const Entry& entry : entries_)
      if (entry.provider == &provider && entry.blob == blob.data()) return entry.opened;
    TN_ASSIGN_OR_RETURN(std::shared_ptr<void> opened, provider.open(bytes));
    entries_.push_back({&provider, blob.data(), blob.owner(), opened});
    return opened;
  }

 private:
  struct Entry {
    const ExternalProvider* provider;
    const void* blob;
    std::weak_ptr<const void> owner;  // of the blob's memory, which stays what it is while it has one
    std::shared_ptr<void> opened;
  };
  std::mutex mutex_;
  std::vector<Entry> entries_;
};

struct Registry {
  std::mutex mutex;
  std::map<std::string, ExternalProvider> providers;
  OpenedBlobs opened;
};

Registry& registry() {
  static Registry instance;
  return instance;
}

Result<const ExternalProvider*> find_provider(const std::string& name) {
  const std::lock_guard lock(registry().mutex);
  const auto it = registry().providers.find(name);
  if (it != registry().providers.end()) return &it->second;
  return error(Code::Incompatible, "this step was compiled for the provider '{}'; register that provider first", name);
}

Result<KernelState> bind_external(const BindRequest& request) {
  TN_ASSIGN_OR_RETURN(const ExternalProvider* provider, find_provider(request.params.get<ExternalParams>().provider));
  // Providers stay registered.
  return KernelState{{std::shared_ptr<const void>(), provider}, 0, 1};
}

Status run_external(KernelContext& c) {
  const auto& provider = c.state<ExternalProvider>();
  TN_ASSIGN_OR_RETURN(const Value blob, c.take(0));
  TN_ASSIGN_OR_RETURN(const std::shared_ptr<void> opened, registry().opened.get(provider, *blob.tensor()));
  std::vector<Value> inputs, outputs(c.output_count());
  for (size_t i = 1; i < c.input_count(); ++i) {
    if (!c.has(i)) {
      inputs.emplace_back();
      continue;
    }
    TN_ASSIGN_OR_RETURN(Value value, c.take(i));
    inputs.push_back(std::move(value));
  }
  TN_RETURN_IF_ERROR(provider.run(opened.get(), inputs, outputs));
  const auto& p = c.params<ExternalParams>();
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!c.wants(i)) continue;
    const Tensor* tensor = outputs[i].tensor();
    if (!tensor || static_cast<int64_t>(tensor->dtype()) != p.output_dtypes[i])
      return error(Code::Internal,
                   "the provider '{}' returned output {} with another type than the one it was compiled for",
                   provider.name, i);
    if (c.out(i).data && !std::ranges::equal(c.out(i).dims, tensor->dims()))
      return error(Code::Internal,
                   "the provider '{}' returned output {} with another shape than the one it was compiled for",
                   provider.name, i);
    c.set(i, std::move(outputs[i]));
  }
  return {};
}

}  // namespace

Status register_external_provider(ExternalProvider provider) {
  if (provider.name.empty() || !provider.open || !provider.run)
    return invalid_argument("a provider needs a name, an open function and a run function");
  const std::lock_guard lock(registry().mutex);
  const auto [it, is_new] = registry().providers.try_emplace(provider.name, provider);
  return is_new ? Status() : invalid_argument("the provider '{}' is already registered", provider.name);
}

const KernelFamily* find_external_family(std::string_view name) {
  static constexpr Variant kVariant{"provider", run_external, bind_external};
  static const KernelFamily family{.name = "external/External", .variants = {&kVariant, 1}};
  return name == family.name ? &family : nullptr;
}

// Compiled plans name the family above; this is for plans that leave all to the reference provider.
template <>
KernelFunction reference_kernel<OpId::External>() {
  return [](KernelContext&) { return unsupported("only the provider that this step was compiled for can run it"); };
}

}  // namespace tenon
