// Binding: concrete shapes through the ops' own rules, then memory by lifetime.
#include <algorithm>
#include <cstring>
#include <list>
#include <map>
#include <set>
#include <utility>

#include "base/checked_math.h"
#include "executor/arena_blocks.h"
#include "executor/bind.h"
#include "executor/within_memory.h"
#include "ops/infer.h"

namespace tenon {

namespace {

constexpr int64_t kMaxVisibleElements = 1 << 16;
constexpr int64_t kMaxTensorBytes = int64_t{1} << 46;

std::optional<std::vector<Dim>> integer_elements(const TensorView& view) {
  if (view.size() > kMaxVisibleElements) return std::nullopt;
  std::vector<Dim> result;
  auto add_all = [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (T x : view.as<T>()) result.emplace_back(static_cast<int64_t>(x));
  };
  switch (view.dtype) {
    case DType::Int64:
      add_all(TypeTag<int64_t>{});
      break;
    case DType::Int32:
      add_all(TypeTag<int32_t>{});
      break;
    case DType::Int16:
      add_all(TypeTag<int16_t>{});
      break;
    case DType::Int8:
      add_all(TypeTag<int8_t>{});
      break;
    case DType::UInt8:
      add_all(TypeTag<uint8_t>{});
      break;
    case DType::Bool:
      add_all(TypeTag<bool>{});
      break;
    default:
      return std::nullopt;
  }
  return result;
}

size_t index(PlanValueId v) { return static_cast<size_t>(v); }

// Which shapes a segment is bound for.
enum class Extents : uint8_t {
  Given,    // those of the inputs
  Largest,  // the largest of the classes that late dims are in
};

class SegmentBinder {
 public:
  SegmentBinder(const PreparedPlan& plan, size_t start, std::span<const Cell> cells, Extents extents)
      : prepared_(plan), plan_(plan.plan()), start_(start), cells_(cells), extents_(extents) {}

  Result<std::shared_ptr<const Segment>> bind() {
    auto segment = std::make_shared<Segment>();
    segment->begin = start_;
    size_t s = start_;
    for (; s < plan_.steps.size(); ++s) {
      auto placed = within_memory([&] { return bind_step(s); });
      if (!placed.ok()) return std::move(placed).status().in(place_of(plan_.steps[s]));
      if (!*placed) break;
      segment->steps.push_back(std::move(**placed));
    }
    if (s == start_ && s < plan_.steps.size())
      return error(Code::Internal, "the output shapes cannot be determined").in(place_of(plan_.steps[s]));
    segment->end = s;
    TN_RETURN_IF_ERROR(place(*segment));
    if (extents_ == Extents::Largest) {
      if (segment->end != plan_.steps.size() || !all_read_dims(*segment))
        return error(Code::Unsupported, "some steps cannot read their dimensions at run time");
      segment->shapes = std::make_shared<KnownShapes>();
    }
    segment->types = types_key(prepared_, start_, cells_);
    for (PlanValueId v : reads_) segment->contents.push_back({v, std::string(content_of(cells_[index(v)]))});
    return std::shared_ptr<const Segment>(std::move(segment));
  }

  // The shapes of a segment that was bound for the largest extents, with the extents at hand; an error when it does not
  // serve these.
  Result<std::shared_ptr<const SegmentShapes>> shapes_in(const Segment& segment) {
    auto shapes = std::make_shared<SegmentShapes>();
    for (const PlacedStep& largest : segment.steps) {
      const size_t s = segment.begin + static_cast<size_t>(&largest - segment.steps.data());
      PlacedStep placed;
      auto inferred = within_memory([&] { return infer_step(s, placed); });
      if (!inferred.ok()) return std::move(inferred).status().in(place_of(plan_.steps[s]));
      if (!*inferred || placed.outputs.size() != largest.outputs.size()) return does_not_serve();
      for (size_t i = 0; i < placed.outputs.size(); ++i) {
        const PlacedValue &now = placed.outputs[i], &most = largest.outputs[i];
        if (now.place != most.place || now.dtype != most.dtype) return does_not_serve();
        const ValueLayout& layout = plan_.values[index(now.value)].layout;
        if (now.place == PlacedValue::Place::Arena &&
            stored_elements(layout, now.dims) > stored_elements(layout, most.dims))
          return does_not_serve();
        if (most.written_over != kNoValue && !same_dims(*input_type(most.written_over)->shape, now.dims))
          return does_not_serve();
        shapes->push_back(now.dims);
      }
    }
    return std::shared_ptr<const SegmentShapes>(std::move(shapes));
  }

