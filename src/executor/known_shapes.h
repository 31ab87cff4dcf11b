#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace tenon {

// The dims of all placed values of a segment, for one tuple of inputs.
using SegmentShapes = std::vector<std::vector<int64_t>>;

// The tuples that a segment with late dims has been run with, the most recent ones. Thread-safe.
class KnownShapes {
 public:
  std::shared_ptr<const SegmentShapes> find(const std::string& inputs);
  void keep(std::string inputs, std::shared_ptr<const SegmentShapes> shapes);

 private:
  std::mutex mutex_;
  std::list<std::pair<std::string, std::shared_ptr<const SegmentShapes>>> recent_;
};

}  // namespace tenon
