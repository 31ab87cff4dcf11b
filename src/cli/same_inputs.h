#pragma once

#include <string>

#include "cli/inputs.h"

namespace cli {

struct NamedModel {
  const std::string& path;
  const tenon::Model& model;
};

// Whether two models can be given the same inputs, made for the first one with these shapes. A dimension that only the
// second one fixes is fixed for both. Failure(kFailed) names the first input that only one of them has or that has
// another type.
void check_same_inputs(const NamedModel& first, const NamedModel& second, ShapeFlags& shapes);

}  // namespace cli
