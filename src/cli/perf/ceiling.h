#pragma once

#include <cstdint>

#include "cli/json.h"

namespace cli {

// What the machine does at most, see tn_machine_speed_json.
class Ceiling {
 public:
  explicit Ceiling(Json speed) : speed_(std::move(speed)) {}

  double flops() const { return speed_["flops_per_second"].number(); }
  double bytes() const { return speed_["bytes_per_second"].number(); }
  // Which share of its speed work takes, computing or moving, whichever it does longer. What stays in caches can be
  // moved faster than at full speed. Negative flops are not known.
  double share(double flops_done, double bytes_moved, double seconds) const;
  const Json& json() const { return speed_; }

 private:
  Json speed_;
};

}  // namespace cli
