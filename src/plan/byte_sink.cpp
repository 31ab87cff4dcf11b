#include "plan/byte_sink.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "base/write_count.h"

namespace tenon {

Status StringSink::append(std::string_view bytes) {
  text_ += bytes;
  return {};
}

Status StringSink::overwrite_start(std::string_view bytes) {
  text_.replace(0, bytes.size(), bytes);
  return {};
}

Result<FileSink> FileSink::create(const std::string& path) {
  FileHandle file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file.is_open()) return io_error("cannot create", path, errno);
  return FileSink(std::move(file), path);
}

Status FileSink::write_at(int64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    // One call moves at most 2 GiB.
    const size_t wanted = std::min(bytes.size(), size_t{1} << 30);
    const ssize_t written = ::pwrite(file_.get(), bytes.data(), wanted, offset);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return io_error("cannot write", path_, errno);
    if (written == 0) return error(Code::Io, "cannot write '{}': the system accepts no more bytes", path_);
    count_written(static_cast<uint64_t>(written));
    offset += written;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

Status FileSink::append(std::string_view bytes) {
  TN_RETURN_IF_ERROR(write_at(size_, bytes));
  size_ += static_cast<int64_t>(bytes.size());
  return {};
}

Status FileSink::overwrite_start(std::string_view bytes) { return write_at(0, bytes); }

Status FileSink::finish() {
  if (::fsync(file_.get()) != 0) return io_error("cannot sync", path_, errno);
  return {};
}

}  // namespace tenon
