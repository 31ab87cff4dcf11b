#pragma once

#include <string>
#include <string_view>

#include "base/file.h"

namespace tenon {

// Where a file is written to: from front to back, then once more at its start.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual Status append(std::string_view bytes) = 0;
  // Replaces bytes that were appended before.
  virtual Status overwrite_start(std::string_view bytes) = 0;
};

class StringSink final : public ByteSink {
 public:
  Status append(std::string_view bytes) override;
  Status overwrite_start(std::string_view bytes) override;
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

// A new file. It stays incomplete until finish().
class FileSink final : public ByteSink {
 public:
  // Fails when there is a file of that name.
  static Result<FileSink> create(const std::string& path);
  Status append(std::string_view bytes) override;
  Status overwrite_start(std::string_view bytes) override;
  // Makes the contents durable; the entry in the folder is the business of whoever renames the file.
  Status finish();

 private:
  FileSink(FileHandle file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}
  Status write_at(int64_t offset, std::string_view bytes);

  FileHandle file_;
  std::string path_;
  int64_t size_ = 0;
};

}  // namespace tenon
