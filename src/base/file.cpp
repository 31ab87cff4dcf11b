#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "base/file_kind.h"

namespace tenon {

FileHandle& FileHandle::operator=(FileHandle&& other) noexcept {
  if (this != &other) {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = std::exchange(other.descriptor_, -1);
  }
  return *this;
}

FileHandle::~FileHandle() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Status io_error(const char* what, const std::string& name, int error_number) {
  const bool missing = error_number == ENOENT || error_number == ENOTDIR;
  return error(missing ? Code::NotFound : Code::Io, "{} '{}': {}", what, name,
               std::generic_category().message(error_number));
}

Result<FileHandle> open_for_reading(const std::string& path) {
  // Without O_NONBLOCK, opening a pipe would wait for a writer.
  FileHandle file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.is_open()) return io_error("cannot open", path, errno);
  TN_RETURN_IF_ERROR(regular_file_size(file, path).status());
  return file;
}

Result<int64_t> regular_file_size(const FileHandle& file, const std::string& name) {
  struct stat info;
  if (::fstat(file.get(), &info) != 0) return io_error("cannot examine", name, errno);
  if (S_ISDIR(info.st_mode)) return error(Code::Io, "'{}' is a folder, not a file", name);
  if (!S_ISREG(info.st_mode)) return error(Code::Io, "'{}' is {}, not a regular file", name, file_kind(info.st_mode));
  return static_cast<int64_t>(info.st_size);
}

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::string& path) {
  TN_ASSIGN_OR_RETURN(const FileHandle file, open_for_reading(path));
  return map(file, path);
}

Result<std::shared_ptr<const MappedFile>> MappedFile::map(const FileHandle& file, const std::string& name) {
  TN_ASSIGN_OR_RETURN(const int64_t size, regular_file_size(file, name));
  // Reserve the file's pages and one more of zeros, then lay the file over the start.
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const size_t file_pages = (static_cast<size_t>(size) + page - 1) / page * page;
  const size_t total = file_pages + page;
  void* memory = ::mmap(nullptr, total, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return io_error("cannot map", name, errno);
  if (size > 0 &&
      ::mmap(memory, static_cast<size_t>(size), PROT_READ, MAP_PRIVATE | MAP_FIXED, file.get(), 0) == MAP_FAILED) {
    const int problem = errno;
    ::munmap(memory, total);
    return io_error("cannot map", name, problem);
  }
  return std::shared_ptr<const MappedFile>(new MappedFile(static_cast<std::byte*>(memory), size, total, name));
}

MappedFile::~MappedFile() { ::munmap(data_, mapped_); }

void MappedFile::advise(Access access, int64_t offset, int64_t length) const {
  static constexpr int kAdvice[] = {MADV_NORMAL, MADV_SEQUENTIAL, MADV_RANDOM, MADV_WILLNEED, MADV_DONTNEED};
  const int64_t begin = std::clamp<int64_t>(offset, 0, size_);
  const int64_t end = begin + std::clamp<int64_t>(length, 0, size_ - begin);
  const auto page = static_cast<int64_t>(::sysconf(_SC_PAGESIZE));
  const int64_t first = begin / page * page;
  // A hint: when the kernel refuses it, nothing is lost.
  if (end > first) (void)::madvise(data_ + first, static_cast<size_t>(end - first), kAdvice[static_cast<int>(access)]);
}

Result<std::shared_ptr<Buffer>> read_region(const FileHandle& file, int64_t offset, int64_t length,
                                            const std::string& name) {
  TN_ASSIGN_OR_RETURN(const int64_t size, regular_file_size(file, name));
  if (offset < 0 || length < 0 || offset > size || length > size - offset)
    return error(Code::Io, "'{}' has {} bytes, so it has no {} bytes at offset {}", name, size, length, offset);
  TN_ASSIGN_OR_RETURN(auto buffer, Buffer::allocate(length, nullptr));
  for (int64_t done = 0; done < length;) {
    // One call moves at most 2 GiB.
    const auto wanted = static_cast<size_t>(std::min<int64_t>(length - done, int64_t{1} << 30));
    const ssize_t got = ::pread(file.get(), buffer->data() + done, wanted, offset + done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return io_error("cannot read", name, errno);
    if (got == 0) return error(Code::Io, "'{}' became shorter while it was being read", name);
    done += got;
  }
  return buffer;
}

Result<std::shared_ptr<Buffer>> read_whole_file(const std::string& path) {
  TN_ASSIGN_OR_RETURN(const FileHandle file, open_for_reading(path));
  TN_ASSIGN_OR_RETURN(const int64_t size, regular_file_size(file, path));
  return read_region(file, 0, size, path);
}

}  // namespace tenon
