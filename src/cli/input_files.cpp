#include "cli/input_files.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

namespace cli {

namespace fs = std::filesystem;

namespace {

// A relative path of what does not exist stays relative in weakly_canonical, so it is made absolute first.
fs::path full_name(const std::string& path) {
  std::error_code problem;
  fs::path absolute = fs::absolute(path, problem);
  if (problem) return path;
  fs::path resolved = fs::weakly_canonical(absolute, problem);
  return (problem ? absolute : resolved).lexically_normal();
}

}  // namespace

bool same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return fs::equivalent(a, b, ignored) || full_name(a) == full_name(b);
}

std::string folder_problem(const std::string& folder) {
  if (folder.empty()) return "";
  std::error_code problem;
  const fs::file_status status = fs::status(folder, problem);
  if (status.type() == fs::file_type::directory) return "";
  if (status.type() == fs::file_type::not_found) return fmt::format("the folder '{}' does not exist", folder);
  if (problem) return fmt::format("cannot access the folder '{}': {}", folder, problem.message());
  return fmt::format("'{}' is a file, not a folder", folder);
}

}  // namespace cli
