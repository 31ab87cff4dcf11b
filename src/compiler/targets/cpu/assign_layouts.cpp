#include "compiler/targets/cpu/assign_layouts.h"

#include <algorithm>
#include <map>

#include "compiler/targets/cpu/minimum_cut.h"
#include "ops/packed.h"
#include "providers/provider.h"

namespace tenon {

namespace {

constexpr ValueLayout kBlocked{.kind = ValueLayout::Kind::Blocked16};
// Extents that are not known count as this one: regions share them, so that most choices do not depend on it.
constexpr int64_t kUnknownExtent = 224;

// Picoseconds, about: of an element that changes its layout; of a multiplication in blocks, where lanes of channels
// that are not there count as well, and on plain values; and of an element that goes through the points of tiles
// without changing its layout on the way.
constexpr int64_t kReordered = 300, kProductInBlocks = 20, kPlainProduct = 25, kSavedTileElement = 150;
constexpr int64_t kDepthwiseProductInBlocks = 40, kPlainDepthwiseProduct = 100;

size_t index(PlanValueId v) { return static_cast<size_t>(v); }

std::optional<std::vector<int64_t>> extents_of(const Type& type) {
  if (!type.is_tensor() || !type.shape) return std::nullopt;
  std::vector<int64_t> extents;
  for (const Dim& d : *type.shape) {
    const Dim known = d.substitute([](const std::string&) { return std::optional<Dim>(kUnknownExtent); });
    if (!known.is_constant()) return std::nullopt;
    extents.push_back(std::max<int64_t>(0, known.value()));
  }
  return extents;
}

// Who reads a value.
struct Reader {
  size_t step = 0, input = 0;
};

// What a step can do with values in blocks.
struct Ability {
  bool in_blocks = false;          // it can run on blocks
  bool gives_blocks = false;       // and its results are in blocks, too
  std::vector<bool> takes_blocks;  // by input: in blocks when the step is
  bool reads_plain = false;        // when the step is in blocks, its first input may be plain nevertheless
  int64_t saved = 0;               // what it costs less then; below zero: more
};

class LayoutAssignment {
 public:
  explicit LayoutAssignment(Plan& plan)
      : plan_(plan), producer_(plan.values.size(), kNone), readers_(plan.values.size()),
        must_be_plain_(plan.values.size(), false) {
    for (const PlanValue& value : plan_.values) extents_.push_back(extents_of(value.type));
    for (size_t s = 0; s < plan_.steps.size(); ++s) {
      const Step& step = plan_.steps[s];
      for (const PlanValueId v : step.outputs)
        if (v != kNoValue) producer_[index(v)] = s;
      for (size_t i = 0; i < step.inputs.size(); ++i)
        if (step.inputs[i] != kNoValue) readers_[index(step.inputs[i])].push_back({s, i});
      for (const auto& body : step.bodies)
        for (const Capture& capture : body->captures) must_be_plain_[index(capture.outer)] = true;
    }
    for (const PlanValueId v : plan_.outputs)
      if (v != kNoValue) must_be_plain_[index(v)] = true;
    for (const Step& step : plan_.steps) abilities_.push_back(ability_of(step));
  }

  void run() {
    if (std::ranges::none_of(abilities_, &Ability::in_blocks)) return;
    choose();
    std::vector<Step> steps = std::move(plan_.steps);
    plan_.steps.clear();
    for (size_t s = 0; s < steps.size(); ++s) {
      for (size_t i = 0; i < steps[s].inputs.size(); ++i) steps[s].inputs[i] = input_of(steps[s], s, i);
      for (const PlanValueId v : steps[s].outputs)
        if (v != kNoValue && in_blocks_[s] && abilities_[s].gives_blocks) plan_.values[index(v)].layout = kBlocked;
      const std::vector<PlanValueId> outputs = steps[s].outputs;
      const std::string origin = steps[s].origin;
      plan_.steps.push_back(std::move(steps[s]));
      for (const PlanValueId v : outputs)
        if (v != kNoValue && must_be_plain_[index(v)] && is_in_blocks(v)) reordered(v, origin);
    }
    for (PlanValueId& v : plan_.outputs)
      if (v != kNoValue && is_in_blocks(v)) v = reordered_.at(v);
    for (Step& step : plan_.steps) redirect_captures(step);
  }

 private:
  static constexpr size_t kNone = static_cast<size_t>(-1);

  bool is_in_blocks(PlanValueId v) const { return !plan_.values[index(v)].layout.is_plain(); }
  int64_t elements(PlanValueId v) const { return extents_[index(v)] ? count_of(*extents_[index(v)]) : 0; }
  bool is_float(PlanValueId v) const { return plan_.values[index(v)].type.dtype == DType::Float32; }

