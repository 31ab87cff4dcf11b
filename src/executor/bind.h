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
// The types of what flows into the steps from `start` on, as a key.
std::string types_key(const PreparedPlan& plan, size_t start, std::span<const Cell> cells);
void append_type(std::string& key, const Cell& cell);
// The bytes of a tensor of numbers, else nothing.
std::string_view content_of(const Cell& cell);
// Whether the contents that decided the segment's shapes are the same; types are looked at before.
bool holds_for(const Segment& segment, std::span<const Cell> cells);

}  // namespace tenon
