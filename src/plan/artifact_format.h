#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "base/status.h"

// The frame of a weights file: header, section table, and where sections lie. docs/artifact.md describes the bytes.
namespace tenon {

inline constexpr uint32_t kArtifactVersion = 1;

// In the order of the file. What is large comes first, so that a file is written in one go although the index and the
// table tell the hashes of what is before them.
enum class Section : uint32_t { Packed, Embedded, Strings, Models, Programs, Sources, Index, DebugMap };
inline constexpr size_t kSectionCount = 8;
const char* section_name(Section section);

inline constexpr int64_t kHeaderBytes = 64, kSectionEntryBytes = 40;
inline constexpr int64_t kTableEnd = kHeaderBytes + static_cast<int64_t>(kSectionCount) * kSectionEntryBytes;
// Of entries in the packed and embedded sections; and of sections other than the packed one, which starts a page.
inline constexpr int64_t kEntryAlignment = 64;
inline constexpr int64_t kPageAlignment = 4096;

inline constexpr int64_t aligned(int64_t offset, int64_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}
inline constexpr int64_t section_alignment(Section section) {
  return section == Section::Packed ? kPageAlignment : kEntryAlignment;
}
// Packed tensors and embedded sources: read at load only where they are needed.
inline constexpr bool is_large(Section section) { return section == Section::Packed || section == Section::Embedded; }

struct SectionPlace {
  int64_t offset = 0, bytes = 0;
  Hash128 hash;
  int64_t end() const { return offset + bytes; }
};

struct ArtifactFrame {
  std::array<SectionPlace, kSectionCount> sections;
  Hash128 content_id;  // of the section table, so of everything

  const SectionPlace& at(Section section) const { return sections[static_cast<size_t>(section)]; }
  SectionPlace& at(Section section) { return sections[static_cast<size_t>(section)]; }
  int64_t file_bytes() const { return sections.back().end(); }
};

// Header and table; sets the content id.
std::string frame_to_bytes(ArtifactFrame& frame);
// The content id that an undamaged header claims; none for anything else. `start` are the first bytes of a file.
std::optional<Hash128> content_id_in_header(std::string_view start);
// Checks header and table against each other and against the length of the file, the padding between sections, and
// the hashes of the sections that are not large. Touches no byte of the others.
Result<ArtifactFrame> read_frame(std::string_view file);
// The hash of one section of the file.
Status check_section(std::string_view file, const ArtifactFrame& frame, Section section);
bool all_zero(std::string_view bytes);

}  // namespace tenon
