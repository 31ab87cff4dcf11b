#include "swap/swap_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "plan/fixed_sources.h"
#include "plan/plan.h"
#include "plan/property.h"
#include "plan/tensor_bytes.h"
#include "tensor/type.h"

namespace tenon {

namespace {

std::string type_text(DType dtype, const std::vector<int64_t>& dims) {
  return fmt::format("{}{}", dtype_name(dtype), shape_text(to_shape(dims)));
}

class SwapCheck {
 public:
  SwapCheck(const Program& program, const WeightSnapshot& current, const WeightSource& source,
            const SwapOptions& options)
      : program_(program), current_(current), source_(source), options_(options),
        only_(options.only.begin(), options.only.end()), fixed_(fixed_sources(program)) {
    for (const Guard& guard : program.guards) guards_[guard.source].push_back(&guard);
  }

  Result<PlannedSwap> check() {
    plan_.changed.assign(program_.sources.size(), false);
    for (size_t i = 0; i < program_.sources.size(); ++i) TN_RETURN_IF_ERROR(check_source(i));
    // Which names and slots there are is for the plan that is made again to say.
    if (plan_.broken.empty()) {
      check_names();
      find_slots();
    }
    if (problems_.empty()) return std::move(plan_);
    std::string text = fmt::format("the weights in {} cannot replace those of the model", source_.where());
    for (const std::string& problem : problems_) text += "\n  " + problem;
    return Status(code_, std::move(text));
  }

 private:
  void refuse(Code code, std::string problem) {
    // A broken guard says most about what to do: compile again.
    if (problems_.empty() || code == Code::GuardViolated) code_ = code;
    problems_.push_back(std::move(problem));
  }

  bool wanted(const std::string& name) const { return only_.empty() || only_.contains(name); }

  Status check_source(size_t i) {
    const SourceInfo& info = program_.sources[i];
    if (info.name.empty()) return {};
    const auto guards = guards_.find(static_cast<int32_t>(i));
    const auto given = wanted(info.name) ? source_.find(info.name) : std::nullopt;
    if (given && given->dtype == DType::Undefined) {
      const auto tensor = source_.read(info.name);
      refuse(Code::InvalidArgument, fmt::format("unreadable: '{}': {}", info.name, tensor.status().to_string()));
      return {};
    }
    if (!given) {
      plan_.unchanged.push_back(info.name);
      const bool needed = info.expected && !fixed_[i];
      if (needed && !options_.partial)
        refuse(Code::NotFound, fmt::format("missing: '{}' {}", info.name, type_text(info.dtype, info.dims)));
      return {};
    }
    // An attribute is a list whatever the shape of what it holds.
    const bool same_shape = given->certain ? given->dims == info.dims : count_of(given->dims) == count_of(info.dims);
    if (given->dtype != info.dtype || !same_shape) {
      refuse(Code::InvalidArgument,
             fmt::format("{}: '{}' is {} in the model, but the new weight is {}",
                         given->dtype != info.dtype ? "element type" : "shape", info.name,
                         type_text(info.dtype, info.dims), type_text(given->dtype, given->dims)));
      return {};
    }
    const size_t broken = plan_.broken.size();
    if (guards != guards_.end()) TN_RETURN_IF_ERROR(check_guards(info, guards->second));
    // What must not change needs no work.
    if (fixed_[i] && plan_.broken.size() == broken)
      plan_.unchanged.push_back(info.name);
    else
      plan_.changed[i] = true;
    return {};
  }

  // Whether the plan would be the same for new elements: every question that was asked has the answer it had.
  Status check_guards(const SourceInfo& info, const std::vector<const Guard*>& guards) {
    TN_ASSIGN_OR_RETURN(const Tensor tensor, source_.read(info.name));
    const std::string hash = content_hash(tensor).hex();
    for (const Guard* guard : guards) {
      const auto property = property_from_text(guard->property);
      if (!property) return error(Code::Internal, "unknown property '{}'", guard->property);
      const std::string answer = property->is_about_elements() ? hash : answer_text(ask(tensor, *property));
      if (guard->answer == answer) continue;
      // What the user pinned stays, whoever could compile it otherwise.
      if (options_.recompile && property->kind != Property::Kind::Pinned)
        plan_.broken.push_back({info.name, guard->asker, guard->property, guard->answer, answer});
      else
        refuse(Code::GuardViolated, broken_guard(info, *guard, *property));
    }
    return {};
  }

  static std::string broken_guard(const SourceInfo& info, const Guard& guard, const Property& property) {
    if (property.kind == Property::Kind::Pinned)
      return fmt::format("pinned: '{}' was pinned when the model was compiled and cannot change", info.name);
    if (property.is_about_elements())
      return fmt::format(
          "guard: {} depends on the elements of '{}', and the new elements differ; compile the model again",
          guard.asker, info.name);
    const bool was = guard.answer == answer_text(Answer::Yes);
    return fmt::format("guard: {} needs '{}' {} {}, but the new weight is{}; compile the model again", guard.asker,
                       info.name, was ? "to be" : "not to be", guard.property, was ? " not" : "");
  }

