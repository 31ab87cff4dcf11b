#include "runtime/leftovers.h"

#include <sys/stat.h>

#include <algorithm>
#include <set>

#include "base/folder.h"
#include "plan/artifact_read.h"
#include "plan/context_model.h"

namespace tenon {

namespace {

// Context files that name a weights file are small; what is larger is something else.
constexpr int64_t kMostContextBytes = int64_t{16} << 20;

bool is_weights_name(const std::string& name, const std::string& stem) {
  constexpr size_t kDigits = 8;
  const std::string ending = ".bin";
  if (name.size() != stem.size() + 1 + kDigits + ending.size() || !name.starts_with(stem + "-")) return false;
  if (!name.ends_with(ending)) return false;
  const std::string digits = name.substr(stem.size() + 1, kDigits);
  return digits.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// The weights files that context files of a folder name, and those that these refer to.
std::set<std::string> needed_weights(const std::string& folder, const std::vector<std::string>& names) {
  std::set<std::string> needed;
  for (const std::string& name : names)
    if (auto weights = weights_named_by(folder + "/" + name); !weights.empty()) needed.insert(std::move(weights));
  std::set<std::string> more;
  for (const std::string& name : needed) {
    const auto file = Artifact::open(folder + "/" + name);
    if (!file.ok()) continue;
    for (const PackedRecord& record : (*file)->contents().packed) {
      if (record.file == Hash128()) continue;
      const std::string ending = "-" + record.file.hex().substr(0, 8) + ".bin";
      for (const std::string& other : names)
        if (other.ends_with(ending)) more.insert(other);
    }
  }
  needed.merge(more);
  return needed;
}

}  // namespace

std::string weights_named_by(const std::string& context_path) {
  const auto file = MappedFile::open(context_path);
  if (!file.ok() || (*file)->size() > kMostContextBytes) return "";
  const auto model = wire::parse_model((*file)->view(), {});
  if (!model.ok() || !is_context_model(*model)) return "";
  const auto context = read_context_model(*model);
  return context.ok() && !context->embedded ? std::string(context->file_name) : "";
}

bool has_weights_file(const std::string& folder, const Hash128& id) {
  const auto names = list_folder(folder);
  if (!names.ok()) return false;
  const std::string ending = "-" + id.hex().substr(0, 8) + ".bin";
  return std::ranges::any_of(*names, [&](const std::string& name) {
    if (!name.ends_with(ending)) return false;
    const auto file = Artifact::open(folder + "/" + name);
    return file.ok() && (*file)->content_id() == id;
  });
}

void remove_stale_staging(const std::string& folder) {
  const auto names = list_folder(folder, true);
  if (!names.ok()) return;
  for (const std::string& name : *names) {
    const std::string path = folder + "/" + name;
    if (name.starts_with(kStagingPrefix) && FileLock::is_free(path + "/" + std::string(kLockName)))
      remove_flat_folder(path);
  }
}

void remove_unnamed_weights(const std::string& folder, const std::string& stem,
                            const std::vector<std::string>& candidates) {
  const auto names = list_folder(folder);
  if (!names.ok()) return;
  std::vector<std::string> surplus;
  for (const std::string& name : *names)
    if (is_weights_name(name, stem) || std::ranges::find(candidates, name) != candidates.end()) surplus.push_back(name);
  if (surplus.empty()) return;
  const std::set<std::string> needed = needed_weights(folder, *names);
  for (const std::string& name : surplus) {
    // Only what is surely ours.
    if (needed.contains(name) || !Artifact::open(folder + "/" + name).ok()) continue;
    // What stays for want of a right is found again next time.
    (void)remove_file(folder + "/" + name);
  }
}

}  // namespace tenon
