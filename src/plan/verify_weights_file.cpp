#include <algorithm>

#include "plan/keys.h"
#include "plan/tensor_bytes.h"
#include "plan/weights_file.h"

namespace tenon {

namespace {

struct Entry {
  int64_t offset = 0, bytes = 0;
  Hash128 content;
  friend auto operator<=>(const Entry&, const Entry&) = default;
};

// The content of each entry of a section, and zeros everywhere else. Entries do not overlap.
Status verify_entries(std::string_view file, const ArtifactFrame& frame, Section section, std::vector<Entry> entries) {
  std::ranges::sort(entries);
  entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
  const SectionPlace& place = frame.at(section);
  const auto part = [&](int64_t begin, int64_t end) {
    return file.substr(static_cast<size_t>(begin), static_cast<size_t>(std::max(begin, end) - begin));
  };
  int64_t position = place.offset;
  for (const Entry& entry : entries) {
    if (!all_zero(part(position, entry.offset)))
      return invalid_model("the padding before offset {} in the section '{}' is not zero", entry.offset,
                           section_name(section));
    position = std::max(position, entry.offset + entry.bytes);
    if (hash_bytes(part(entry.offset, entry.offset + entry.bytes)) != entry.content)
      return invalid_model("the bytes at offset {} in the section '{}' do not match their hash in the index",
                           entry.offset, section_name(section));
  }
  if (!all_zero(part(position, place.end())))
    return invalid_model("the padding at the end of the section '{}' is not zero", section_name(section));
  return {};
}

}  // namespace

Status WeightsFile::verify(const FindWeightsFile& find) const {
  Status status = verify_all(find);
  return status.ok() ? std::move(status) : std::move(status).in("'" + name_ + "'");
}

Status WeightsFile::verify_all(const FindWeightsFile& find) const {
  TN_RETURN_IF_ERROR(read_frame(bytes_).status());
  std::vector<Entry> packed, embedded;
  for (const PackedRecord& record : contents_.packed)
    if (record.file == Hash128()) packed.push_back({record.offset, record.bytes, record.content});
  for (const SourceRecord& record : contents_.sources)
    if (record.place == SourceRecord::Place::Embedded)
      embedded.push_back({record.offset, record.bytes, record.content});
  TN_RETURN_IF_ERROR(verify_entries(bytes_, frame_, Section::Packed, std::move(packed)));
  TN_RETURN_IF_ERROR(verify_entries(bytes_, frame_, Section::Embedded, std::move(embedded)));
  TN_RETURN_IF_ERROR(check_section(bytes_, frame_, Section::Packed));
  TN_RETURN_IF_ERROR(check_section(bytes_, frame_, Section::Embedded));
  for (size_t i = 0; i < contents_.packed.size(); ++i) {
    const PackedRecord& record = contents_.packed[i];
    if (record.file != Hash128() && !find) continue;
    TN_ASSIGN_OR_RETURN(const Tensor tensor, this->packed(i, find));
    if (record.file != Hash128() && content_hash(tensor) != record.content)
      return invalid_model("packed tensor {} has different bytes in the weights file {}", i, record.file.hex());
  }
  return verify_keys();
}

Status WeightsFile::verify_keys() const {
  for (const ModelRecord& model : contents_.models) {
    std::vector<Hash128> contents;
    for (const int32_t source : model.sources)
      contents.push_back(contents_.sources[static_cast<size_t>(source)].content);
    for (size_t slot = 0; slot < model.slots.size(); ++slot) {
      if (model.slots[slot] < 0) continue;
      const WeightEntry& entry = model.program->weight_program[slot];
      const PackedRecord& record = contents_.packed[static_cast<size_t>(model.slots[slot])];
      if (packed_key(*model.program, entry, contents) != record.key)
        return invalid_model("slot {} of the model '{}' does not match its sources", slot, model.name);
      // Without an expression the slot is its source.
      if (!entry.expression && record.content != contents[static_cast<size_t>(entry.sources[0])])
        return invalid_model("the bytes of slot {} of the model '{}' differ from those of its source", slot,
                             model.name);
    }
  }
  return {};
}

}  // namespace tenon
