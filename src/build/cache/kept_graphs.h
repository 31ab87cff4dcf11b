#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "build/cache/cache_folder.h"

namespace tenon::build {

// What passes made of models, in the cache folder, by the hash of everything that decides about it: a text that says
// what they did, and the bytes of a graph without weights. Any number of processes share the folder. Thread-safe.
class KeptGraphs {
 public:
  // An error when the folder cannot be used. Makes it.
  static Result<std::unique_ptr<KeptGraphs>> open(const CacheOptions& options);

  struct Kept {
    std::shared_ptr<const void> owner;  // keeps the views below alive
    std::string_view report, graph;     // graph: "" when the passes changed nothing
  };
  // Nothing when it is not there or damaged; what is damaged goes.
  std::optional<Kept> find(const Hash128& key) const;
  // Removes what was not used for long.
  Status keep(const Hash128& key, std::string_view report, std::string_view graph) const;

 private:
  KeptGraphs(std::string folder, const CacheOptions& options) : folder_(std::move(folder)), options_(options) {}

  std::string folder_;
  CacheOptions options_;
};

}  // namespace tenon::build
