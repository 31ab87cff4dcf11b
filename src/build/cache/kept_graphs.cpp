#include "build/cache/kept_graphs.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <charconv>
#include <utility>

#include "base/file.h"
#include "base/folder.h"

namespace tenon::build {

namespace {

// The file: this line, the hash of all that follows it in 32 digits, the size of the report in 16 digits, the report,
// the graph.
constexpr std::string_view kFirstLine = "tenon graph 1\n";
constexpr size_t kHashDigits = 32, kSizeDigits = 16;

std::optional<std::pair<std::string_view, std::string_view>> parts_of(std::string_view file) {
  if (!file.starts_with(kFirstLine)) return std::nullopt;
  file.remove_prefix(kFirstLine.size());
  if (file.size() < kHashDigits + kSizeDigits) return std::nullopt;
  const auto hash = Hash128::from_hex(file.substr(0, kHashDigits));
  file.remove_prefix(kHashDigits);
  if (!hash || hash_bytes(file) != *hash) return std::nullopt;
  size_t size = 0;
  std::from_chars(file.data(), file.data() + kSizeDigits, size, 16);
  file.remove_prefix(kSizeDigits);
  if (size > file.size()) return std::nullopt;
  return std::pair(file.substr(0, size), file.substr(size));
}

}  // namespace

Result<std::unique_ptr<KeptGraphs>> KeptGraphs::open(const CacheOptions& options) {
  TN_ASSIGN_OR_RETURN(std::string folder, make_cache_folder(options));
  return std::unique_ptr<KeptGraphs>(new KeptGraphs(std::move(folder), options));
}

std::optional<KeptGraphs::Kept> KeptGraphs::find(const Hash128& key) const {
  const std::string path = cache_file(folder_, key, "graph");
  const auto content = read_whole_file(path);
  if (!content.ok()) return std::nullopt;
  const auto parts =
      parts_of({reinterpret_cast<const char*>((*content)->data()), static_cast<size_t>((*content)->size())});
  if (!parts) {
    if (const auto lock = FileLock::wait(folder_); lock.ok()) (void)remove_file(path).ok();
    return std::nullopt;
  }
  // Notes that it is in use.
  ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
  return Kept{*content, parts->first, parts->second};
}

Status KeptGraphs::keep(const Hash128& key, std::string_view report, std::string_view graph) const {
  const std::string size = fmt::format("{:016x}", report.size());
  StreamingHash hash;
  for (const std::string_view part : {std::string_view(size), report, graph}) hash.add(part);
  const std::string digits = hash.value().hex();
  const std::string_view pieces[] = {kFirstLine, digits, size, report, graph};
  TN_ASSIGN_OR_RETURN(const FileLock lock, FileLock::wait(folder_));
  remove_cache_leftovers(folder_);
  TN_RETURN_IF_ERROR(write_file_atomically(cache_file(folder_, key, "graph"), pieces));
  trim_cache(folder_, cache_limit(options_.most_bytes, free_bytes_at(folder_)));
  return {};
}

}  // namespace tenon::build
