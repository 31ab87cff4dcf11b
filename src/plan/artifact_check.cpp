#include <algorithm>

#include "base/checked_math.h"
#include "plan/artifact_records.h"
#include "plan/tensor_bytes.h"

namespace tenon {

namespace {

bool is_id(int32_t id, size_t count) { return id >= 0 && static_cast<size_t>(id) < count; }

bool lies_in(int64_t offset, int64_t bytes, const SectionPlace& place) {
  return offset >= place.offset && bytes >= 0 && offset <= place.end() && bytes <= place.end() - offset;
}

bool equal(const SourceInfo& a, const SourceInfo& b) {
  return a.name == b.name && a.dtype == b.dtype && a.dims == b.dims;
}

class ContentsCheck {
 public:
  ContentsCheck(const ArtifactContents& contents, const ArtifactFrame& frame) : contents_(contents), frame_(frame) {}

  Status check() const {
    for (size_t i = 0; i < contents_.packed.size(); ++i) {
      Status status = check_packed(contents_.packed[i]);
      if (!status.ok()) return std::move(status).in(fmt::format("packed tensor {}", i));
    }
    TN_RETURN_IF_ERROR(check_overlap());
    for (const SourceRecord& source : contents_.sources) {
      Status status = check_source(source);
      if (!status.ok()) return std::move(status).in("source '" + source.info.name + "'");
    }
    for (const ModelRecord& model : contents_.models) {
      Status status = check_model(model);
      if (!status.ok()) return std::move(status).in("model '" + model.name + "'");
    }
    return check_users();
  }

 private:
  Status check_packed(const PackedRecord& record) const {
    TN_RETURN_IF_ERROR(check_stored_size(record.dtype, record.dims, record.bytes));
    if (record.offset < 0 || record.offset % kEntryAlignment != 0)
      return invalid_model("its bytes begin at offset {}, which is not a multiple of {}", record.offset,
                           kEntryAlignment);
    if (record.file == Hash128() && !lies_in(record.offset, record.bytes, frame_.at(Section::Packed)))
      return invalid_model("its {} bytes at offset {} are outside the packed section", record.bytes, record.offset);
    return {};
  }

  // Bytes belong to one content; tensors of equal content may share them.
  Status check_overlap() const {
    std::vector<const PackedRecord*> order;
    for (const PackedRecord& record : contents_.packed)
      if (record.file == Hash128() && record.bytes > 0) order.push_back(&record);
    std::ranges::sort(order, {}, [](const PackedRecord* r) { return std::pair(r->offset, r->bytes); });
    for (size_t i = 1; i < order.size(); ++i) {
      const PackedRecord &a = *order[i - 1], &b = *order[i];
      if (a.offset + a.bytes <= b.offset) continue;
      if (a.offset == b.offset && a.bytes == b.bytes && a.content == b.content) continue;
      return invalid_model("packed tensors overlap at offset {}", b.offset);
    }
    return {};
  }

  Status check_source(const SourceRecord& source) const {
    using Place = SourceRecord::Place;
    const bool in_file = source.place == Place::InFile, embedded = source.place == Place::Embedded;
    if (in_file && source.file.empty()) return invalid_model("its file has no name");
    if (source.file.empty() && (source.file_offset != 0 || source.file_bytes != 0))
      return invalid_model("it has an offset or a size in a file, but the file has no name");
    if (source.file_offset < 0 || source.file_bytes < 0)
      return invalid_model("its offset or size in '{}' is negative", source.file);
    if (!source.file.empty()) TN_RETURN_IF_ERROR(check_region(source));
    if (!embedded && (source.offset != 0 || source.bytes != 0))
      return invalid_model("it has an offset or a size in this file, but its data is not embedded");
    if (source.place == Place::Packed) return check_packed_source(source);
    if (source.packed != -1)
      return invalid_model("it refers to packed tensor {}, but it is not stored as a packed tensor", source.packed);
    if (source.offset < 0 || source.bytes < 0) return invalid_model("its offset or size is negative");
    if (!embedded) return {};
    if (source.offset % kEntryAlignment != 0 || !lies_in(source.offset, source.bytes, frame_.at(Section::Embedded)))
      return invalid_model("its {} bytes at offset {} are outside the section of embedded sources", source.bytes,
                           source.offset);
    return check_stored_size(source.info.dtype, source.info.dims, source.bytes);
  }