  void check_names() {
    std::set<std::string> known;
    for (const SourceInfo& info : program_.sources) known.insert(info.name);
    for (const std::string& name : source_.names()) {
      if (known.contains(name) && wanted(name)) continue;
      if (!source_.find(name)->certain) continue;
      if (known.contains(name) || !options_.elsewhere.contains(name)) plan_.ignored.push_back(name);
      if (options_.strict && !known.contains(name) && !options_.elsewhere.contains(name))
        refuse(Code::InvalidArgument, fmt::format("extra: '{}'", name));
    }
    for (const std::string& name : only_) {
      if (!known.contains(name) && options_.elsewhere.contains(name)) continue;
      if (!known.contains(name))
        refuse(Code::NotFound, fmt::format("the model has no weight '{}'", name));
      else if (!source_.find(name))
        refuse(Code::NotFound, fmt::format("missing: '{}'", name));
    }
  }

  // The slots that changed sources reach, which also need the sources that did not change; and those that nobody has
  // computed yet although everything for them is there, as in a model that was just compiled.
  void find_slots() {
    std::set<int32_t> gone, needed;
    for (size_t slot = 0; slot < program_.weight_program.size(); ++slot) {
      const auto& sources = program_.weight_program[slot].sources;
      const auto is_new = [&](int32_t id) { return plan_.changed[static_cast<size_t>(id)]; };
      const auto is_there = [&](int32_t id) {
        const auto& bytes = current_.sources[static_cast<size_t>(id)];
        return bytes && bytes->available();
      };
      const bool waits =
          slot < current_.slots.size() && !current_.slots[slot].defined() && std::ranges::all_of(sources, is_there);
      if (!waits && std::ranges::none_of(sources, is_new)) continue;
      plan_.slots.push_back(slot);
      for (int32_t id : sources) {
        if (!is_new(id)) (is_there(id) ? needed : gone).insert(id);
      }
    }
    for (int32_t id : gone)
      refuse(
          Code::NotFound,
          fmt::format("absent: '{}' is packed together with a weight that changes, and its values were not found; add "
                      "it to the new weights, or name the folder of the file it came from with the option 'source_dir'",
                      program_.sources[static_cast<size_t>(id)].name));
    if (problems_.empty()) return;
    // Reading them takes time, which is well spent only when there is something to tell anyway.
    for (int32_t id : needed)
      if (const auto tensor = current_.sources[static_cast<size_t>(id)]->value(); !tensor.ok())
        refuse(tensor.status().code(), fmt::format("absent: '{}': {}", program_.sources[static_cast<size_t>(id)].name,
                                                   tensor.status().to_string()));
  }

  const Program& program_;
  const WeightSnapshot& current_;
  const WeightSource& source_;
  const SwapOptions& options_;
  std::set<std::string> only_;
  std::vector<bool> fixed_;  // by source: it may only come as it was
  std::unordered_map<int32_t, std::vector<const Guard*>> guards_;
  PlannedSwap plan_;
  Code code_ = Code::InvalidArgument;
  std::vector<std::string> problems_;
};

}  // namespace

std::vector<std::string> open_weights(const Program& program, const WeightSnapshot& weights) {
  std::set<std::string> names;
  for (size_t slot = 0; slot < weights.slots.size(); ++slot) {
    if (weights.slots[slot].defined()) continue;
    for (const int32_t id : program.weight_program[slot].sources) {
      const auto& bytes = weights.sources[static_cast<size_t>(id)];
      if (!bytes || !bytes->available()) names.insert(program.sources[static_cast<size_t>(id)].name);
    }
  }
  return {names.begin(), names.end()};
}

std::string open_weights_text(const Program& program, const WeightSnapshot& weights) {
  constexpr size_t kShown = 3;
  const auto names = open_weights(program, weights);
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kShown); ++i) text += fmt::format("{}'{}'", i ? ", " : "", names[i]);
  return names.size() > kShown ? fmt::format("{} and {} more", text, names.size() - kShown) : text;
}

void SwapChecks::add(const std::string& model, const Status& status) {
  if (status.ok()) return;
  if (!code_ || status.code() == Code::GuardViolated) code_ = status.code();
  if (!text_.empty()) text_ += '\n';
  text_ += model.empty() ? status.to_string() : fmt::format("{}: {}", model, status.to_string());
}

Status SwapChecks::finish() { return code_ ? Status(*code_, std::move(text_)) : Status(); }

Result<PlannedSwap> plan_swap(const Program& program, const WeightSnapshot& current, const WeightSource& source,
                              const SwapOptions& options) {
  return SwapCheck(program, current, source, options).check();
}

}  // namespace tenon
