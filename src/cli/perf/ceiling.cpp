#include "cli/perf/ceiling.h"

#include <algorithm>

namespace cli {

double Ceiling::share(double flops_done, double bytes_moved, double seconds) const {
  if (seconds <= 0) return 0;
  return std::max(flops_done / flops(), bytes_moved / bytes()) / seconds;
}

}  // namespace cli
