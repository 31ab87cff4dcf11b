#include "compiler/inputs/choose_extents.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "compiler/inputs/shape_probe.h"

namespace tenon {

namespace {

// What an open extent is likely to mean, by its place in the shape.
enum class Role : uint8_t { Batch, Short, Sequence, Height, Width };

// Where the search starts, by role and choice. The second choice is as much work as the first.
constexpr std::array<std::array<int64_t, 5>, kExtentChoices> kStarts = {{
    {1, 8, 16, 64, 64},
    {2, 12, 24, 32, 64},
    {1, 128, 128, 224, 224},
    {1, 576, 512, 320, 320},
    {1, 1, 1, 32, 32},
    {4, 16000, 80, 48, 320},
}};

Role role_of(const Shape& shape, size_t axis) {
  const size_t rank = shape.size();
  if (axis == 0) return Role::Batch;
  if (rank < 3) return Role::Short;
  // States of a recurrent layer: [layers, batch, features].
  if (rank == 3 && axis == 1 && shape[0].is_constant() && shape[0].value() > 1 && shape[2].is_constant())
    return Role::Batch;
  if (rank == 3) return Role::Sequence;
  const bool channels_last = !shape[1].is_constant() && shape[rank - 1].is_constant();
  if (channels_last) return axis + 2 < rank ? Role::Height : axis + 1 < rank ? Role::Width : Role::Short;
  // Keys and values of earlier tokens: [batch, heads, tokens, size of a head].
  if (rank == 4 && axis == 2 && shape[3].is_constant()) return Role::Short;
  if (axis == 1) return Role::Short;
  return axis + 1 < rank ? Role::Height : Role::Width;
}

void for_each_input_shape(const Type& type, const std::function<void(const Shape&)>& f) {
  if (type.shape) f(*type.shape);
  if (type.element) for_each_input_shape(*type.element, f);
}

// Extents that models are made for, and what the node that refuses mentions.
std::vector<int64_t> candidates(const std::set<int64_t>& mentioned, int64_t start) {
  std::set<int64_t> all(mentioned.begin(), mentioned.end());
  for (int64_t v = 1; v <= 32; ++v) all.insert(v);
  for (int64_t v = 36; v <= 128; v += 4) all.insert(v);
  for (int64_t v = 144; v <= 640; v += 16) all.insert(v);
  for (int64_t v = 1024; v <= 32768; v *= 2) all.insert(v);
  all.insert(16000);
  std::vector<int64_t> sorted(all.begin(), all.end());
  const auto distance = [&](int64_t v) {
    return std::abs(std::log(static_cast<double>(v)) - std::log(static_cast<double>(start)));
  };
  std::stable_sort(sorted.begin(), sorted.end(), [&](int64_t a, int64_t b) { return distance(a) < distance(b); });
  return sorted;
}

class Search {
 public:
  Search(const Graph& graph, const Extents& decided, size_t choice)
      : graph_(graph), probe_(graph), extents_(decided), choice_(std::min(choice, kExtentChoices - 1)) {
    for (const GraphInput& input : graph.inputs) add_symbols(graph.value(input.value).type);
  }

  Extents run() {
    if (groups_.empty()) return extents_;
    best_ = probe_.probe(extents_);
    while ((best_.refused || best_.empty > 0) && improve()) {
    }
    return extents_;
  }

 private:
  // Rules that a search may run: a second or so.
  static constexpr int64_t kMostRules = 400'000;
  static constexpr int64_t kLargestMentioned = 65536, kMostMentioned = 64;

  void add_symbols(const Type& type) {
    for_each_input_shape(type, [&](const Shape& shape) {
      std::vector<std::string> spatial;
      for (size_t axis = 0; axis < shape.size(); ++axis) {
        std::vector<std::string> symbols;
        shape[axis].collect_symbols(symbols);
        for (const std::string& symbol : symbols) {
          const Role role = role_of(shape, axis);
          if (!extents_.emplace(symbol, kStarts[choice_][static_cast<size_t>(role)]).second) continue;
          groups_.push_back({symbol});
          if (axis > 0) spatial.push_back(symbol);
        }
      }
      // A square that is cut into a number of pieces needs both sides at once.
      if (spatial.size() > 1) groups_.push_back(std::move(spatial));
    });
  }

  // Numbers that the node which makes trouble sees: extents of its inputs, weights mostly, and elements of a shape.
  std::set<int64_t> mentioned() const {
    std::set<int64_t> numbers;
    if (!best_.trouble) return numbers;
    const auto add = [&](const Dim& dim) {
      if (const auto value = dim.constant(); value && *value > 0 && *value <= kLargestMentioned)
        numbers.insert({*value, std::min(2 * *value, kLargestMentioned)});
    };
    for (const ValueId v : graph_.node(*best_.trouble).inputs) {
      if (v == kNone) continue;
      if (const auto& shape = graph_.value(v).type.shape) std::for_each(shape->begin(), shape->end(), add);
      if (const auto& known = graph_.value(v).known) std::for_each(known->begin(), known->end(), add);
      const Tensor* tensor = graph_.elements_at_hand(v);
      if (tensor && tensor->dtype() == DType::Int64 && tensor->size() <= kMostMentioned)
        for (const int64_t element : tensor->as<int64_t>()) add(Dim(element));
    }
    return numbers;
  }

  // Takes the best change of one group; false when none helps or enough was tried.
  bool improve() {
    const std::set<int64_t> numbers = mentioned();
    Extents best_extents = extents_;
    const ProbeResult before = best_;
    for (const auto& group : groups_) {
      for (const int64_t value : candidates(numbers, extents_.at(group[0]))) {
        if (probe_.rules_run() > kMostRules) break;
        Extents changed = extents_;
        for (const std::string& symbol : group) changed[symbol] = value;
        const ProbeResult result = probe_.probe(changed);
        if (!result.is_better_than(best_)) continue;
        best_ = result;
        best_extents = std::move(changed);
        if (!best_.refused && best_.empty == 0) break;
      }
      if (!best_.refused && best_.empty == 0) break;
    }
    extents_ = std::move(best_extents);
    return best_.is_better_than(before);
  }

  const Graph& graph_;
  ShapeProbe probe_;
  Extents extents_;
  size_t choice_;
  std::vector<std::vector<std::string>> groups_;  // symbols that change together
  ProbeResult best_;
};

}  // namespace

Extents choose_extents(const Graph& graph, const Extents& decided, size_t choice) {
  return Search(graph, decided, choice).run();
}

}  // namespace tenon
