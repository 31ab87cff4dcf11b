#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"

namespace tenon {

// Opens files by names that come from an untrusted file. Every name is relative and, after following all links, must
// lead to a regular file below one of these folders. The check holds for the opened handles, not for paths, so
// nobody can swap a link in between. Immutable and so thread-safe.
class ConfinedFolders {
 public:
  // The folder of `path` and, when `path` is a link, the folder of the file it leads to: a Hugging Face cache keeps
  // models as links into a folder of blobs.
  static Result<ConfinedFolders> around(const std::string& path);
  static Result<ConfinedFolders> at(const std::string& folder);

  // Looks in each folder in turn.
  Result<FileHandle> open(std::string_view name) const;
  // Every name in the first folder, sorted, whatever it leads to.
  Result<std::vector<std::string>> names() const;

 private:
  struct Found {
    FileHandle file, folder;
  };
  ConfinedFolders() = default;
  Result<Found> walk(const FileHandle& start, std::string_view name, bool confined) const;
  bool is_root(const FileHandle& folder) const;

  std::vector<FileHandle> roots_;
};

}  // namespace tenon
