#include "build/cache/cached_weights.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "base/file_identity.h"
#include "base/folder.h"
#include "build/cache/cache_folder.h"
#include "build/cache/small_file.h"
#include "swap/weight_program.h"

namespace tenon::build {

namespace {

Json identity_json(const FileIdentity& identity) {
  return Json::object({{"device", identity.device},
                       {"inode", identity.inode},
                       {"bytes", identity.bytes},
                       {"modified_ns", identity.modified_ns},
                       {"changed_ns", identity.changed_ns}});
}

// The content id, which is known, covers the hashes of the sections, so with these all bytes are right. That is one
// pass over them; a full verification, which also looks at each entry alone, would need two.
bool is_whole(const FileHandle& file, const WeightsFile& opened) {
  // Read, not mapped: each page of a large file would be a fault of its own.
  constexpr size_t kPiece = size_t{1} << 20;
  std::vector<char> piece(kPiece);
  const auto is_good = [&](Section section) {
    const SectionPlace& place = opened.frame().at(section);
    StreamingHash hash;
    for (int64_t done = 0; done < place.bytes;) {
      const auto wanted = std::min(kPiece, static_cast<size_t>(place.bytes - done));
      const ssize_t got = ::pread(file.get(), piece.data(), wanted, place.offset + done);
      if (got <= 0) return false;
      hash.add({piece.data(), static_cast<size_t>(got)});
      done += got;
    }
    return hash.value() == place.hash;
  };
  return is_good(Section::Packed) && is_good(Section::Embedded);
}

}  // namespace

std::string CachedWeights::path(const Hash128& id) const { return cache_file(folder_, id, "bin"); }

void CachedWeights::touch(const Hash128& id) const {
  ::utimensat(AT_FDCWD, cache_file(folder_, id, "seen").c_str(), nullptr, 0);
}

std::shared_ptr<const WeightsFile> CachedWeights::find(const Hash128& id) {
  const std::lock_guard lock(mutex_);
  auto& known = opened_[id];
  if (!known) known = open(id);
  return known;
}

std::shared_ptr<const WeightsFile> CachedWeights::open(const Hash128& id) const {
  const std::string name = path(id), seen = cache_file(folder_, id, "seen");
  const auto file = open_for_reading(name);
  if (!file.ok()) return nullptr;
  const auto identity = identity_of(*file);
  const bool is_checked = identity && read_small_json(seen) == identity_json(*identity);
  auto opened = WeightsFile::open(*file, name, {true, false, family_facts});
  if (!opened.ok() || (*opened)->content_id() != id || (!is_checked && !is_whole(*file, **opened))) {
    if (const auto lock = FileLock::wait(folder_); lock.ok()) remove_cached_weights(folder_, id);
    return nullptr;
  }
  // Whether the note can be written matters to the time of later calls only.
  if (is_checked)
    touch(id);
  else
    (void)write_small_json(seen, identity ? identity_json(*identity) : Json::object()).ok();
  return std::move(*opened);
}

}  // namespace tenon::build
