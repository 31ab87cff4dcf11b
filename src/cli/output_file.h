#pragma once

#include <string>
#include <vector>

namespace cli {

// A file that a command will write. Says before any work is done when that must not or cannot happen:
// Failure(kUsage) when it is one of the files that are read or written, or that these refer to, Failure(kFailed) when
// it exists and may not be overwritten or is no regular file, or when its folder is not there or does not take files.
class OutputFile {
 public:
  OutputFile(std::string flag, std::string path) : flag_(std::move(flag)), path_(std::move(path)) {}

  bool wanted() const { return !path_.empty(); }
  const std::string& path() const { return path_; }
  void check(bool overwrite, const std::vector<std::string>& other_files) const;
  // Replaces the file at once or leaves everything as it was.
  void write(const std::string& text) const;

 private:
  std::string flag_, path_;
};

}  // namespace cli
