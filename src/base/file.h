#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/memory.h"
#include "base/status.h"

namespace tenon {

// A file descriptor that closes itself.
class FileHandle {
 public:
  FileHandle() = default;
  explicit FileHandle(int descriptor) : descriptor_(descriptor) {}
  FileHandle(FileHandle&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FileHandle& operator=(FileHandle&& other) noexcept;
  ~FileHandle();

  int get() const { return descriptor_; }
  bool is_open() const { return descriptor_ >= 0; }

 private:
  int descriptor_ = -1;
};

// Opens a regular file for reading; a folder, pipe or device is refused by its kind, and never waited for.
// Fails with NotFound when there is no such file, else Io.
Result<FileHandle> open_for_reading(const std::string& path);
// The size of an opened file, which must be a regular one. `name` is for the message.
Result<int64_t> regular_file_size(const FileHandle& file, const std::string& name);

// What a reader does next with a part of a mapping; a hint that changes speed only.
enum class Access { Normal, Sequential, Random, WillNeed, DontNeed };

// A file in memory, read-only, paged in as it is touched. At least 64 readable zero bytes follow the last byte, so
// kernels may read past the end as they may with a Buffer. Immutable and so thread-safe. The file must not be
// shortened while it is mapped: replace files by rename.
class MappedFile {
 public:
  static Result<std::shared_ptr<const MappedFile>> open(const std::string& path);
  // Maps an opened file; `name` is what messages call it.
  static Result<std::shared_ptr<const MappedFile>> map(const FileHandle& file, const std::string& name);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::byte* data() const { return data_; }
  int64_t size() const { return size_; }
  std::string_view view() const { return {reinterpret_cast<const char*>(data_), static_cast<size_t>(size_)}; }
  const std::string& name() const { return name_; }
  // Advises on [offset, offset + length), cut to the file.
  void advise(Access access, int64_t offset, int64_t length) const;

 private:
  MappedFile(std::byte* data, int64_t size, size_t mapped, std::string name)
      : data_(data), size_(size), mapped_(mapped), name_(std::move(name)) {}
  std::byte* data_;
  int64_t size_;
  size_t mapped_;
  std::string name_;
};

// A private copy of a file, for callers that do not trust it to stay as it is.
Result<std::shared_ptr<Buffer>> read_whole_file(const std::string& path);
// A private copy of [offset, offset + length), which must lie inside the file.
Result<std::shared_ptr<Buffer>> read_region(const FileHandle& file, int64_t offset, int64_t length,
                                            const std::string& name);

// Makes `path` a file of these pieces in order, or leaves it as it was: written under a temporary name in the same
// folder, synced, renamed, folder synced. An existing file of that name is replaced if it is a regular one; a link,
// pipe, device or folder is refused (base/file_kind.h).
Status write_file_atomically(const std::string& path, std::span<const std::string_view> pieces);

// How a copy came about: by sharing blocks with the original, where the file system can, or byte by byte.
enum class Copied { Reflink, Bytes };
// Makes `to` a copy of the regular file `from`, or leaves it as it was, like write_file_atomically.
Result<Copied> copy_file_atomically(const std::string& from, const std::string& to);

// "<what> '<name>': <text of errno>" as NotFound for a missing file, else Io.
Status io_error(const char* what, const std::string& name, int error_number);

}  // namespace tenon
