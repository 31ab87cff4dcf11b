#pragma once

#include <string>
#include <vector>

#include "ops/cast.h"
#include "ops/op.h"
#include "plan/plan.h"

namespace tenon {

inline const Dim kBatch = Dim::symbol("batch");

inline PlanValue arena_value(std::string name, DType dtype, Shape shape) {
  return {std::move(name), Type::tensor(dtype, std::move(shape)), Storage::Arena, -1};
}
inline PlanValue slot_value(std::string name, DType dtype, Shape shape, int32_t slot) {
  return {std::move(name), Type::tensor(dtype, std::move(shape)), Storage::Slot, slot};
}

inline Step make_step(OpId op, std::vector<PlanValueId> inputs, std::vector<PlanValueId> outputs, std::string origin) {
  Step step;
  step.op = op;
  step.family = (op_def(op).has_bodies() ? "control/" : "reference/") + std::string(op_def(op).name);
  step.params = default_params(op);
  step.inputs = std::move(inputs);
  step.outputs = std::move(outputs);
  step.origin = std::move(origin);
  return step;
}

// y = op(x, slot), where x is captured.
inline std::shared_ptr<const Plan> sample_body(OpId op, const std::string& name) {
  Plan body;
  body.values = {arena_value("outer", DType::Float32, {kBatch, 2}), slot_value("w", DType::Float32, {2}, 0),
                 arena_value(name, DType::Float32, {kBatch, 2})};
  body.captures = {{3, 0}};
  body.steps = {make_step(op, {0, 1}, {2}, name + " node")};
  body.outputs = {2};
  body.output_names = {name};
  return std::make_shared<const Plan>(std::move(body));
}

// The double of a source, rounded to half precision: an expression of one input.
inline std::shared_ptr<const Plan> sample_expression() {
  Plan plan;
  plan.values = {arena_value("", DType::Float32, {2}), arena_value("doubled", DType::Float32, {2}),
                 arena_value("", DType::Float16, {2})};
  plan.inputs = {{0, -1}};
  plan.steps = {make_step(OpId::Add, {0, 0}, {1}, "twice"), make_step(OpId::Cast, {1}, {2}, "round")};
  plan.steps[1].params = Params::of(CastParams{.to = DType::Float16});
  plan.outputs = {2};
  plan.output_names = {"packed"};
  return std::make_shared<const Plan>(std::move(plan));
}

// z = If(c, x + w, x * w), t = x + scale; an input that has a default; an input that is a sequence; an image that is
// stored in blocks for a while.
inline Program sample_program() {
  Program program;
  Plan& plan = program.plan;
  plan.values = {arena_value("c", DType::Bool, {}),
                 arena_value("data", DType::Float32, {kBatch, 2}),
                 {"list", Type::sequence(Type::tensor(DType::Int64)), Storage::Boxed, -1},
                 arena_value("hidden", DType::Float32, {kBatch, 2}),
                 slot_value("scale", DType::Float16, {2}, 1),
                 arena_value("z", DType::Float32, {kBatch, floor_div(kBatch * Dim(2) + Dim(1), Dim(3))}),
                 arena_value("t", DType::Float32, {kBatch, 2})};
  plan.inputs = {{0, -1}, {1, 0}, {2, -1}};
  plan.steps = {make_step(OpId::Relu, {1}, {3}, "first"), make_step(OpId::If, {0}, {5}, "choose"),
                make_step(OpId::Clip, {3, kNoValue, 4}, {6}, "last")};
  plan.steps[1].bodies = {sample_body(OpId::Add, "then"), sample_body(OpId::Mul, "else")};
  // An image by way of another layout.
  plan.values.push_back(arena_value("image", DType::Float32, {kBatch, 40, 3}));
  plan.values.push_back(arena_value("blocks", DType::Float32, {kBatch, 40, 3}));
  plan.values.push_back(arena_value("back", DType::Float32, {kBatch, 40, 3}));
  plan.values[8].layout = {ValueLayout::Kind::Blocked16, 1, {24, 16}};
  plan.steps.push_back(make_step(OpId::Reshape, {3, 4}, {7}, "image"));
  for (const PlanValueId v : {7, 8}) {
    plan.steps.push_back(make_step(OpId::Reorder, {v}, {v + 1}, "reorder"));
    plan.steps.back().family = "cpu/Reorder";
  }
  plan.late_dims = {{"batch", LateDim::Classes::Quarters}};
  plan.outputs = {5, 6, 6, 9};
  plan.output_names = {"z", "t", "t again", "back"};
  program.sources = {{"w", DType::Float32, {2}}, {"scope/s", DType::Float32, {2}}, {"words", DType::String, {3}}};
  program.weight_program = {{0, {0}, nullptr, ""}, {1, {1}, sample_expression(), "halves"}, {2, {2}, nullptr, ""}};
  program.guards = {{0, "fuse_scale", "all positive", "no"}, {2, "fold_labels", "elements", "a b c"}};
  return program;
}

}  // namespace tenon
