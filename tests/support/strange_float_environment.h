#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace tenon::test {

// While one lives, its thread flushes denormal numbers to zero, reads them as zero, and rounds upwards.
class StrangeFloatEnvironment {
 public:
#if defined(__x86_64__)
  static constexpr uint64_t kControl = 0x1f80 | 0x8000 | 0x0040 | 0x4000;
  static uint64_t control() { return _mm_getcsr() & ~uint64_t{0x3f}; }  // without the flags of what happened
  static void set_control(uint64_t control) { _mm_setcsr(static_cast<uint32_t>(control)); }
#else
  static constexpr uint64_t kControl = (1u << 24) | (1u << 22);
  static uint64_t control() {
    uint64_t value = 0;
    asm volatile("mrs %0, fpcr" : "=r"(value));
    return value;
  }
  static void set_control(uint64_t control) { asm volatile("msr fpcr, %0" ::"r"(control)); }
#endif
  StrangeFloatEnvironment() : before_(control()) { set_control(kControl); }
  ~StrangeFloatEnvironment() { set_control(before_); }
  StrangeFloatEnvironment(const StrangeFloatEnvironment&) = delete;
  StrangeFloatEnvironment& operator=(const StrangeFloatEnvironment&) = delete;

 private:
  uint64_t before_;
};

}  // namespace tenon::test
