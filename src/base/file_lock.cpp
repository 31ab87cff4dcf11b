#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "base/folder.h"
#include "base/messages.h"
#include "base/waiting.h"
#include "base/write_count.h"

namespace tenon {

namespace {

// How long a lock may be held before people are told; publishing holds one for milliseconds.
constexpr auto kPatience = std::chrono::seconds(1);
// Between two tries: before people are told, and after that.
constexpr auto kShortPause = std::chrono::milliseconds(5), kLongPause = std::chrono::milliseconds(20);

// The process that holds a lock on an opened file, where the system tells; else 0.
int holder_of(const FileHandle& file) {
  struct stat info;
  FILE* locks = ::fopen("/proc/locks", "re");
  if (!locks || ::fstat(file.get(), &info) != 0) {
    if (locks) ::fclose(locks);
    return 0;
  }
  int found = 0, pid = 0;
  unsigned major_number = 0, minor_number = 0;
  unsigned long long inode = 0;
  char line[256];
  // "1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF"; lines of those who wait have "->" after the number.
  while (found == 0 && ::fgets(line, sizeof line, locks))
    if (::sscanf(line, "%*d: FLOCK %*s %*s %d %x:%x:%llu", &pid, &major_number, &minor_number, &inode) == 4 &&
        inode == info.st_ino && major_number == major(info.st_dev) && minor_number == minor(info.st_dev))
      found = pid;
  ::fclose(locks);
  return found;
}

bool try_lock(const FileHandle& file) { return ::flock(file.get(), LOCK_EX | LOCK_NB) == 0; }

void tell_who_has(const FileHandle& file, const std::string& path) {
  const int pid = holder_of(file);
  tell(fmt::format("waiting for the folder '{}', which is locked by {}", path,
                   pid > 0 ? fmt::format("process {}", pid) : "another process"));
}

// Looks again and again rather than leave the waiting to the system, so that the wait can be ended.
Status wait_for_lock(const FileHandle& file, const std::string& path) {
  const auto start = std::chrono::steady_clock::now();
  bool is_told = false;
  while (!try_lock(file)) {
    if (errno != EWOULDBLOCK && errno != EINTR) return io_error("cannot lock", path, errno);
    if (must_stop_waiting()) return error(Code::Cancelled, "the wait for the folder '{}' was cancelled", path);
    if (!is_told && std::chrono::steady_clock::now() - start >= kPatience) {
      tell_who_has(file, path);
      is_told = true;
    }
    std::this_thread::sleep_for(is_told ? kLongPause : kShortPause);
  }
  return {};
}

}  // namespace

Result<FileLock> FileLock::wait(const std::string& folder) {
  TN_ASSIGN_OR_RETURN(FileHandle file, open_folder(folder));
  TN_RETURN_IF_ERROR(wait_for_lock(file, folder));
  return FileLock(std::move(file));
}

Result<FileLock> FileLock::make(const FileHandle& folder, const std::string& name, std::string_view content) {
  FileHandle file(::openat(folder.get(), name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!file.is_open()) return io_error("cannot create", name, errno);
  if (::flock(file.get(), LOCK_EX) != 0) return io_error("cannot lock", name, errno);
  const ssize_t written = ::write(file.get(), content.data(), content.size());
  if (written != static_cast<ssize_t>(content.size())) return io_error("cannot write", name, written < 0 ? errno : EIO);
  count_written(content.size());
  if (::fsync(file.get()) != 0) return io_error("cannot sync", name, errno);
  return FileLock(std::move(file));
}

std::optional<FileLock> FileLock::take(const FileHandle& folder, const std::string& name, std::string_view content) {
  // Without O_NONBLOCK, opening a pipe would wait for a writer.
  FileHandle file(::openat(folder.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file.is_open()) return std::nullopt;
  struct stat info;
  if (::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_size != static_cast<off_t>(content.size()))
    return std::nullopt;
  const auto read = read_region(file, 0, static_cast<int64_t>(content.size()), name);
  if (!read.ok() || std::string_view(reinterpret_cast<const char*>((*read)->data()), content.size()) != content)
    return std::nullopt;
  if (!try_lock(file)) return std::nullopt;
  return FileLock(std::move(file));
}

}  // namespace tenon
