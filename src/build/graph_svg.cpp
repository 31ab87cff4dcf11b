#include "build/graph_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "build/html.h"

namespace tenon::build {

namespace {

constexpr int kWidth = 170, kHeight = 40, kGapX = 24, kGapY = 36, kMargin = 12;
constexpr size_t kShownLetters = 24;

struct Box {
  const Json* node = nullptr;
  std::vector<size_t> from;
  size_t rank = 0;
  int x = 0, y = 0;
};

std::string shortened(const std::string& text) {
  if (text.size() <= kShownLetters) return text;
  size_t length = kShownLetters - 3;
  // Not within a character of several bytes.
  while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80) --length;
  return text.substr(0, length) + "...";
}

// Each box below all that it reads.
std::vector<Box> ranked(const Json& nodes) {
  std::vector<Box> boxes;
  std::map<std::string, size_t> producers;
  for (const Json& node : nodes) {
    Box box{&node, {}, 0, 0, 0};
    for (const Json& input : list_in(node, "inputs"))
      if (const auto producer = producers.find(input.get<std::string>()); producer != producers.end()) {
        box.from.push_back(producer->second);
        box.rank = std::max(box.rank, boxes[producer->second].rank + 1);
      }
    for (const Json& output : list_in(node, "outputs"))
      if (const auto name = output.get<std::string>(); !name.empty()) producers[name] = boxes.size();
    boxes.push_back(std::move(box));
  }
  return boxes;
}

// Boxes of a rank side by side, each as far as possible where those are that it reads.
void place(std::vector<Box>& boxes) {
  std::map<size_t, std::vector<size_t>> ranks;
  for (size_t i = 0; i < boxes.size(); ++i) ranks[boxes[i].rank].push_back(i);
  for (auto& [rank, members] : ranks) {
    for (const size_t i : members) {
      int64_t sum = 0;
      for (const size_t from : boxes[i].from) sum += boxes[from].x;
      boxes[i].x = boxes[i].from.empty() ? kMargin : static_cast<int>(sum / static_cast<int64_t>(boxes[i].from.size()));
    }
    std::ranges::stable_sort(members, {}, [&](size_t i) { return boxes[i].x; });
    int free = kMargin;
    for (const size_t i : members) {
      boxes[i].x = std::max(boxes[i].x, free);
      boxes[i].y = kMargin + static_cast<int>(rank) * (kHeight + kGapY);
      free = boxes[i].x + kWidth + kGapX;
    }
  }
}

std::string line(const Box& from, const Box& to) {
  const int x1 = from.x + kWidth / 2, y1 = from.y + kHeight, x2 = to.x + kWidth / 2, y2 = to.y;
  return fmt::format("<path d=\"M{},{} C{},{} {},{} {},{}\"/>\n", x1, y1, x1, y1 + kGapY / 2, x2, y2 - kGapY / 2, x2,
                     y2);
}

std::string drawn(const Box& box) {
  const std::string name = text_in(*box.node, "name"), kernel = text_in(*box.node, "kernel");
  const int middle = box.x + kWidth / 2;
  return fmt::format("<g class=\"{}\"><title>{}</title><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"4\"/>",
                     escaped(text_in(*box.node, "provider")), escaped(name + (kernel.empty() ? "" : ": " + kernel)),
                     box.x, box.y, kWidth, kHeight) +
         fmt::format("<text class=\"op\" x=\"{}\" y=\"{}\">{}</text><text x=\"{}\" y=\"{}\">{}</text></g>\n", middle,
                     box.y + 16, escaped(shortened(text_in(*box.node, "op"))), middle, box.y + 31,
                     escaped(shortened(name)));
}

}  // namespace

std::string graph_svg(const Json& nodes) {
  std::vector<Box> boxes = ranked(nodes);
  place(boxes);
  int right = 0, bottom = 0;
  std::string lines, shapes;
  for (const Box& box : boxes) {
    right = std::max(right, box.x + kWidth);
    bottom = std::max(bottom, box.y + kHeight);
    shapes += drawn(box);
    for (const size_t from : box.from) lines += line(boxes[from], box);
  }
  return fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\">\n{}{}</svg>\n",
                     right + kMargin, bottom + kMargin, lines, shapes);
}

}  // namespace tenon::build