  // Inputs that are in blocks when the step is.
  std::vector<bool> blocked_inputs(const Step& step) const {
    std::vector<bool> takes(step.inputs.size(), step.op == OpId::Concat);
    takes[0] = true;
    if (step.op == OpId::PackedConv && takes.size() > kPackedAddend) takes[kPackedAddend] = true;
    if (step.op != OpId::Pointwise) return takes;
    const auto& result = plan_.values[index(any_output(step))].type.shape;
    for (size_t i = 0; i < takes.size(); ++i)
      takes[i] = step.inputs[i] != kNoValue && plan_.values[index(step.inputs[i])].type.shape == result;
    return takes;
  }
  static PlanValueId any_output(const Step& step) {
    return *std::ranges::find_if(step.outputs, [](PlanValueId v) { return v != kNoValue; });
  }

  Ability ability_of(const Step& step) const {
    Ability ability;
    const KernelFamily* family = find_family(step.family);
    if (!family || !family->takes_blocked || !step.bodies.empty() || step.op == OpId::Reorder) return ability;
    const bool has_output = std::ranges::any_of(step.outputs, [](PlanValueId v) { return v != kNoValue; });
    if (!has_output || step.inputs.empty()) return ability;
    ability.takes_blocks = blocked_inputs(step);
    for (size_t i = 0; i < step.inputs.size(); ++i)
      if (ability.takes_blocks[i] && (step.inputs[i] == kNoValue || !may_be_blocked(step.inputs[i]))) return ability;
    const bool results_may =
        std::ranges::all_of(step.outputs, [&](PlanValueId v) { return v == kNoValue || may_be_blocked(v); });
    ability.gives_blocks = results_may && runs(*family, step, ability.takes_blocks, true);
    ability.in_blocks = ability.gives_blocks || runs(*family, step, ability.takes_blocks, false);
    std::vector<bool> others = ability.takes_blocks;
    others[0] = false;
    ability.reads_plain = ability.gives_blocks && runs(*family, step, others, true);
    ability.saved = saved_by(step);
    return ability;
  }

  // A float tensor with channels and positions, more than one of them.
  bool may_be_blocked(PlanValueId v) const {
    const auto& extents = extents_[index(v)];
    const auto& shape = plan_.values[index(v)].type.shape;
    if (!is_float(v) || !extents || extents->size() < 3 || extents->size() > 5 || !(*shape)[1].is_constant())
      return false;
    return std::ranges::any_of(shape->begin() + 2, shape->end(), [](const Dim& d) { return !d.equals(1); });
  }

  // Whether the family runs the step with these layouts.
  bool runs(const KernelFamily& family, const Step& step, const std::vector<bool>& blocked,
            bool blocked_results) const {
    const auto views_of = [&](const std::vector<PlanValueId>& values) {
      std::vector<TensorView> views;
      for (const PlanValueId v : values) {
        TensorView& view = views.emplace_back();
        if (v != kNoValue && extents_[index(v)])
          view = {plan_.values[index(v)].type.dtype, *extents_[index(v)], nullptr};
      }
      return views;
    };
    const auto known = [&](PlanValueId v) { return v == kNoValue || extents_[index(v)].has_value(); };
    if (!std::ranges::all_of(step.inputs, known) || !std::ranges::all_of(step.outputs, known)) return false;
    const std::vector<TensorView> inputs = views_of(step.inputs), outputs = views_of(step.outputs);
    std::vector<ValueLayout> input_layouts(inputs.size()), output_layouts(outputs.size());
    for (size_t i = 0; i < inputs.size(); ++i)
      if (blocked[i]) input_layouts[i] = kBlocked;
    for (size_t i = 0; i < outputs.size(); ++i)
      if (blocked_results && step.outputs[i] != kNoValue) output_layouts[i] = kBlocked;
    return bind_kernel(family, {step.params, inputs, outputs, Isa::Scalar, input_layouts, output_layouts}).ok();
  }

  int64_t saved_by(const Step& step) const {
    if (step.op == OpId::PackedConvTranspose) return saved_by_transposed(step);
    if (step.op != OpId::PackedConv) return 0;
    const auto& p = step.params.get<PackedConvParams>();
    const int64_t x = elements(step.inputs[0]), y = elements(any_output(step));
    if (winograd_outputs(p.layout) > 0) return (x + y) * kSavedTileElement;
    const int64_t taps = count_of(p.conv.window.kernel_shape);
    const int64_t lanes = y / std::max<int64_t>(1, p.output_channels) * channel_blocks({}, p.output_channels) * kLanes;
    if (p.layout == PackedLayout::Depthwise)
      return taps * (y * kPlainDepthwiseProduct - lanes * kDepthwiseProductInBlocks);
    const int64_t depth = taps * (*extents_[index(step.inputs[0])])[1];
    return depth * (y * kPlainProduct - lanes * kProductInBlocks);
  }

  // Each input position meets all taps of its group's outputs.
  int64_t saved_by_transposed(const Step& step) const {
    const auto& p = step.params.get<PackedConvTransposeParams>();
    const int64_t outputs = p.output_channels / p.conv.group;
    const int64_t lanes = channel_blocks({}, outputs) * kLanes;
    return elements(step.inputs[0]) * count_of(p.conv.window.kernel_shape) *
           (outputs * kPlainProduct - lanes * kProductInBlocks);
  }

