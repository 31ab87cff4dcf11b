#include "cli/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "cli/failure.h"
#include "cli/input_files.h"
#include "tenon/tenon.hpp"

namespace cli {

void OutputFile::check(bool overwrite, const std::vector<std::string>& other_files) const {
  if (!wanted()) return;
  if (!tenon::replaced_input(path_, other_files).empty())
    throw Failure(kUsage, fmt::format("{}: '{}' is already used by another argument", flag_, path_));
  const std::string folder = std::filesystem::path(path_).parent_path().string();
  if (const std::string problem = folder_problem(folder); !problem.empty())
    throw Failure(kFailed, fmt::format("{}: {}", path_, problem));
  try {
    tenon::check_replaceable(path_);
  } catch (const tenon::Error& error) {
    throw Failure(kFailed, error.what());
  }
  std::error_code ignored;
  if (!overwrite && std::filesystem::exists(path_, ignored))
    throw Failure(kFailed, fmt::format("{}: the file already exists; add --overwrite to replace it", path_));
  // Writing replaces the file by a new one, so it is the folder that must let one be made.
  std::string probe = (folder.empty() ? "." : folder) + "/.tenon-XXXXXX";
  const int file = ::mkostemp(probe.data(), O_CLOEXEC);
  if (file < 0) throw Failure(kFailed, fmt::format("{}: cannot write: {}", path_, std::strerror(errno)));
  ::close(file);
  ::unlink(probe.c_str());
}

void OutputFile::write(const std::string& text) const {
  try {
    tenon::write_file(path_, text);
  } catch (const tenon::Error& error) {
    throw Failure(kFailed, error.what());
  }
}

}  // namespace cli
