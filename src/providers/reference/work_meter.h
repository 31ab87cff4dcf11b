#pragma once

#include <cstdint>

namespace tenon {

// Counts the work of loops, about one unit per product or element, and now and then ends the kernel when its run is
// cancelled. What one meter leaves over the next one on the thread goes on with, so that many short loops count too.
class WorkMeter {
 public:
  WorkMeter();
  ~WorkMeter();
  WorkMeter(const WorkMeter&) = default;
  WorkMeter& operator=(const WorkMeter&) = default;

  void spend(int64_t units = 1) {
    if ((left_ -= units) <= 0) poll();
  }

 private:
  void poll();
  int64_t left_;
};

// Calls f(begin, end) for pieces of [0, count) that take little time each.
template <class F>
void in_pieces(int64_t count, const F& f) {
  constexpr int64_t kPiece = 1 << 16;
  WorkMeter meter;
  for (int64_t begin = 0; begin < count; begin += kPiece) {
    const int64_t end = count - begin < kPiece ? count : begin + kPiece;
    f(begin, end);
    meter.spend(end - begin);
  }
}

// Calls f(i) for every i in [0, count), in order.
template <class F>
void for_each_index(int64_t count, const F& f) {
  in_pieces(count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) f(i);
  });
}

}  // namespace tenon
