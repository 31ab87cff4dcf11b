// Binding: concrete shapes through the ops' own rules, then memory by lifetime.
#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "base/checked_math.h"
#include "executor/arena_blocks.h"
#include "executor/frame.h"
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

class SegmentBinder {
 public:
  SegmentBinder(const PreparedPlan& plan, size_t start, const Frame& frame)
      : prepared_(plan), plan_(plan.plan()), start_(start), frame_(frame) {}

  Result<std::shared_ptr<const Segment>> bind() {
    auto segment = std::make_shared<Segment>();
    segment->begin = start_;
    size_t s = start_;
    for (; s < plan_.steps.size(); ++s) {
      auto placed = within_memory([&] { return bind_step(s); });
      if (!placed.ok()) return std::move(placed).status().in(place_of(plan_.steps[s]));
      if (!*placed) break;
      segment->placed.push_back(std::move(**placed));
    }
    if (s == start_ && s < plan_.steps.size())
      return error(Code::Internal, "the shapes cannot be found").in(place_of(plan_.steps[s]));
    segment->end = s;
    TN_RETURN_IF_ERROR(place(*segment));
    return std::shared_ptr<const Segment>(std::move(segment));
  }

 private:
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
    const Cell& cell = frame_.cells[static_cast<size_t>(v)];
    return types_.contains(v) || !cell.ready() ? nullptr : &cell;
  }

  void note_read(PlanValueId v) {
    // What is the same in every run needs no place in the key.
    if (!prepared_.is_fixed(v)) prepared_.add_content_key(start_, v);
  }

  // The type of a step's input, or null when it is still open.
  const Type* input_type(PlanValueId v) {
    if (auto it = types_.find(v); it != types_.end())
      return it->second.shape || it->second.kind == Type::Kind::Unknown ? shaped(it->second) : nullptr;
    const Cell& cell = frame_.cells[static_cast<size_t>(v)];
    if (!cell.ready()) return nullptr;
    Type type = cell.view.dtype != DType::Undefined ? Type::tensor(cell.view.dtype, to_shape(cell.view.dims))
                                                    : cell.boxed.type();
    return &(outside_types_[v] = std::move(type));
  }
  static const Type* shaped(const Type& type) { return type.shape && is_static(*type.shape) ? &type : nullptr; }

  // Nothing when the segment must end before this step.
  Result<std::optional<std::vector<PlacedValue>>> bind_step(size_t s) {
    const Step& step = plan_.steps[s];
    std::vector<const Type*> inputs;
    for (PlanValueId v : step.inputs) {
      const Type* type = v == kNoValue ? nullptr : input_type(v);
      if (v != kNoValue && !type) return std::optional<std::vector<PlacedValue>>();
      inputs.push_back(type);
    }
    for (const auto& body : step.bodies)
      for (const Capture& c : body->captures)
        if (!input_type(c.outer)) return std::optional<std::vector<PlacedValue>>();

    Knowledge knowledge(*this, step);
    InferContext context(step.op, step.params, std::move(inputs), step.outputs.size(), knowledge);
    if (!op_def(step.op).has_bodies) {
      Status status = infer_op(context);
      // Without a content that it asked for, a rule has not checked everything.
      if (knowledge.missed && s > start_) return std::optional<std::vector<PlacedValue>>();
      TN_RETURN_IF_ERROR(std::move(status));
      for (const Type& type : context.outputs())
        if (type.is_tensor() && type.dtype == DType::Undefined) return invalid_model("an output has no element type");
      // Only kernels that bring their output can do without its shape.
      if (!op_def(step.op).decides_output_size && has_open_output(context))
        return error(Code::ResourceLimit, "a shape depends on an input that has too many elements to be one");
    }
    std::vector<PlacedValue> placed;
    for (size_t i = 0; i < step.outputs.size(); ++i) {
      if (step.outputs[i] == kNoValue) continue;
      placed.push_back(place_value(step.outputs[i], context.outputs()[i]));
      if (context.output_values()[i]) known_[step.outputs[i]] = std::move(*context.output_values()[i]);
    }
    return std::optional(std::move(placed));
  }

  static bool has_open_output(InferContext& context) {
    for (const Type& t : context.outputs())
      if (t.is_tensor() && !(t.shape && is_static(*t.shape))) return true;
    return false;
  }

  PlacedValue place_value(PlanValueId v, const Type& type) {
    PlacedValue placed;
    placed.value = v;
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

  // By lifetime: a block is free again after the last step that reads it.
  Status place(Segment& segment) {
    struct Block {
      int64_t offset, size;
    };
    const size_t steps = segment.placed.size();
    std::vector<std::vector<Block>> dying(steps);  // after which step of the segment
    ArenaBlocks arena;
    for (size_t i = 0; i < steps; ++i) {
      if (i > 0)
        for (const Block& block : dying[i - 1]) arena.give_back(block.offset, block.size);
      for (PlacedValue& p : segment.placed[i]) {
        if (p.place != PlacedValue::Place::Arena) continue;
        auto size = arena_size(p);
        if (!size.ok()) return std::move(size).status().in(place_of(plan_.steps[segment.begin + i]));
        p.offset = arena.take(*size);
        if (arena.bytes() > kMaxTensorBytes)
          return error(Code::ResourceLimit, "the values are too large together")
              .in(place_of(plan_.steps[segment.begin + i]));
        const size_t last = std::max(segment.begin + i, prepared_.last_use(p.value)) - segment.begin;
        if (last < steps) dying[last].push_back({p.offset, *size});
      }
    }
    segment.arena_bytes = arena.bytes();
    return {};
  }

  Result<int64_t> arena_size(const PlacedValue& p) const {
    const auto count = checked_product(p.dims);
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
  const Frame& frame_;
  std::map<PlanValueId, Type> types_;          // made in this segment
  std::map<PlanValueId, Type> outside_types_;  // made before
  std::map<PlanValueId, std::vector<Dim>> known_;
  int fresh_ = 0;
};

void append_type(std::string& key, const Cell& cell) {
  if (cell.view.dtype != DType::Undefined) {
    key += static_cast<char>(cell.view.dtype);
    key += static_cast<char>(cell.view.dims.size());
    key.append(reinterpret_cast<const char*>(cell.view.dims.data()), cell.view.dims.size() * sizeof(int64_t));
  } else {
    key += '\0';
    key += cell.boxed.type().to_string();
    key += ';';
  }
}

}  // namespace

Result<std::shared_ptr<const Segment>> bind_segment(const PreparedPlan& plan, size_t start, const Frame& frame) {
  return SegmentBinder(plan, start, frame).bind();
}

std::string segment_key(const PreparedPlan& plan, size_t start, const Frame& frame) {
  std::string key(reinterpret_cast<const char*>(&start), sizeof start);
  for (PlanValueId v : plan.live_into(start)) append_type(key, frame.cells[static_cast<size_t>(v)]);
  for (PlanValueId v : plan.content_keys(start)) {
    const TensorView& view = frame.cells[static_cast<size_t>(v)].view;
    key += '#';
    if (view.data && view.dtype != DType::String)
      key.append(static_cast<const char*>(view.data), static_cast<size_t>(view.bytes()));
  }
  return key;
}

}  // namespace tenon
