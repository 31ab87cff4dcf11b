#include "providers/reference/work_meter.h"

#include "providers/provider.h"

namespace tenon {

namespace {

// A millisecond or a few.
constexpr int64_t kBetweenPolls = 1 << 19;
thread_local int64_t left_over = kBetweenPolls;

}  // namespace

WorkMeter::WorkMeter() : left_(left_over) {}
WorkMeter::~WorkMeter() { left_over = left_; }

void WorkMeter::poll() {
  left_ = kBetweenPolls;
  poll_cancelled();
}

}  // namespace tenon
