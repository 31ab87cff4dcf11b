#include "compiler/targets/cpu/minimum_cut.h"

#include <algorithm>

namespace tenon {

size_t MinimumCut::add_point() {
  edges_of_.emplace_back();
  return edges_of_.size() - 1;
}

void MinimumCut::add_edge(size_t from, size_t to, int64_t cost) {
  edges_of_[from].push_back(edges_.size());
  edges_.push_back({to, std::min(cost, kForbidden)});
  edges_of_[to].push_back(edges_.size());
  edges_.push_back({from, 0});
}

bool MinimumCut::find_levels() {
  level_.assign(edges_of_.size(), -1);
  level_[first()] = 0;
  std::vector<size_t> reached{first()};
  for (size_t i = 0; i < reached.size(); ++i)
    for (const size_t e : edges_of_[reached[i]])
      if (edges_[e].left > 0 && level_[edges_[e].to] < 0) {
        level_[edges_[e].to] = level_[reached[i]] + 1;
        reached.push_back(edges_[e].to);
      }
  return level_[second()] >= 0;
}

// One way from `first` to `second` along the levels, as an explicit path: graphs are deeper than stacks.
int64_t MinimumCut::push(size_t point, int64_t most) {
  std::vector<size_t> path;
  while (point != second()) {
    size_t& next = next_[point];
    const auto& edges = edges_of_[point];
    while (next < edges.size() &&
           (edges_[edges[next]].left == 0 || level_[edges_[edges[next]].to] != level_[point] + 1))
      ++next;
    if (next < edges.size()) {
      path.push_back(edges[next]);
      point = edges_[edges[next]].to;
      continue;
    }
    if (path.empty()) return 0;
    level_[point] = -1;
    point = edges_[path.back() ^ 1].to;
    path.pop_back();
  }
  for (const size_t e : path) most = std::min(most, edges_[e].left);
  for (const size_t e : path) {
    edges_[e].left -= most;
    edges_[e ^ 1].left += most;
  }
  return most;
}

std::vector<bool> MinimumCut::solve() {
  while (find_levels()) {
    next_.assign(edges_of_.size(), 0);
    while (push(first(), kForbidden) > 0) {
    }
  }
  std::vector<bool> in_first;
  for (const int level : level_) in_first.push_back(level >= 0);
  return in_first;
}

}  // namespace tenon
