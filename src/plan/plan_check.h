#pragma once

#include "base/status.h"
#include "plan/plan.h"
#include "plan/plan_bytes.h"

namespace tenon {

// Refuses a program that cannot run as it is: ids out of range, values read before they are made or made twice,
// slots, sources or bodies that do not fit. What a plan computes is not looked at. Bodies may be nested as deep as the
// stack allows.
Status check_program(const Program& program);

// Refuses a weight program with a step whose results may differ from machine to machine. Checks nothing without a
// function that knows.
Status check_exactness(const Program& program, const FindFamilyFacts& family_facts);

// Whether a step can be run at all: its kernel family, parameters, sub-plans, and the inputs and outputs that its op
// always has belong together. Kernels and rules rely on it.
Status check_signature(const Step& step);

}  // namespace tenon