 private:
  static Status does_not_serve() { return error(Code::Unsupported, "the binding does not cover these shapes"); }

  // Whether kernels may find other dims in a run than those they were bound for.
  bool all_read_dims(const Segment& segment) const {
    return std::ranges::all_of(segment.steps, [](const PlacedStep& step) {
      return !step.kernel.variant->bind || step.kernel.variant->reads_dims;
    });
  }
  // What rules may know while this segment is bound.
  class Knowledge final : public InferKnowledge {
   public:
    Knowledge(SegmentBinder& binder, const Step& step) : binder_(binder), step_(step) {}
    bool missed = false;  // a content was asked for that only running will tell

    std::optional<std::vector<Dim>> values(size_t i) override {
      const PlanValueId v = step_.inputs[i];
      if (auto it = binder_.known_.find(v); it != binder_.known_.end()) return it->second;
      const Cell* cell = binder_.existing(v);
      if (!cell) {
        missed = true;
        return std::nullopt;
      }
      binder_.note_read(v);
      return integer_elements(cell->view);
    }
    std::optional<std::vector<Dim>> propagated(size_t i) override {
      const PlanValueId v = step_.inputs[i];
      if (auto it = binder_.known_.find(v); it != binder_.known_.end()) return it->second;
      // Weights seldom change between runs; other contents would tie the binding to this run's data.
      if (binder_.plan_.values[static_cast<size_t>(v)].storage != Storage::Slot) return std::nullopt;
      const Cell* cell = binder_.existing(v);
      if (!cell || cell->view.size() > 64) return std::nullopt;
      auto elements = integer_elements(cell->view);
      if (elements) binder_.note_read(v);
      return elements;
    }
    const Tensor* constant(size_t i) override {
      const PlanValueId v = step_.inputs[i];
      const Cell* cell = binder_.existing(v);
      if (!cell || !cell->view.data) {
        if (!cell) missed = true;
        return nullptr;
      }
      binder_.note_read(v);
      const TensorView& view = cell->view;
      tensors_.push_back(Tensor::borrow(view.dtype, {view.dims.begin(), view.dims.end()}, view.data, nullptr));
      return &tensors_.back();
    }
    Dim fresh_symbol() override { return Dim::symbol("_decided" + std::to_string(binder_.fresh_++)); }
    Result<std::vector<Type>> infer_body(size_t, std::vector<Type>) override {
      return error(Code::Internal, "bodies are bound when they run");
    }

   private:
    SegmentBinder& binder_;
    const Step& step_;
    std::list<Tensor> tensors_;
  };

  // The cell of a value that was made before this segment.
  const Cell* existing(PlanValueId v) const {
    const Cell& cell = cells_[index(v)];
    return types_.contains(v) || !cell.ready() ? nullptr : &cell;
  }

  void note_read(PlanValueId v) {
    // What is the same in every run need not be compared.
    if (!prepared_.is_fixed(v)) reads_.insert(v);
  }

  // The type of a step's input, or null when it is still open.
  const Type* input_type(PlanValueId v) {
    if (auto it = types_.find(v); it != types_.end())
      return it->second.shape || it->second.kind == Type::Kind::Unknown ? shaped(it->second) : nullptr;
    const Cell& cell = cells_[index(v)];
    if (!cell.ready()) return nullptr;
    if (cell.view.dtype == DType::Undefined) return &(outside_types_[v] = cell.value()->type());
    Shape shape = to_shape(cell.view.dims);
    if (extents_ == Extents::Largest) {
      const std::span<const int> late = prepared_.late_axes(v);
      for (size_t i = 0; i < std::min(late.size(), shape.size()); ++i)
        shape[i] = Dim(prepared_.capacity(late[i], shape[i].value()));
    }
    return &(outside_types_[v] = Type::tensor(cell.view.dtype, std::move(shape)));
  }
  static const Type* shaped(const Type& type) { return type.shape && is_static(*type.shape) ? &type : nullptr; }

