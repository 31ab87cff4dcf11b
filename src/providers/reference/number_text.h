#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Numbers as text and back, the same in every locale.
namespace tenon {

// The shortest text that reads back as the same number; NaN, INF and -INF as ONNX spells them.
std::string number_text(float value);
std::string number_text(double value);

// The whole text (blanks around it apart) as a number: plain, scientific, INF, NaN in any case. Too large is infinity.
std::optional<double> parse_number(std::string_view text);
// The same for integers of 64 bits; also "true" and "false" in any case.
std::optional<int64_t> parse_integer(std::string_view text);

}  // namespace tenon
