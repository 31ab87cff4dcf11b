#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Some of it is in build/text.h as well: the command is made of the public interface, which is not the place for
// how text looks on a terminal.
namespace cli {

// The text with control characters made visible: names in a model must not steer the terminal. Line ends stay.
std::string printable(std::string_view text);
// "7.0 KiB".
std::string human_bytes(int64_t bytes);
// "12.3 ms".
std::string human_seconds(double seconds);
// "1 node", "2 nodes".
std::string counted(int64_t count, std::string_view noun);
// Columns padded to line up, two spaces apart and indented by two; a column whose header starts with '>' is flushed
// right. Cells become printable. A headless table has empty headers.
class Table {
 public:
  explicit Table(std::vector<std::string> headers);
  void add(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  std::string text() const;

 private:
  std::vector<std::string> headers_;
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;
};

// The choice closest in spelling; "" when none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& choices);
// "; did you mean 'X'?", or nothing.
std::string suggestion(std::string_view word, const std::vector<std::string>& choices);

}  // namespace cli
