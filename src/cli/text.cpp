#include "cli/text.h"

#include <fmt/format.h>

#include <algorithm>

namespace cli {

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
