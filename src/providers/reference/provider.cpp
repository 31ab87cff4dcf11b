// The reference provider: one plain kernel for every op.
#include <fmt/format.h>

#include <string>
#include <unordered_map>

#include "providers/reference/kernel.h"

namespace tenon {

#define OP(name) \
  template <>    \
  KernelFunction reference_kernel<OpId::name>();
#include "ops/ops.def"
#undef OP

const KernelFamily* find_reference_family(std::string_view name) {
  // A family and the one variant it has.
  struct Entry {
    Variant variant;
    KernelFamily family;
  };
  static const auto entries = [] {
    std::unordered_map<std::string, Entry> map;
    const auto add = [&](OpId id, KernelFunction function) {
      const OpDef& def = op_def(id);
      // Control flow only moves whole values between sub-plans, so packed elements stay packed.
      std::string name = fmt::format("{}/{}", def.has_bodies() ? "control" : "reference", def.name);
      Entry& entry = map[name];
      entry.variant = {"plain", function};
      entry.family = {.name = std::move(name),
                      .variants = {&entry.variant, 1},
                      .one_element_per_byte = !def.has_bodies(),
                      .exact = def.fits_weight_program()};
    };
#define OP(id) add(OpId::id, reference_kernel<OpId::id>());
#include "ops/ops.def"
#undef OP
    return map;
  }();
  const auto it = entries.find(std::string(name));
  return it == entries.end() ? nullptr : &it->second.family;
}

}  // namespace tenon
