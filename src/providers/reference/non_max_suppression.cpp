#include "ops/non_max_suppression.h"

#include <algorithm>
#include <numeric>

#include "providers/reference/kernel.h"
#include "providers/reference/work_meter.h"
#include "providers/scratch.h"

namespace tenon {

namespace {

struct Box {
  double left, top, right, bottom;
  double area() const { return (right - left) * (bottom - top); }
};

Box box_of(const float* b, bool is_center) {
  if (is_center) return {b[0] - b[2] / 2.0, b[1] - b[3] / 2.0, b[0] + b[2] / 2.0, b[1] + b[3] / 2.0};
  return {std::min(b[1], b[3]), std::min(b[0], b[2]), std::max(b[1], b[3]), std::max(b[0], b[2])};
}

// Intersection over union; 0 for boxes without area.
double overlap(const Box& a, const Box& b) {
  const double width = std::min(a.right, b.right) - std::max(a.left, b.left);
  const double height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  if (!(width > 0) || !(height > 0) || a.area() <= 0 || b.area() <= 0) return 0;
  const double both = width * height, either = a.area() + b.area() - both;
  return either > 0 ? both / either : 0;
}

// The chosen boxes of one class, best first.
Scratch<int64_t> choose(const Scratch<Box>& boxes, const float* scores, int64_t most, double max_overlap,
                        const float* least_score) {
  Scratch<int64_t> candidates, chosen;
  for_each_index(static_cast<int64_t>(boxes.size()), [&](int64_t i) {
    if (scores[i] == scores[i] && (!least_score || scores[i] > *least_score)) candidates.push_back(i);
  });
  WorkMeter meter;
  // Equal scores keep their order; a sort that is stable by itself takes memory that nobody counts.
  std::ranges::sort(candidates, [&](int64_t a, int64_t b) {
    meter.spend();
    return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
  });
  for (int64_t candidate : candidates) {
    if (static_cast<int64_t>(chosen.size()) >= most) break;
    const bool is_new = std::ranges::none_of(chosen, [&](int64_t other) {
      meter.spend();
      return overlap(boxes[static_cast<size_t>(candidate)], boxes[static_cast<size_t>(other)]) > max_overlap;
    });
    if (is_new) chosen.push_back(candidate);
  }
  return chosen;
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::NonMaxSuppression>() {
  return [](KernelContext& c) -> Status {
    const int64_t batches = c.in(1).dims[0], classes = c.in(1).dims[1], count = c.in(1).dims[2];
    const int64_t most = c.has(2) ? c.in(2).as<int64_t>()[0] : 0;
    const double max_overlap = c.has(3) ? c.in(3).as<float>()[0] : 0;
    if (!(max_overlap >= 0 && max_overlap <= 1))
      return invalid_argument("iou_threshold {} is outside 0..1", max_overlap);
    const float* least_score = c.has(4) ? c.in(4).as<float>().data() : nullptr;
    const float* boxes = static_cast<const float*>(c.in(0).data);
    const float* scores = static_cast<const float*>(c.in(1).data);
    Scratch<int64_t> selected;
    for (int64_t batch = 0; c.in(1).size() > 0 && most > 0 && batch < batches; ++batch) {
      Scratch<Box> shapes;
      const bool is_center = c.params<NonMaxSuppressionParams>().center_point_box;
      shapes.reserve(static_cast<size_t>(count));
      for_each_index(count, [&](int64_t i) { shapes.push_back(box_of(boxes + (batch * count + i) * 4, is_center)); });
      for (int64_t k = 0; k < classes; ++k) {
        TN_RETURN_IF_ERROR(c.services().check_cancelled());
        for (int64_t i : choose(shapes, scores + (batch * classes + k) * count, most, max_overlap, least_score))
          selected.insert(selected.end(), {batch, k, i});
      }
    }
    TN_ASSIGN_OR_RETURN(TensorView out, c.allocate(0, {static_cast<int64_t>(selected.size()) / 3, 3}));
    std::ranges::copy(selected, out.as<int64_t>().begin());
    return {};
  };
}

}  // namespace tenon