  // Strings are never elements as they lie in somebody's file.
  static Status check_region(const SourceRecord& source) {
    const auto count = checked_product(source.info.dims);
    const auto bytes = count ? storage_bytes(source.info.dtype, *count) : std::nullopt;
    // Such a file is opened by its name alone, beside the artifact.
    if (source.file_has_names && (source.file.find('/') != std::string::npos || source.file == ".."))
      return invalid_model("'{}' is not the name of a file beside the model", source.file);
    if (source.info.dtype == DType::String || bytes != source.file_bytes)
      return invalid_model("the {} bytes in '{}' do not match its type and shape", source.file_bytes, source.file);
    return {};
  }

  Status check_packed_source(const SourceRecord& source) const {
    if (!is_id(source.packed, contents_.packed.size()))
      return invalid_model("packed tensor {} does not exist", source.packed);
    const PackedRecord& packed = contents_.packed[static_cast<size_t>(source.packed)];
    if (packed.content == source.content && packed.dtype == source.info.dtype && packed.dims == source.info.dims)
      return {};
    return invalid_model("packed tensor {} has a different content, type or shape", source.packed);
  }

  Status check_model(const ModelRecord& model) const {
    const Program& program = *model.program;
    if (model.slots.size() != program.weight_program.size() || model.sources.size() != program.sources.size())
      return invalid_model("it has {} slots and {} sources, but its program has {} and {}", model.slots.size(),
                           model.sources.size(), program.weight_program.size(), program.sources.size());
    for (size_t s = 0; s < model.sources.size(); ++s) {
      if (!is_id(model.sources[s], contents_.sources.size()))
        return invalid_model("source {} does not exist", model.sources[s]);
      if (!equal(contents_.sources[static_cast<size_t>(model.sources[s])].info, program.sources[s]))
        return invalid_model("the source '{}' of its program has a different type or shape", program.sources[s].name);
    }
    for (size_t slot = 0; slot < model.slots.size(); ++slot)
      if (model.slots[slot] != -1) TN_RETURN_IF_ERROR(check_slot(program, slot, model.slots[slot]));
    return {};
  }

  Status check_slot(const Program& program, size_t slot, int32_t id) const {
    if (!is_id(id, contents_.packed.size())) return invalid_model("packed tensor {} does not exist", id);
    const PackedRecord& packed = contents_.packed[static_cast<size_t>(id)];
    const WeightEntry& entry = program.weight_program[slot];
    if (packed.layout != entry.layout)
      return invalid_model("slot {} has the layout '{}', but packed tensor {} has '{}'", slot, entry.layout, id,
                           packed.layout);
    if (entry.expression) return check_result(*entry.expression, slot, packed);
    const SourceInfo& source = program.sources[static_cast<size_t>(entry.sources[0])];
    if (packed.dtype != source.dtype || packed.dims != source.dims)
      return invalid_model("slot {} holds the source '{}', but packed tensor {} has a different type or shape", slot,
                           source.name, id);
    return {};
  }

  static Status check_result(const Plan& expression, size_t slot, const PackedRecord& packed) {
    const Type& type = expression.values[static_cast<size_t>(expression.outputs[0])].type;
    if (type.is_tensor() && type.dtype == packed.dtype && type.shape == to_shape(packed.dims)) return {};
    return invalid_model("slot {} does not have the type of its expression's result", slot);
  }

  Status check_users() const {
    const auto users = users_of(contents_);
    for (size_t i = 0; i < users.size(); ++i)
      if (contents_.packed[i].users != users[i])
        return invalid_model("the users listed for packed tensor {} do not match the models", i);
    return {};
  }

  const ArtifactContents& contents_;
  const ArtifactFrame& frame_;
};

}  // namespace

Status check_contents(const ArtifactContents& contents, const ArtifactFrame& frame) {
  return ContentsCheck(contents, frame).check();
}

std::vector<std::vector<int32_t>> users_of(const ArtifactContents& contents) {
  std::vector<std::vector<int32_t>> users(contents.packed.size());
  for (size_t m = 0; m < contents.models.size(); ++m)
    for (const int32_t id : contents.models[m].slots) {
      if (!is_id(id, users.size())) continue;
      auto& list = users[static_cast<size_t>(id)];
      if (list.empty() || list.back() != static_cast<int32_t>(m)) list.push_back(static_cast<int32_t>(m));
    }
  return users;
}

}  // namespace tenon
