#include "build/staged/read_files.h"

#include <atomic>
#include <filesystem>

#include "base/hash.h"
#include "build/in_parallel.h"
#include "build/input_files.h"
#include "compiler/model_content.h"
#include "passes/fingerprint.h"

namespace tenon::build {

namespace {

namespace fs = std::filesystem;
using Region = ModelContent::Region;

std::string hash_of_places(const std::vector<Region>& parts) {
  StreamingHash hash;
  for (const Region& part : parts) hash.add(fmt::format("{} {};", part.offset, part.bytes));
  return hash.value().hex();
}

// A model that can be opened.
class FilesOfModel {
 public:
  FilesOfModel(const std::shared_ptr<ImportedModel>& opened, std::optional<FileIdentity> identity,
               const KnownFiles& known, int64_t jobs)
      : opened_(opened), content_(opened, identity), known_(known), jobs_(jobs) {
    parts_[""];
    for (Region& region : content_.regions()) parts_[region.file].push_back(std::move(region));
  }

  // The model's own first.
  std::vector<FileRecord> files(const Json& own_identity) {
    std::vector<FileRecord> records;
    for (const auto& [name, parts] : parts_) {
      FileRecord record;
      record.path = name.empty() ? opened_->path : (fs::path(opened_->path).parent_path() / name).string();
      record.parts = name.empty() ? "" : hash_of_places(parts);
      const FileRecord last = known_.recall(opened_->path, record.path);
      if (last.was_known && last.parts == record.parts) {
        records.push_back(last);
        continue;
      }
      // As it was before it was opened.
      record.identity = name.empty() ? own_identity : identity_of_file(record.path);
      record.bytes = integer_in(record.identity, "bytes");
      read(parts, record);
      // Somebody may have written to it meanwhile.
      if (identity_of_file(record.path) != record.identity) record.identity = nullptr;
      records.push_back(std::move(record));
    }
    return records;
  }

  std::string structure() const {
    const auto hash = fingerprint(opened_->wire, opened_->bytes, opened_->external.get());
    return hash.ok() ? hash->hex() : "";
  }

 private:
  void read(const std::vector<Region>& parts, FileRecord& record) const {
    const uint64_t before = ModelContent::bytes_read();
    std::vector<Hash128> hashes(parts.size());
    std::atomic<bool> is_whole{!record.identity.is_null()};
    for_each_parallel(parts.size(), jobs_, [&](size_t i) {
      const auto hash = content_.of(parts[i]);
      if (hash.ok())
        hashes[i] = *hash;
      else
        is_whole = false;
    });
    record.bytes_read = static_cast<int64_t>(ModelContent::bytes_read() - before);
    // Why, the import says.
    record.is_missing = !is_whole;
    if (record.is_missing) return;
    if (record.parts.empty()) {
      record.bytes_read += record.bytes;
      for (const Region& part : parts) record.bytes_read -= part.bytes;
      record.hash = content_.of_file().hex();
      return;
    }
    StreamingHash all;
    for (const Hash128& hash : hashes) all.add(hash.hex());
    record.hash = all.value().hex();
  }

  std::shared_ptr<ImportedModel> opened_;
  ModelContent content_;
  const KnownFiles& known_;
  int64_t jobs_;
  std::map<std::string, std::vector<Region>> parts_;  // by file
};

// What cannot be opened has no parts, and what it seems to refer to stays.
std::vector<FileRecord> files_of_unreadable(const std::string& path) {
  std::vector<FileRecord> records;
  std::vector<std::string> files = external_files(path);
  files.insert(files.begin(), path);
  for (const std::string& file : files) {
    FileRecord record;
    record.path = file;
    record.is_missing = true;
    records.push_back(std::move(record));
  }
  return records;
}

}  // namespace

void read_files(StagedModel& model, const KnownFiles& known, const Json& last, int64_t jobs) {
  model.files = known.recall_all(model.path);
  if (!model.files.empty()) {
    model.structure = text_in(last, "structure");
    return;
  }
  const Json own_identity = identity_of_file(model.path);
  const auto before = identity_of(model.path);
  const auto opened = open_file(model.path);
  if (!opened.ok()) {
    model.files = files_of_unreadable(model.path);
    return;
  }
  // A file that was replaced meanwhile may be the one that was read, or not.
  FilesOfModel reading(*opened, identity_of(model.path) == before ? before : std::nullopt, known, jobs);
  model.files = reading.files(own_identity);
  model.structure = reading.structure();
}

}  // namespace tenon::build