  // Nothing when the segment must end before this step.
  Result<std::optional<PlacedStep>> bind_step(size_t s) {
    PlacedStep placed;
    TN_ASSIGN_OR_RETURN(const bool inferred, infer_step(s, placed));
    if (!inferred) return std::optional<PlacedStep>();
    TN_RETURN_IF_ERROR(bind_kernel_of(s, placed));
    return std::optional(std::move(placed));
  }

  // The outputs of a step; false when the segment must end before it.
  Result<bool> infer_step(size_t s, PlacedStep& placed) {
    const Step& step = plan_.steps[s];
    std::vector<const Type*> inputs;
    for (PlanValueId v : step.inputs) {
      const Type* type = v == kNoValue ? nullptr : input_type(v);
      if (v != kNoValue && !type) return false;
      inputs.push_back(type);
    }
    for (const auto& body : step.bodies)
      for (const Capture& c : body->captures)
        if (!input_type(c.outer)) return false;

    Knowledge knowledge(*this, step);
    InferContext context(step.op, step.params, std::move(inputs), step.outputs.size(), knowledge);
    if (!op_def(step.op).has_bodies()) {
      Status status = infer_op(context);
      // Without a content that it asked for, a rule has not checked everything.
      if (knowledge.missed && s > start_) return false;
      TN_RETURN_IF_ERROR(std::move(status));
      for (const Type& type : context.outputs())
        if (type.is_tensor() && type.dtype == DType::Undefined) return invalid_model("an output has no element type");
      // Only kernels that bring their output can do without its shape.
      if (!op_def(step.op).decides_output_size && has_open_output(context))
        return error(Code::ResourceLimit, "a shape depends on an input that has too many elements for a shape");
    }
    for (size_t i = 0; i < step.outputs.size(); ++i) {
      if (step.outputs[i] == kNoValue) continue;
      placed.outputs.push_back(place_value(step.outputs[i], context.outputs()[i]));
      if (context.output_values()[i]) known_[step.outputs[i]] = std::move(*context.output_values()[i]);
    }
    return true;
  }

  Status bind_kernel_of(size_t s, PlacedStep& placed) {
    const Step& step = plan_.steps[s];
    const KernelFamily& family = prepared_.family(s);
    const StepViews views = views_of(step, family.takes_blocked);
    TN_ASSIGN_OR_RETURN(placed.kernel,
                        bind_kernel(family, {step.params, views.inputs, views.outputs, prepared_.options().isa,
                                             views.input_layouts, views.output_layouts}));
    placed.flushes_subnormals =
        family.flushes_subnormals && !placed.kernel.variant->keeps_subnormals && !prepared_.options().keep_subnormals;
    placed.kind = kind_of(step, placed, views);
    if (placed.kind != PlacedStep::Kind::Plain || !family.one_element_per_byte) return {};
    for (size_t i = 0; i < step.inputs.size(); ++i)
      if (is_sub_byte(views.inputs[i].dtype)) placed.spread.push_back({i, false});
    for (size_t i = 0; i < step.outputs.size(); ++i)
      if (is_sub_byte(views.outputs[i].dtype)) placed.spread.push_back({i, true});
    return {};
  }

