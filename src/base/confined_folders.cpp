#include "base/confined_folders.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/file_kind.h"
#include "base/folder.h"

namespace tenon {

namespace {

constexpr int kMaxLinks = 40;
constexpr int kFolderFlags = O_PATH | O_DIRECTORY | O_CLOEXEC;

// Adds the parts of a path in reverse: the back is what comes next.
void push_parts(std::string_view path, std::vector<std::string>& pending) {
  const size_t before = pending.size();
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part = path.substr(begin, end - begin);
    if (!part.empty() && part != ".") pending.emplace_back(part);
    begin = end + 1;
  }
  std::reverse(pending.begin() + static_cast<ptrdiff_t>(before), pending.end());
}

bool same_file(const FileHandle& a, const FileHandle& b) {
  struct stat first, second;
  return ::fstat(a.get(), &first) == 0 && ::fstat(b.get(), &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

Status check_name(std::string_view name) {
  if (name.empty()) return invalid_model("the file name is empty");
  if (name.find('\0') != name.npos) return invalid_model("the file name contains a zero byte");
  if (name.front() == '/')
    return invalid_model("the file name '{}' is absolute; it must be relative to the model's folder", name);
  int64_t depth = 0;
  std::vector<std::string> parts;
  push_parts(name, parts);
  for (auto part = parts.rbegin(); part != parts.rend(); ++part)
    if ((depth += *part == ".." ? -1 : 1) < 0)
      return invalid_model("the file name '{}' leads outside the model's folder", name);
  return {};
}

// The way from a start folder to where a walk is. Each folder is opened from the one before without following links,
// so what is below a folder here really is below it.
class Chain {
 public:
  Status start_at(const FileHandle& folder) { return reset(::openat(folder.get(), ".", kFolderFlags)); }
  Status start_at_root() { return reset(::open("/", kFolderFlags)); }
  Status climb() {
    if (folders_.size() > 1) {
      folders_.pop_back();
      return {};
    }
    return reset(::openat(folders_.front().get(), "..", kFolderFlags));
  }
  void descend(FileHandle folder) { folders_.push_back(std::move(folder)); }
  const std::vector<FileHandle>& folders() const { return folders_; }
  FileHandle& here() { return folders_.back(); }

 private:
  Status reset(int descriptor) {
    if (descriptor < 0) return io_error("cannot open", "folder", errno);
    folders_.clear();
    folders_.emplace_back(descriptor);
    return {};
  }
  std::vector<FileHandle> folders_;
};

Result<std::string> link_target(const FileHandle& link, const std::string& name) {
  std::string target(PATH_MAX, '\0');
  const ssize_t length = ::readlinkat(link.get(), "", target.data(), target.size());
  if (length < 0) return io_error("cannot read the link", name, errno);
  target.resize(static_cast<size_t>(length));
  return target;
}

}  // namespace

bool ConfinedFolders::is_root(const FileHandle& folder) const {
  return std::any_of(roots_.begin(), roots_.end(), [&](const FileHandle& root) { return same_file(root, folder); });
}

Result<ConfinedFolders::Found> ConfinedFolders::walk(const FileHandle& start, std::string_view name,
                                                     bool confined) const {
  const std::string text(name);
  Chain chain;
  TN_RETURN_IF_ERROR(chain.start_at(start));
  std::vector<std::string> pending;
  push_parts(name, pending);
  for (int links = 0; !pending.empty();) {
    const std::string part = std::move(pending.back());
    pending.pop_back();
    if (part == "..") {
      TN_RETURN_IF_ERROR(chain.climb());
      continue;
    }
    // A handle that only names the entry: opening it touches neither pipes nor devices.
    FileHandle entry(::openat(chain.here().get(), part.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat info;
    if (!entry.is_open() || ::fstat(entry.get(), &info) != 0) return io_error("cannot open", text, errno);
    if (S_ISLNK(info.st_mode)) {
      if (++links > kMaxLinks) return error(Code::Io, "'{}' passes through more than {} links", text, kMaxLinks);
      TN_ASSIGN_OR_RETURN(const std::string target, link_target(entry, text));
      if (target.starts_with('/')) TN_RETURN_IF_ERROR(chain.start_at_root());
      push_parts(target, pending);
    } else if (S_ISDIR(info.st_mode)) {
      chain.descend(std::move(entry));
    } else if (!pending.empty()) {
      return io_error("cannot open", text, ENOTDIR);
    } else {
      if (!S_ISREG(info.st_mode))
        return error(Code::Io, "'{}' is {}, not a regular file", text, file_kind(info.st_mode));
      if (confined && std::none_of(chain.folders().begin(), chain.folders().end(),
                                   [&](const FileHandle& folder) { return is_root(folder); }))
        return invalid_model("'{}' is a link to a file outside the model's folder", text);
      FileHandle file(
          ::openat(chain.here().get(), part.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
      if (!file.is_open()) return io_error("cannot open", text, errno);
      TN_RETURN_IF_ERROR(regular_file_size(file, text).status());
      return Found{std::move(file), std::move(chain.here())};
    }
  }
  return error(Code::Io, "'{}' is a folder, not a file", text);
}

Result<ConfinedFolders> ConfinedFolders::at(const std::string& folder) {
  ConfinedFolders folders;
  FileHandle root(::open(folder.c_str(), kFolderFlags));
  if (!root.is_open()) return io_error("cannot open the folder", folder, errno);
  folders.roots_.push_back(std::move(root));
  return folders;
}

Result<ConfinedFolders> ConfinedFolders::around(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, std::max<size_t>(slash, 1));
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  TN_ASSIGN_OR_RETURN(ConfinedFolders folders, at(folder));
  struct stat info;
  if (::fstatat(folders.roots_[0].get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0)
    return io_error("cannot open", path, errno);
  if (S_ISLNK(info.st_mode)) {
    TN_ASSIGN_OR_RETURN(Found found, folders.walk(folders.roots_[0], name, /*confined=*/false));
    if (!folders.is_root(found.folder)) folders.roots_.push_back(std::move(found.folder));
  }
  return folders;
}

Result<std::vector<std::string>> ConfinedFolders::names() const { return list_folder(roots_[0], "of the model"); }

Result<FileHandle> ConfinedFolders::open(std::string_view name) const {
  TN_RETURN_IF_ERROR(check_name(name));
  Status first;
  for (const FileHandle& root : roots_) {
    auto found = walk(root, name, /*confined=*/true);
    if (found.ok()) return std::move(found->file);
    if (first.ok()) first = std::move(found).status();
    if (first.code() != Code::NotFound) break;
  }
  return first;
}

}  // namespace tenon
