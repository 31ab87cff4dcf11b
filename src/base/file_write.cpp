#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>

#include "base/file.h"
#include "base/file_kind.h"
#include "base/temporaries.h"

namespace tenon {

namespace {

Status write_piece(const FileHandle& file, std::string_view piece, const std::string& name) {
  while (!piece.empty()) {
    const ssize_t written = ::write(file.get(), piece.data(), std::min<size_t>(piece.size(), size_t{1} << 30));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return io_error("cannot write", name, errno);
    if (written == 0) return error(Code::Io, "cannot write '{}': the system accepts no more bytes", name);
    piece.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

Status write_and_rename(const FileHandle& folder, const std::string& final_name, const std::string& path,
                        std::span<const std::string_view> pieces) {
  FileHandle file;
  auto made = TemporaryName::make_file(folder, file);
  if (!made.ok()) return std::move(made).status().in(path);
  const std::string& temporary = (*made)->name();
  const auto publish = [&]() -> Status {
    for (std::string_view piece : pieces) TN_RETURN_IF_ERROR(write_piece(file, piece, path));
    if (::fsync(file.get()) != 0) return io_error("cannot sync", path, errno);
    TN_RETURN_IF_ERROR(check_replaceable(folder.get(), final_name, path));
    if (::renameat(folder.get(), temporary.c_str(), folder.get(), final_name.c_str()) != 0)
      return io_error("cannot rename to", path, errno);
    return {};
  };
  Status status = publish();
  if (!status.ok()) ::unlinkat(folder.get(), temporary.c_str(), 0);
  return status;
}

}  // namespace

Status write_file_atomically(const std::string& path, std::span<const std::string_view> pieces) {
  const size_t slash = path.rfind('/');
  const std::string folder_path = slash == std::string::npos ? "." : path.substr(0, std::max<size_t>(slash, 1));
  const std::string final_name = slash == std::string::npos ? path : path.substr(slash + 1);
  if (final_name.empty() || path.find('\0') != std::string::npos)
    return invalid_argument("'{}' is not a file name", path);
  FileHandle folder(::open(folder_path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open()) return io_error("cannot open the folder", folder_path, errno);
  // Before anything is written.
  TN_RETURN_IF_ERROR(check_replaceable(folder.get(), final_name, path));
  TN_RETURN_IF_ERROR(write_and_rename(folder, final_name, path, pieces));
  if (::fsync(folder.get()) != 0) return io_error("cannot sync the folder", folder_path, errno);
  return {};
}

}  // namespace tenon