  // The dtypes and dims of a step's tensors. Undefined: absent, no tensor, or of a shape that is still open.
  struct StepViews {
    std::vector<TensorView> inputs, outputs;
    std::list<std::vector<int64_t>> dims;
    std::vector<ValueLayout> input_layouts, output_layouts;  // of steps whose families take blocked values
  };
  StepViews views_of(const Step& step, bool takes_blocked) {
    StepViews views;
    const auto add = [&](std::vector<TensorView>& list, PlanValueId v) {
      TensorView& view = list.emplace_back();
      const Type* type = v == kNoValue ? nullptr : input_type(v);
      if (!type || !type->is_tensor() || !type->shape) return;
      auto& dims = views.dims.emplace_back();
      for (const Dim& d : *type->shape) dims.push_back(d.value());
      view = {type->dtype, dims, nullptr};
    };
    for (PlanValueId v : step.inputs) add(views.inputs, v);
    for (PlanValueId v : step.outputs) add(views.outputs, v);
    const auto layout_of = [&](PlanValueId v) { return v == kNoValue ? ValueLayout{} : plan_.values[index(v)].layout; };
    if (!takes_blocked) return views;
    for (PlanValueId v : step.inputs) views.input_layouts.push_back(layout_of(v));
    for (PlanValueId v : step.outputs) views.output_layouts.push_back(layout_of(v));
    return views;
  }

  PlacedStep::Kind kind_of(const Step& step, const PlacedStep& placed, const StepViews& views) {
    using Place = PlacedValue::Place;
    const auto numbers = [](const TensorView& v) { return v.dtype != DType::Undefined && v.dtype != DType::String; };
    if (step.outputs.empty()) return PlacedStep::Kind::Nothing;  // its rule was all there is to it
    if (!step.bodies.empty()) return PlacedStep::Kind::General;
    for (size_t i = 0; i < step.inputs.size(); ++i)
      if (step.inputs[i] != kNoValue && !numbers(views.inputs[i])) return PlacedStep::Kind::General;
    for (const PlacedValue& p : placed.outputs)
      if (p.place != Place::Arena && p.place != Place::Output) return PlacedStep::Kind::General;
    return is_empty_with_huge_extents(views, placed) ? PlacedStep::Kind::Nothing : PlacedStep::Kind::Plain;
  }

  // True when all results are empty and come from extents that only an empty tensor can have: loops over the others of
  // its axes would not end.
  static bool is_empty_with_huge_extents(const StepViews& views, const PlacedStep& placed) {
    constexpr double kMostLoops = 1e10;
    for (const PlacedValue& p : placed.outputs)
      if (count_of(p.dims) != 0) return false;
    const auto is_huge = [](const TensorView& view) {
      double loops = 1;
      for (int64_t d : view.dims) loops *= static_cast<double>(std::max<int64_t>(d, 1));
      return view.dtype != DType::Undefined && view.size() == 0 && loops > kMostLoops;
    };
    return std::ranges::any_of(views.inputs, is_huge) || std::ranges::any_of(views.outputs, is_huge);
  }

  static bool has_open_output(InferContext& context) {
    for (const Type& t : context.outputs())
      if (t.is_tensor() && !(t.shape && is_static(*t.shape))) return true;
    return false;
  }

  PlacedValue place_value(PlanValueId v, const Type& type) {
    PlacedValue placed;
    placed.value = v;
    placed.number = placed_values_++;
    const bool known = type.is_tensor() && type.dtype != DType::Undefined && type.shape && is_static(*type.shape);
    if (known) {
      placed.dtype = type.dtype;
      for (const Dim& d : *type.shape) placed.dims.push_back(d.value());
      placed.place = type.dtype == DType::String ? PlacedValue::Place::Strings
                     : prepared_.is_output(v)    ? PlacedValue::Place::Output
                                                 : PlacedValue::Place::Arena;
      types_[v] = type;
    } else {
      placed.dtype = type.is_tensor() ? type.dtype : DType::Undefined;
      types_[v] = Type{};
      types_[v].kind = Type::Kind::Tensor;  // open: consumers wait for the next segment
    }
    return placed;
  }

  // A piece of the arena, and the last step that needs it.
  struct Block {
    int64_t offset = 0, size = 0;
    size_t last = 0;
    bool free = false;
  };

