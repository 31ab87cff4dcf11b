#include "cli/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "cli/failure.h"
#include "cli/input_files.h"

namespace cli {

namespace {

[[noreturn]] void cannot_write(const std::string& path) {
  throw Failure(kFailed, fmt::format("{}: cannot write: {}", path, std::strerror(errno)));
}

}  // namespace

void OutputFile::check(bool overwrite, const std::vector<std::string>& other_files) const {
  if (!wanted()) return;
  if (!replaced_input(path_, other_files).empty())
    throw Failure(kUsage, fmt::format("{}: '{}' is already used by another argument", flag_, path_));
  const std::string folder = std::filesystem::path(path_).parent_path().string();
  if (const std::string problem = folder_problem(folder); !problem.empty())
    throw Failure(kFailed, fmt::format("{}: {}", path_, problem));
  struct stat info{};
  if (::lstat(path_.c_str(), &info) != 0) {
    if (errno != ENOENT) cannot_write(path_);
    return check_writable();
  }
  if (S_ISDIR(info.st_mode)) throw Failure(kFailed, fmt::format("{}: is a folder", path_));
  if (!S_ISREG(info.st_mode)) throw Failure(kFailed, fmt::format("{}: is not a regular file", path_));
  if (!overwrite) throw Failure(kFailed, fmt::format("{}: the file exists; add --overwrite to replace it", path_));
  check_writable();
}

// Writing replaces the file by a new one, so it is the folder that must let one be made.
void OutputFile::check_writable() const {
  std::string temporary = path_ + ".XXXXXX";
  const int file = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (file < 0) cannot_write(path_);
  ::close(file);
  ::unlink(temporary.c_str());
}

void OutputFile::write(const std::string& text) const {
  std::string temporary = path_ + ".XXXXXX";
  const int file = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (file < 0) cannot_write(path_);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  bool good = ::fchmod(file, 0666 & ~mask) == 0;
  for (size_t done = 0; good && done < text.size();) {
    const ssize_t written = ::write(file, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    good = written >= 0;
    done += good ? static_cast<size_t>(written) : 0;
  }
  good = good && ::fsync(file) == 0;
  const int problem = errno;
  ::close(file);
  if (!good || ::rename(temporary.c_str(), path_.c_str()) != 0) {
    const int reason = good ? errno : problem;
    ::unlink(temporary.c_str());
    errno = reason;
    cannot_write(path_);
  }
}

}  // namespace cli
