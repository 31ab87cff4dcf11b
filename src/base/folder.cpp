#include "base/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/file_kind.h"

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

bool is_there(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0;
}

Status make_folders(const std::string& path, std::vector<std::string>& made) {
  if (is_folder(path)) return {};
  if (const std::string above = folder_of(path); above != path) TN_RETURN_IF_ERROR(make_folders(above, made));
  if (::mkdir(path.c_str(), 0777) == 0)
    made.push_back(path);
  else if (errno != EEXIST)
    return io_error("cannot create the folder", path, errno);
  // What is published in it must not vanish with its name.
  return is_folder(path) ? sync_folder(folder_of(path)) : io_error("cannot create the folder", path, ENOTDIR);
}

Result<std::vector<std::string>> list_folder(const FileHandle& folder, const std::string& name_for_messages) {
  // A position of its own, and a handle that closing the list may close.
  const int own = ::openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* opened = own < 0 ? nullptr : ::fdopendir(own);
  if (!opened) {
    const int problem = errno;
    if (own >= 0) ::close(own);
    return io_error("cannot read the folder", name_for_messages, problem);
  }
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(opened))
    if (const std::string_view name = entry->d_name; name != "." && name != "..") names.emplace_back(name);
  ::closedir(opened);
  std::ranges::sort(names);
  return names;
}

Result<std::vector<std::string>> list_folder(const std::string& path, bool folders) {
  TN_ASSIGN_OR_RETURN(const FileHandle folder, open_folder(path));
  TN_ASSIGN_OR_RETURN(auto names, list_folder(folder, path));
  std::erase_if(names, [&](const std::string& name) {
    struct stat info;
    if (::fstatat(folder.get(), name.c_str(), &info, 0) != 0) return true;
    return folders ? !S_ISDIR(info.st_mode) : !S_ISREG(info.st_mode);
  });
  return names;
}

Status sync_folder(const std::string& path) {
  const FileHandle folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open() || ::fsync(folder.get()) != 0) return io_error("cannot sync the folder", path, errno);
  return {};
}

Status rename_file(const std::string& from, const std::string& to) {
  TN_RETURN_IF_ERROR(check_replaceable(to));
  if (::rename(from.c_str(), to.c_str()) != 0) return io_error("cannot write", to, errno);
  return {};
}

Status remove_file(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return io_error("cannot remove", path, errno);
  return {};
}

Result<FileHandle> open_folder(const std::string& path) {
  FileHandle folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open()) return io_error("cannot open the folder", path, errno);
  return folder;
}

Result<FileHandle> open_folder_in(int parent, const std::string& name) {
  FileHandle folder(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder.is_open()) return io_error("cannot open the folder", name, errno);
  return folder;
}

bool remove_flat_folder(int parent, const std::string& name, std::string_view last) {
  {
    const auto folder = open_folder_in(parent, name);
    struct stat info;
    if (!folder.ok()) return ::fstatat(parent, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT;
    const auto names = list_folder(*folder, name);
    if (!names.ok()) return false;
    bool all_gone = true;
    for (const std::string& file : *names)
      if (file != last) all_gone = ::unlinkat(folder->get(), file.c_str(), 0) == 0 && all_gone;
    if (!all_gone) return false;
    if (!last.empty()) ::unlinkat(folder->get(), std::string(last).c_str(), 0);
  }
  return ::unlinkat(parent, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT;
}

}  // namespace tenon
