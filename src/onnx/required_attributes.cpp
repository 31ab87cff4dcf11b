#include "onnx/required_attributes.h"

#include <unordered_map>

namespace tenon {

namespace {

struct Required {
  std::string_view domain, op_type, attribute;
  int64_t since, until;
};

constexpr Required kRequired[] = {
#define REQUIRED(domain, op_type, attribute, since, until) {domain, op_type, attribute, since, until},
#include "onnx/required_attributes.def"
#undef REQUIRED
};

using ByOp = std::unordered_multimap<std::string_view, const Required*>;

const ByOp& required_by_op() {
  static const ByOp table = [] {
    ByOp made;
    for (const Required& r : kRequired) made.emplace(r.op_type, &r);
    return made;
  }();
  return table;
}

}  // namespace

Status check_required_attributes(const ImportNode& node, std::string_view domain) {
  const auto [begin, end] = required_by_op().equal_range(node.node().op_type);
  for (auto it = begin; it != end; ++it) {
    const Required& r = *it->second;
    const bool applies = r.domain == domain && node.version() >= r.since && (r.until == 0 || node.version() < r.until);
    if (applies && !node.has_attribute(r.attribute))
      return invalid_model("{} (version {}) needs attribute '{}'", r.op_type, node.version(), r.attribute);
  }
  return {};
}

}  // namespace tenon
