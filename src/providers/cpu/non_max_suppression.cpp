// The best boxes of each class that do not overlap. Candidates leave a heap best first, so that only those which are
// looked at are sorted; classes are independent.
#include "ops/non_max_suppression.h"

#include <algorithm>

#include "base/checked_math.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/rows.h"
#include "providers/reference/work_meter.h"
#include "providers/scratch.h"

namespace tenon {

namespace {

struct CornerBox {
  double left, top, right, bottom, area;

  CornerBox(const float* b, bool is_center) {
    if (is_center) {
      left = b[0] - b[2] / 2.0, top = b[1] - b[3] / 2.0;
      right = b[0] + b[2] / 2.0, bottom = b[1] + b[3] / 2.0;
    } else {
      left = std::min(b[1], b[3]), top = std::min(b[0], b[2]);
      right = std::max(b[1], b[3]), bottom = std::max(b[0], b[2]);
    }
    area = (right - left) * (bottom - top);
  }
};

// Whether the intersection over union is more than this; 0 for boxes without area.
bool overlap_more(const CornerBox& a, const CornerBox& b, double most) {
  const double width = std::min(a.right, b.right) - std::max(a.left, b.left);
  const double height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  if (!(width > 0) || !(height > 0) || a.area <= 0 || b.area <= 0) return false;
  const double both = width * height, either = a.area + b.area - both;
  return either > 0 && both / either > most;
}

struct ScoredBox {
  float score;
  int32_t place;
  // Of equal scores, the first place is better.
  bool operator<(const ScoredBox& other) const {
    return score != other.score ? score < other.score : place > other.place;
  }
};

struct Suppression {
  int64_t classes, count, most;
  double max_overlap;
  const float *boxes, *scores, *least_score;
  bool is_center;
};

// The chosen boxes of one class, best first.
Scratch<int32_t> choose_boxes(const Suppression& s, int64_t batch, const float* scores) {
  Scratch<ScoredBox> candidates;
  Scratch<int32_t> chosen;
  Scratch<CornerBox> chosen_boxes;
  candidates.reserve(static_cast<size_t>(s.count));
  in_pieces(s.count, [&](int64_t first, int64_t end) {
    for (int64_t i = first; i < end; ++i)
      if (scores[i] == scores[i] && (!s.least_score || scores[i] > *s.least_score))
        candidates.push_back({scores[i], static_cast<int32_t>(i)});
  });
  std::make_heap(candidates.begin(), candidates.end());
  WorkMeter meter;
  while (!candidates.empty() && static_cast<int64_t>(chosen.size()) < s.most) {
    std::pop_heap(candidates.begin(), candidates.end());
    const int32_t place = candidates.back().place;
    candidates.pop_back();
    meter.spend(static_cast<int64_t>(chosen.size()) + 16);
    const CornerBox box(s.boxes + (batch * s.count + place) * 4, s.is_center);
    const auto overlaps = [&](const CornerBox& other) { return overlap_more(box, other, s.max_overlap); };
    if (std::ranges::any_of(chosen_boxes, overlaps)) continue;
    chosen.push_back(place);
    chosen_boxes.push_back(box);
  }
  return chosen;
}

Result<KernelState> bind_suppression(const BindRequest& request) {
  const TensorView& scores = request.inputs[1];
  if (request.inputs[0].dtype != DType::Float32 || scores.dtype != DType::Float32)
    return error(Code::Unsupported, "its elements are not float32");
  if (scores.dims[2] > std::numeric_limits<int32_t>::max()) return error(Code::Unsupported, "it has too many boxes");
  return KernelState{};
}

Status run_suppression(KernelContext& c) {
  const Dims dims = c.in(1).dims;
  const Suppression s{.classes = dims[1],
                      .count = dims[2],
                      .most = c.has(2) ? c.in(2).as<int64_t>()[0] : 0,
                      .max_overlap = c.has(3) ? c.in(3).as<float>()[0] : 0,
                      .boxes = static_cast<const float*>(c.in(0).data),
                      .scores = static_cast<const float*>(c.in(1).data),
                      .least_score = c.has(4) ? static_cast<const float*>(c.in(4).data) : nullptr,
                      .is_center = c.params<NonMaxSuppressionParams>().center_point_box};
  if (!(s.max_overlap >= 0 && s.max_overlap <= 1))
    return invalid_argument("iou_threshold {} is outside 0..1", s.max_overlap);
  const int64_t all = c.in(1).size() > 0 && s.most > 0 ? dims[0] * s.classes : 0;
  Scratch<Scratch<int32_t>> chosen(static_cast<size_t>(all));
  c.parallel_for(all, [&](int64_t i) {
    poll_cancelled();
    chosen[static_cast<size_t>(i)] = choose_boxes(s, i / s.classes, s.scores + i * s.count);
  });
  int64_t count = 0;
  for (const auto& places : chosen) count += static_cast<int64_t>(places.size());
  TN_ASSIGN_OR_RETURN(TensorView out, c.allocate(0, {count, 3}));
  int64_t* to = out.as<int64_t>().data();
  for (int64_t i = 0; i < all; ++i)
    for (const int32_t place : chosen[static_cast<size_t>(i)]) {
      *to++ = i / s.classes;
      *to++ = i % s.classes;
      *to++ = place;
    }
  return {};
}

}  // namespace

std::span<const Variant> non_max_suppression_variants() {
  static const auto variants =
      with_reference(OpId::NonMaxSuppression, {{"heap", run_suppression, bind_suppression, true}});
  return variants;
}

}  // namespace tenon
