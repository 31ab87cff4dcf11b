#include "passes/optimize/causal_mask.h"

#include <algorithm>

#include "ops/diagonal.h"
#include "ops/fill.h"
#include "passes/optimize/constants.h"
#include "passes/optimize/pattern.h"

namespace tenon {

namespace {

// What a condition or a number at each score says.
enum class Meaning : uint8_t { Kept, Hidden };

constexpr MaskFact kUnknown{};
constexpr MaskFact kCausal{true, false};

// Of two masks, each of which can hide a score.
MaskFact both(const MaskFact& a, const MaskFact& b) {
  return {a.hides_future || b.hides_future, a.hides_past || b.hides_past};
}

// Types that hold every position.
bool is_wide(DType dtype) { return dtype == DType::Int32 || dtype == DType::Int64; }

std::optional<double> element_of(const Tensor& tensor, size_t i) {
  switch (tensor.dtype()) {
    case DType::Bool:
      return tensor.as<bool>()[i] ? 1 : 0;
    case DType::Int64:
      return static_cast<double>(tensor.as<int64_t>()[i]);
    case DType::Float32:
      return tensor.as<float>()[i];
    default:
      return std::nullopt;
  }
}

class MaskReader {
 public:
  MaskReader(Graph& graph, const ScoreExtents& extents, std::string_view asker)
      : graph_(graph), extents_(extents), offset_(extents.keys - extents.queries), asker_(asker) {}

  MaskFact condition(ValueId v, Meaning meaning) {
    v = spread_from(v);
    if (v == kNone || !may_go_on()) return kUnknown;
    const bool keeps = meaning == Meaning::Kept;
    if (const Tensor* elements = elements_of(v))
      return from_elements(*elements, [&](double number) { return (number != 0) == keeps; });
    const GraphNode* node = maker_of(v);
    if (!node) return kUnknown;
    const auto& in = node->inputs;
    switch (node->op) {
      case OpId::Not:
        return condition(in[0], keeps ? Meaning::Hidden : Meaning::Kept);
      case OpId::Cast:
        return keeps_truth(*node) ? condition(in[0], meaning) : kUnknown;
      case OpId::Equal:
        for (const size_t i : {0, 1})
          if (is_filled(in[1 - i], [](double number) { return number == 0; }))
            return condition(in[i], keeps ? Meaning::Hidden : Meaning::Kept);
        return kUnknown;
      case OpId::And:
        return keeps ? both(condition(in[0], meaning), condition(in[1], meaning)) : kUnknown;
      case OpId::Or:
        return keeps ? kUnknown : both(condition(in[0], meaning), condition(in[1], meaning));
      case OpId::LessOrEqual:
        return keeps ? compared(in[0], in[1]) : kUnknown;
      case OpId::GreaterOrEqual:
        return keeps ? compared(in[1], in[0]) : kUnknown;
      case OpId::Greater:
        return keeps ? kUnknown : compared(in[0], in[1]);
      case OpId::Less:
        return keeps ? kUnknown : compared(in[1], in[0]);
      case OpId::Trilu:
        return is_filled(in[0], [](double number) { return number != 0; }) ? triangle(*node, meaning) : kUnknown;
      default:
        return kUnknown;
    }
  }

  MaskFact summand(ValueId v) {
    v = spread_from(v);
    if (v == kNone || !may_go_on()) return kUnknown;
    if (const Tensor* elements = elements_of(v))
      return std::ranges::all_of(elements->as<float>(), [](float f) { return f == 0 || hides_score(f); })
                 ? from_elements(*elements, [](double number) { return number == 0; })
                 : kUnknown;
    const GraphNode* node = maker_of(v);
    if (!node) return kUnknown;
    const auto& in = node->inputs;
    const auto is_zero = [&](ValueId x) { return number_of(graph_, x, asker_) == 0.0; };
    const auto hides = [&](ValueId x) { return hides_score(number_of(graph_, x, asker_).value_or(0)); };
    if (node->op == OpId::Add) return both(summand(in[0]), summand(in[1]));
    if (node->op == OpId::Where && is_zero(in[1]) && hides(in[2])) return condition(in[0], Meaning::Kept);
    if (node->op == OpId::Where && hides(in[1]) && is_zero(in[2])) return condition(in[0], Meaning::Hidden);
    if (node->op == OpId::Trilu && is_filled(in[0], hides_score)) return triangle(*node, Meaning::Hidden);
    return kUnknown;
  }

