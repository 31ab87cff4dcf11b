#pragma once

#include <cstdint>
#include <vector>

#include "cli/json.h"

namespace cli {

// How long runs took, in seconds.
class RunTimes {
 public:
  void add(double seconds);
  size_t size() const { return sorted_.size(); }
  bool empty() const { return sorted_.empty(); }
  // The time that this share of the runs does not exceed. There must be one.
  double at(double share) const;
  double mean() const;
  Json json() const;

 private:
  std::vector<double> sorted_;
};

}  // namespace cli
