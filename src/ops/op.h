#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <typeinfo>

#include "base/status.h"
#include "ops/field_visitor.h"
#include "ops/rounding.h"

namespace tenon {

class AcceptContext;
class InferContext;
struct Accepted;

enum class OpId : uint16_t {
#define OP(name) name,
#include "ops/ops.def"
#undef OP
};

// The parameters of one node: an immutable struct of the op's own type, shared by copies.
class Params {
 public:
  Params() = default;
  template <class P>
  static Params of(P value) {
    Params p;
    p.data_ = std::make_shared<const P>(std::move(value));
    p.type_ = &typeid(P);
    return p;
  }
  // The struct that OpDef::make_params made for this op.
  static Params of_op(OpId op, std::shared_ptr<const void> data);

  // Throws std::logic_error when these are the parameters of another op. Plans are checked for that before they run,
  // so a throw is a mistake in a rule or a kernel.
  template <class P>
  const P& get() const {
    if (!holds(typeid(P))) refuse(typeid(P));
    return *static_cast<const P*>(data_.get());
  }
  bool holds(const std::type_info& type) const { return type_ && *type_ == type; }
  const void* erased() const { return data_.get(); }

 private:
  [[noreturn]] void refuse(const std::type_info& wanted) const;

  std::shared_ptr<const void> data_;
  const std::type_info* type_ = nullptr;
};

struct NoParams {
  void fields(FieldVisitor&) {}
};

inline constexpr int kVariadic = 1 << 30;

struct Arity {
  int min = 0;
  int max = 0;
};

// Whether an op's first output may lie in memory that an input leaves.
enum class InPlace : uint8_t {
  No,
  Elementwise,   // over any input of the output's dims and element size: each element is read before it is written
  SameElements,  // the output is the first input under other dims: nothing moves
};

// An output that holds indices into the first input along an axis.
struct ChosenIndices {
  size_t output = 0;
  int64_t axis = 0;
};

// What an op is.
struct OpDef {
  Arity inputs, outputs;
  // Derives output types (and small integer contents) from input types. Also the op's type check.
  Status (*infer)(InferContext&) = nullptr;

  std::string_view name{};  // canonical, unique; from ops.def
  // How many sub-graphs it carries (If, Loop, Scan, SequenceMap); null: none.
  size_t (*body_count)(const Params&) = nullptr;
  bool deterministic = true;  // false: draws random numbers
  // Its reference kernel gives the same bits on every machine, so that a weight program may contain it. True for all
  // that compute with base/exact_math.h and the operations that IEEE 754 and integer arithmetic define.
  bool exact = true;
  // Some elements of its inputs make it fail: indices out of range, matrices without an inverse.
  bool can_fail = false;
  // true: some output's size is only known after computing it (NonZero, Unique, ...): the kernel allocates it.
  bool decides_output_size = false;
  InPlace in_place = InPlace::No;
  // Which elements of an input make sense to it (ops/accepted.h); null: any.
  Accepted (*accepts)(const AcceptContext&, size_t input) = nullptr;
  // How far two correct ways of computing it may be apart.
  Rounding rounding{};
  // The axis of its first input that it walks along step by step, as recurrent layers do; null: none.
  size_t (*time_axis)(const Params&) = nullptr;
  // The output that says which elements of the first input it chose; null: none.
  ChosenIndices (*chooses)(const Params&) = nullptr;

  // Type-erased handling of the parameter struct; filled by define().
  const std::type_info* params_type = nullptr;
  std::shared_ptr<void> (*make_params)() = nullptr;
  std::shared_ptr<void> (*copy_params)(const void*) = nullptr;
  void (*visit_params)(void*, FieldVisitor&) = nullptr;

  bool has_bodies() const { return body_count != nullptr; }
  // Whether a weight program may contain it: it computes tensors of known size, and the same ones every time.
  bool fits_weight_program() const { return exact && deterministic && !has_bodies() && !decides_output_size; }
};

// Completes a definition with its parameter type.
template <class P>
OpDef define(OpDef def) {
  def.params_type = &typeid(P);
  def.make_params = []() -> std::shared_ptr<void> { return std::make_shared<P>(); };
  def.copy_params = [](const void* p) -> std::shared_ptr<void> {
    return std::make_shared<P>(*static_cast<const P*>(p));
  };
  def.visit_params = [](void* p, FieldVisitor& v) { static_cast<P*>(p)->fields(v); };
  return def;
}

// Each op's file specialises this for its id.
template <OpId>
OpDef op_definition();

const OpDef& op_def(OpId id);
std::optional<OpId> op_from_name(std::string_view canonical_name);
const std::vector<OpId>& all_ops();

// Params of an op with every field at its default.
Params default_params(OpId id);
// "axis=1, keepdims=0": fields that differ from their defaults.
std::string params_text(OpId id, const Params& params);
// Serialised form; equal params give equal bytes. The reader refuses bytes that do not fit.
std::string params_to_bytes(OpId id, const Params& params);
Result<Params> params_from_bytes(OpId id, std::string_view bytes);

}  // namespace tenon
