#include "compiler/model_content.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>

#include "base/folder.h"
#include "plan/tensor_bytes.h"
#include "weights/file_place.h"
#include "wire/external_data.h"
#include "wire/onnx_tensors.h"

namespace tenon {

namespace {

// What is smaller is hashed with the structure around it.
constexpr int64_t kLargeWeight = 4096;

// Whether the elements of a tensor are the bytes that a file has for it. Booleans and parts of bytes are made
// canonical.
bool is_stored_as_it_is(DType dtype) {
  return dtype != DType::Bool && dtype != DType::String && dtype_bits(dtype) >= 8;
}

std::atomic<uint64_t> read_so_far{0};

}  // namespace

// Hashes by region. A hash that is being computed is waited for.
struct ModelContent::Known {
  using Key = std::tuple<FileIdentity, Region>;
  struct Entry {
    std::mutex mutex;
    std::optional<Hash128> hash;
  };

  std::shared_ptr<Entry> find(const Key& key) {
    const std::lock_guard lock(mutex);
    // Far more than any group of models has; what is forgotten is computed again.
    if (entries.size() > kMostEntries) entries.clear();
    auto& entry = entries[key];
    if (!entry) entry = std::make_shared<Entry>();
    return entry;
  }

  static constexpr size_t kMostEntries = 1 << 20;
  std::mutex mutex;
  std::map<Key, std::shared_ptr<Entry>> entries;

  static Known& of_process() {
    static Known known;
    return known;
  }
};

ModelContent::ModelContent(std::shared_ptr<const ImportedModel> model, std::optional<FileIdentity> file)
    : model_(std::move(model)), identity_(file), known_(std::make_shared<Known>()) {
  for (const wire::TensorProto& tensor : model_->wire.graph.initializers) {
    const auto dtype = dtype_from_onnx(tensor.data_type);
    if (!tensor.raw_data || tensor.is_external || !dtype || !is_stored_as_it_is(*dtype)) continue;
    const auto bytes = static_cast<int64_t>(tensor.raw_data->size());
    const int64_t offset = tensor.raw_data->data() - model_->file.data();
    if (bytes >= kLargeWeight && offset >= 0 && offset + bytes <= static_cast<int64_t>(model_->file.size()))
      inside_.emplace(tensor.name, Region{"", offset, bytes});
  }
}

std::optional<ModelContent::Region> ModelContent::region_of(const Constant& constant) const {
  if (constant.is_literal() || model_->options.weights.contains(constant.source) || model_->options.replaced ||
      !is_stored_as_it_is(constant.dtype))
    return std::nullopt;
  if (const auto inside = inside_.find(constant.source); inside != inside_.end()) return inside->second;
  if (!constant.place || constant.place->has_names || constant.place->bytes < kLargeWeight) return std::nullopt;
  return Region{constant.place->file, constant.place->offset, constant.place->bytes};
}

template <class Compute>
Result<Hash128> ModelContent::once(const Region& region, Compute&& compute) const {
  std::optional<FileIdentity> identity = identity_;
  Region place = region;
  if (!region.file.empty()) {
    auto* const folder = dynamic_cast<wire::FolderExternalData*>(model_->external.get());
    identity = folder ? folder->identity(region.file) : std::nullopt;
  }
  // The name does not matter where the file is known.
  if (identity) place.file.clear();
  Known& known = identity ? Known::of_process() : *known_;
  const auto entry = known.find({identity.value_or(FileIdentity()), place});
  const std::lock_guard lock(entry->mutex);
  if (!entry->hash) {
    TN_ASSIGN_OR_RETURN(entry->hash, compute());
    read_so_far.fetch_add(static_cast<uint64_t>(region.bytes), std::memory_order_relaxed);
  }
  return *entry->hash;
}

uint64_t ModelContent::bytes_read() { return read_so_far.load(std::memory_order_relaxed); }

std::vector<ModelContent::Region> ModelContent::regions() const {
  std::set<Region> found;
  for (const auto& [name, region] : inside_) found.insert(region);
  wire::for_each_tensor(model_->wire, [&](const wire::TensorProto& tensor) {
    if (!tensor.is_external) return;
    if (const auto place = place_of(tensor, model_->path, model_->file); place && place->bytes > 0)
      found.insert({place->file, place->offset, place->bytes});
  });
  return {found.begin(), found.end()};
}

Result<Hash128> ModelContent::of(const Region& region) const {
  return once(region, [&]() -> Result<Hash128> {
    if (region.file.empty())
      return hash_bytes(model_->file.substr(static_cast<size_t>(region.offset), static_cast<size_t>(region.bytes)));
    TN_ASSIGN_OR_RETURN(const auto part, model_->external->read(region.file, region.offset, region.bytes));
    return hash_bytes(part.bytes);
  });
}

Result<Hash128> ModelContent::of(const Constant& constant) const {
  const auto compute = [&]() -> Result<Hash128> {
    TN_ASSIGN_OR_RETURN(const Tensor tensor, constant.value());
    return content_hash(tensor);
  };
  const auto region = region_of(constant);
  return region ? once(*region, compute) : compute();
}

Hash128 ModelContent::of_file() const {
  std::vector<Region> regions;
  for (const auto& [name, region] : inside_) regions.push_back(region);
  std::ranges::sort(regions);
  StreamingHash hash;
  int64_t position = 0;
  const auto part = [&](int64_t begin, int64_t end) {
    return model_->file.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
  };
  for (const Region& region : regions) {
    if (region.offset < position) continue;
    hash.add(part(position, region.offset));
    position = region.offset + region.bytes;
    const auto found = once(region, [&] { return Result(hash_bytes(part(region.offset, position))); });
    hash.add(found->hex());
  }
  hash.add(part(position, static_cast<int64_t>(model_->file.size())));
  return hash.value();
}

bool ModelContent::is_unchanged() const {
  auto* const folder = dynamic_cast<wire::FolderExternalData*>(model_->external.get());
  return identity_ && folder && identity_of(model_->path) == identity_ && folder->are_unchanged();
}

}  // namespace tenon
