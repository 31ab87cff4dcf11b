#include "ops/tokenizer.h"

#include "base/text/regex.h"
#include "ops/infer.h"

namespace tenon {

namespace {

Status check_params(const TokenizerParams& p) {
  if (p.separators.empty() == p.tokenexp.empty())
    return invalid_model("exactly one of separators and tokenexp must be given and must not be empty");
  if (p.mincharnum < 1) return invalid_model("mincharnum is {}; it must be positive", p.mincharnum);
  if (p.by_character()) {
    if (p.mincharnum > 1)
      return invalid_model("mincharnum is {}, but every character is a token; it must be 1", p.mincharnum);
    return {};
  }
  if (!p.tokenexp.empty()) return Regex::compile(p.tokenexp).status();
  for (const std::string& separator : p.separators) TN_RETURN_IF_ERROR(Regex::compile(separator).status());
  return {};
}

Status infer_tokenizer(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kStrings));
  TN_RETURN_IF_ERROR(check_params(c.params<TokenizerParams>()));
  std::optional<Shape> shape = c.in(0).shape;
  if (!shape) {
    c.out(0, DType::String, std::nullopt);
    return {};
  }
  if (shape->empty() || shape->size() > 2)
    return invalid_model("X must be [C] or [N, C], but its shape is {}", shape_text(*shape));
  // No strings have no tokens: [0] and [N, 0] stay as they are.
  if (element_count(*shape).equals(0))
    shape->back() = Dim(0);
  else
    shape->push_back(c.fresh_symbol());
  c.out(0, DType::String, std::move(shape));
  return {};
}

}  // namespace

template <>
OpDef op_definition<OpId::Tokenizer>() {
  return define<TokenizerParams>(
      {.inputs = {1, 1}, .outputs = {1, 1}, .infer = infer_tokenizer, .decides_output_size = true});
}

}  // namespace tenon
