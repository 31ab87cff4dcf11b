#include "onnx/op_versions.h"

#include <unordered_map>

namespace tenon {

namespace {

struct DomainVersion {
  std::string_view domain;
  int64_t newest;
};
struct Introduced {
  std::string_view domain, op_type;
  int64_t since;
};
struct Deprecated {
  std::string_view domain, op_type;
  int64_t since, until;
};

constexpr int64_t kNewestIr =
#define NEWEST_IR(version) version
#include "onnx/op_versions.def"
    ;

constexpr DomainVersion kDomains[] = {
#define DOMAIN_VERSION(domain, newest) {domain, newest},
#include "onnx/op_versions.def"
};

constexpr Introduced kIntroduced[] = {
#define INTRODUCED(domain, op_type, since) {domain, op_type, since},
#include "onnx/op_versions.def"
};

constexpr Deprecated kDeprecated[] = {
#define DEPRECATED(domain, op_type, since, until) {domain, op_type, since, until},
#include "onnx/op_versions.def"
};

struct PassingAttribute {
  std::string_view domain, op_type, attribute;
  int64_t since, until;
};

constexpr PassingAttribute kPassingAttributes[] = {
#define ATTRIBUTE(domain, op_type, attribute, since, until) {domain, op_type, attribute, since, until},
#include "onnx/op_versions.def"
};

using ByOp = std::unordered_multimap<std::string_view, const Introduced*>;

const ByOp& introduced_by_op() {
  static const ByOp table = [] {
    ByOp made;
    for (const Introduced& entry : kIntroduced) made.emplace(entry.op_type, &entry);
    return made;
  }();
  return table;
}

}  // namespace

int64_t newest_ir_version() { return kNewestIr; }

std::optional<int64_t> newest_version(std::string_view domain) {
  for (const DomainVersion& known : kDomains)
    if (known.domain == domain) return known.newest;
  return std::nullopt;
}

Status check_introduced(std::string_view domain, std::string_view op_type, int64_t version) {
  const auto [begin, end] = introduced_by_op().equal_range(op_type);
  for (auto it = begin; it != end; ++it)
    if (it->second->domain == domain && version < it->second->since)
      return invalid_model(
          "{} needs at least version {} of the operators of {}, but the model imports version {}; export the model for "
          "a newer version",
          op_type, it->second->since, shown_domain(domain), version);
  return {};
}

bool has_attribute(std::string_view domain, std::string_view op_type, std::string_view attribute, int64_t version) {
  bool passes = false;
  for (const PassingAttribute& a : kPassingAttributes) {
    if (a.op_type != op_type || a.attribute != attribute || a.domain != domain) continue;
    if (version >= a.since && (a.until == 0 || version < a.until)) return true;
    passes = true;
  }
  return !passes;
}

bool is_deprecated(std::string_view domain, std::string_view op_type, int64_t version) {
  for (const Deprecated& d : kDeprecated)
    if (d.op_type == op_type && d.domain == domain) return version >= d.since && (d.until == 0 || version < d.until);
  return false;
}

}  // namespace tenon
