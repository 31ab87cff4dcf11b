// Names are text: protobuf asks for UTF-8, and C callers get them with a zero byte at the end.
#include <cstdint>
#include <cstring>

#include "base/text/utf8.h"
#include "wire/onnx_parse.h"

namespace tenon::wire {

namespace {

// ASCII without zero bytes, which nearly all names are, eight bytes at a time.
bool is_plain(Bytes text) {
  constexpr uint64_t kHighBits = 0x8080808080808080, kOnes = 0x0101010101010101;
  size_t i = 0;
  for (; i + sizeof(uint64_t) <= text.size(); i += sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, text.data() + i, sizeof word);
    // Taking one from a zero byte sets its high bit; bytes from 1 to 127 keep it clear.
    if ((word | (word - kOnes)) & kHighBits) return false;
  }
  for (; i < text.size(); ++i)
    if (static_cast<signed char>(text[i]) <= 0) return false;
  return true;
}

bool is_utf8(Bytes text) {
  while (!text.empty())
    if (next_code_point(text) > kMaxCodePoint) return false;
  return true;
}

// For messages: what cannot be shown as it is becomes \xNN, and what is long is cut.
std::string shown(Bytes text) {
  constexpr size_t kMostShown = 100;
  std::string result;
  while (!text.empty() && result.size() < kMostShown) {
    const char32_t code = next_code_point(text);
    if (code > kMaxCodePoint)
      result += fmt::format("\\x{:02x}", static_cast<uint32_t>(code - kInvalidByte));
    else if (code < 0x20 || code == 0x7F)
      result += fmt::format("\\x{:02x}", static_cast<uint32_t>(code));
    else
      append_code_point(result, code);
  }
  return text.empty() ? result : result + "...";
}

}  // namespace

Bytes parse_name(const Field& field) {
  const Bytes name = field.bytes();
  if (is_plain(name)) return name;
  const char* problem = !is_utf8(name)                              ? "is not valid UTF-8"
                        : name.find('\0') != std::string_view::npos ? "contains a zero byte"
                                                                    : nullptr;
  if (problem) throw ParseError(Code::InvalidModel, fmt::format("the name '{}' {}", shown(name), problem));
  return name;
}

}  // namespace tenon::wire
