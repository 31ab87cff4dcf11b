#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "base/file.h"

namespace tenon {

// Which file it is and whether somebody has written to it: equal identities have equal bytes.
struct FileIdentity {
  uint64_t device = 0, inode = 0;
  int64_t bytes = 0, modified_ns = 0, changed_ns = 0;
  friend auto operator<=>(const FileIdentity&, const FileIdentity&) = default;
};

// Of a file that nobody has written to in the last moments. Nothing for a younger one: file systems count time in
// steps, some of two seconds, and a second write within one leaves no trace.
std::optional<FileIdentity> identity_of(const FileHandle& file);
// Follows links.
std::optional<FileIdentity> identity_of(const std::string& path);

}  // namespace tenon
