#pragma once

#include <span>
#include <string>

#include "executor/cell.h"
#include "executor/prepared_plan.h"

namespace tenon {

// Solves shapes, chooses kernels and places buffers for the steps from `start` on. Everything made before is in
// `cells`.
Result<std::shared_ptr<const Segment>> bind_segment(const PreparedPlan& plan, size_t start,
                                                    std::span<const Cell> cells);
// The shapes of a segment with late dims for the inputs at hand. An error: it does not serve them.
Result<std::shared_ptr<const SegmentShapes>> shapes_in(const PreparedPlan& plan, const Segment& segment,
                                                       std::span<const Cell> cells);
// The types of what flows into the steps from `start` on, as a key; late dims count by their class.
std::string types_key(const PreparedPlan& plan, size_t start, std::span<const Cell> cells);
// The bytes of a tensor of numbers, else nothing.
std::string_view content_of(const Cell& cell);
// Whether the contents that decided the segment's shapes are the same; types are looked at before.
bool holds_for(const Segment& segment, std::span<const Cell> cells);

}  // namespace tenon
