#pragma once

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ops/op.h"
#include "tensor/type.h"

// Which elements make sense as inputs of an op: indices inside what they index, divisors that are not zero, lengths
// that fit. What its output may hold, because of whoever reads that, is known before its inputs are asked for.
namespace tenon {

// What a value may hold.
struct Accepted {
  enum class Form : uint8_t {
    Any,       // elements are independent
    Reshape,   // a shape any tensor can take: -1, then ones
    Distinct,  // no element twice: axes
  };
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  Form form = Form::Any;
  bool numeric_text = false;       // strings that will be read as numbers
  std::vector<std::string> words;  // strings that consumers know; empty: any
  std::vector<int64_t> numbers;    // integers that consumers know; empty: any in the range
  // What single columns (of the last axis) hold, where consumers read them apart; empty: all columns the same.
  std::map<int64_t, Accepted> columns;

  bool is_bounded() const { return low > -std::numeric_limits<double>::infinity() && is_bounded_above(); }
  bool is_bounded_above() const { return high < std::numeric_limits<double>::infinity(); }
  static Accepted range(double low, double high) { return {.low = low, .high = high}; }
  // An index into `extent` things; the first one is there even if nothing is known.
  static Accepted index_into(std::optional<int64_t> extent);
  // A count from 1 to `extent`.
  static Accepted count_up_to(std::optional<int64_t> extent);
  static Accepted axes_of(std::optional<int64_t> rank);
  // What suits both; where nothing does, the one that was there first.
  void restrict_to(const Accepted& other);
};

// What a rule (OpDef::accepts) sees of its node.
class AcceptContext {
 public:
  explicit AcceptContext(const Params& params) : params_(params) {}
  virtual ~AcceptContext() = default;

  template <class P>
  const P& params() const {
    return params_.get<P>();
  }
  // Null when the input is absent.
  virtual const Type* type(size_t input) const = 0;
  // The one element of a small constant input.
  virtual std::optional<double> constant(size_t input) const = 0;
  // What the first output is, and what it may hold.
  virtual Type output_type() const = 0;
  virtual Accepted output() const = 0;

  std::optional<int64_t> rank(size_t input) const;
  // The extent of an input along an axis (counted from the end when negative), when it can be told.
  std::optional<int64_t> extent(size_t input, int64_t axis) const;
  bool is_integer_input(size_t input) const;

 protected:
  // The value of a symbol of the shapes, or nothing.
  virtual std::optional<int64_t> symbol_value(const std::string& symbol) const = 0;

 private:
  const Params& params_;
};

// Rules that several ops share.

// The elements of every input reach the output as they are, only elsewhere.
Accepted accepts_moved(const AcceptContext& c, size_t input);
// Those of the first input do; the others may be anything.
Accepted accepts_first_moved(const AcceptContext& c, size_t input);
// The first input moves; the second one holds axes of it.
Accepted accepts_moved_along_axes(const AcceptContext& c, size_t input);
// The first input may be anything; the second one holds axes of it.
Accepted accepts_axes(const AcceptContext& c, size_t input);
// Data that elements are taken from along an axis, by the indices of the second input.
Accepted accepts_gathered(const AcceptContext& c, size_t input, int64_t axis);
// The second input, whose last axis has indices into the first one: one for each axis from `first_axis` on.
Accepted accepts_index_tuples(const AcceptContext& c, int64_t first_axis);

}  // namespace tenon
