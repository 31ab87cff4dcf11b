#pragma once

#include "base/status.h"
#include "plan/plan.h"

namespace tenon {

// Refuses a program that cannot run as it is: ids out of range, values read before they are made or made twice,
// slots, sources or bodies that do not fit. What a plan computes is not looked at. Bodies may be nested as deep as the
// stack allows.
Status check_program(const Program& program);

}  // namespace tenon
