#include "providers/cpu/isa.h"

#include "providers/cpu/simd_targets.h"
// Targets are known after the line above.
#include <hwy/highway.h>

namespace tenon {

namespace {

struct Isa {
  std::string_view name;
  int64_t target;
};

// Best first.
constexpr Isa kIsas[] = {{"avx512", HWY_AVX3}, {"avx2", HWY_AVX2},     {"sse4", HWY_SSE4},
                         {"neon", HWY_NEON},   {"scalar", HWY_EMU128}, {"scalar", HWY_SCALAR}};

int64_t usable() { return (hwy::SupportedTargets() | HWY_STATIC_TARGET) & HWY_TARGETS; }

void choose(int64_t targets) {
  hwy::SetSupportedTargetsForTest(targets);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace

std::vector<std::string_view> cpu_isas() {
  std::vector<std::string_view> names;
  for (const Isa& isa : kIsas)
    if ((usable() & isa.target) != 0) names.push_back(isa.name);
  return names;
}

std::string_view cpu_isa() { return cpu_isas().front(); }

Status limit_cpu_isa(std::string_view name) {
  choose(0);
  if (name.empty()) return {};
  int64_t allowed = 0;
  for (const Isa& isa : kIsas)
    if (isa.name == name || allowed != 0) allowed |= isa.target & usable();
  if (allowed == 0) return invalid_argument("'{}' is no instruction set that kernels can use on this machine", name);
  choose(allowed);
  return {};
}

}  // namespace tenon
