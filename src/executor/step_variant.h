#pragma once

#include "plan/plan.h"
#include "providers/provider.h"

namespace tenon {

// Which variant of its family runs a step, and why those before it do not.
struct StepVariant {
  std::string_view name;  // "": it depends on shapes that are open, or the op does not allow what the plan declares
  std::vector<Refusal> refusals;
};

// As far as the plan knows the shapes.
StepVariant variant_of(const Plan& plan, const Step& step, Isa isa);

}  // namespace tenon
