#include "cli/perf/run_times.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace cli {

void RunTimes::add(double seconds) { sorted_.insert(std::ranges::upper_bound(sorted_, seconds), seconds); }

double RunTimes::at(double share) const {
  return sorted_[static_cast<size_t>(std::lround(share * static_cast<double>(sorted_.size() - 1)))];
}

double RunTimes::mean() const {
  return std::accumulate(sorted_.begin(), sorted_.end(), 0.0) / static_cast<double>(sorted_.size());
}

Json RunTimes::json() const {
  return Json::Object{{"min", at(0)},    {"p50", at(0.5)}, {"p90", at(0.9)},
                      {"p99", at(0.99)}, {"max", at(1)},   {"mean", mean()}};
}

}  // namespace cli
