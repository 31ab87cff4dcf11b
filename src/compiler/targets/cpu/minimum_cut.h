#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon {

// Splits points in two groups so that the edges that lead from the first to the second cost least. Among equal splits
// it takes the one with the smallest first group, which every order of edges gives.
class MinimumCut {
 public:
  static constexpr int64_t kForbidden = int64_t{1} << 60;

  // A point that belongs to neither group yet. The first two stand for the groups.
  size_t add_point();
  size_t first() const { return 0; }
  size_t second() const { return 1; }
  // What it costs when `from` is in the first group and `to` in the second.
  void add_edge(size_t from, size_t to, int64_t cost);
  // By point: whether it is in the first group.
  std::vector<bool> solve();

  MinimumCut() : edges_of_(2) {}

 private:
  struct Edge {
    size_t to;
    int64_t left;  // of its capacity
  };
  bool find_levels();
  int64_t push(size_t point, int64_t most);

  std::vector<Edge> edges_;  // each followed by its way back
  std::vector<std::vector<size_t>> edges_of_;
  std::vector<int> level_;
  std::vector<size_t> next_;
};

}  // namespace tenon
