#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "build/cache/cache_folder.h"

struct tn_artifact;
struct tn_context;
struct tn_model;
struct tn_options;

namespace tenon {
class Image;
}

namespace tenon::build {

// A model of a group, with the options that it is compiled with and their compile key.
struct CachedModelRequest {
  const tn_model* model = nullptr;
  std::string name, file_name;
  const tn_options* options = nullptr;
  std::string compile_key;
};

// A group of compiled models: what the cache has, and the rest compiled now.
class CachedCompile {
 public:
  CachedCompile(size_t count, tn_context* context);
  ~CachedCompile();

  Status open_cache(const CacheOptions& options);
  // Finds or compiles a model. From any thread, once for each.
  Status add(size_t model, const CachedModelRequest& request);
  // When all are there.
  void join();

  const tn_artifact* artifact() const;
  bool is_cached(size_t model) const;
  // How a model that was found was validated; "" when it was not.
  const std::string& earlier_verdict(size_t model) const;
  // A model as the cache has it now; null when it has not.
  std::shared_ptr<const Image> stored(size_t model) const;
  // Puts what is new into the cache. weights_path: of the published weights file; "": they are embedded.
  Status keep(const std::string& weights_path, const std::vector<std::string>& verdicts) const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

// A model for whoever runs it now: from the cache, which gets it when it was not there. A cache folder that is named
// must work; without the user's own, the model is only compiled.
Result<std::shared_ptr<const Image>> compile_through_cache(const CachedModelRequest& request,
                                                           const CacheOptions& options, tn_context* context);

}  // namespace tenon::build
