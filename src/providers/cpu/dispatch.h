#pragma once

// For files of SIMD code, after Highway's headers: the function of an instruction set, rather than the one of the
// process that HWY_DYNAMIC_DISPATCH gives.
#include <hwy/highway.h>

#include "providers/cpu/isa.h"

namespace tenon {

// In every file, as the list of compiled targets is the file's own.
static inline size_t dispatch_index([[maybe_unused]] Isa isa) {
#if HWY_IDE || ((HWY_TARGETS & (HWY_TARGETS - 1)) == 0)
  return 0;
#else
  hwy::ChosenTarget chosen;
  chosen.Update(targets_up_to(isa));
  return chosen.GetIndex();
#endif
}

}  // namespace tenon

// The functions of all targets. In the place of HWY_EXPORT, whose table begins with a function of Highway's library: to
// load that library takes longer than all else that a process begins with.
#if HWY_IDE || ((HWY_TARGETS & (HWY_TARGETS - 1)) == 0)
#define TENON_EXPORT(function) HWY_EXPORT(function)
#else
#define TENON_EXPORT(function)                                                                                        \
  static decltype(&HWY_STATIC_DISPATCH(function)) const HWY_DISPATCH_TABLE(function)[HWY_MAX_DYNAMIC_TARGETS + 2] = { \
      nullptr, HWY_CHOOSE_TARGET_LIST(function), HWY_CHOOSE_FALLBACK(function)}
#endif

// function: exported with TENON_EXPORT.
#define TENON_DISPATCH(function, isa) (*HWY_DISPATCH_TABLE(function)[::tenon::dispatch_index(isa)])