  // By lifetime: a block is free again after the last step that reads what is in it.
  Status place(Segment& segment) {
    const size_t steps = segment.steps.size();
    std::vector<std::vector<std::shared_ptr<Block>>> dying(steps + 1);  // blocks to look at after a step
    std::map<PlanValueId, std::shared_ptr<Block>> blocks;
    ArenaBlocks arena;
    for (size_t i = 0; i < steps; ++i) {
      const size_t s = segment.begin + i;
      PlacedStep& step = segment.steps[i];
      if (i > 0)
        for (const auto& block : dying[i - 1])
          // Several values may lie in one.
          if (block->last < s && !std::exchange(block->free, true)) arena.give_back(block->offset, block->size);
      for (PlacedValue& p : step.outputs) {
        if (p.place != PlacedValue::Place::Arena) continue;
        auto size = arena_size(p);
        if (!size.ok()) return std::move(size).status().in(place_of(plan_.steps[s]));
        const size_t last = std::max(s, prepared_.last_use(p.value));
        std::shared_ptr<Block> block = &p == step.outputs.data() ? block_to_reuse(step, s, *size, blocks) : nullptr;
        if (!block) block = std::make_shared<Block>(Block{arena.take(*size), *size, 0});
        block->last = std::max(block->last, last);
        blocks[p.value] = block;
        p.offset = block->offset;
        dying[std::min(last - segment.begin, steps)].push_back(block);
      }
      const auto take_for_step = [&](int64_t bytes) {
        auto block = std::make_shared<Block>(Block{arena.take(bytes), bytes, s});
        dying[i].push_back(block);
        return block->offset;
      };
      if (const int64_t bytes = step.kernel.state.scratch_bytes; bytes > 0) {
        step.kernel.state.scratch_bytes = (bytes + 63) / 64 * 64;
        const int64_t threads = std::min<int64_t>(prepared_.options().threads, step.kernel.state.chunks);
        step.scratch_offset = take_for_step(step.kernel.state.scratch_bytes * threads);
      }
      for (SpreadValue& spread : step.spread) {
        const Step& of = plan_.steps[s];
        const Type* type = input_type((spread.is_output ? of.outputs : of.inputs)[spread.position]);
        spread.offset = take_for_step((element_count(*type->shape).value() + 2 * 64 - 1) / 64 * 64);
      }
      if (arena.bytes() > kMaxTensorBytes)
        return error(Code::ResourceLimit, "the values of the run are too large together").in(place_of(plan_.steps[s]));
      for (PlanValueId v : prepared_.dead_after(s))
        if (!blocks.contains(v)) step.dead.push_back(v);
    }
    segment.arena_bytes = arena.bytes();
    return {};
  }

  // The memory of an input that the first output of the step may lie in, or null.
  std::shared_ptr<Block> block_to_reuse(PlacedStep& placed, size_t s, int64_t size,
                                        const std::map<PlanValueId, std::shared_ptr<Block>>& blocks) {
    const Step& step = plan_.steps[s];
    const InPlace how = op_def(step.op).in_place;
    if (how == InPlace::No || placed.kind != PlacedStep::Kind::Plain || !placed.spread.empty()) return nullptr;
    const PlacedValue& out = placed.outputs[0];
    for (PlanValueId v : step.inputs) {
      if (v == kNoValue) continue;
      const auto found = blocks.find(v);
      const Type* type = found == blocks.end() ? nullptr : input_type(v);
      if (type && type->dtype == out.dtype) {
        if (how == InPlace::SameElements) {
          // Others may go on reading it.
          placed.kind = PlacedStep::Kind::Nothing;
          return found->second;
        }
        if (found->second->last == s && found->second->size == size && same_dims(*type->shape, out.dims)) {
          placed.outputs[0].written_over = v;
          return found->second;
        }
      }
      if (how == InPlace::SameElements) break;  // the first input alone has the elements
    }
    return nullptr;
  }
  static bool same_dims(const Shape& shape, const std::vector<int64_t>& dims) {
    return std::ranges::equal(shape, dims, [](const Dim& a, int64_t b) { return a.value() == b; });
  }

