#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "ops/op.h"
#include "tensor/type.h"

namespace tenon {

// A set of element types, as a bit mask.
class TypeSet {
 public:
  constexpr TypeSet(std::initializer_list<DType> types) {
    for (DType d : types) bits_ |= 1u << static_cast<int>(d);
  }
  constexpr bool has(DType d) const { return bits_ >> static_cast<int>(d) & 1; }
  friend constexpr TypeSet operator|(TypeSet a, TypeSet b) {
    a.bits_ |= b.bits_;
    return a;
  }
  std::string to_string() const;

 private:
  uint32_t bits_ = 0;
};

inline constexpr TypeSet kFloats{DType::Float16, DType::BFloat16, DType::Float32, DType::Float64};
inline constexpr TypeSet kSmallFloats{DType::Float8E4M3FN,   DType::Float8E4M3FNUZ, DType::Float8E5M2,
                                      DType::Float8E5M2FNUZ, DType::Float8E8M0,     DType::Float4E2M1,
                                      DType::Float6E2M3,     DType::Float6E3M2};
inline constexpr TypeSet kFloat8{DType::Float8E4M3FN, DType::Float8E4M3FNUZ, DType::Float8E5M2, DType::Float8E5M2FNUZ};
inline constexpr TypeSet kSignedInts{DType::Int8, DType::Int16, DType::Int32, DType::Int64};
inline constexpr TypeSet kUnsignedInts{DType::UInt8, DType::UInt16, DType::UInt32, DType::UInt64};
inline constexpr TypeSet kSubByteInts{DType::Int4, DType::UInt4, DType::Int2, DType::UInt2};
inline constexpr TypeSet kInts = kSignedInts | kUnsignedInts;
inline constexpr TypeSet kNumbers = kFloats | kInts;
inline constexpr TypeSet kBool{DType::Bool};
inline constexpr TypeSet kIndex{DType::Int32, DType::Int64};
inline constexpr TypeSet kComplex{DType::Complex64, DType::Complex128};
inline constexpr TypeSet kStrings{DType::String};
// Kernels that allocate their output write elements as they are stored, so that they leave packed types out.
inline constexpr TypeSet kWholeByteTypes = kNumbers | kBool | kComplex | kStrings;
inline constexpr TypeSet kAnyType = kNumbers | kSmallFloats | kSubByteInts | kBool | kComplex | kStrings;

// Where a rule learns what is known beyond types. The compiler answers from constants and symbols, binding from the
// tensors themselves.
class InferKnowledge {
 public:
  virtual ~InferKnowledge() = default;
  // The elements of an integer (or bool) input that a shape depends on, as far as they are known.
  virtual std::optional<std::vector<Dim>> values(size_t input) = 0;
  // The same for passing on to an output: answered only when it costs nothing and changes with shapes alone.
  virtual std::optional<std::vector<Dim>> propagated(size_t input) = 0;
  // The input itself (of any type) that a shape depends on, when it is known.
  virtual const Tensor* constant(size_t input) = 0;
  // A symbol that stands for an extent only the computation will tell.
  virtual Dim fresh_symbol() = 0;
  // Output types of a sub-graph for these input types.
  virtual Result<std::vector<Type>> infer_body(size_t body, std::vector<Type> inputs) = 0;
};

// What a shape rule sees of its node: input types in, output types out. Inputs may be absent (optional), of unknown
// type, or of unknown rank; a rule must cope, and leaves open what it cannot know.
class InferContext {
 public:
  InferContext(OpId op, const Params& params, std::vector<const Type*> inputs, size_t output_count,
               InferKnowledge& knowledge)
      : op_(op), params_(params), inputs_(std::move(inputs)), outputs_(output_count), values_(output_count),
        knowledge_(knowledge) {}

  OpId op() const { return op_; }
  template <class P>
  const P& params() const {
    return params_.get<P>();
  }

  size_t input_count() const { return inputs_.size(); }
  bool has(size_t i) const { return i < inputs_.size() && inputs_[i]; }
  // The type of an input that is there; an absent one is Unknown.
  const Type& in(size_t i) const;
  DType dtype(size_t i) const { return in(i).dtype; }
  // Null when the rank is unknown.
  const Shape* shape(size_t i) const { return has(i) && inputs_[i]->shape ? &*inputs_[i]->shape : nullptr; }
  std::optional<int64_t> rank(size_t i) const;
  // Elements that decide an output's shape.
  std::optional<std::vector<Dim>> values(size_t i) { return has(i) ? knowledge_.values(i) : std::nullopt; }
  // Elements for out_values() only; never decide a shape by these.
  std::optional<std::vector<Dim>> propagated(size_t i) { return has(i) ? knowledge_.propagated(i) : std::nullopt; }
  // The elements of an integer input when every one is a known integer.
  std::optional<std::vector<int64_t>> ints(size_t i);
  // The whole input, when a shape depends on it and it is known (scales of a Resize, limits of a Range).
  const Tensor* constant(size_t i) { return has(i) ? knowledge_.constant(i) : nullptr; }
  Dim fresh_symbol() { return knowledge_.fresh_symbol(); }
  Shape fresh_shape(size_t rank);
  Result<std::vector<Type>> infer_body(size_t body, std::vector<Type> inputs) {
    return knowledge_.infer_body(body, std::move(inputs));
  }

  // Type checks; an unknown type passes (binding checks again when it is known).
  Status expect_tensor(size_t i, TypeSet allowed) const;
  Status expect_rank(size_t i, int64_t rank) const;
  Status expect_same_dtype(size_t i, size_t j) const;

  size_t output_count() const { return outputs_.size(); }
  bool wants(size_t i) const { return i < outputs_.size(); }
  void out(size_t i, Type type) {
    if (wants(i)) outputs_[i] = std::move(type);
  }
  void out(size_t i, DType dtype, std::optional<Shape> shape) { out(i, Type::tensor(dtype, std::move(shape))); }
  // The elements of a small integer output that are already known (row-major).
  void out_values(size_t i, std::vector<Dim> values) {
    if (wants(i)) values_[i] = std::move(values);
  }

  std::vector<Type>& outputs() { return outputs_; }
  std::vector<std::optional<std::vector<Dim>>>& output_values() { return values_; }

 private:
  OpId op_;
  const Params& params_;
  std::vector<const Type*> inputs_;
  std::vector<Type> outputs_;
  std::vector<std::optional<std::vector<Dim>>> values_;
  InferKnowledge& knowledge_;
};

// Runs an op's rule with arity and dimension checks around it.
Status infer_op(InferContext& context);

// Small pieces that rules share.

// Rules work out the elements of shapes and the like, which have few.
inline constexpr int64_t kMaxPropagated = 64;

// axis in [-rank, rank) to [0, rank); an error names the attribute.
Result<int64_t> normalize_axis(int64_t axis, int64_t rank, const char* what = "axis");
// Sorted, unique, non-negative axes.
Result<std::vector<int64_t>> normalize_axes(std::span<const int64_t> axes, int64_t rank, const char* what = "axes");
// Numpy broadcasting of two shapes. Two different symbols give the larger (one must be 1 or they are equal).
Result<Shape> broadcast(const Shape& a, const Shape& b);
// One output that is just like input 0, whose type must be allowed.
Status infer_same_as_input(InferContext& c, TypeSet allowed);

}  // namespace tenon
