#include "build/input_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "wire/onnx_tensors.h"

namespace tenon::build {

namespace fs = std::filesystem;

namespace {

// A relative path of what does not exist stays relative in weakly_canonical, so it is made absolute first.
fs::path full_name(const std::string& path) {
  std::error_code problem;
  fs::path absolute = fs::absolute(path, problem);
  if (problem) return path;
  fs::path resolved = fs::weakly_canonical(absolute, problem);
  return (problem ? absolute : resolved).lexically_normal();
}

constexpr size_t kLargeFile = size_t{1} << 20;

// A file as it is, without a copy: models can be large. Empty when it cannot be read.
class FileView {
 public:
  explicit FileView(const std::string& path) {
    // Without O_NONBLOCK, opening a pipe would wait for a writer.
    const int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat info{};
    if (file >= 0 && ::fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
      size_ = static_cast<size_t>(info.st_size);
      data_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
      // Between the messages of a large file lie weights, which the system must not read in advance.
      if (data_ != MAP_FAILED && size_ >= kLargeFile) ::madvise(data_, size_, MADV_RANDOM);
    }
    if (file >= 0) ::close(file);
  }
  FileView(const FileView&) = delete;
  FileView& operator=(const FileView&) = delete;
  ~FileView() {
    if (data_ != MAP_FAILED) ::munmap(data_, size_);
  }
  std::string_view bytes() const {
    return data_ == MAP_FAILED ? std::string_view() : std::string_view(static_cast<const char*>(data_), size_);
  }

 private:
  void* data_ = MAP_FAILED;
  size_t size_ = 0;
};

// A length as protocol buffers write it; what is left of `bytes` follows it.
size_t take_length(std::string_view& bytes) {
  size_t length = 0;
  for (int shift = 0; !bytes.empty() && shift < 35; shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    length |= static_cast<size_t>(byte & 0x7f) << shift;
    if (!(byte & 0x80)) return length;
  }
  return 0;
}

// The entries {"location": name} of external tensors, found by their bytes: what a broken model refers to must stay
// too.
void add_named_files(std::string_view content, std::vector<std::string>& names) {
  constexpr std::string_view kEntry = "\x0a\x08location\x12";
  for (size_t at = 0; (at = content.find(kEntry, at)) != std::string_view::npos;) {
    at += kEntry.size();
    std::string_view rest = content.substr(at);
    const size_t length = take_length(rest);
    if (length <= rest.size()) names.emplace_back(rest.substr(0, length));
  }
}

bool is_there(const std::string& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

}  // namespace

bool same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return fs::equivalent(a, b, ignored) || full_name(a) == full_name(b);
}

std::vector<std::string> external_files(const std::string& model) {
  const FileView file(model);
  std::vector<std::string> names;
  const auto parsed = wire::parse_model(file.bytes());
  if (parsed.ok()) {
    wire::for_each_tensor(*parsed, [&](const wire::TensorProto& tensor) {
      for (const wire::StringEntry& entry : tensor.external_data)
        if (entry.key == "location") names.emplace_back(entry.value);
    });
    for (const wire::Bytes part : parsed->training_info) add_named_files(part, names);
  } else {
    add_named_files(file.bytes(), names);
  }
  std::vector<std::string> files;
  for (const std::string& name : names) {
    const std::string path = (fs::path(model).parent_path() / name).string();
    if (!name.empty() && std::ranges::find(files, path) == files.end()) files.push_back(path);
  }
  return files;
}

std::string replaced_input(const std::string& output, const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs)
    if (same_file(output, input)) return input;
  // Models can be large, and a new name replaces nothing.
  if (!is_there(output)) return "";
  for (const std::string& input : inputs)
    for (const std::string& file : external_files(input))
      if (same_file(output, file)) return file;
  return "";
}

std::string folder_problem(const std::string& folder) {
  if (folder.empty()) return "";
  std::error_code problem;
  const fs::file_status status = fs::status(folder, problem);
  if (status.type() == fs::file_type::directory) return "";
  if (status.type() == fs::file_type::not_found) return fmt::format("the folder '{}' does not exist", folder);
  if (problem) return fmt::format("cannot access the folder '{}': {}", folder, problem.message());
  return fmt::format("'{}' is a file, not a folder", folder);
}

}  // namespace tenon::build
