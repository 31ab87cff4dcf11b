#include "build/keep_apart.h"

#include <cstddef>

namespace tenon::build {

// Without the widths before each member, the answer is the nearest row that never descends: neighbours that would
// descend are pooled at their mean until none does.
void keep_apart(std::vector<Wish>& row) {
  struct Pool {
    double sum, weight;
    size_t count;
  };
  std::vector<Pool> pools;
  std::vector<double> before(row.size(), 0);
  for (size_t i = 0; i < row.size(); ++i) {
    if (i > 0) before[i] = before[i - 1] + (row[i - 1].width + row[i].width) / 2;
    pools.push_back({(row[i].x - before[i]) * row[i].weight, row[i].weight, 1});
    while (pools.size() > 1) {
      const Pool last = pools.back();
      Pool& other = pools[pools.size() - 2];
      if (other.sum / other.weight <= last.sum / last.weight) break;
      pools.pop_back();
      other.sum += last.sum;
      other.weight += last.weight;
      other.count += last.count;
    }
  }
  size_t next = 0;
  for (const Pool& pool : pools)
    for (size_t i = 0; i < pool.count; ++i, ++next) row[next].x = pool.sum / pool.weight + before[next];
}

}  // namespace tenon::build
