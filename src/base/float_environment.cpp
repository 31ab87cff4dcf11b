#include "base/float_environment.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#elif !defined(__aarch64__)
#error "which register controls floating-point arithmetic here?"
#endif

namespace tenon {

#if defined(__x86_64__)

namespace {
// What a process starts with: all exceptions masked, to nearest, no flushing, no flags.
constexpr uint32_t kDefaultControl = 0x1f80;
}  // namespace

// Control and status are one register.
DefaultFloatEnvironment::DefaultFloatEnvironment() : control_(_mm_getcsr()) {
  if (control_ != kDefaultControl) _mm_setcsr(kDefaultControl);
}
DefaultFloatEnvironment::~DefaultFloatEnvironment() { _mm_setcsr(static_cast<uint32_t>(control_)); }

#else

DefaultFloatEnvironment::DefaultFloatEnvironment() {
  asm volatile("mrs %0, fpcr" : "=r"(control_));
  asm volatile("mrs %0, fpsr" : "=r"(status_));
  if (control_ != 0) asm volatile("msr fpcr, %0" ::"r"(uint64_t{0}));
}
DefaultFloatEnvironment::~DefaultFloatEnvironment() {
  if (control_ != 0) asm volatile("msr fpcr, %0" ::"r"(control_));
  asm volatile("msr fpsr, %0" ::"r"(status_));
}

#endif

}  // namespace tenon
