#include "artifact/leftovers.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "artifact/needed_weights.h"
#include "artifact/weights_files.h"
#include "base/file_kind.h"
#include "base/folder.h"
#include "base/messages.h"
#include "plan/weights_file.h"

namespace tenon {

namespace {

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

}  // namespace

std::vector<std::string> weights_used_by(const std::string& folder, const std::vector<std::string>& contexts) {
  std::set<std::string> all;
  const auto names = list_folder(folder);
  for (const std::string& context : contexts) {
    const auto named = weights_named_by(folder, context);
    if (!named.ok() || !names.ok()) continue;
    for (const std::string& weights : *named) {
      all.insert(weights);
      if (auto more = files_referred_to(folder, weights, *names); more.ok()) all.merge(*more);
    }
  }
  return {all.begin(), all.end()};
}

bool has_weights_file(const std::string& folder, const Hash128& id) {
  const auto folders = ConfinedFolders::at(folder);
  return folders.ok() && find_weights_file(*folders, folder, id, {}).ok();
}

namespace {

// What a staging folder whose maker is gone may be: one that was stopped before it had its mark has nothing in it.
enum class Staging { InUseOrUnknown, Empty, Marked };

struct StaleStaging {
  Staging state = Staging::InUseOrUnknown;
  std::optional<FileLock> lock;  // while something is done with it
};

StaleStaging examine(int parent, const std::string& name) {
  const auto folder = open_folder_in(parent, name);
  if (!folder.ok()) return {};
  if (auto lock = FileLock::take(*folder, std::string(kLockName), kMark)) return {Staging::Marked, std::move(lock)};
  const auto files = list_folder(*folder, name);
  if (!files.ok()) return {};
  if (files->empty()) return {Staging::Empty, std::nullopt};
  // The mark was made and not written yet.
  if (auto lock = FileLock::take(*folder, std::string(kLockName), ""); lock && files->size() == 1)
    return {Staging::Empty, std::move(lock)};
  return {};
}

// The staging folders in a folder that nobody works on.
std::vector<std::string> staging_folders(const FileHandle& folder, const std::string& path) {
  auto names = list_folder(folder, path);
  if (!names.ok()) return {};
  std::erase_if(*names, [](const std::string& name) { return !name.starts_with(kStagingPrefix); });
  return *names;
}

bool is_newer(const std::string& path, const std::string& other) {
  struct stat a{}, b{};
  if (::stat(path.c_str(), &a) != 0 || ::stat(other.c_str(), &b) != 0) return false;
  return std::pair(a.st_mtim.tv_sec, a.st_mtim.tv_nsec) > std::pair(b.st_mtim.tv_sec, b.st_mtim.tv_nsec);
}

// The staged context files of a publication that stopped after its first one, as far as nobody has published these
// names since. While there are some, the staging folder is what tells.
std::vector<std::string> unreplaced(const std::string& folder, const std::string& staging) {
  const auto staged = list_folder(staging), names = list_folder(folder);
  std::vector<std::string> result;
  if (!staged.ok() || !names.ok()) return result;
  const auto named = [](const std::string& where, const std::string& name) {
    const auto weights = weights_named_by(where, name);
    return weights.ok() ? *weights : std::set<std::string>();
  };
  for (const std::string& name : *staged) {
    const auto weights = named(staging, name);
    if (weights.empty() || is_newer(folder + "/" + name, staging + "/" + name)) continue;
    if (std::ranges::any_of(*names,
                            [&](const std::string& other) { return other != name && named(folder, other) == weights; }))
      result.push_back(name);
  }
  return result;
}

// Whether all of the candidates that nobody needs are gone now.
bool remove_unneeded(const std::string& folder, const std::vector<std::string>& candidates) {
  const auto names = list_folder(folder);
  if (!names.ok()) return false;
  std::vector<std::string> surplus;
  for (const std::string& name : *names)
    if (std::ranges::find(candidates, name) != candidates.end()) surplus.push_back(name);
  if (surplus.empty()) return true;
  const auto needed = needed_weights(folder);
  std::erase_if(surplus, [&](const std::string& name) {
    // Only what is surely ours, and no link.
    return (needed.ok() && needed->contains(name)) || !check_replaceable(folder + "/" + name).ok() ||
           !WeightsFile::open(folder + "/" + name).ok();
  });
  if (!needed.ok() && !surplus.empty()) {
    tell(fmt::format("'{}' stays in '{}' because another file there may need it and cannot be read: {}",
                     fmt::join(surplus, "', '"), folder, needed.status().to_string()));
    return false;
  }
  bool all_gone = true;
  for (const std::string& name : surplus) all_gone = remove_file(folder + "/" + name).ok() && all_gone;
  return all_gone;
}

}  // namespace

Status complete_publications(const std::string& folder) {
  TN_ASSIGN_OR_RETURN(const FileHandle opened, open_folder(folder));
  for (const std::string& name : staging_folders(opened, folder)) {
    const StaleStaging staging = examine(opened.get(), name);
    if (staging.state != Staging::Marked) continue;
    const std::string path = folder + "/" + name;
    const std::vector<std::string> missing = unreplaced(folder, path);
    for (const std::string& context : missing)
      TN_RETURN_IF_ERROR(rename_file(path + "/" + context, folder + "/" + context));
    if (missing.empty()) continue;
    TN_RETURN_IF_ERROR(sync_folder(folder));
    tell(fmt::format("'{}': an interrupted command had replaced only a part of a group; replaced '{}' too", folder,
                     fmt::join(missing, "', '")));
  }
  return {};
}

void remove_stale_staging(const std::string& folder) {
  const auto opened = open_folder(folder);
  if (!opened.ok()) return;
  for (const std::string& name : staging_folders(*opened, folder)) {
    const StaleStaging staging = examine(opened->get(), name);
    if (staging.state == Staging::InUseOrUnknown) continue;
    const std::string path = folder + "/" + name;
    if (staging.state == Staging::Marked && !unreplaced(folder, path).empty()) continue;
    // What stays for want of a right is found again next time, by the note.
    if (staging.state == Staging::Marked && !remove_unneeded(folder, noted_weights(path))) continue;
    remove_flat_folder(opened->get(), name, kLockName);
  }
  // A folder that was a staging folder itself until it got its name.
  if (FileLock::take(*opened, std::string(kLockName), kMark))
    ::unlinkat(opened->get(), std::string(kLockName).c_str(), 0);
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
