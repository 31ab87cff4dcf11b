#include "wire/npy_text.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/checked_math.h"

namespace tenon::wire {

namespace {

constexpr uint32_t kLastCharacter = 0x10FFFF;
bool is_surrogate(uint32_t c) { return c >= 0xD800 && c <= 0xDFFF; }

void append_utf8(uint32_t c, std::string& text) {
  const auto tail = [&](int shift) { text += static_cast<char>(0x80 | (c >> shift & 0x3F)); };
  if (c < 0x80) {
    text += static_cast<char>(c);
  } else if (c < 0x800) {
    text += static_cast<char>(0xC0 | c >> 6);
    tail(0);
  } else if (c < 0x10000) {
    text += static_cast<char>(0xE0 | c >> 12);
    tail(6);
    tail(0);
  } else {
    text += static_cast<char>(0xF0 | c >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

// The character that starts the text, which is cut off; nothing for invalid UTF-8 (overlong forms too).
std::optional<uint32_t> take_character(std::string_view& text) {
  const auto first = static_cast<uint8_t>(text[0]);
  const int length = first < 0x80 ? 1 : first >> 5 == 6 ? 2 : first >> 4 == 14 ? 3 : first >> 3 == 30 ? 4 : 0;
  if (length == 0 || static_cast<size_t>(length) > text.size()) return std::nullopt;
  static constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  uint32_t c = length == 1 ? first : first & (0x7Fu >> length);
  for (int i = 1; i < length; ++i) {
    const auto next = static_cast<uint8_t>(text[static_cast<size_t>(i)]);
    if (next >> 6 != 2) return std::nullopt;
    c = c << 6 | (next & 0x3F);
  }
  if (c < kSmallest[length] || c > kLastCharacter || is_surrogate(c)) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(length));
  return c;
}

std::optional<std::string> from_utf32(Bytes data) {
  std::vector<uint32_t> characters(data.size() / 4);
  if (!data.empty()) std::memcpy(characters.data(), data.data(), characters.size() * 4);
  while (!characters.empty() && characters.back() == 0) characters.pop_back();
  std::string text;
  for (uint32_t c : characters) {
    if (c > kLastCharacter || is_surrogate(c)) return std::nullopt;
    append_utf8(c, text);
  }
  return text;
}

}  // namespace

Result<Tensor> parse_fixed_text(const NpyHeader& header, int64_t elements, Bytes data,
                                const std::shared_ptr<MemoryBudget>& budget) {
  TN_ASSIGN_OR_RETURN(Tensor tensor, Tensor::allocate(DType::String, header.shape, budget));
  auto strings = tensor.as_mutable<std::string>();
  const auto width = static_cast<size_t>(header.item_bytes);
  for (size_t i = 0; i < static_cast<size_t>(elements); ++i) {
    Bytes item = data.substr(i * width, width);
    if (header.kind == 'S') {
      while (!item.empty() && item.back() == '\0') item.remove_suffix(1);
      strings[i] = std::string(item);
    } else {
      auto text = from_utf32(item);
      if (!text) return invalid_argument("string {} has a character outside Unicode", i);
      strings[i] = std::move(*text);
    }
  }
  return tensor;
}

Result<std::string> to_fixed_text(std::span<const std::string> strings, int64_t& characters) {
  characters = 1;
  for (size_t i = 0; i < strings.size(); ++i) {
    std::string_view rest = strings[i];
    if (rest.ends_with('\0')) return unsupported("string {} ends with a zero character, which NumPy would drop", i);
    int64_t length = 0;
    for (; !rest.empty(); ++length)
      if (!take_character(rest)) return unsupported("string {} is not valid UTF-8, which NumPy requires", i);
    characters = std::max(characters, length);
  }
  const auto total = checked_mul(static_cast<int64_t>(strings.size()), characters * 4);
  if (!total)
    return error(Code::ResourceLimit, "{} strings of {} characters are too large", strings.size(), characters);
  std::string data(static_cast<size_t>(*total), '\0');
  for (size_t i = 0; i < strings.size(); ++i) {
    char* to = data.data() + i * static_cast<size_t>(characters) * 4;
    for (std::string_view rest = strings[i]; !rest.empty(); to += 4) {
      const uint32_t c = *take_character(rest);
      std::memcpy(to, &c, 4);
    }
  }
  return data;
}

}  // namespace tenon::wire
