#include "executor/known_shapes.h"

#include <algorithm>

namespace tenon {

std::shared_ptr<const SegmentShapes> KnownShapes::find(const std::string& inputs) {
  const std::lock_guard lock(mutex_);
  const auto it = std::ranges::find(recent_, inputs, [](const auto& entry) { return entry.first; });
  if (it == recent_.end()) return nullptr;
  recent_.splice(recent_.begin(), recent_, it);
  return recent_.front().second;
}

void KnownShapes::keep(std::string inputs, std::shared_ptr<const SegmentShapes> shapes) {
  constexpr size_t kMost = 64;
  const std::lock_guard lock(mutex_);
  recent_.emplace_front(std::move(inputs), std::move(shapes));
  if (recent_.size() > kMost) recent_.pop_back();
}

}  // namespace tenon
