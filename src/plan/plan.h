#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ops/op.h"
#include "plan/layout.h"
#include "tensor/type.h"
#include "tensor/value.h"

// The executable form of a graph. Data only: whoever runs it brings the logic.
namespace tenon {

using PlanValueId = int32_t;
inline constexpr PlanValueId kNoValue = -1;  // an absent optional input, or an output nobody wants

// Where a value lives while a plan runs.
enum class Storage : uint8_t {
  Arena,  // dense, placed by binding once its shape is known
  Slot,   // a packed weight of the snapshot the run holds
  Boxed,  // strings, sequences, optionals, maps
};

struct PlanValue {
  std::string name;  // of the source graph; empty for values that passes made
  Type type;         // symbolic
  Storage storage = Storage::Arena;
  int32_t slot = -1;  // Storage::Slot only
  ValueLayout layout{};
};

struct Plan;

struct Step {
  std::string family;      // the kernel family that runs it
  int family_version = 1;  // the version of it that the step was made for
  OpId op{};
  Params params;
  std::vector<PlanValueId> inputs;
  std::vector<PlanValueId> outputs;
  std::vector<std::shared_ptr<const Plan>> bodies;  // If, Loop, Scan, SequenceMap
  std::string origin;                               // name of the source node, for messages and profiles
};

// A value of the enclosing plan that a body reads.
struct Capture {
  PlanValueId outer = kNoValue;
  PlanValueId inner = kNoValue;
};

struct PlanInput {
  PlanValueId value = kNoValue;
  // A slot whose tensor stands in when the caller gives none (an initializer that is listed as input), or -1.
  int32_t default_slot = -1;
};

// A symbol of the inputs' shapes whose value steps read in every run: the lengths of sequences, batches and caches.
// Runs with other values of the same class share one binding, whose memory is laid out for the largest of the class.
struct LateDim {
  enum class Classes : uint8_t {
    Quarters,  // 16, then four sizes for each doubling: 20, 24, 28, 32, 40, ...
    Doublings  // 16, 32, 64, ...: for what grows by one from run to run
  };
  std::string symbol;
  Classes classes = Classes::Quarters;
};

struct Plan {
  std::vector<PlanValue> values;
  std::vector<Step> steps;  // in an order that respects data flow
  std::vector<PlanInput> inputs;
  std::vector<PlanValueId> outputs;
  std::vector<std::string> output_names;  // one value may leave under several names
  std::vector<Capture> captures;          // bodies only
  std::vector<LateDim> late_dims;         // of the plan of a program only
};

// A source weight: a named constant of the model, as the user knows it.
struct SourceInfo {
  std::string name;  // "scope/name"
  DType dtype = DType::Undefined;
  std::vector<int64_t> dims;
  // False for the value of a Constant node, which stays as it is when a new set of weights does not mention it.
  bool expected = true;
};

// One entry of the weight program: slot = expression(sources). Without an expression the slot is its one source.
// An expression is a plan with the sources as inputs, in order, and one output.
struct WeightEntry {
  int32_t slot = -1;
  std::vector<int32_t> sources;  // into Program::sources
  std::shared_ptr<const Plan> expression;
  std::string layout;  // how kernels read the slot: "" row-major, else the name of a packing
};

// What a compile learned about a source by asking. New weights that would change the answer do not fit the plan.
inline constexpr const char* kLiteral = "literal";
struct Guard {
  int32_t source = -1;  // into Program::sources
  std::string asker;    // the op or rule that wanted to know
  // "elements", "literal", "all zero", "equal to 1", ...: see plan/property.h, which reads and evaluates them
  std::string property;
  std::string answer;  // what the property was, as text
};

// Everything a session runs: the plan, and how each slot comes from the sources.
struct Program {
  Plan plan;
  std::vector<SourceInfo> sources;
  std::vector<WeightEntry> weight_program;  // one per slot, in slot order
  std::vector<Guard> guards;
};

}  // namespace tenon
