#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "artifact/image.h"
#include "build/cache/cache_folder.h"
#include "build/cache/cached_weights.h"

namespace tenon::build {

// Compiled models by the hash of everything that decides about them. Any number of processes share one folder: files
// get their names when they are whole, and only one process at a time adds or removes some. Thread-safe.
class CompileCache {
 public:
  // An error when the folder cannot be used. Makes it.
  static Result<std::unique_ptr<CompileCache>> open(const CacheOptions& options);

  struct FoundModel {
    std::shared_ptr<const Image> image;  // of this model alone
    std::string validation;              // the verdict, "" when nobody has tried it
  };
  // Nothing when it is not there or damaged; what is damaged goes.
  std::optional<FoundModel> find(const Hash128& key);
  // The path of a weights file that holds a whole group, byte for byte; "" when there is none.
  std::string find_group(const Hash128& key);

  struct ModelToKeep {
    Hash128 key;
    std::shared_ptr<const Image> image;  // of this model alone
    std::string validation;
    bool is_known = false;  // it was found here
  };
  struct GroupToKeep {
    Hash128 key;
    std::string weights_path;  // its weights file; "": it has none of its own
    std::shared_ptr<const Image> image;
    std::vector<ModelToKeep> models;
  };
  // Keeps what was compiled, and says how it was validated. Removes what was not used for long.
  Status keep(const GroupToKeep& group);

 private:
  CompileCache(std::string folder, const CacheOptions& options)
      : folder_(std::move(folder)), options_(options), weights_(folder_) {}
  std::string path(const Hash128& key, const char* ending) const { return cache_file(folder_, key, ending); }
  // With the folder locked.
  Status add(const GroupToKeep& group);
  Result<std::shared_ptr<const WeightsFile>> add_weights(const GroupToKeep& group);
  Status note(const ModelToKeep& model) const;

  std::string folder_;
  CacheOptions options_;
  CachedWeights weights_;
};

// Changes with everything in this program that decides what a compile gives: its version, and which build it is.
std::string compile_version();

}  // namespace tenon::build
