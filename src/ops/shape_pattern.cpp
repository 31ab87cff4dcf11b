#include "ops/shape_pattern.h"

#include <algorithm>
#include <charconv>

#include "base/status.h"

namespace tenon {

namespace {

std::string_view without_spaces_around(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// The parts between separators that are not inside of parentheses; nothing for an empty text.
std::vector<std::string_view> pattern_parts(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (text[i] != separator || depth != 0) continue;
    parts.push_back(without_spaces_around(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  const std::string_view last = without_spaces_around(text.substr(begin));
  if (!parts.empty() || !last.empty()) parts.push_back(last);
  return parts;
}

Result<ExtentPattern> parse_extent(std::string_view text) {
  ExtentPattern extent;
  if (const auto parts = pattern_parts(text, '/'); parts.size() == 2) {
    const auto [end, problem] = std::from_chars(parts[1].data(), parts[1].data() + parts[1].size(), extent.divisor);
    if (problem != std::errc() || end != parts[1].data() + parts[1].size() || extent.divisor < 1)
      return invalid_model("'{}' is not divided by a positive integer", text);
    text = parts[0];
  }
  TN_ASSIGN_OR_RETURN(extent.wanted, Dim::parse(text));
  return extent;
}

Result<AxisPattern> parse_axis(std::string_view text) {
  AxisPattern axis;
  if (text.ends_with("...")) {
    axis.is_rest = true;
    axis.rest_name = text.substr(0, text.size() - 3);
    return axis;
  }
  for (const std::string_view choice : pattern_parts(text, '|')) {
    TN_ASSIGN_OR_RETURN(axis.choices.emplace_back(), parse_extent(choice));
  }
  if (axis.choices.empty()) return invalid_model("a shape has an axis without a text");
  return axis;
}

Result<ShapePattern> parse_shape_pattern(std::string_view text) {
  if (!text.starts_with('[') || !text.ends_with(']')) return invalid_model("the shape '{}' is not in brackets", text);
  ShapePattern pattern;
  for (const std::string_view part : pattern_parts(text.substr(1, text.size() - 2), ',')) {
    TN_ASSIGN_OR_RETURN(pattern.emplace_back(), parse_axis(part));
  }
  if (std::ranges::count(pattern, true, &AxisPattern::is_rest) > 1)
    return invalid_model("the shape '{}' leaves open where its axes are", text);
  return pattern;
}

Fit worse_fit(Fit a, Fit b) { return std::min(a, b); }

Fit fit_equal(const Dim& wanted, const Dim& extent) {
  if (wanted.is_invalid() || extent.is_invalid()) return Fit::No;
  if (wanted == extent) return Fit::Yes;
  return wanted.is_constant() && extent.is_constant() ? Fit::No : Fit::Open;
}

Fit fit_extent(const ExtentPattern& pattern, const Dim& given, PatternValues& values) {
  const Dim extent = given * Dim(pattern.divisor);
  std::vector<std::string> unknown;
  pattern.wanted.collect_symbols(unknown);
  std::erase_if(unknown, [&](const std::string& name) { return values.extents.contains(name); });
  std::ranges::sort(unknown);
  unknown.erase(std::unique(unknown.begin(), unknown.end()), unknown.end());
  const auto wanted_for = [&](int64_t x) {
    return pattern.wanted.substitute([&](const std::string& name) -> std::optional<Dim> {
      const auto it = values.extents.find(name);
      return it == values.extents.end() ? Dim(x) : it->second;
    });
  };
  if (unknown.empty()) return fit_equal(wanted_for(0), extent);
  if (unknown.size() > 1) return Fit::Open;
  // base + factor * name: the extent tells the name.
  const Dim base = wanted_for(0), factor = wanted_for(1) - base, rest = extent - base;
  if (!factor.is_constant() || factor.value() < 1 || !(wanted_for(2) - base == factor * Dim(2))) return Fit::Open;
  if (rest.is_invalid() || (rest.is_constant() && rest.value() < 0)) return Fit::No;
  const Dim quotient = floor_div(rest, factor);
  if (!(quotient * factor == rest)) return rest.is_constant() ? Fit::No : Fit::Open;
  values.extents.emplace(unknown[0], quotient);
  return Fit::Yes;
}

Fit fit_axis(const AxisPattern& axis, const Dim& extent, PatternValues& values) {
  Fit best = Fit::No;
  for (const ExtentPattern& choice : axis.choices) {
    best = std::max(best, fit_extent(choice, extent, values));
    if (best == Fit::Yes) break;
  }
  return best;
}

Fit fit_rest(const AxisPattern& axis, const Shape& shape, PatternValues& values) {
  if (axis.rest_name.empty()) return Fit::Yes;
  const auto [known, is_new] = values.rests.try_emplace(axis.rest_name, shape);
  if (is_new) return Fit::Yes;
  if (known->second.size() != shape.size()) return Fit::No;
  Fit all = Fit::Yes;
  for (size_t i = 0; i < shape.size(); ++i) all = worse_fit(all, fit_equal(known->second[i], shape[i]));
  return all;
}

Fit fit_pattern(const ShapePattern& pattern, const Shape& shape, PatternValues& values) {
  const auto rest = std::ranges::find(pattern, true, &AxisPattern::is_rest);
  const bool has_rest = rest != pattern.end();
  if (has_rest ? shape.size() + 1 < pattern.size() : shape.size() != pattern.size()) return Fit::No;
  const size_t skipped = shape.size() + (has_rest ? 1 : 0) - pattern.size();
  Fit all = Fit::Yes;
  auto extent = shape.begin();
  for (const AxisPattern& axis : pattern) {
    if (axis.is_rest) {
      const auto end = extent + static_cast<std::ptrdiff_t>(skipped);
      all = worse_fit(all, fit_rest(axis, Shape(extent, end), values));
      extent = end;
    } else {
      all = worse_fit(all, fit_axis(axis, *extent++, values));
    }
    if (all == Fit::No) break;
  }
  return all;
}

std::string extent_text(const ExtentPattern& pattern, const PatternValues& values) {
  const Dim wanted = pattern.wanted.substitute([&](const std::string& name) -> std::optional<Dim> {
    const auto it = values.extents.find(name);
    return it == values.extents.end() ? std::nullopt : std::optional(it->second);
  });
  if (pattern.divisor == 1) return wanted.to_string();
  if (wanted.is_constant() && wanted.value() % pattern.divisor == 0)
    return std::to_string(wanted.value() / pattern.divisor);
  return fmt::format("{}/{}", wanted.to_string(), pattern.divisor);
}

std::string axis_text(const AxisPattern& axis, const PatternValues& values) {
  std::string text;
  if (!axis.is_rest) {
    for (const ExtentPattern& choice : axis.choices) text += (text.empty() ? "" : "|") + extent_text(choice, values);
    return text;
  }
  const auto known = values.rests.find(axis.rest_name);
  if (known == values.rests.end()) return axis.rest_name + "...";
  for (const Dim& d : known->second) text += (text.empty() ? "" : ", ") + d.to_string();
  return text;
}

}  // namespace

Result<ShapePatterns> parse_shape_patterns(std::string_view text) {
  constexpr std::string_view kOr = " or ";
  ShapePatterns patterns;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(kOr, begin), text.size());
    TN_ASSIGN_OR_RETURN(patterns.emplace_back(),
                        parse_shape_pattern(without_spaces_around(text.substr(begin, end - begin))));
    begin = end + kOr.size();
  }
  return patterns;
}

Fit fit_shape(const ShapePatterns& patterns, const Shape& shape, PatternValues& values) {
  std::optional<PatternValues> possible;
  size_t open = 0;
  for (const ShapePattern& pattern : patterns) {
    PatternValues then = values;
    const Fit fit = fit_pattern(pattern, shape, then);
    if (fit == Fit::Yes) {
      values = std::move(then);
      return Fit::Yes;
    }
    if (fit == Fit::No) continue;
    ++open;
    possible = std::move(then);
  }
  if (open == 1) values = std::move(*possible);
  return open == 0 ? Fit::No : Fit::Open;
}

std::string pattern_text(const ShapePatterns& patterns, const PatternValues& values) {
  std::string text;
  for (const ShapePattern& pattern : patterns) {
    std::string axes;
    for (const AxisPattern& axis : pattern) {
      const std::string part = axis_text(axis, values);
      axes += (axes.empty() || part.empty() ? "" : ", ") + part;
    }
    text += (text.empty() ? "[" : " or [") + axes + "]";
  }
  return text;
}

}  // namespace tenon
