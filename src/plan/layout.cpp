#include "plan/layout.h"

#include "base/checked_math.h"

namespace tenon {

std::string layout_text(const ValueLayout& layout) {
  if (layout.is_plain()) return "";
  std::string text = "blocked16";
  if (layout.border > 0) text += fmt::format(" border={}", layout.border);
  for (size_t i = 0; i < layout.segments.size(); ++i)
    text += (i == 0 ? " segments=" : "+") + std::to_string(layout.segments[i]);
  return text;
}

int64_t channel_blocks(const ValueLayout& layout, int64_t channels) {
  if (layout.segments.empty()) return ceil_div(channels, kLanes);
  int64_t blocks = 0;
  for (const int64_t part : layout.segments) blocks += ceil_div(part, kLanes);
  return blocks;
}

std::optional<int64_t> stored_elements(const ValueLayout& layout, Dims dims) {
  std::vector<int64_t> stored(dims.begin(), dims.end());
  if (!layout.is_plain()) {
    stored[1] = channel_blocks(layout, dims[1]);
    for (size_t i = 2; i < stored.size(); ++i) stored[i] += 2 * layout.border;
    stored.push_back(kLanes);
  }
  return checked_product(stored);
}

}  // namespace tenon
