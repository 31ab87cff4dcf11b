#pragma once

#include <string>
#include <string_view>

#include "tensor/tensor.h"

// Elements of small tensors as text.
namespace tenon {

// "[1, 2.5]", "[\"a\"]"; bytes as "x0af3" for types that have no plain numbers.
std::string literal_text(const Tensor& tensor);
Result<Tensor> parse_literal(DType dtype, const std::vector<int64_t>& dims, std::string_view text);

// With quotes around, and what is not printable escaped.
std::string quoted(std::string_view text);
Result<std::string> unquoted(std::string_view text);
// The parts of "[a, b]"; commas inside quotes and brackets do not separate.
Result<std::vector<std::string_view>> list_items(std::string_view text);
std::string_view trimmed(std::string_view text);

}  // namespace tenon
