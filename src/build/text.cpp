#include "build/text.h"

#include <fmt/format.h>

namespace tenon::build {

std::string printable(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    // 0xC2 0x80 to 0xC2 0x9F are the second set of control characters in UTF-8.
    const bool second_set =
        c == 0xC2 && i + 1 < text.size() && (static_cast<unsigned char>(text[i + 1]) & 0xE0) == 0x80;
    if (second_set) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[++i]));
    } else if ((c < 0x20 && c != '\n') || c == 0x7f) {
      result += fmt::format("\\x{:02x}", c);
    } else {
      result += text[i];
    }
  }
  return result;
}

bool is_utf8(std::string_view text) {
  // The smallest code points that need one, two, three and more bytes after the first.
  constexpr uint32_t kSmallest[] = {0, 0x80, 0x800, 0x10000};
  for (size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i++]);
    const size_t more = first < 0x80 ? 0 : first >> 5 == 6 ? 1 : first >> 4 == 14 ? 2 : first >> 3 == 30 ? 3 : 4;
    if (more > 3 || text.size() - i < more) return false;
    uint32_t code = more == 0 ? first : first & (0x3Fu >> more);
    for (size_t k = 0; k < more; ++k, ++i) {
      const auto next = static_cast<unsigned char>(text[i]);
      if (next >> 6 != 2) return false;
      code = code << 6 | (next & 0x3Fu);
    }
    if (code < kSmallest[more] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return false;
  }
  return true;
}

std::string human_bytes(int64_t bytes) {
  static constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  for (value /= 1024; value >= 1024 && unit + 1 < std::size(kUnits); value /= 1024) ++unit;
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string human_seconds(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.1f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.1f} ms", seconds * 1e3);
  return fmt::format("{:.2f} s", seconds);
}

std::string in_file(const std::string& file, const std::string& message) {
  const bool names_it = message.starts_with(file + ":") || message.find("'" + file + "'") != std::string::npos;
  return names_it ? message : file + ": " + message;
}

}  // namespace tenon::build
