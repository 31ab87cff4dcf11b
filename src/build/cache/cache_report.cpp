#include "build/cache/cache_report.h"

#include "base/folder.h"
#include "build/cache/cache_folder.h"
#include "build/json.h"

namespace tenon::build {

namespace {

std::string chosen_folder(const std::string& folder) {
  return folder.empty() ? user_cache_folder() : plain_folder(folder);
}

}  // namespace

std::string cache_json(const std::string& folder) {
  const std::string chosen = chosen_folder(folder);
  const CacheContents contents = chosen.empty() ? CacheContents() : cache_contents(chosen);
  return dump({{"folder", chosen},
               {"models", contents.models},
               {"weights_files", contents.weights_files},
               {"graphs", contents.graphs},
               {"bytes", contents.bytes},
               {"most_bytes", cache_limit(CacheOptions().most_bytes, free_bytes_at(chosen))}});
}

Result<std::string> clear_cache_json(const std::string& folder) {
  const std::string chosen = chosen_folder(folder);
  int64_t freed = 0;
  if (is_folder(chosen)) {
    TN_ASSIGN_OR_RETURN(const FileLock lock, FileLock::wait(chosen));
    freed = clear_cache(chosen);
  }
  return dump({{"folder", chosen}, {"freed_bytes", freed}});
}

}  // namespace tenon::build
