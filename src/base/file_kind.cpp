#include "base/file_kind.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/file.h"

namespace tenon {

const char* file_kind(unsigned mode) {
  if (S_ISREG(mode)) return "a regular file";
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISLNK(mode)) return "a symbolic link";
  if (S_ISFIFO(mode)) return "a named pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

Status check_replaceable(int folder, const std::string& name, const std::string& path) {
  struct stat info;
  if (::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0)
    return errno == ENOENT ? Status() : io_error("cannot examine", path, errno);
  if (S_ISREG(info.st_mode)) return {};
  return invalid_argument("'{}' is {}, not a regular file, so it is not replaced; {}", path, file_kind(info.st_mode),
                          S_ISLNK(info.st_mode) ? "remove it, or name the file it points to" : "choose another name");
}

Status check_replaceable(const std::string& path) { return check_replaceable(AT_FDCWD, path, path); }

}  // namespace tenon
