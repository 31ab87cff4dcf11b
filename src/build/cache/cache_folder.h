#pragma once

#include <cstdint>
#include <string>

#include "base/hash.h"
#include "base/status.h"

// The folder of the compile cache. For a weights file with content id W, and for models and groups with key K, it has
//   W.bin, W.seen    the weights file, and which file it was when its bytes were last checked (a JSON object)
//   K.model, K.json  a compiled model, whose packed weights lie in a weights file; which one, and how it was validated
//   K.group          a group of models that has all of a weights file; which one
//   K.graph          what the passes made of a model, without its weights
// W.seen is written again whenever something in W is used, and K.graph has its time set. Whatever has another name is
// left alone.
namespace tenon::build {

struct CacheOptions {
  bool is_on = true;
  bool finds = true;                       // false: all is compiled, and kept
  std::string folder;                      // "": the user's
  int64_t most_bytes = int64_t{10} << 30;  // together
};

// "$XDG_CACHE_HOME/tenon", else "~/.cache/tenon"; "" when the environment names neither.
std::string user_cache_folder();

// The folder that options name, which is there then. An error when it cannot be used.
Result<std::string> make_cache_folder(const CacheOptions& options);

// What the files may take together: never more than a tenth of the free space.
int64_t cache_limit(int64_t most_bytes, int64_t free_bytes);

// Where the folder is or will be.
int64_t free_bytes_at(std::string folder);

// The name of a cache file.
std::string cache_file(const std::string& folder, const Hash128& key, const char* ending);

struct CacheContents {
  int64_t models = 0, weights_files = 0, graphs = 0, bytes = 0;
};
CacheContents cache_contents(const std::string& folder);

// All four want the folder locked.
// Removes files that no process is writing any more, and what refers to weights files that are gone.
void remove_cache_leftovers(const std::string& folder);
// Removes what was not used for the longest time until the rest takes no more than this.
void trim_cache(const std::string& folder, int64_t most_bytes);
// Removes a weights file and everything that refers to it.
void remove_cached_weights(const std::string& folder, const Hash128& id);
// Removes all; the bytes that were freed.
int64_t clear_cache(const std::string& folder);

}  // namespace tenon::build
