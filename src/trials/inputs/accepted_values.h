#pragma once

#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "ir/graph.h"

// Which contents of an input make sense to the nodes that read it: indices inside what they index, divisors that are
// not zero, lengths that fit. Found by walking the graph backwards once.
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
  // What suits both; where nothing does, the one that was there first.
  void restrict_to(const Accepted& other);
};

using AcceptedValues = Table<ValueId, Accepted>;

// The value of a symbol of the graph's shapes, or nothing.
using KnownDims = std::function<std::optional<int64_t>(const std::string&)>;

// One per graph input.
std::vector<Accepted> accepted_inputs(const Graph& graph, const KnownDims& dims);

// A node with what its outputs may hold.
struct ConsumerView {
  const Graph& graph;
  const GraphNode& node;
  const AcceptedValues& accepted;
  const KnownDims& dims;

  const Type* type(size_t input) const;
  std::optional<int64_t> rank(size_t input) const;
  // The extent of an input along an axis (counted from the end when negative), when it can be told.
  std::optional<int64_t> extent(size_t input, int64_t axis) const;
  // The one element of a small constant input.
  std::optional<double> constant(size_t input) const;
  int64_t integer_param(const char* name, int64_t otherwise) const;
  std::vector<std::string> words_param(const char* name) const;
  std::vector<int64_t> integers_param(const char* name) const;
  Accepted output(size_t i = 0) const;
};

}  // namespace tenon