  Result<int64_t> arena_size(const PlacedValue& p) const {
    const auto count = stored_elements(plan_.values[index(p.value)].layout, p.dims);
    const auto bytes = count ? storage_bytes(p.dtype, *count) : std::nullopt;
    if (!bytes || *bytes > kMaxTensorBytes)
      return error(Code::ResourceLimit, "the tensor '{}' is too large",
                   plan_.values[static_cast<size_t>(p.value)].name);
    // One spare cache line, as Buffer has: kernels may read a little past the end.
    return (*bytes + 2 * 64 - 1) / 64 * 64;
  }

  const PreparedPlan& prepared_;
  const Plan& plan_;
  size_t start_;
  std::span<const Cell> cells_;
  std::map<PlanValueId, Type> types_;          // made in this segment
  std::map<PlanValueId, Type> outside_types_;  // made before
  std::map<PlanValueId, std::vector<Dim>> known_;
  std::set<PlanValueId> reads_;  // values whose contents decided something
  int fresh_ = 0;
  size_t placed_values_ = 0;
  Extents extents_;
};

// The types of what flows into the steps from `start` on, as a key; `extent(v, axis, given)` gives each extent.
template <class F>
std::string key_of_types(const PreparedPlan& plan, size_t start, std::span<const Cell> cells, F&& extent) {
  std::string key(reinterpret_cast<const char*>(&start), sizeof start);
  for (PlanValueId v : plan.live_into(start)) {
    const Cell& cell = cells[index(v)];
    if (cell.view.dtype != DType::Undefined) {
      key += static_cast<char>(cell.view.dtype);
      key += static_cast<char>(cell.view.dims.size());
      for (size_t i = 0; i < cell.view.dims.size(); ++i) {
        const int64_t d = extent(v, i, cell.view.dims[i]);
        key.append(reinterpret_cast<const char*>(&d), sizeof d);
      }
      continue;
    }
    key += '\0';
    if (const Value* value = cell.value()) key += value->type().to_string();
    key += ';';
  }
  return key;
}

std::string given_types_key(const PreparedPlan& plan, size_t start, std::span<const Cell> cells) {
  return key_of_types(plan, start, cells, [](PlanValueId, size_t, int64_t given) { return given; });
}

}  // namespace

Result<std::shared_ptr<const Segment>> bind_segment(const PreparedPlan& plan, size_t start,
                                                    std::span<const Cell> cells) {
  if (start == 0 && plan.has_late_dims()) {
    auto shared = SegmentBinder(plan, start, cells, Extents::Largest).bind();
    if (shared.ok()) return shared;
    // Not every graph takes the largest extents of a class, and not every kernel reads its dims in the run.
    plan.bind_exactly();
  }
  return SegmentBinder(plan, start, cells, Extents::Given).bind();
}

Result<std::shared_ptr<const SegmentShapes>> shapes_in(const PreparedPlan& plan, const Segment& segment,
                                                       std::span<const Cell> cells) {
  std::string key = given_types_key(plan, segment.begin, cells);
  if (auto known = segment.shapes->find(key)) return known;
  TN_ASSIGN_OR_RETURN(auto shapes, SegmentBinder(plan, segment.begin, cells, Extents::Given).shapes_in(segment));
  segment.shapes->keep(std::move(key), shapes);
  return shapes;
}

std::string types_key(const PreparedPlan& plan, size_t start, std::span<const Cell> cells) {
  if (start > 0 || !plan.has_late_dims()) return given_types_key(plan, start, cells);
  // Marked, so that it is not taken for the key of exactly these extents.
  return "late " + key_of_types(plan, start, cells, [&](PlanValueId v, size_t axis, int64_t given) {
           const std::span<const int> late = plan.late_axes(v);
           return axis < late.size() ? plan.capacity(late[axis], given) : given;
         });
}

std::string_view content_of(const Cell& cell) {
  const TensorView& view = cell.view;
  if (!view.data || view.dtype == DType::String) return {};
  return {static_cast<const char*>(view.data), static_cast<size_t>(view.bytes())};
}

bool holds_for(const Segment& segment, std::span<const Cell> cells) {
  return std::ranges::all_of(segment.contents, [&](const Segment::Content& content) {
    return content_of(cells[static_cast<size_t>(content.value)]) == content.bytes;
  });
}

}  // namespace tenon