  // The cheapest choice for all steps: those in the first group run on blocks.
  void choose() {
    MinimumCut cut;
    std::vector<size_t> points;
    for (const Ability& ability : abilities_) {
      points.push_back(ability.in_blocks ? cut.add_point() : cut.second());
      if (ability.in_blocks && ability.saved > 0) cut.add_edge(cut.first(), points.back(), ability.saved);
      if (ability.in_blocks && ability.saved < 0) cut.add_edge(points.back(), cut.second(), -ability.saved);
    }
    for (size_t v = 0; v < plan_.values.size(); ++v) add_reorders(cut, points, v);
    const std::vector<bool> in_first = cut.solve();
    for (const size_t point : points) in_blocks_.push_back(in_first[point]);
    in_blocks_.resize(points.size());
  }

  // A value changes its layout once, however many readers want the other one.
  void add_reorders(MinimumCut& cut, const std::vector<size_t>& points, size_t v) const {
    if (readers_[v].empty() && !must_be_plain_[v]) return;
    const size_t producer = producer_[v];
    const bool may_be_blocked = producer != kNone && abilities_[producer].gives_blocks;
    const int64_t cost = std::max<int64_t>(1, (extents_[v] ? count_of(*extents_[v]) : 0) * kReordered);
    const size_t from = may_be_blocked ? points[producer] : cut.second();
    const size_t to_blocks = cut.add_point(), to_plain = cut.add_point();
    if (from != cut.second()) cut.add_edge(from, to_plain, cost);
    cut.add_edge(to_blocks, from, cost);
    if (must_be_plain_[v]) cut.add_edge(to_plain, cut.second(), MinimumCut::kForbidden);
    for (const Reader& reader : readers_[v]) {
      const Ability& ability = abilities_[reader.step];
      const bool follows = ability.in_blocks && ability.takes_blocks[reader.input];
      cut.add_edge(to_plain, follows ? points[reader.step] : cut.second(), MinimumCut::kForbidden);
      if (follows && !(ability.reads_plain && reader.input == 0))
        cut.add_edge(points[reader.step], to_blocks, MinimumCut::kForbidden);
    }
  }

  // The value that a step reads as one of its inputs, in the layout that it needs.
  PlanValueId input_of(const Step& step, size_t s, size_t i) {
    const PlanValueId v = step.inputs[i];
    if (v == kNoValue) return v;
    const Ability& ability = abilities_[s];
    const bool wants_blocks = in_blocks_[s] && ability.takes_blocks[i];
    if (wants_blocks == is_in_blocks(v) || (wants_blocks && i == 0 && ability.reads_plain)) return v;
    return reordered(v, step.origin);
  }

  // The value in the other layout.
  PlanValueId reordered(PlanValueId v, const std::string& origin) {
    if (const auto known = reordered_.find(v); known != reordered_.end()) return known->second;
    PlanValue other{plan_.values[index(v)].name, plan_.values[index(v)].type};
    if (!is_in_blocks(v)) other.layout = kBlocked;
    const auto id = static_cast<PlanValueId>(plan_.values.size());
    plan_.values.push_back(std::move(other));
    Step step{.family = "cpu/Reorder", .op = OpId::Reorder, .params = Params::of(NoParams{}), .origin = origin};
    step.family_version = version_of_family(step.family);
    step.inputs = {v};
    step.outputs = {id};
    plan_.steps.push_back(std::move(step));
    return reordered_[v] = id;
  }

  // Bodies read plain values.
  void redirect_captures(Step& step) const {
    for (auto& body : step.bodies) {
      const auto moved = [&](const Capture& c) { return reordered_.contains(c.outer) && is_in_blocks(c.outer); };
      if (std::ranges::none_of(body->captures, moved)) continue;
      Plan copy = *body;
      for (Capture& c : copy.captures)
        if (moved(c)) c.outer = reordered_.at(c.outer);
      body = std::make_shared<const Plan>(std::move(copy));
    }
  }

  Plan& plan_;
  std::vector<size_t> producer_;
  std::vector<std::vector<Reader>> readers_;
  std::vector<bool> must_be_plain_;  // an output, or read by a body
  std::vector<std::optional<std::vector<int64_t>>> extents_;
  std::vector<Ability> abilities_;
  std::vector<bool> in_blocks_;  // by step
  std::map<PlanValueId, PlanValueId> reordered_;
};

}  // namespace

void assign_layouts(Plan& plan) {
  for (Step& step : plan.steps)
    for (auto& body : step.bodies) {
      Plan copy = *body;
      assign_layouts(copy);
      body = std::make_shared<const Plan>(std::move(copy));
    }
  LayoutAssignment(plan).run();
}

}  // namespace tenon
