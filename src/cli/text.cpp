#include "cli/text.h"

#include <fmt/format.h>

#include <algorithm>

namespace cli {

namespace {

// Bytes of the character that text begins with; 0 when it is none of UTF-8.
size_t character_length(std::string_view text) {
  const auto c = static_cast<unsigned char>(text[0]);
  const size_t length = c < 0x80 ? 1 : c < 0xC2 ? 0 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : c < 0xF5 ? 4 : 0;
  if (length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) return 0;
  return length;
}

// Of both sets of control characters, of which a terminal may obey any.
bool is_control(std::string_view character) {
  const auto c = static_cast<unsigned char>(character.back());
  if (character.size() == 1) return (c < 0x20 && c != '\n') || c == 0x7f;
  return character.size() == 2 && static_cast<unsigned char>(character[0]) == 0xC2 && c < 0xA0;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const size_t length = character_length(text);
    const std::string_view character = text.substr(0, std::max<size_t>(1, length));
    if (length == 0 || is_control(character))
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(character.back()));
    else
      result += character;
    text.remove_prefix(character.size());
  }
  return result;
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

std::string counted(int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

Table::Table(std::vector<std::string> headers) : headers_(std::move(headers)) {
  for (std::string& header : headers_) {
    right_.push_back(header.starts_with('>'));
    if (right_.back()) header.erase(0, 1);
  }
}

void Table::add(std::vector<std::string> cells) {
  cells.resize(headers_.size());
  for (std::string& cell : cells) {
    cell = printable(cell);
    std::replace(cell.begin(), cell.end(), '\n', ' ');
  }
  rows_.push_back(std::move(cells));
}

namespace {

// Characters, which is what columns are counted in; the bytes that continue one do not count.
size_t width(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

std::string Table::text() const {
  std::vector<size_t> widths;
  for (size_t i = 0; i < headers_.size(); ++i) {
    widths.push_back(width(headers_[i]));
    for (const auto& row : rows_) widths[i] = std::max(widths[i], width(row[i]));
  }
  auto format_row = [&](const std::vector<std::string>& row) {
    std::string text;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - width(row[i]), ' ');
      text += "  " + (right_[i] ? padding + row[i] : row[i] + padding);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
  };
  std::string text;
  if (std::any_of(headers_.begin(), headers_.end(), [](const auto& h) { return !h.empty(); }))
    text = format_row(headers_);
  for (const auto& row : rows_) text += format_row(row);
  return text;
}

std::string nearest(std::string_view word, const std::vector<std::string>& choices) {
  std::string best;
  size_t best_distance = std::max<size_t>(2, word.size() / 3) + 1;
  for (const std::string& choice : choices) {
    // Edit distance, one row at a time.
    std::vector<size_t> row(choice.size() + 1);
    for (size_t j = 0; j <= choice.size(); ++j) row[j] = j;
    for (size_t i = 1; i <= word.size(); ++i) {
      size_t diagonal = row[0];
      row[0] = i;
      for (size_t j = 1; j <= choice.size(); ++j) {
        const size_t above = row[j];
        row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (word[i - 1] != choice[j - 1])});
        diagonal = above;
      }
    }
    if (row.back() < std::min(best_distance, std::max(word.size(), choice.size()))) {
      best_distance = row.back();
      best = choice;
    }
  }
  return best;
}

std::string suggestion(std::string_view word, const std::vector<std::string>& choices) {
  const std::string near = nearest(word, choices);
  return near.empty() ? "" : fmt::format("; did you mean '{}'?", near);
}

}  // namespace cli
