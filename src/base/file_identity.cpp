#include "base/file_identity.h"

#include <sys/stat.h>

#include <chrono>

namespace tenon {

namespace {

constexpr int64_t kSecond = 1'000'000'000;

int64_t nanoseconds(const timespec& time) { return static_cast<int64_t>(time.tv_sec) * kSecond + time.tv_nsec; }

std::optional<FileIdentity> settled_identity(const struct stat& info) {
  if (!S_ISREG(info.st_mode)) return std::nullopt;
  const FileIdentity identity{info.st_dev, info.st_ino, info.st_size, nanoseconds(info.st_mtim),
                              nanoseconds(info.st_ctim)};
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const int64_t age = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count() - identity.modified_ns;
  return age > 2 * kSecond ? std::optional(identity) : std::nullopt;
}

}  // namespace

std::optional<FileIdentity> identity_of(const FileHandle& file) {
  struct stat info{};
  return ::fstat(file.get(), &info) == 0 ? settled_identity(info) : std::nullopt;
}

std::optional<FileIdentity> identity_of(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 ? settled_identity(info) : std::nullopt;
}

}  // namespace tenon
