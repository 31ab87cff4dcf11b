#include "base/float_environment.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#elif !defined(__aarch64__)
#error "floating-point control is not implemented for this processor"
#endif

namespace tenon {

#if defined(__x86_64__)

namespace {
// What a process starts with: all exceptions masked, to nearest, no flushing, no flags.
constexpr uint32_t kDefaultControl = 0x1f80;
}  // namespace

// Control and status are one register.
DefaultFloatEnvironment::DefaultFloatEnvironment() : saved_(_mm_getcsr()) {
  if (saved_ != kDefaultControl) _mm_setcsr(kDefaultControl);
}
DefaultFloatEnvironment::~DefaultFloatEnvironment() { _mm_setcsr(static_cast<uint32_t>(saved_)); }

#else

// Control in the low half, status in the high one; both registers have 32 bits that mean something.
DefaultFloatEnvironment::DefaultFloatEnvironment() {
  uint64_t control = 0, status = 0;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  asm volatile("mrs %0, fpsr" : "=r"(status));
  saved_ = (control & 0xffffffff) | status << 32;
  asm volatile("msr fpcr, %0" ::"r"(uint64_t{0}));
}
DefaultFloatEnvironment::~DefaultFloatEnvironment() {
  asm volatile("msr fpcr, %0" ::"r"(saved_ & 0xffffffff));
  asm volatile("msr fpsr, %0" ::"r"(saved_ >> 32));
}

#endif

}  // namespace tenon
