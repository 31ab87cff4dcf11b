#include "build/staged/known_files.h"

#include <sys/stat.h>

#include "base/file.h"
#include "base/hash.h"

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
  for (const Json& model : list_in(manifest, "models"))
    for (const Json& file : list_in(model, "files")) files_[text_in(file, "path")] = file;
}

FileRecord KnownFiles::recall(const std::string& path) const {
  const Json& known = member(files_, path);
  const Json identity = identity_of_file(path);
  if (identity.is_null() || member(known, "identity") != identity || text_in(known, "hash").empty() ||
      modified_ns_ - integer_in(identity, "modified_ns") <= 2 * kSecond)
    return {};
  return {path, integer_in(identity, "bytes"), text_in(known, "hash"), identity, true, false};
}

FileRecord KnownFiles::read(const std::string& path) {
  if (FileRecord record = recall(path); !record.hash.empty()) return record;
  if (const auto known = read_.find(path); known != read_.end()) {
    FileRecord record = known->second;
    record.is_repeat = true;
    return record;
  }
  FileRecord record{path, 0, "", identity_of_file(path), false, false};
  const auto file = MappedFile::open(path);
  if (!file.ok()) {
    record.is_missing = true;
    return record;
  }
  record.bytes = (*file)->size();
  record.hash = hash_bytes((*file)->view()).hex();
  // Somebody may have written to it meanwhile.
  if (identity_of_file(path) != record.identity) record.identity = nullptr;
  read_.emplace(path, record);
  return record;
}

}  // namespace tenon::build
