#include "trials/inputs/choose_extents.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "trials/inputs/extent_roles.h"
#include "trials/inputs/shape_probe.h"

namespace tenon {

namespace {

// Where the search starts, by role and choice. The second choice is as much work as the first.
constexpr std::array<std::array<int64_t, 5>, kExtentChoices> kStarts = {{
    {1, 8, 16, 64, 64},
    {2, 12, 24, 32, 64},
    {1, 128, 128, 224, 224},
    {1, 576, 512, 320, 320},
    {1, 1, 1, 32, 32},
    {4, 16000, 80, 48, 320},
}};

constexpr int64_t kLargestSquare = 640;

void for_each_input_shape(const Type& type, const std::function<void(const Shape&)>& f) {
  if (type.shape) f(*type.shape);
  if (type.element) for_each_input_shape(*type.element, f);
}

// Symbols that get one extent together.
struct Group {
  std::vector<std::string> symbols;
  bool is_batch = false;
  bool is_square() const { return symbols.size() > 1; }
};

// Extents that models are made for, and what the node that refuses mentions. Squares are tried closer together: only
// few of them leave what a classifier takes.
std::set<int64_t> candidates(const std::set<int64_t>& mentioned, bool is_square) {
  std::set<int64_t> all(mentioned.begin(), mentioned.end());
  for (int64_t v = 1; v <= 32; ++v) all.insert(v);
  for (int64_t v = 36; v <= 128; v += 4) all.insert(v);
  for (int64_t v = 144; v <= kLargestSquare; v += is_square ? 4 : 16) all.insert(v);
  for (int64_t v = 1024; v <= 32768; v *= 2) all.insert(v);
  all.insert(16000);
  return all;
}

std::vector<int64_t> nearest_first(const std::set<int64_t>& all, int64_t start) {
  std::vector<int64_t> sorted(all.begin(), all.end());
  const auto distance = [&](int64_t v) {
    return std::abs(std::log(static_cast<double>(v)) - std::log(static_cast<double>(start)));
  };
  std::stable_sort(sorted.begin(), sorted.end(), [&](int64_t a, int64_t b) { return distance(a) < distance(b); });
  return sorted;
}

// Twice as much, then more, then less.
std::vector<int64_t> larger_first(const std::set<int64_t>& all, int64_t start) {
  std::vector<int64_t> sorted = {2 * start};
  for (auto it = all.upper_bound(start); it != all.end(); ++it) sorted.push_back(*it);
  for (auto it = all.lower_bound(start); it != all.begin();) sorted.push_back(*--it);
  return sorted;
}

class Search {
 public:
  Search(const Graph& graph, const Extents& decided, size_t choice)
      : graph_(graph), probe_(graph), extents_(decided), choice_(std::min(choice, kExtentChoices - 1)) {
    const auto roles = extent_roles(graph);
    for (const GraphInput& input : graph.inputs) add_symbols(graph.value(input.value).type, roles);
    for (const auto& groups : by_shape_) groups_.insert(groups_.end(), groups.begin(), groups.end());
    // Both sides of an image before one of them, and more samples only where nothing else helps.
    const auto rank = [](const Group& group) { return group.is_square() ? 0 : group.is_batch ? 2 : 1; };
    std::ranges::stable_sort(groups_, {}, rank);
  }

  Extents run() {
    if (groups_.empty()) return extents_;
    best_ = probe_.probe(extents_);
    while (!best_.is_good() && improve()) {
    }
    return extents_;
  }

  // After run(): other extents that are accepted as well, for inputs that have those of `others` but for the batch.
  Extents run_apart_from(const Extents& others) {
    run();
    for (const auto& groups : by_shape_)
      if (!best_.refused && !differs(groups, others)) move_apart(groups);
    return extents_;
  }

 private:
  // Rules that a search may run: a second or so.
  static constexpr int64_t kMostRules = 400'000;
  static constexpr int64_t kLargestMentioned = 65536, kMostMentioned = 64;

