#include "runtime/leftovers.h"

#include <sys/stat.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "base/folder.h"
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

// The weights files that an interrupted publication brought or was about to remove.
std::vector<std::string> noted_weights(const std::string& staging) {
  const auto note = MappedFile::open(staging + "/" + std::string(kNoteName));
  std::vector<std::string> names;
  if (!note.ok()) return names;
  for (std::string_view rest = (*note)->view(); !rest.empty();) {
    const std::string_view name = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), name.size() + 1));
    // The folder is anybody's to write to.
    if (!name.empty() && name.find('/') == std::string_view::npos) names.emplace_back(name);
  }
  return names;
}

// The weights files that context files of a folder name, and those that these refer to.
std::set<std::string> needed_weights(const std::string& folder, const std::vector<std::string>& names) {
  std::set<std::string> needed;
  for (const std::string& name : names)
    if (auto weights = weights_named_by(folder + "/" + name); !weights.empty()) needed.insert(std::move(weights));
  std::set<std::string> more;
  for (const std::string& name : needed) {
    const auto file = Artifact::open(folder + "/" + name);
    // What a file that cannot be read refers to is not known, so everything stays.
    if (!file.ok() && exists(folder + "/" + name)) return {names.begin(), names.end()};
    if (!file.ok()) continue;
    more.merge(files_referred_to(**file, names));
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

// The end of its name, whoever named it.
static std::string weights_ending(const Hash128& id) { return "-" + id.hex().substr(0, 8) + ".bin"; }

std::set<std::string> files_referred_to(const Artifact& weights, const std::vector<std::string>& names) {
  std::set<std::string> endings, files;
  for (const PackedRecord& record : weights.contents().packed)
    if (record.file != Hash128()) endings.insert(weights_ending(record.file));
  for (const std::string& name : names)
    if (std::ranges::any_of(endings, [&](const std::string& ending) { return name.ends_with(ending); }))
      files.insert(name);
  return files;
}

bool has_weights_file(const std::string& folder, const Hash128& id) {
  const auto names = list_folder(folder);
  if (!names.ok()) return false;
  const std::string ending = weights_ending(id);
  return std::ranges::any_of(*names, [&](const std::string& name) {
    if (!name.ends_with(ending)) return false;
    const auto file = Artifact::open(folder + "/" + name);
    return file.ok() && (*file)->content_id() == id;
  });
}

namespace {

bool is_newer(const std::string& path, const std::string& other) {
  struct stat a{}, b{};
  if (::stat(path.c_str(), &a) != 0 || ::stat(other.c_str(), &b) != 0) return false;
  return std::pair(a.st_mtim.tv_sec, a.st_mtim.tv_nsec) > std::pair(b.st_mtim.tv_sec, b.st_mtim.tv_nsec);
}

// Whether a publication stopped between its context files, and one that it did not come to is still as it was. Then
// the staging folder is what tells, until somebody publishes these files again.
bool is_half_done(const std::string& folder, const std::string& staging) {
  const auto staged = list_folder(staging), names = list_folder(folder);
  if (!staged.ok() || !names.ok()) return false;
  for (const std::string& name : *staged) {
    const std::string weights = weights_named_by(staging + "/" + name);
    if (weights.empty() || is_newer(folder + "/" + name, staging + "/" + name)) continue;
    for (const std::string& other : *names)
      if (other != name && weights_named_by(folder + "/" + other) == weights) return true;
  }
  return false;
}

// Whether all of the candidates that nobody needs are gone now.
bool remove_unneeded(const std::string& folder, const std::vector<std::string>& candidates) {
  const auto names = list_folder(folder);
  if (!names.ok()) return false;
  std::vector<std::string> surplus;
  for (const std::string& name : *names)
    if (std::ranges::find(candidates, name) != candidates.end()) surplus.push_back(name);
  if (surplus.empty()) return true;
  const std::set<std::string> needed = needed_weights(folder, *names);
  bool all_gone = true;
  for (const std::string& name : surplus) {
    // Only what is surely ours.
    if (needed.contains(name) || !Artifact::open(folder + "/" + name).ok()) continue;
    all_gone = remove_file(folder + "/" + name).ok() && all_gone;
  }
  return all_gone;
}

}  // namespace

void remove_stale_staging(const std::string& folder) {
  const auto names = list_folder(folder, true);
  if (!names.ok()) return;
  for (const std::string& name : *names) {
    const std::string path = folder + "/" + name;
    if (!name.starts_with(kStagingPrefix) || !FileLock::is_free(path + "/" + std::string(kLockName))) continue;
    if (is_half_done(folder, path)) continue;
    // What stays for want of a right is found again next time, by the note.
    if (remove_unneeded(folder, noted_weights(path))) remove_flat_folder(path);
  }
}

void remove_unnamed_weights(const std::string& folder, const std::string& stem,
                            const std::vector<std::string>& candidates) {
  std::vector<std::string> all = candidates;
  if (const auto names = list_folder(folder); names.ok() && !stem.empty())
    std::ranges::copy_if(*names, std::back_inserter(all),
                         [&](const auto& name) { return is_weights_name(name, stem); });
  (void)remove_unneeded(folder, all);
}

}  // namespace tenon
