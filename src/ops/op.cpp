#include "ops/op.h"

#include <array>
#include <unordered_map>

namespace tenon {

#define OP(name) \
  template <>    \
  OpDef op_definition<OpId::name>();
#include "ops/ops.def"
#undef OP

namespace {

struct Registry {
  std::vector<OpDef> defs;
  std::unordered_map<std::string_view, OpId> by_name;

  Registry() {
#define OP(id)                                 \
  defs.push_back(op_definition<OpId::id>());   \
  defs.back().name = #id;
#include "ops/ops.def"
#undef OP
    for (size_t i = 0; i < defs.size(); ++i) by_name.emplace(defs[i].name, static_cast<OpId>(i));
  }
};

const Registry& registry() {
  static const Registry instance;
  return instance;
}

}  // namespace

const OpDef& op_def(OpId id) { return registry().defs[static_cast<size_t>(id)]; }
size_t op_count() { return registry().defs.size(); }

std::optional<OpId> op_from_name(std::string_view name) {
  auto it = registry().by_name.find(name);
  if (it == registry().by_name.end()) return std::nullopt;
  return it->second;
}

Params default_params(OpId id) { return Params::from_erased(op_def(id).make_params()); }

}  // namespace tenon
