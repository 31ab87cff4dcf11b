#include "base/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace tenon {

// "a/b/" and "a/b/." are other spellings of "a/b".
std::string plain_folder(std::string path) {
  while (path.size() > 1 && (path.ends_with('/') || path.ends_with("/."))) path.pop_back();
  return path.empty() ? "." : path;
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string file_name_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

bool is_folder(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool exists(const std::string& path) {
  struct stat info;
  return ::lstat(path.c_str(), &info) == 0;
}

Status make_folders(const std::string& path) {
  if (is_folder(path)) return {};
  if (const std::string above = folder_of(path); above != path) TN_RETURN_IF_ERROR(make_folders(above));
  if (::mkdir(path.c_str(), 0777) != 0 && errno != EEXIST) return io_error("cannot make the folder", path, errno);
  // What is published in it must not vanish with its name.
  return is_folder(path) ? sync_folder(folder_of(path)) : io_error("cannot make the folder", path, ENOTDIR);
}

Result<std::vector<std::string>> list_folder(const std::string& path, bool folders) {
  DIR* opened = ::opendir(path.c_str());
  if (!opened) return io_error("cannot read the folder", path, errno);
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(opened)) {
    const std::string name = entry->d_name;
    struct stat info;
    if (name == "." || name == ".." || ::stat((path + "/" + name).c_str(), &info) != 0) continue;
    if (folders ? S_ISDIR(info.st_mode) : S_ISREG(info.st_mode)) names.push_back(name);
  }
  ::closedir(opened);
  std::ranges::sort(names);
  return names;
}

Status sync_folder(const std::string& path) {
  const FileHandle folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open() || ::fsync(folder.get()) != 0) return io_error("cannot sync the folder", path, errno);
  return {};
}

Status rename_file(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) return io_error("cannot write", to, errno);
  return {};
}

Status remove_file(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return io_error("cannot remove", path, errno);
  return {};
}

void remove_flat_folder(const std::string& path) {
  DIR* opened = ::opendir(path.c_str());
  if (!opened) return;
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(opened)) names.emplace_back(entry->d_name);
  ::closedir(opened);
  for (const std::string& name : names)
    if (name != "." && name != "..") ::unlink((path + "/" + name).c_str());
  ::rmdir(path.c_str());
}

Result<FileLock> FileLock::wait(const std::string& path) {
  FileHandle file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return io_error("cannot open", path, errno);
  while (::flock(file.get(), LOCK_EX) != 0)
    if (errno != EINTR) return io_error("cannot lock", path, errno);
  return FileLock(std::move(file));
}

Result<FileLock> FileLock::make(const std::string& path) {
  FileHandle file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file.is_open()) return io_error("cannot make", path, errno);
  if (::flock(file.get(), LOCK_EX) != 0) return io_error("cannot lock", path, errno);
  return FileLock(std::move(file));
}

bool FileLock::is_free(const std::string& path) {
  const FileHandle file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  // Without a lock file the maker was stopped before it could lock, or after it was done.
  if (!file.is_open()) return errno == ENOENT;
  return ::flock(file.get(), LOCK_EX | LOCK_NB) == 0;
}

}  // namespace tenon
