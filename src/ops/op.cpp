#include "ops/op.h"

#include <array>
#include <stdexcept>
#include <unordered_map>

namespace tenon {

#define OP(name) \
  template <>    \
  OpDef op_definition<OpId::name>();
#include "ops/ops.def"
#undef OP

namespace {

struct Registry {
  std::vector<OpDef> defs;  // by id
  std::vector<OpId> ids;
  std::unordered_map<std::string_view, OpId> by_name;

  // In the order of the list, which is that of the ids.
  void add(OpId id, std::string_view name, OpDef def) {
    def.name = name;
    defs.push_back(def);
    ids.push_back(id);
    by_name.emplace(name, id);
  }
  Registry() {
#define OP(id) add(OpId::id, #id, op_definition<OpId::id>());
#include "ops/ops.def"
#undef OP
  }
};

const Registry& registry() {
  static const Registry instance;
  return instance;
}

}  // namespace

const OpDef& op_def(OpId id) { return registry().defs[static_cast<size_t>(id)]; }
const std::vector<OpId>& all_ops() { return registry().ids; }

std::optional<OpId> op_from_name(std::string_view name) {
  auto it = registry().by_name.find(name);
  if (it == registry().by_name.end()) return std::nullopt;
  return it->second;
}

Params default_params(OpId id) { return Params::of_op(id, op_def(id).make_params()); }

Params Params::of_op(OpId op, std::shared_ptr<const void> data) {
  Params p;
  p.data_ = std::move(data);
  p.type_ = op_def(op).params_type;
  return p;
}

void Params::refuse(const std::type_info& wanted) const {
  throw std::logic_error(
      fmt::format("parameters of type {} were read as type {}", type_ ? type_->name() : "none", wanted.name()));
}

}  // namespace tenon
