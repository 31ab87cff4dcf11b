#include "ops/einsum.h"

#include <algorithm>
#include <array>

#include "ops/infer.h"

namespace tenon {

namespace {

constexpr char kEllipsis = '.';

// Letters of one term, with one '.' for an ellipsis.
Result<std::string> parse_term(std::string_view text) {
  std::string term;
  for (size_t i = 0; i < text.size(); ++i) {
    const char ch = text[i];
    if (ch == ' ') continue;
    if (ch == '.') {
      if (text.substr(i, 3) != "...") return invalid_model("'{}' has a dot that is not part of an ellipsis", text);
      if (term.find(kEllipsis) != std::string::npos) return invalid_model("'{}' has two ellipses", text);
      term += kEllipsis;
      i += 2;
    } else if ((ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z')) {
      term += ch;
    } else {
      const auto code = static_cast<unsigned char>(ch);
      const bool printable = code >= 0x20 && code < 0x7F;
      return invalid_model("the equation contains the character '{}', which is not a letter",
                           printable ? std::string(1, ch) : fmt::format("\\x{:02x}", code));
    }
  }
  return term;
}

struct Terms {
  std::vector<std::string> inputs;
  std::optional<std::string> output;
};

Result<Terms> split_equation(std::string_view equation) {
  Terms terms;
  const size_t arrow = equation.find("->");
  std::string_view left = equation.substr(0, arrow);
  if (arrow != std::string_view::npos) {
    TN_ASSIGN_OR_RETURN(terms.output, parse_term(equation.substr(arrow + 2)));
  }
  for (size_t begin = 0;;) {
    const size_t comma = left.find(',', begin);
    TN_ASSIGN_OR_RETURN(std::string term, parse_term(left.substr(begin, comma - begin)));
    terms.inputs.push_back(std::move(term));
    if (comma == std::string_view::npos) return terms;
    begin = comma + 1;
  }
}

// Without "->" the result has the ellipsis, then every letter that occurs once, in alphabetical order.
std::string implicit_output(const std::vector<std::string>& inputs) {
  std::array<int, 128> count{};
  for (const std::string& term : inputs)
    for (char ch : term) ++count[static_cast<size_t>(ch)];
  std::string output(count[kEllipsis] ? 1 : 0, kEllipsis);
  for (size_t ch = 'A'; ch <= 'z'; ++ch)
    if (count[ch] == 1) output += static_cast<char>(ch);
  return output;
}

// How many axes an ellipsis stands for in each term.
Result<std::vector<size_t>> hidden_axes(const std::vector<std::string>& terms, std::span<const size_t> ranks) {
  std::vector<size_t> hidden;
  for (size_t i = 0; i < terms.size(); ++i) {
    const bool ellipsis = terms[i].find(kEllipsis) != std::string::npos;
    const size_t letters = terms[i].size() - ellipsis;
    if (ellipsis ? ranks[i] < letters : ranks[i] != letters)
      return invalid_model("term {} ('{}') does not match an input of rank {}", i, terms[i], ranks[i]);
    hidden.push_back(ranks[i] - letters);
  }
  return hidden;
}

Status check_output(const std::string& output, const std::vector<std::string>& inputs, size_t hidden) {
  for (size_t i = 0; i < output.size(); ++i) {
    const char ch = output[i];
    if (output.find(ch, i + 1) != std::string::npos) return invalid_model("'{}' occurs twice in the output term", ch);
    if (ch != kEllipsis && std::ranges::none_of(inputs, [&](auto& t) { return t.find(ch) != std::string::npos; }))
      return invalid_model("'{}' occurs in the output term but in no input term", ch);
  }
  if (hidden > 0 && output.find(kEllipsis) == std::string::npos)
    return invalid_model("the input terms have an ellipsis, but the output term has none");
  return {};
}

}  // namespace

Result<EinsumLabels> parse_einsum(const std::string& equation, std::span<const size_t> ranks) {
  TN_ASSIGN_OR_RETURN(Terms terms, split_equation(equation));
  if (terms.inputs.size() != ranks.size())
    return invalid_model("the equation '{}' has {} input terms, but {} inputs are given", equation, terms.inputs.size(),
                         ranks.size());
  TN_ASSIGN_OR_RETURN(auto hidden, hidden_axes(terms.inputs, ranks));
  const size_t most_hidden = *std::ranges::max_element(hidden);
  const std::string output = terms.output ? *terms.output : implicit_output(terms.inputs);
  TN_RETURN_IF_ERROR(check_output(output, terms.inputs, most_hidden));

  // Labels 0 .. most_hidden - 1 are the axes behind ellipses, aligned at their ends.
  EinsumLabels labels;
  labels.label_count = most_hidden;
  std::array<size_t, 128> letters{};
  auto label_term = [&](const std::string& term, size_t hidden_count) {
    std::vector<size_t> result;
    for (char ch : term) {
      if (ch == kEllipsis) {
        for (size_t i = most_hidden - hidden_count; i < most_hidden; ++i) result.push_back(i);
        continue;
      }
      size_t& label = letters[static_cast<size_t>(ch)];  // 0: not seen yet, else label + 1
      if (label == 0) label = ++labels.label_count;
      result.push_back(label - 1);
    }
    return result;
  };
  for (size_t i = 0; i < terms.inputs.size(); ++i) labels.operands.push_back(label_term(terms.inputs[i], hidden[i]));
  labels.output = label_term(output, most_hidden);
  return labels;
}

namespace {

// The extent of each label, where extents of 1 stretch.
Result<Shape> label_extents(InferContext& c, const EinsumLabels& labels) {
  Shape extents(labels.label_count, Dim(1));
  for (size_t i = 0; i < labels.operands.size(); ++i) {
    const Shape& shape = *c.shape(i);
    const auto& axes = labels.operands[i];
    for (size_t axis = 0; axis < axes.size(); ++axis) {
      for (size_t other = 0; other < axis; ++other)
        if (axes[axis] == axes[other] && shape[axis].is_constant() && shape[other].is_constant() &&
            !(shape[axis] == shape[other]))
          return invalid_model("input {} of shape {} repeats a label on axes of different extents", i,
                               shape_text(shape));
      auto both = broadcast(Shape{extents[axes[axis]]}, Shape{shape[axis]});
      if (!both.ok())
        return invalid_model("axis {} of input {} has extent {}, but its label has extent {} elsewhere", axis, i,
                             shape[axis].to_string(), extents[axes[axis]].to_string());
      extents[axes[axis]] = (*both)[0];
    }
  }
  return extents;
}

Status infer_einsum(InferContext& c) {
  const auto& equation = c.params<EinsumParams>().equation;
  std::vector<size_t> ranks;
  for (size_t i = 0; i < c.input_count(); ++i) {
    if (!c.has(i)) return invalid_model("input {} is missing", i);
    TN_RETURN_IF_ERROR(c.expect_tensor(i, kNumbers));
    TN_RETURN_IF_ERROR(c.expect_same_dtype(0, i));
    if (c.shape(i)) ranks.push_back(c.shape(i)->size());
  }
  if (ranks.size() < c.input_count()) {
    c.out(0, c.dtype(0), std::nullopt);
    return {};
  }
  TN_ASSIGN_OR_RETURN(auto labels, parse_einsum(equation, ranks));
  TN_ASSIGN_OR_RETURN(Shape extents, label_extents(c, labels));
  Shape shape;
  for (size_t label : labels.output) shape.push_back(extents[label]);
  c.out(0, c.dtype(0), std::move(shape));
  return {};
}

}  // namespace

template <>
OpDef op_definition<OpId::Einsum>() {
  return define<EinsumParams>({.inputs = {1, kVariadic}, .outputs = {1, 1}, .infer = infer_einsum});
}

}  // namespace tenon
