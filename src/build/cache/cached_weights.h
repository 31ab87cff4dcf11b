#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "plan/weights_file.h"

namespace tenon::build {

// The weights files of a cache folder. Thread-safe.
class CachedWeights {
 public:
  explicit CachedWeights(std::string folder) : folder_(std::move(folder)) {}

  // Nothing when it is not there. Every byte is checked, unless it was before and nobody can have written to the file
  // since. A damaged file goes, with what refers to it.
  std::shared_ptr<const WeightsFile> find(const Hash128& id);
  std::string path(const Hash128& id) const;
  // Notes that it is in use.
  void touch(const Hash128& id) const;

 private:
  std::shared_ptr<const WeightsFile> open(const Hash128& id) const;

  std::string folder_;
  std::mutex mutex_;
  std::map<Hash128, std::shared_ptr<const WeightsFile>> opened_;
};

}  // namespace tenon::build
