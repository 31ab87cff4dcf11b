#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "plan/plan.h"

// Programs as bytes and back. Equal programs give equal bytes on every machine. docs/artifact.md describes them.
namespace tenon {

inline constexpr uint32_t kProgramVersion = 3;

// Everything that decides what the program does, names of inputs, outputs and sources included.
std::string program_to_bytes(const Program& program);
// What only messages and profiles need: the origins of steps, the names of values and of the outputs of bodies.
std::string debug_map_to_bytes(const Program& program);
// A plan alone, without debug map: what the keys of weights are made of.
std::string plan_to_bytes(const Plan& plan);

// What this runtime says of a kernel family.
struct FamilyFacts {
  int version = 1;
  bool exact = false;  // weight programs may use exact ones only
};
// Nothing for a family that is not here. Without such a function every name and version is taken.
using FindFamilyFacts = std::function<std::optional<FamilyFacts>(std::string_view)>;

// Takes any bytes and refuses those that are not a program: InvalidModel when they are damaged, Incompatible when
// another version made them or they name an op, dtype, family or version of a family that is not here. An empty debug
// map leaves the names empty.
Result<std::shared_ptr<const Program>> program_from_bytes(std::string_view bytes, std::string_view debug_map = {},
                                                          const FindFamilyFacts& family_facts = {});

}  // namespace tenon
