#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "base/file.h"
#include "base/file_kind.h"
#include "base/temporaries.h"
#include "base/write_count.h"

namespace tenon {

namespace {

std::atomic<uint64_t> written_so_far{0};

Status write_piece(const FileHandle& file, std::string_view piece, const std::string& name) {
  while (!piece.empty()) {
    const ssize_t written = ::write(file.get(), piece.data(), std::min<size_t>(piece.size(), size_t{1} << 30));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return io_error("cannot write", name, errno);
    if (written == 0) return error(Code::Io, "cannot write '{}': the system accepts no more bytes", name);
    count_written(static_cast<uint64_t>(written));
    piece.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

// Fills a new file and gives it its name.
template <class Fill>
Status fill_and_rename(const FileHandle& folder, const std::string& final_name, const std::string& path,
                       const Fill& fill) {
  FileHandle file;
  auto made = TemporaryName::make_file(folder, file);
  if (!made.ok()) return std::move(made).status().in(path);
  const std::string& temporary = (*made)->name();
  const auto publish = [&]() -> Status {
    TN_RETURN_IF_ERROR(fill(file));
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

template <class Fill>
Status make_file_atomically(const std::string& path, const Fill& fill) {
  const size_t slash = path.rfind('/');
  const std::string folder_path = slash == std::string::npos ? "." : path.substr(0, std::max<size_t>(slash, 1));
  const std::string final_name = slash == std::string::npos ? path : path.substr(slash + 1);
  if (final_name.empty() || path.find('\0') != std::string::npos)
    return invalid_argument("'{}' is not a file name", path);
  FileHandle folder(::open(folder_path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open()) return io_error("cannot open the folder", folder_path, errno);
  // Before anything is written.
  TN_RETURN_IF_ERROR(check_replaceable(folder.get(), final_name, path));
  TN_RETURN_IF_ERROR(fill_and_rename(folder, final_name, path, fill));
  if (::fsync(folder.get()) != 0) return io_error("cannot sync the folder", folder_path, errno);
  return {};
}

Status copy_bytes(const FileHandle& from, const FileHandle& to, int64_t size, const std::string& path) {
  constexpr int64_t kBlock = int64_t{1} << 20;
  for (int64_t at = 0; at < size;) {
    const int64_t length = std::min(size - at, kBlock);
    TN_ASSIGN_OR_RETURN(const auto block, read_region(from, at, length, path));
    TN_RETURN_IF_ERROR(
        write_piece(to, {reinterpret_cast<const char*>(block->data()), static_cast<size_t>(length)}, path));
    at += length;
  }
  return {};
}

}  // namespace

uint64_t written_bytes() { return written_so_far.load(std::memory_order_relaxed); }
void count_written(uint64_t bytes) { written_so_far.fetch_add(bytes, std::memory_order_relaxed); }

Status write_file_atomically(const std::string& path, std::span<const std::string_view> pieces) {
  return make_file_atomically(path, [&](const FileHandle& file) -> Status {
    for (std::string_view piece : pieces) TN_RETURN_IF_ERROR(write_piece(file, piece, path));
    return {};
  });
}

Result<Copied> copy_file_atomically(const std::string& from, const std::string& to) {
  TN_ASSIGN_OR_RETURN(const FileHandle source, open_for_reading(from));
  TN_ASSIGN_OR_RETURN(const int64_t size, regular_file_size(source, from));
  Copied copied = Copied::Reflink;
  TN_RETURN_IF_ERROR(make_file_atomically(to, [&](const FileHandle& file) -> Status {
    if (::ioctl(file.get(), FICLONE, source.get()) == 0) return {};
    copied = Copied::Bytes;
    return copy_bytes(source, file, size, to);
  }));
  return copied;
}

}  // namespace tenon
