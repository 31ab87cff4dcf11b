#include "plan/weights_file.h"

#include <algorithm>
#include <cstring>

#include "plan/artifact_records.h"
#include "plan/tensor_bytes.h"

namespace tenon {

namespace {

std::string_view view_of(Buffer& buffer) {
  return {reinterpret_cast<const char*>(buffer.data()), static_cast<size_t>(buffer.size())};
}

Result<std::shared_ptr<Buffer>> copy_of(std::string_view bytes) {
  TN_ASSIGN_OR_RETURN(auto buffer, Buffer::allocate(static_cast<int64_t>(bytes.size()), nullptr));
  if (!bytes.empty()) std::memcpy(buffer->data(), bytes.data(), bytes.size());
  return buffer;
}

}  // namespace

Result<std::shared_ptr<const WeightsFile>> WeightsFile::open(const std::string& path,
                                                             const WeightsFileOptions& options) {
  TN_ASSIGN_OR_RETURN(const FileHandle file, open_for_reading(path));
  return open(file, path, options);
}

Result<std::shared_ptr<const WeightsFile>> WeightsFile::open(const FileHandle& file, const std::string& name,
                                                             const WeightsFileOptions& options) {
  if (options.map) {
    TN_ASSIGN_OR_RETURN(auto mapping, MappedFile::map(file, name));
    return make(mapping->view(), mapping, name, options);
  }
  TN_ASSIGN_OR_RETURN(const int64_t size, regular_file_size(file, name));
  TN_ASSIGN_OR_RETURN(auto buffer, read_region(file, 0, size, name));
  return make(view_of(*buffer), buffer, name, options);
}

Result<std::shared_ptr<const WeightsFile>> WeightsFile::from_memory(std::string_view bytes,
                                                                    std::shared_ptr<const void> owner,
                                                                    const std::string& name,
                                                                    const WeightsFileOptions& options) {
  if (owner && reinterpret_cast<uintptr_t>(bytes.data()) % kEntryAlignment == 0)
    return make(bytes, std::move(owner), name, options);
  TN_ASSIGN_OR_RETURN(auto buffer, copy_of(bytes));
  return make(view_of(*buffer), buffer, name, options);
}

Result<std::shared_ptr<const WeightsFile>> WeightsFile::make(std::string_view bytes, std::shared_ptr<const void> owner,
                                                             const std::string& name,
                                                             const WeightsFileOptions& options) {
  std::shared_ptr<WeightsFile> artifact(new WeightsFile(bytes, std::move(owner), name));
  const auto read = [&]() -> Status {
    TN_ASSIGN_OR_RETURN(artifact->frame_, read_frame(bytes));
    TN_ASSIGN_OR_RETURN(artifact->contents_, records_from_bytes(bytes, artifact->frame_, options.family_facts));
    return {};
  };
  Status status = read();
  if (!status.ok()) return std::move(status).in("'" + name + "'");
  const std::vector<PackedRecord>& packed = artifact->contents_.packed;
  for (size_t i = 0; i < packed.size(); ++i)
    if (packed[i].file == Hash128()) artifact->by_offset_.push_back(static_cast<int32_t>(i));
  std::ranges::sort(artifact->by_offset_, {}, [&](int32_t i) { return packed[static_cast<size_t>(i)].offset; });
  if (options.verify_weights) TN_RETURN_IF_ERROR(artifact->verify());
  return std::shared_ptr<const WeightsFile>(std::move(artifact));
}

Result<size_t> WeightsFile::find_model(const Hash128& plan_key, std::string_view name) const {
  const std::vector<ModelRecord>& models = contents_.models;
  std::optional<size_t> first;
  bool same_weights = true;
  for (size_t i = 0; i < models.size(); ++i) {
    if (models[i].plan_key != plan_key) continue;
    if (models[i].name == name) return i;
    if (!first) first = i;
    same_weights &= models[i].slots == models[*first].slots && models[i].sources == models[*first].sources;
  }
  if (first && same_weights) return *first;
  if (first)
    return error(Code::NotFound, "the weights file '{}' has several models with the plan {}, and none is named '{}'",
                 name_, plan_key.hex(), name);
  return error(Code::Incompatible,
               "the weights file '{}' has no model with the plan {}; compile the model again (tenon compile)", name_,
               plan_key.hex());
}

Result<std::shared_ptr<const WeightsFile>> WeightsFile::holder_of(const PackedRecord& record,
                                                                  const FindWeightsFile& find) const {
  if (!find)
    return error(Code::NotFound, "its bytes are in the weights file {}, which was not opened", record.file.hex());
  TN_ASSIGN_OR_RETURN(auto holder, find(record.file));
  if (!holder || holder->content_id() != record.file)
    return error(Code::NotFound, "its bytes are in the weights file {}, which was not found", record.file.hex());
  const std::vector<PackedRecord>& packed = holder->contents_.packed;
  const auto offset_of = [&](int32_t i) { return packed[static_cast<size_t>(i)].offset; };
  for (const int32_t i : std::ranges::equal_range(holder->by_offset_, record.offset, {}, offset_of)) {
    const PackedRecord& theirs = packed[static_cast<size_t>(i)];
    if (theirs.bytes == record.bytes && theirs.content == record.content) return holder;
  }
  return invalid_model("the weights file '{}' has no matching tensor at offset {}", holder->name_, record.offset);
}

Result<Tensor> WeightsFile::packed(size_t index, const FindWeightsFile& find) const {
  const PackedRecord& record = contents_.packed[index];
  const auto tensor = [&]() -> Result<Tensor> {
    std::shared_ptr<const WeightsFile> holder;
    if (record.file != Hash128()) {
      TN_ASSIGN_OR_RETURN(holder, holder_of(record, find));
    }
    const WeightsFile& from = holder ? *holder : *this;
    return tensor_from_stored(record.dtype, record.dims,
                              from.bytes_.substr(static_cast<size_t>(record.offset), static_cast<size_t>(record.bytes)),
                              from.owner_);
  };
  auto result = tensor();
  if (!result.ok()) return std::move(result).status().in(fmt::format("'{}', packed tensor {}", name_, index));
  return result;
}

Result<Tensor> WeightsFile::source(size_t index, const FindWeightsFile& find) const {
  const SourceRecord& record = contents_.sources[index];
  if (record.place == SourceRecord::Place::Packed) return packed(static_cast<size_t>(record.packed), find);
  if (record.place != SourceRecord::Place::Embedded)
    return error(Code::NotFound, "the weights file '{}' does not contain the source '{}'", name_, record.info.name);
  return tensor_from_stored(record.info.dtype, record.info.dims,
                            bytes_.substr(static_cast<size_t>(record.offset), static_cast<size_t>(record.bytes)),
                            owner_);
}

}  // namespace tenon
