#include "build/cache/cache_folder.h"

#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>

#include "base/folder.h"
#include "build/cache/small_file.h"

namespace tenon::build {

namespace {

constexpr std::string_view kEndings[] = {"bin", "seen", "model", "json", "group", "graph"};
constexpr size_t kDigits = 32;

// A file of the cache.
struct CacheFile {
  std::string name, key, ending;
  int64_t bytes = 0, used_ns = 0;
};

// What stands or falls together: a weights file and all that refers to it, or a graph.
struct Unit {
  std::vector<std::string> names;
  int64_t bytes = 0, used_ns = 0;
  bool is_whole = false;
};

// Whether a name is that of a file which a process was writing when it ended: ".tenon-<process>-<n>.tmp".
bool is_leftover(std::string_view name) {
  constexpr std::string_view kStart = ".tenon-";
  if (!name.starts_with(kStart) || !name.ends_with(".tmp")) return false;
  pid_t process = 0;
  const auto [end, problem] = std::from_chars(name.data() + kStart.size(), name.data() + name.size(), process);
  return problem == std::errc() && *end == '-' && process > 0 && ::kill(process, 0) != 0 && errno == ESRCH;
}

std::optional<CacheFile> cache_file_of(const std::string& folder, const std::string& name) {
  CacheFile file{name, name.substr(0, std::min(name.size(), kDigits)), {}};
  if (name.size() <= kDigits + 1 || name[kDigits] != '.' || !Hash128::from_hex(file.key)) return std::nullopt;
  file.ending = name.substr(kDigits + 1);
  struct stat info{};
  if (std::ranges::find(kEndings, file.ending) == std::end(kEndings) ||
      ::lstat((folder + "/" + name).c_str(), &info) != 0 || !S_ISREG(info.st_mode))
    return std::nullopt;
  file.bytes = info.st_size;
  file.used_ns = static_cast<int64_t>(info.st_mtim.tv_sec) * 1'000'000'000 + info.st_mtim.tv_nsec;
  return file;
}

std::vector<CacheFile> files_of(const std::string& folder) {
  std::vector<CacheFile> files;
  const auto names = list_folder(folder);
  if (!names.ok()) return files;
  for (const std::string& name : *names)
    if (auto file = cache_file_of(folder, name)) files.push_back(std::move(*file));
  return files;
}

// The weights file that a small file names.
std::string weights_of(const std::string& folder, const std::string& name) {
  return text_in(read_small_json(folder + "/" + name), "weights");
}

// By weights file or graph. Files that refer to no weights file are one unit each, and not whole.
std::map<std::string, Unit> units_of(const std::string& folder) {
  const std::vector<CacheFile> files = files_of(folder);
  std::map<std::string, std::string> weights_by_key;
  for (const CacheFile& file : files)
    if (file.ending == "json") weights_by_key[file.key] = weights_of(folder, file.name);
  std::map<std::string, Unit> units;
  for (const CacheFile& file : files) {
    std::string weights = file.key;
    if (file.ending == "group") weights = weights_of(folder, file.name);
    if (file.ending == "model" || file.ending == "json") weights = weights_by_key[file.key];
    const bool is_graph = file.ending == "graph";
    Unit& unit = units[is_graph ? file.name : weights];
    unit.names.push_back(file.name);
    unit.bytes += file.bytes;
    unit.is_whole = unit.is_whole || is_graph || file.ending == "bin";
    if (is_graph || file.ending == "seen" || file.ending == "bin") unit.used_ns = std::max(unit.used_ns, file.used_ns);
  }
  return units;
}

void remove_all(const std::string& folder, const std::vector<std::string>& names) {
  // What cannot be removed is found again next time.
  for (const std::string& name : names) (void)remove_file(folder + "/" + name).ok();
}

}  // namespace

std::string user_cache_folder() {
  const char* base = std::getenv("XDG_CACHE_HOME");
  // The rule of these folders: what is not absolute does not count.
  if (base && *base == '/') return std::string(base) + "/tenon";
  const char* home = std::getenv("HOME");
  return home && *home == '/' ? std::string(home) + "/.cache/tenon" : "";
}

Result<std::string> make_cache_folder(const CacheOptions& options) {
  std::string folder = options.folder.empty() ? user_cache_folder() : plain_folder(options.folder);
  if (folder.empty()) return error(Code::NotFound, "neither XDG_CACHE_HOME nor HOME names a folder for the cache");
  std::vector<std::string> made;
  TN_RETURN_IF_ERROR(make_folders(folder, made));
  return folder;
}

int64_t cache_limit(int64_t most_bytes, int64_t free_bytes) { return std::min(most_bytes, free_bytes / 10); }

int64_t free_bytes_at(std::string folder) {
  while (!folder.empty() && !is_folder(folder) && folder_of(folder) != folder) folder = folder_of(folder);
  struct statvfs info{};
  if (::statvfs(folder.c_str(), &info) != 0) return 0;
  return static_cast<int64_t>(info.f_bavail) * static_cast<int64_t>(info.f_frsize);
}

std::string cache_file(const std::string& folder, const Hash128& key, const char* ending) {
  return fmt::format("{}/{}.{}", folder, key.hex(), ending);
}

CacheContents cache_contents(const std::string& folder) {
  CacheContents contents;
  for (const CacheFile& file : files_of(folder)) {
    contents.bytes += file.bytes;
    contents.models += file.ending == "model";
    contents.weights_files += file.ending == "bin";
    contents.graphs += file.ending == "graph";
  }
  return contents;
}

void remove_cache_leftovers(const std::string& folder) {
  std::vector<std::string> leftovers;
  if (const auto names = list_folder(folder); names.ok())
    std::ranges::copy_if(*names, std::back_inserter(leftovers), is_leftover);
  for (const auto& [weights, unit] : units_of(folder))
    if (!unit.is_whole) leftovers.insert(leftovers.end(), unit.names.begin(), unit.names.end());
  remove_all(folder, leftovers);
}

void trim_cache(const std::string& folder, int64_t most_bytes) {
  std::vector<Unit> units;
  int64_t total = 0;
  for (auto& [weights, unit] : units_of(folder)) {
    total += unit.bytes;
    units.push_back(std::move(unit));
  }
  std::ranges::sort(units, {}, &Unit::used_ns);
  for (const Unit& unit : units) {
    if (total <= most_bytes) return;
    remove_all(folder, unit.names);
    total -= unit.bytes;
  }
}

void remove_cached_weights(const std::string& folder, const Hash128& id) {
  const auto units = units_of(folder);
  if (const auto found = units.find(id.hex()); found != units.end()) remove_all(folder, found->second.names);
}

int64_t clear_cache(const std::string& folder) {
  const int64_t bytes = cache_contents(folder).bytes;
  remove_cache_leftovers(folder);
  std::vector<std::string> names;
  for (const CacheFile& file : files_of(folder)) names.push_back(file.name);
  remove_all(folder, names);
  return bytes - cache_contents(folder).bytes;
}

}  // namespace tenon::build
