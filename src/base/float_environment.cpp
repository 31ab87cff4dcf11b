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

namespace {
// Results, and operands.
constexpr uint32_t kFlushToZero = 0x8000, kSubnormalsAreZero = 0x0040;
constexpr uint32_t kFlushing = kFlushToZero | kSubnormalsAreZero;
}  // namespace

bool flushes_subnormals() { return (_mm_getcsr() & kFlushing) == kFlushing; }
void flush_subnormals(bool flush) {
  const uint32_t others = _mm_getcsr() & ~kFlushing;
  _mm_setcsr(flush ? others | kFlushing : others);
}

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

namespace {
// Operands and results.
constexpr uint64_t kFlushing = uint64_t{1} << 24;

uint64_t float_control() {
  uint64_t control = 0;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  return control;
}
}  // namespace

bool flushes_subnormals() { return (float_control() & kFlushing) != 0; }
void flush_subnormals(bool flush) {
  const uint64_t others = float_control() & ~kFlushing;
  asm volatile("msr fpcr, %0" ::"r"(flush ? others | kFlushing : others));
}

#endif

}  // namespace tenon
