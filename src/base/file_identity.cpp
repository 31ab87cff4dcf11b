#include "base/file_identity.h"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <chrono>
#include <iterator>

namespace tenon {

namespace {

constexpr int64_t kSecond = 1'000'000'000;
// How coarse times may be: FAT counts in steps of two seconds, and servers have clocks of their own. File systems of
// this kernel count in its ticks, of at most ten milliseconds.
constexpr int64_t kCoarse = 2 * kSecond, kFine = kSecond / 10;
constexpr int64_t kXfsMagic = 0x58465342;
constexpr int64_t kFineFileSystems[] = {EXT4_SUPER_MAGIC, BTRFS_SUPER_MAGIC,     F2FS_SUPER_MAGIC,
                                        TMPFS_MAGIC,      OVERLAYFS_SUPER_MAGIC, kXfsMagic};

int64_t nanoseconds(const timespec& time) { return static_cast<int64_t>(time.tv_sec) * kSecond + time.tv_nsec; }

std::optional<FileIdentity> settled_identity(const struct stat& info, const struct statfs& system) {
  if (!S_ISREG(info.st_mode)) return std::nullopt;
  const FileIdentity identity{info.st_dev, info.st_ino, info.st_size, nanoseconds(info.st_mtim),
                              nanoseconds(info.st_ctim)};
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const int64_t age = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count() - identity.modified_ns;
  const bool is_fine =
      std::ranges::find(kFineFileSystems, static_cast<int64_t>(system.f_type)) != std::end(kFineFileSystems);
  return age > (is_fine ? kFine : kCoarse) ? std::optional(identity) : std::nullopt;
}

}  // namespace

std::optional<FileIdentity> identity_of(const FileHandle& file) {
  struct stat info{};
  struct statfs system{};
  if (::fstat(file.get(), &info) != 0 || ::fstatfs(file.get(), &system) != 0) return std::nullopt;
  return settled_identity(info, system);
}

std::optional<FileIdentity> identity_of(const std::string& path) {
  struct stat info{};
  struct statfs system{};
  if (::stat(path.c_str(), &info) != 0 || ::statfs(path.c_str(), &system) != 0) return std::nullopt;
  return settled_identity(info, system);
}

}  // namespace tenon
