#include "plan/artifact_format.h"

#include <algorithm>

#include "plan/bytes.h"

namespace tenon {

namespace {

// The first byte is no text, the line ends do not survive a transfer as text.
constexpr std::string_view kMagic("\x89TENON\r\n", 8);
constexpr uint32_t kLittleEndian = 0x01020304, kBigEndian = 0x04030201;
constexpr size_t kHashedHeaderBytes = 48;

Status check_version(uint32_t version) {
  if (version == kArtifactVersion) return {};
  if (version > kArtifactVersion)
    return error(Code::Incompatible,
                 "the weights file has format version {}, but this version of Tenon reads format version {}; update "
                 "Tenon, or compile the model again (tenon compile)",
                 version, kArtifactVersion);
  return error(Code::Incompatible, "the weights file has the old format version {}; {}", version,
               kMadeByAnotherVersion);
}

// What the file is, before anything in it is trusted.
Status check_kind(std::string_view file) {
  if (file.substr(0, kMagic.size()) != kMagic.substr(0, std::min(file.size(), kMagic.size())) || file.empty())
    return invalid_model("this is not a Tenon weights file");
  if (file.size() < static_cast<size_t>(kHeaderBytes))
    return invalid_model("the weights file is truncated after {} bytes", file.size());
  ByteReader in(file.substr(kMagic.size()));
  const auto endianness = in.get<uint32_t>();
  if (endianness == kBigEndian)
    return error(Code::Incompatible,
                 "the weights file was made for a big-endian machine; compile the model for this one");
  if (endianness != kLittleEndian) return invalid_model("the header of the weights file is damaged");
  return check_version(in.get<uint32_t>());
}

Status check_header(std::string_view file, Hash128& content_id) {
  TN_RETURN_IF_ERROR(check_kind(file));
  ByteReader in(file.substr(kMagic.size() + 2 * sizeof(uint32_t)));
  const auto bytes = in.get<uint64_t>();
  const auto sections = in.get<uint32_t>(), entry_bytes = in.get<uint32_t>();
  content_id = in.get_hash();
  if (in.get_hash() != hash_bytes(file.substr(0, kHashedHeaderBytes)) || sections != kSectionCount ||
      entry_bytes != kSectionEntryBytes)
    return invalid_model("the header of the weights file is damaged");
  if (file.size() < bytes)
    return invalid_model("the weights file is truncated: it has {} of {} bytes", file.size(), bytes);
  if (file.size() > bytes) return invalid_model("{} bytes follow the end of the weights file", file.size() - bytes);
  if (bytes < static_cast<uint64_t>(kTableEnd)) return invalid_model("the header of the weights file is damaged");
  return {};
}

// Every section starts at the first place its alignment allows, with zeros before it.
Status check_place(std::string_view file, const ArtifactFrame& frame, size_t index) {
  const auto section = static_cast<Section>(index);
  const SectionPlace& place = frame.sections[index];
  const int64_t before = index == 0 ? kTableEnd : frame.sections[index - 1].end();
  const auto size = static_cast<int64_t>(file.size());
  if (place.offset != aligned(before, section_alignment(section)) || place.offset > size || place.bytes < 0 ||
      place.bytes > size - place.offset)
    return invalid_model("the section '{}' of the weights file is at the wrong position", section_name(section));
  if (!all_zero(file.substr(static_cast<size_t>(before), static_cast<size_t>(place.offset - before))))
    return invalid_model("the padding before the section '{}' of the weights file is damaged", section_name(section));
  return {};
}

}  // namespace

const char* section_name(Section section) {
  static constexpr const char* kNames[] = {"packed tensors", "embedded sources", "strings",      "models",
                                           "programs",       "sources",          "weight index", "debug map"};
  return kNames[static_cast<size_t>(section)];
}

bool all_zero(std::string_view bytes) { return bytes.find_first_not_of('\0') == std::string_view::npos; }

std::string frame_to_bytes(ArtifactFrame& frame) {
  ByteWriter table;
  for (size_t i = 0; i < kSectionCount; ++i) {
    table.put(static_cast<uint32_t>(i));
    table.put(static_cast<uint32_t>(section_alignment(static_cast<Section>(i))));
    table.put(frame.sections[i].offset);
    table.put(frame.sections[i].bytes);
    table.put_hash(frame.sections[i].hash);
  }
  frame.content_id = hash_bytes(table.bytes());
  ByteWriter out;
  out.put_raw(kMagic);
  out.put(kLittleEndian);
  out.put(kArtifactVersion);
  out.put(frame.file_bytes());
  out.put(static_cast<uint32_t>(kSectionCount));
  out.put(static_cast<uint32_t>(kSectionEntryBytes));
  out.put_hash(frame.content_id);
  out.put_hash(hash_bytes(out.bytes()));
  out.put_raw(table.bytes());
  return out.take();
}

std::optional<Hash128> content_id_in_header(std::string_view start) {
  if (start.size() < static_cast<size_t>(kHeaderBytes) || !check_kind(start).ok()) return std::nullopt;
  ByteReader in(start.substr(kHashedHeaderBytes - sizeof(Hash128)));
  const Hash128 content_id = in.get_hash();
  if (in.get_hash() != hash_bytes(start.substr(0, kHashedHeaderBytes))) return std::nullopt;
  return content_id;
}

Result<ArtifactFrame> read_frame(std::string_view file) {
  ArtifactFrame frame;
  TN_RETURN_IF_ERROR(check_header(file, frame.content_id));
  const std::string_view table = file.substr(kHeaderBytes, kTableEnd - kHeaderBytes);
  if (hash_bytes(table) != frame.content_id) return invalid_model("the section table of the weights file is damaged");
  ByteReader in(table);
  for (size_t i = 0; i < kSectionCount; ++i) {
    const auto number = in.get<uint32_t>(), alignment = in.get<uint32_t>();
    SectionPlace& place = frame.sections[i];
    place.offset = in.get<int64_t>();
    place.bytes = in.get<int64_t>();
    place.hash = in.get_hash();
    if (number != i || alignment != section_alignment(static_cast<Section>(i)))
      return error(Code::Incompatible, "section {} of the weights file is unknown; {}", number, kMadeByAnotherVersion);
    TN_RETURN_IF_ERROR(check_place(file, frame, i));
  }
  if (frame.file_bytes() != static_cast<int64_t>(file.size()))
    return invalid_model("bytes follow the last section of the weights file");
  for (size_t i = 0; i < kSectionCount; ++i)
    if (!is_large(static_cast<Section>(i))) TN_RETURN_IF_ERROR(check_section(file, frame, static_cast<Section>(i)));
  return frame;
}

Status check_section(std::string_view file, const ArtifactFrame& frame, Section section) {
  const SectionPlace& place = frame.at(section);
  const std::string_view bytes = file.substr(static_cast<size_t>(place.offset), static_cast<size_t>(place.bytes));
  if (hash_bytes(bytes) == place.hash) return {};
  return invalid_model("the section '{}' of the weights file is damaged", section_name(section));
}

}  // namespace tenon