  void add_symbols(const Type& type, const std::map<std::string, ExtentRole>& roles) {
    for_each_input_shape(type, [&](const Shape& shape) {
      std::vector<std::string> sides, others;
      std::vector<Group> groups;
      for (const Dim& dim : shape) {
        std::vector<std::string> symbols;
        dim.collect_symbols(symbols);
        for (const std::string& symbol : symbols) {
          const ExtentRole role = roles.at(symbol);
          if (!extents_.emplace(symbol, kStarts[choice_][static_cast<size_t>(role)]).second) continue;
          groups.push_back({{symbol}, role == ExtentRole::Batch});
          const bool is_side = role == ExtentRole::Height || role == ExtentRole::Width;
          if (role != ExtentRole::Batch) (is_side ? sides : others).push_back(symbol);
        }
      }
      // A square that is cut into a number of pieces needs both sides at once.
      for (auto* together : {&others, &sides})
        if (together->size() > 1) groups.insert(groups.begin(), {std::move(*together), false});
      by_shape_.push_back(std::move(groups));
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

  Extents with(const Group& group, int64_t value) const {
    Extents changed = extents_;
    for (const std::string& symbol : group.symbols) changed[symbol] = value;
    return changed;
  }

  // Takes the best change of one group; false when none helps or enough was tried.
  bool improve() {
    const std::set<int64_t> numbers = mentioned();
    seen_.insert(numbers.begin(), numbers.end());
    Extents best_extents = extents_;
    const ProbeResult before = best_;
    for (const Group& group : groups_) {
      if (best_.is_good() || (group.is_batch && best_.is_better_than(before))) break;
      for (const int64_t value : nearest_first(candidates(numbers, group.is_square()), extents_.at(group.symbols[0]))) {
        if (probe_.rules_run() > kMostRules) break;
        Extents changed = with(group, value);
        const ProbeResult result = probe_.probe(changed);
        if (!result.is_better_than(best_)) continue;
        best_ = result;
        best_extents = std::move(changed);
        if (best_.is_good()) break;
      }
    }
    extents_ = std::move(best_extents);
    return best_.is_better_than(before);
  }

  bool differs(const std::vector<Group>& groups, const Extents& others) const {
    bool only_batches = true;
    for (const Group& group : groups)
      for (const std::string& symbol : group.symbols) {
        if (!group.is_batch && extents_.at(symbol) != others.at(symbol)) return true;
        only_batches = only_batches && group.is_batch;
      }
    return only_batches;
  }

  // Takes the first other extent that the nodes accept as well.
  void move_apart(const std::vector<Group>& groups) {
    for (const Group& group : groups) {
      if (group.is_batch) continue;
      const int64_t largest = group.is_square() ? kLargestSquare : kLargestMentioned;
      for (const int64_t value : larger_first(candidates(seen_, group.is_square()), extents_.at(group.symbols[0]))) {
        if (value > largest) continue;
        if (probe_.rules_run() > 2 * kMostRules) return;
        const ProbeResult result = probe_.probe(with(group, value));
        if (result.refused || best_.is_better_than(result)) continue;
        best_ = result;
        extents_ = with(group, value);
        return;
      }
    }
  }

  const Graph& graph_;
  ShapeProbe probe_;
  Extents extents_;
  size_t choice_;
  std::vector<std::vector<Group>> by_shape_;  // symbols of each input that no earlier one has
  std::vector<Group> groups_;                 // all of them, in the order in which they are changed
  std::set<int64_t> seen_;                    // all numbers mentioned so far
  ProbeResult best_;
};

}  // namespace

Extents choose_extents(const Graph& graph, const Extents& decided, size_t choice) {
  Search search(graph, decided, choice);
  return choice == 1 ? search.run_apart_from(Search(graph, decided, 0).run()) : search.run();
}

}  // namespace tenon
