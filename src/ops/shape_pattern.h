#pragma once

#include <map>
#include <string>
#include <vector>

#include "tensor/dim.h"

// What a shape must look like, as text: "[batch, keys, width] or [batch, 2, keys, width/2]". An extent is an expression
// of tensor/dim.h over names, or a name divided by an integer; "1|n" is either. "..." stands for any axes, "rest..."
// for axes that are the same wherever that name is. A name has one value in all shapes that are looked at together.
namespace tenon {

struct ExtentPattern {
  Dim wanted;           // over names
  int64_t divisor = 1;  // the extent times this is what is wanted
};

struct AxisPattern {
  std::vector<ExtentPattern> choices;
  bool is_rest = false;   // any number of axes
  std::string rest_name;  // empty: whatever they are
};

using ShapePattern = std::vector<AxisPattern>;
using ShapePatterns = std::vector<ShapePattern>;  // any of them will do

// What names stand for, as far as shapes have told.
struct PatternValues {
  std::map<std::string, Dim> extents;
  std::map<std::string, Shape> rests;
};

// Open: it depends on extents that are not known yet. Never for a shape of integers, unless a name is left that no
// shape tells.
enum class Fit : uint8_t { No, Open, Yes };

Result<ShapePatterns> parse_shape_patterns(std::string_view text);
// Whether the shape is one of these, and what their names stand for then.
Fit fit_shape(const ShapePatterns& patterns, const Shape& shape, PatternValues& values);
// With the values that are known in place of names.
std::string pattern_text(const ShapePatterns& patterns, const PatternValues& values);

}  // namespace tenon
