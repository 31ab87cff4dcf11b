#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/status.h"

// What ONNX says about versions, as of the newest release known here.
namespace tenon {

// Of the file format.
int64_t newest_ir_version();
// Of a domain's operators; nothing for domains that are not known here.
std::optional<int64_t> newest_version(std::string_view domain);

// An error when the op came later than this version of its domain.
Status check_introduced(std::string_view domain, std::string_view op_type, int64_t version);
// False when ONNX knows the op, and not with this attribute in this version.
bool has_attribute(std::string_view domain, std::string_view op_type, std::string_view attribute, int64_t version);
bool is_deprecated(std::string_view domain, std::string_view op_type, int64_t version);

// The name that people know the default domain by.
inline std::string_view shown_domain(std::string_view domain) { return domain.empty() ? "ai.onnx" : domain; }

}  // namespace tenon
