#include "build/graph_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "build/graph_layout.h"
#include "build/html.h"

namespace tenon::build {

namespace {

constexpr LayoutSizes kSizes = {.width = 176, .height = 40, .gap_x = 20, .gap_y = 30, .lane = 14};
constexpr int kMargin = 12;
constexpr size_t kShownLetters = 24;
// More nodes than people look at in one drawing.
constexpr size_t kMostDrawn = 5000;

// Both ends of a long text say more than its start.
std::string shortened(const std::string& text) {
  std::vector<size_t> letters;  // where each begins
  for (size_t i = 0; i < text.size(); ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) letters.push_back(i);
  if (letters.size() <= kShownLetters) return text;
  const size_t end = kShownLetters / 2, start = kShownLetters - end - 1;
  return text.substr(0, letters[start]) + "\u2026" + text.substr(letters[letters.size() - end]);
}

// The nodes that each node reads, each once.
std::vector<std::vector<size_t>> read_by(const Json& nodes) {
  std::vector<std::vector<size_t>> from;
  std::map<std::string, size_t> producers;
  for (const Json& node : nodes) {
    std::set<size_t> found;
    for (const Json& input : list_in(node, "inputs"))
      if (const auto producer = producers.find(input.get<std::string>()); producer != producers.end())
        found.insert(producer->second);
    for (const Json& output : list_in(node, "outputs"))
      if (const auto name = output.get<std::string>(); !name.empty()) producers[name] = from.size();
    from.emplace_back(found.begin(), found.end());
  }
  return from;
}

// Straight through the rows that it passes, bent between them.
std::string drawn(const Line& line, const Layout& layout) {
  Point at = layout.boxes[line.from];
  at = {at.x + kSizes.width / 2, at.y + kSizes.height};
  std::string path = fmt::format("<path d=\"M{},{}", at.x + kMargin, at.y + kMargin);
  const auto go = [&](const Point& to) {
    const int half = (to.y - at.y) / 2;
    if (to.x == at.x)
      path += fmt::format(" V{}", to.y + kMargin);
    else
      path += fmt::format(" C{},{} {},{} {},{}", at.x + kMargin, at.y + half + kMargin, to.x + kMargin,
                          to.y - half + kMargin, to.x + kMargin, to.y + kMargin);
    at = to;
  };
  for (const Point& row : line.rows) {
    go(row);
    go({row.x, row.y + kSizes.height});
  }
  const Point& end = layout.boxes[line.to];
  go({end.x + kSizes.width / 2, end.y});
  return path + "\"/>\n";
}

std::string drawn(const Json& node, const Point& corner) {
  const int x = corner.x + kMargin, y = corner.y + kMargin, middle = x + kSizes.width / 2;
  const std::string link = text_in(node, "link");
  std::string box = fmt::format(
      "<g id=\"{}\" class=\"{}\"><title>{}</title><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"4\"/>"
      "<text class=\"op\" x=\"{}\" y=\"{}\">{}</text><text x=\"{}\" y=\"{}\">{}</text></g>",
      escaped(text_in(node, "id")), escaped(text_in(node, "kind")), escaped(text_in(node, "title")), x, y, kSizes.width,
      kSizes.height, middle, y + 17, escaped(shortened(text_in(node, "op"))), middle, y + 32,
      escaped(shortened(text_in(node, "name"))));
  return link.empty() ? box + "\n" : fmt::format("<a href=\"#{}\">{}</a>\n", escaped(link), box);
}

}  // namespace

std::string graph_svg(const Json& nodes) {
  const Layout layout = lay_out(read_by(nodes), kSizes);
  std::string lines, boxes;
  for (const Line& line : layout.lines) lines += drawn(line, layout);
  for (size_t i = 0; i < layout.boxes.size(); ++i) boxes += drawn(nodes[i], layout.boxes[i]);
  const int width = layout.width + 2 * kMargin, height = layout.height + 2 * kMargin;
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n", width,
             height) +
         lines + boxes + "</svg>\n";
}

std::string graph_html(const Json& nodes) {
  if (nodes.size() > kMostDrawn)
    return fmt::format("<p>The graph has {} nodes; only graphs of up to {} are drawn.</p>\n", nodes.size(), kMostDrawn);
  if (nodes.empty()) return "<p>The graph has no nodes.</p>\n";
  // A wide drawing may begin far from where it is looked at first.
  return fmt::format(
             "<p>Go to the <a href=\"#{}\">first</a> or the <a href=\"#{}\">last</a> node; each leads to its row in "
             "the table.</p>\n<div class=\"graph\">\n",
             escaped(text_in(nodes.front(), "id")), escaped(text_in(nodes.back(), "id"))) +
         graph_svg(nodes) + "</div>\n";
}

}  // namespace tenon::build