 private:
  // Masks of models are small; nodes that are read twice on every level would take for ever.
  bool may_go_on() { return steps_left_-- > 0; }

  const GraphNode* maker_of(ValueId v) const {
    const NodeId maker = graph_.value(v).producer;
    return maker == kNone ? nullptr : &graph_.node(maker);
  }

  const Shape* shape_of(ValueId v) const {
    const auto& shape = graph_.value(v).type.shape;
    return shape ? &*shape : nullptr;
  }

  bool ends_like_scores(ValueId v) const {
    const Shape* shape = shape_of(v);
    return shape && shape->size() >= 2 && shape->back() == extents_.keys &&
           (*shape)[shape->size() - 2] == extents_.queries;
  }

  // The value of queries and keys that is only repeated along other axes; kNone: v has other extents, or may be so
  // broadcast.
  ValueId spread_from(ValueId v) const {
    // Parts of a comparison are looked at by themselves.
    for (const GraphNode* node; ends_like_scores(v) && (node = maker_of(v));) {
      const bool spreads = node->op == OpId::Unsqueeze || node->op == OpId::Expand;
      if (!spreads || !ends_like_scores(node->inputs[0])) break;
      v = node->inputs[0];
    }
    return ends_like_scores(v) || is_broadcast(v) ? v : ValueId(kNone);
  }

  // Something that hides keys whoever asks, like padding.
  bool is_broadcast(ValueId v) const {
    const Shape* shape = shape_of(v);
    return shape && !shape->empty() && (shape->back() == extents_.keys || shape->back() == Dim(1));
  }

  // The elements of a small constant of all queries and keys.
  const Tensor* elements_of(ValueId v) {
    if (graph_.value(v).constant == kNone || !ends_like_scores(v)) return nullptr;
    const Tensor* tensor = graph_.ask_elements(v, asker_);
    const bool is_read = tensor && tensor->size() > 0 && element_of(*tensor, 0);
    return is_read && tensor->dtype() != DType::Int64 ? tensor : nullptr;
  }

  template <class Keeps>
  MaskFact from_elements(const Tensor& tensor, const Keeps& keeps) const {
    const int64_t queries = extents_.queries.value(), keys = extents_.keys.value();
    MaskFact fact{true, false};
    for (int64_t i = 0; i < tensor.size(); ++i) {
      const int64_t query = i / keys % queries, key = i % keys;
      const bool is_future = key > query + offset_.value(),
                 is_kept = keeps(*element_of(tensor, static_cast<size_t>(i)));
      if (is_future && is_kept) fact.hides_future = false;
      if (!is_future && !is_kept) fact.hides_past = true;
    }
    return fact;
  }

  // Other numbers may become zero, or wrap around.
  bool keeps_truth(const GraphNode& cast) const {
    return graph_.value(cast.inputs[0]).type.dtype == DType::Bool ||
           graph_.value(cast.outputs[0]).type.dtype == DType::Bool;
  }

  // Whether the place of a key is compared with that of a query.
  MaskFact compared(ValueId key, ValueId query) {
    return are_positions(key, extents_.keys, Dim(0), 1) && are_positions(query, extents_.queries, offset_, 2)
               ? kCausal
               : kUnknown;
  }

  // Whether v counts from a start along an axis (from the end, 1: the last), and has no other extents.
  bool are_positions(ValueId v, const Dim& extent, const Dim& start, size_t axis) {
    const Shape* shape = shape_of(v);
    if (!shape || shape->size() < axis || (*shape)[shape->size() - axis] != extent) return false;
    if (element_count(*shape) != extent) return false;
    return counts_from(v, start);
  }

