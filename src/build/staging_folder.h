#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/folder.h"
#include "base/temporaries.h"

namespace tenon::build {

// A folder inside the one that results go to, for files whose maker gives them their names only when all are written.
// It goes with the object, and after a crash with the next publication into the folder.
class StagingFolder {
 public:
  static Result<std::unique_ptr<StagingFolder>> make(const std::string& folder);
  ~StagingFolder();
  StagingFolder(const StagingFolder&) = delete;
  StagingFolder& operator=(const StagingFolder&) = delete;

  const std::string& path() const { return path_; }
  // The files in it but for its mark and `contexts`.
  Result<std::vector<std::string>> other_files(const std::vector<std::string>& contexts) const;
  // Moves the other files out, then the contexts. Other files replace nothing unless `overwrite`.
  Status publish(const std::vector<std::string>& contexts, bool overwrite);

 private:
  explicit StagingFolder(std::string folder) : folder_(std::move(folder)) {}
  Status make();

  std::string folder_, path_;
  MadeFolders above_;
  FileHandle parent_, opened_;
  std::unique_ptr<TemporaryName> name_;
  std::optional<FileLock> lock_;
};

}  // namespace tenon::build
