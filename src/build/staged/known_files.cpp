#include "build/staged/known_files.h"

#include <sys/stat.h>

namespace tenon::build {

namespace {

constexpr int64_t kSecond = 1'000'000'000;

int64_t nanoseconds(const timespec& time) { return static_cast<int64_t>(time.tv_sec) * kSecond + time.tv_nsec; }

}  // namespace

Json identity_of_file(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return nullptr;
  return {{"device", static_cast<int64_t>(info.st_dev)},
          {"inode", static_cast<int64_t>(info.st_ino)},
          {"bytes", static_cast<int64_t>(info.st_size)},
          {"modified_ns", nanoseconds(info.st_mtim)},
          {"changed_ns", nanoseconds(info.st_ctim)}};
}

KnownFiles::KnownFiles(const Json& manifest, int64_t manifest_modified_ns, bool rehash)
    : modified_ns_(manifest_modified_ns) {
  if (rehash) return;
  for (const Json& model : list_in(manifest, "models")) files_[text_in(model, "model")] = list_in(model, "files");
}

FileRecord KnownFiles::recall(const Json& known) const {
  const std::string path = text_in(known, "path");
  const Json identity = identity_of_file(path);
  if (identity.is_null() || member(known, "identity") != identity || text_in(known, "hash").empty() ||
      modified_ns_ - integer_in(identity, "modified_ns") <= 2 * kSecond)
    return {};
  FileRecord record{path, integer_in(identity, "bytes"), text_in(known, "hash"), text_in(known, "parts"), identity};
  record.was_known = true;
  return record;
}

FileRecord KnownFiles::recall(const std::string& model, const std::string& path) const {
  if (const auto files = files_.find(model); files != files_.end())
    for (const Json& file : files->second)
      if (text_in(file, "path") == path) return recall(file);
  return {};
}

std::vector<FileRecord> KnownFiles::recall_all(const std::string& model) const {
  std::vector<FileRecord> records;
  if (const auto files = files_.find(model); files != files_.end())
    for (const Json& file : files->second) {
      records.push_back(recall(file));
      if (!records.back().was_known) return {};
    }
  return records;
}

}  // namespace tenon::build