  // Whether the elements of v, in their order, count from a start.
  bool counts_from(ValueId v, const Dim& start) {
    if (!may_go_on()) return false;
    if (const auto known = known_dims(graph_, v, asker_)) {
      for (size_t i = 0; i < known->size(); ++i)
        if ((*known)[i] != start + Dim(static_cast<int64_t>(i))) return false;
      return true;
    }
    const GraphNode* node = maker_of(v);
    if (!node) return false;
    switch (node->op) {
      case OpId::Unsqueeze:
      case OpId::Squeeze:
      case OpId::Reshape:
        return counts_from(node->inputs[0], start);
      case OpId::Cast:
        return is_wide(graph_.value(v).type.dtype) && counts_from(node->inputs[0], start);
      case OpId::Range:
        return is_known(node->inputs[0], start) && is_known(node->inputs[2], Dim(1));
      case OpId::Add:
        return counts_with(node->inputs[0], node->inputs[1], start) ||
               counts_with(node->inputs[1], node->inputs[0], start);
      default:
        return false;
    }
  }

  // Whether the elements of v count from a start when a number is added to all of them.
  bool counts_with(ValueId v, ValueId number, const Dim& start) {
    const auto known = known_dims(graph_, number, asker_);
    return known && known->size() == 1 && counts_from(v, start - known->front());
  }

  bool is_known(ValueId v, const Dim& number) {
    const auto known = known_dims(graph_, v, asker_);
    return known && known->size() == 1 && known->front() == number;
  }

  template <class Fits>
  bool is_filled(ValueId v, const Fits& fits) {
    const GraphNode* node = maker_of(v);
    const Tensor* tensor = nullptr;
    if (!may_go_on()) return false;
    const bool is_seen_through = node && (node->op == OpId::Expand || (node->op == OpId::Cast && keeps_truth(*node)));
    if (is_seen_through) return is_filled(node->inputs[0], fits);
    if (node && node->op == OpId::ConstantOfShape)
      tensor = &node->params.get<ConstantOfShapeParams>().value;
    else if (graph_.value(v).constant != kNone)
      tensor = graph_.ask_elements(v, asker_);
    if (!tensor || !tensor->defined()) return false;
    for (int64_t i = 0; i < tensor->size(); ++i) {
      const auto number = element_of(*tensor, static_cast<size_t>(i));
      if (!number || !fits(*number)) return false;
    }
    return tensor->size() > 0;
  }

  // A triangle of what is not zero: below the diagonal it is kept, above it hidden.
  MaskFact triangle(const GraphNode& trilu, Meaning meaning) {
    const bool is_upper = trilu.params.get<TriluParams>().upper, hides = meaning == Meaning::Hidden;
    if (is_upper != hides || !ends_like_scores(trilu.outputs[0])) return kUnknown;
    const Dim diagonal = hides ? offset_ + Dim(1) : offset_;
    const bool is_given = trilu.inputs.size() > 1 && trilu.inputs[1] != kNone;
    const bool fits = is_given ? is_known(trilu.inputs[1], diagonal) : diagonal == Dim(0);
    return fits ? kCausal : kUnknown;
  }

  Graph& graph_;
  const ScoreExtents& extents_;
  const Dim offset_;
  std::string_view asker_;
  int steps_left_ = 100;
};

}  // namespace

bool hides_score(double number) {
  constexpr double kHides = -1e30;
  return number <= kHides;
}

MaskFact fact_of_kept(Graph& graph, ValueId condition, const ScoreExtents& extents, std::string_view asker) {
  return MaskReader(graph, extents, asker).condition(condition, Meaning::Kept);
}

MaskFact fact_of_hidden(Graph& graph, ValueId condition, const ScoreExtents& extents, std::string_view asker) {
  return MaskReader(graph, extents, asker).condition(condition, Meaning::Hidden);
}

MaskFact fact_of_summand(Graph& graph, ValueId summand, const ScoreExtents& extents, std::string_view asker) {
  return MaskReader(graph, extents, asker).summand(summand);
}

}  // namespace tenon
