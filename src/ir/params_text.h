#pragma once

#include <string>
#include <string_view>

#include "ops/op.h"
#include "tensor/type.h"

namespace tenon {

// Parameters as they are written in the text of a graph, "axis=1, perm=[1, 0]": the fields that differ from their
// defaults, completely, so that they can be read back.
std::string params_source(OpId op, const Params& params);
Result<Params> parse_params(OpId op, std::string_view text);

}  // namespace tenon
