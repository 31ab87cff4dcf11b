#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "tensor/tensor.h"

namespace tenon {

// Memory for packed weights. What a retired set of weights took is used again by the next, because pages that the
// system has to hand out afresh cost more than filling them. Thread-safe.
class SpareBuffers : public std::enable_shared_from_this<SpareBuffers> {
 public:
  static std::shared_ptr<SpareBuffers> make() { return std::shared_ptr<SpareBuffers>(new SpareBuffers()); }

  // An uninitialised tensor of numbers. Its memory comes back here with its last copy.
  Result<Tensor> take(DType dtype, std::vector<int64_t> dims);
  // The most bytes that are kept for later; what is more is freed.
  void keep_at_most(int64_t bytes);
  int64_t kept_bytes() const;

 private:
  SpareBuffers() = default;
  class Block;
  void give_back(std::shared_ptr<Block> block);
  void drop_surplus();

  mutable std::mutex mutex_;
  std::map<int64_t, std::vector<std::shared_ptr<Block>>> spare_;  // by size
  int64_t kept_ = 0, limit_ = 0;
};

}  // namespace tenon
