#include "providers/cpu/isa.h"

#include "providers/cpu/simd_targets.h"
// Targets are known after the line above.
#include <hwy/highway.h>

namespace tenon {

namespace {

struct IsaTarget {
  Isa isa;
  std::string_view name;
  int64_t target;
};

// Best first.
constexpr IsaTarget kIsas[] = {{Isa::Avx512, "avx512", HWY_AVX3},   {Isa::Avx2, "avx2", HWY_AVX2},
                               {Isa::Sse4, "sse4", HWY_SSE4},       {Isa::Neon, "neon", HWY_NEON},
                               {Isa::Scalar, "scalar", HWY_EMU128}, {Isa::Scalar, "scalar", HWY_SCALAR}};

// Whether the CPU and the system have what Highway's target of this name is compiled for.
#if defined(__x86_64__)
bool has_sse4() {
  return __builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul") &&
         __builtin_cpu_supports("aes");
}
bool has_avx2() {
  return has_sse4() && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("f16c");
}
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
}
int64_t targets_of_machine() {
  __builtin_cpu_init();
  return (has_sse4() ? HWY_SSE4 : 0) | (has_avx2() ? HWY_AVX2 : 0) | (has_avx512() ? HWY_AVX3 : 0);
}
#else
int64_t targets_of_machine() { return 0; }
#endif

// Asked once: a virtual machine answers each question about the CPU in a tenth of a millisecond.
int64_t usable_targets() {
  constexpr int64_t kEverywhere = HWY_STATIC_TARGET | HWY_EMU128 | HWY_SCALAR;
  static const int64_t targets = (targets_of_machine() | kEverywhere) & HWY_TARGETS;
  return targets;
}

}  // namespace

const std::vector<Isa>& usable_isas() {
  static const std::vector<Isa> isas = [] {
    std::vector<Isa> found;
    for (const IsaTarget& i : kIsas)
      if ((usable_targets() & i.target) != 0) found.push_back(i.isa);
    return found;
  }();
  return isas;
}

std::string_view isa_name(Isa isa) {
  for (const IsaTarget& i : kIsas)
    if (i.isa == isa) return i.name;
  return "";
}

Result<Isa> isa_of_name(std::string_view name) {
  std::string known;
  for (const Isa isa : usable_isas()) {
    if (isa_name(isa) == name) return isa;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", isa_name(isa));
  }
  return invalid_argument("kernels cannot use the instruction set '{}' on this machine; use one of: {}", name, known);
}

int64_t targets_up_to(Isa isa) {
  int64_t allowed = 0;
  for (const IsaTarget& i : kIsas)
    if (i.isa == isa || allowed != 0) allowed |= i.target & usable_targets();
  return allowed;
}

}  // namespace tenon
