#include "ops/external.h"

#include <map>

#include "ops/infer.h"

namespace tenon {

namespace {

// "[batch, 3]"; nothing for an empty text, which says nothing of the rank.
Result<std::optional<Shape>> parse_shape(std::string_view text) {
  if (text.empty()) return std::optional<Shape>();
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return invalid_model("'{}' is not a shape", text);
  text = text.substr(1, text.size() - 2);
  Shape shape;
  // Commas inside of min(a, b) and max(a, b) separate nothing.
  int depth = 0;
  for (size_t begin = 0, i = 0; i <= text.size() && !text.empty(); ++i) {
    if (i < text.size()) depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (i < text.size() && (text[i] != ',' || depth > 0)) continue;
    std::string_view dim = text.substr(begin, i - begin);
    dim.remove_prefix(std::min(dim.find_first_not_of(' '), dim.size()));
    TN_ASSIGN_OR_RETURN(Dim parsed, Dim::parse(dim));
    shape.push_back(std::move(parsed));
    begin = i + 1;
  }
  return std::optional(std::move(shape));
}

using Symbols = std::map<std::string, Dim>;

// Checks an input against what the provider was compiled for, and learns what its symbols are.
Status match_input(const Shape& declared, const Shape& given, size_t input, Symbols& symbols) {
  if (declared.size() != given.size())
    return invalid_model("input {} has the shape {}, but the step was compiled for {}", input, shape_text(given),
                         shape_text(declared));
  for (size_t i = 0; i < given.size(); ++i) {
    Dim expected = declared[i];
    if (const auto name = expected.as_symbol()) expected = symbols.try_emplace(*name, given[i]).first->second;
    if (expected.is_constant() && given[i].is_constant() && expected != given[i])
      return invalid_model("input {} has the shape {}, but the step was compiled for {}", input, shape_text(given),
                           shape_text(declared));
  }
  return {};
}

Status infer_external(InferContext& c) {
  const auto& p = c.params<ExternalParams>();
  TN_RETURN_IF_ERROR(c.expect_tensor(0, {DType::UInt8}));
  if (p.input_shapes.size() + 1 != c.input_count() || p.output_dtypes.size() < c.output_count() ||
      p.output_shapes.size() < c.output_count())
    return invalid_model("the step was not compiled for {} inputs and {} outputs", c.input_count() - 1,
                         c.output_count());
  Symbols symbols;
  for (size_t i = 0; i < p.input_shapes.size(); ++i) {
    TN_ASSIGN_OR_RETURN(const auto declared, parse_shape(p.input_shapes[i]));
    if (declared && c.shape(i + 1)) TN_RETURN_IF_ERROR(match_input(*declared, *c.shape(i + 1), i, symbols));
  }
  const auto known = [&](const std::string& name) -> std::optional<Dim> {
    const auto it = symbols.find(name);
    return it == symbols.end() ? std::nullopt : std::optional(it->second);
  };
  for (size_t i = 0; i < c.output_count(); ++i) {
    const auto dtype = dtype_from_onnx(p.output_dtypes[i]);
    if (!dtype || *dtype == DType::Undefined) return invalid_model("unknown element type {}", p.output_dtypes[i]);
    TN_ASSIGN_OR_RETURN(auto shape, parse_shape(p.output_shapes[i]));
    if (shape)
      for (Dim& d : *shape) d = d.substitute(known);
    c.out(i, *dtype, std::move(shape));
  }
  return {};
}

}  // namespace

template <>
OpDef op_definition<OpId::External>() {
  return define<ExternalParams>({.inputs = {1, kVariadic},
                                 .outputs = {1, kVariadic},
                                 .infer = infer_external,
                                 .deterministic = false,
                                 .exact = false,
                                 .can_fail = true,
                                 .decides_output_size = true});
}

}  // namespace tenon
