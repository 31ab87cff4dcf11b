#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <set>

namespace tenon {

// Places blocks in an arena that grows as needed: the smallest gap that is large enough, the lowest of equal ones.
class ArenaBlocks {
 public:
  int64_t take(int64_t size) {
    if (const auto fit = by_size_.lower_bound({size, 0}); fit != by_size_.end()) {
      const auto [gap, at] = *fit;
      remove(at, gap);
      if (gap > size) add(at + size, gap - size);
      return at;
    }
    // A gap at the end grows, else the arena does.
    int64_t at = end_;
    if (!by_offset_.empty())
      if (const auto [last, gap] = *by_offset_.rbegin(); last + gap == end_) remove(at = last, gap);
    end_ = at + size;
    return at;
  }

  void give_back(int64_t at, int64_t size) {
    const auto after = by_offset_.lower_bound(at);
    if (after != by_offset_.begin())
      if (const auto [before, gap] = *std::prev(after); before + gap == at) {
        remove(before, gap);
        at = before;
        size += gap;
      }
    if (const auto next = by_offset_.find(at + size); next != by_offset_.end()) {
      const int64_t gap = next->second;
      remove(at + size, gap);
      size += gap;
    }
    add(at, size);
  }

  int64_t bytes() const { return end_; }

 private:
  void add(int64_t at, int64_t size) {
    by_offset_.emplace(at, size);
    by_size_.emplace(size, at);
  }
  void remove(int64_t at, int64_t size) {
    by_offset_.erase(at);
    by_size_.erase({size, at});
  }

  std::map<int64_t, int64_t> by_offset_;           // offset -> size of gaps
  std::set<std::pair<int64_t, int64_t>> by_size_;  // (size, offset) of the same gaps
  int64_t end_ = 0;
};

}  // namespace tenon
