#include "swap/swap.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "providers/provider.h"
#include "swap/attribute_check.h"
#include "tensor/not_finite.h"

namespace tenon {

namespace {

// Slots of this size are computed by all threads together, smaller ones side by side.
constexpr int64_t kLargeSlot = int64_t{1} << 20;

constexpr int64_t kChunk = int64_t{1} << 18;  // elements or bytes that a thread takes at a time

// body(begin, end) over [0, count), by all threads of the pool.
void for_chunks(int64_t count, ThreadPool* pool, FunctionRef<void(int64_t, int64_t)> body) {
  const int64_t chunks = (count + kChunk - 1) / kChunk;
  const auto one = [&](int64_t i) { body(i * kChunk, std::min(count, (i + 1) * kChunk)); };
  if (pool && chunks > 1)
    pool->parallel_for(chunks, one);
  else
    for (int64_t i = 0; i < chunks; ++i) one(i);
}

bool any_not_finite(const TensorView& view, ThreadPool* pool) {
  const int64_t width = storage_bytes(view.dtype, 1).value_or(0);
  if (!is_float(view.dtype) || dtype_bits(view.dtype) < 8) return false;
  std::atomic<bool> found{false};
  for_chunks(view.size(), pool, [&](int64_t begin, int64_t end) {
    const int64_t dims[] = {end - begin};
    const TensorView part{view.dtype, dims, static_cast<char*>(view.data) + begin * width};
    if (has_not_finite(part)) found.store(true, std::memory_order_relaxed);
  });
  return found;
}

// Copies elements and says whether there is NaN or infinity among them.
bool copy_and_watch(const TensorView& from, const TensorView& to, ThreadPool* pool) {
  std::atomic<bool> found{false};
  const bool watches = is_float(from.dtype) && dtype_bits(from.dtype) >= 8;
  const int64_t width = watches ? dtype_bits(from.dtype) / 8 : 1;
  const bool streaming = to.bytes() >= kLargeSlot && reinterpret_cast<uintptr_t>(to.data) % kBufferAlignment == 0;
  for_chunks(to.bytes() / width, pool, [&](int64_t begin, int64_t end) {
    char* const source = static_cast<char*>(from.data) + begin * width;
    char* const target = static_cast<char*>(to.data) + begin * width;
    if (from.dtype == DType::Float32) {
      if (copy_floats(reinterpret_cast<float*>(source), end - begin, streaming, reinterpret_cast<float*>(target)))
        found.store(true, std::memory_order_relaxed);
      return;
    }
    std::memcpy(target, source, static_cast<size_t>((end - begin) * width));
    // Looked at while it is in the cache.
    const int64_t dims[] = {end - begin};
    if (watches && has_not_finite({from.dtype, dims, source})) found.store(true, std::memory_order_relaxed);
  });
  return found;
}

// Computes some slots of a snapshot from its sources.
class SlotMaker {
 public:
  // `fresh`: by source, whether it is new.
  SlotMaker(const SwapTools& tools, WeightSnapshot& snapshot, const std::vector<bool>& fresh, bool lasting)
      : tools_(tools), program_(tools.weights.program()), snapshot_(snapshot), fresh_(fresh), lasting_(lasting),
        shared_(tools.shared ? *tools.shared : alone_), not_finite_(snapshot.sources.size()) {}

  Status make(const std::vector<size_t>& slots) {
    std::vector<size_t> small;
    ArenaPool arenas(tools_.budget);
    for (const size_t slot : slots) {
      if (tools_.weights.bytes(slot) < kLargeSlot) {
        if (is_view(slot) || must_make(slot, {})) small.push_back(slot);
        continue;
      }
      TN_ASSIGN_OR_RETURN(const std::vector<Value> inputs, read_inputs(slot));
      if (is_view(slot) || must_make(slot, inputs)) TN_RETURN_IF_ERROR(make_slot(slot, inputs, tools_.pool, arenas));
    }
    std::vector<Status> outcomes(small.size());
    const auto make_small = [&](int64_t i) {
      const size_t slot = small[static_cast<size_t>(i)];
      const auto inputs = read_inputs(slot);
      outcomes[static_cast<size_t>(i)] = inputs.ok() ? make_slot(slot, *inputs, nullptr, arenas) : inputs.status();
    };
    if (tools_.pool)
      tools_.pool->parallel_for(static_cast<int64_t>(small.size()), make_small);
    else
      for (size_t i = 0; i < small.size(); ++i) make_small(static_cast<int64_t>(i));
    for (Status& status : outcomes) TN_RETURN_IF_ERROR(std::move(status));
    share();
    return {};
  }

  // Fresh sources with NaN or infinities that some slot was made of.
  bool is_not_finite(size_t source) const { return not_finite_[source].load(std::memory_order_relaxed); }

 private:
  // Once for each slot: what a model has inside, not aligned, is copied by reading it.
  Result<std::vector<Value>> read_inputs(size_t slot) {
    std::vector<Value> inputs;
    for (const int32_t id : program_.weight_program[slot].sources) {
      TN_ASSIGN_OR_RETURN(Tensor tensor, read(id));
      inputs.emplace_back(std::move(tensor));
    }
    return inputs;
  }

  Status make_slot(size_t slot, const std::vector<Value>& inputs, ThreadPool* pool, ArenaPool& arenas) {
    const WeightEntry& entry = program_.weight_program[slot];
    // What computing looks at anyway is not read twice.
    const std::vector<bool> watched = tools_.weights.watched_sources(slot);
    for (size_t i = 0; i < entry.sources.size(); ++i)
      if (!watched[i] && !tools_.weights.is_source(slot)) look_at(entry.sources[i], *inputs[i].tensor(), pool);
    if (tools_.weights.is_source(slot)) {
      TN_ASSIGN_OR_RETURN(snapshot_.slots[slot], lasting_copy(entry.sources[0], *inputs[0].tensor(), pool));
      return {};
    }
    TN_ASSIGN_OR_RETURN(Tensor memory, tools_.spare.take(tools_.weights.dtype(slot), tools_.weights.dims(slot)));
    std::atomic<bool> found{false};
    Status status = tools_.weights.compute(slot, inputs, memory.view(), arenas, pool, &found);
    if (!status.ok())
      return std::move(status).in("weight '" + program_.sources[static_cast<size_t>(entry.sources[0])].name + "'");
    // Which of them it was.
    for (size_t i = 0; found && i < watched.size(); ++i)
      if (watched[i]) look_at(entry.sources[i], *inputs[i].tensor(), pool);
    snapshot_.slots[slot] = std::move(memory);
    return {};
  }

  Result<Tensor> read(int32_t source) {
    const auto id = static_cast<size_t>(source);
    auto tensor = snapshot_.sources[id]->value();
    if (!tensor.ok()) return std::move(tensor).status().in("weight '" + program_.sources[id].name + "'");
    return tensor;
  }

  void look_at(int32_t source, const Tensor& tensor, ThreadPool* pool) {
    const auto id = static_cast<size_t>(source);
    if (fresh_[id] && any_not_finite(tensor.view(), pool)) not_finite_[id].store(true, std::memory_order_relaxed);
  }

  // The tensor itself when nobody can change it any more, else a copy.
  Result<Tensor> lasting_copy(int32_t source, const Tensor& tensor, ThreadPool* pool) {
    if (tensor.dtype() == DType::String) return Tensor::of<std::string>(tensor.dims(), tensor.as<std::string>());
    if (lasting_ && tensor.owner()) {
      look_at(source, tensor, pool);
      return tensor;
    }
    TN_ASSIGN_OR_RETURN(Tensor copy, tools_.spare.take(tensor.dtype(), tensor.dims()));
    const auto id = static_cast<size_t>(source);
    if (copy_and_watch(tensor.view(), copy.view(), pool) && fresh_[id])
      not_finite_[id].store(true, std::memory_order_relaxed);
    return copy;
  }

  // A view of its source takes no memory.
  bool is_view(size_t slot) const {
    return tools_.weights.is_source(slot) && (lasting_ || tools_.weights.dtype(slot) == DType::String);
  }

  // False when an equal slot is there already, or is going to be made.
  bool must_make(size_t slot, std::span<const Value> inputs) {
    SharedSlots::Slot* const shared = shared_.find(program_, program_.weight_program[slot], snapshot_, inputs);
    if (!shared) return true;
    const bool is_first = !shared->tensor.defined() && first_.emplace(shared, slot).second;
    if (!is_first) later_.emplace_back(slot, shared);
    return is_first;
  }

  // Hands what was made to all that are equal.
  void share() {
    for (const auto& [shared, slot] : first_) {
      shared->tensor = snapshot_.slots[slot];
      const auto& sources = program_.weight_program[slot].sources;
      for (size_t i = 0; i < sources.size(); ++i)
        shared->not_finite[i] = is_not_finite(static_cast<size_t>(sources[i]));
    }
    for (const auto& [slot, shared] : later_) {
      snapshot_.slots[slot] = shared->tensor;
      const auto& sources = program_.weight_program[slot].sources;
      for (size_t i = 0; i < sources.size(); ++i)
        if (const auto id = static_cast<size_t>(sources[i]); fresh_[id] && shared->not_finite[i])
          not_finite_[id] = true;
    }
  }

  const SwapTools& tools_;
  const Program& program_;
  WeightSnapshot& snapshot_;
  const std::vector<bool>& fresh_;
  bool lasting_;
  SharedSlots alone_;
  SharedSlots& shared_;
  std::map<SharedSlots::Slot*, size_t> first_;                // made here, and where
  std::vector<std::pair<size_t, SharedSlots::Slot*>> later_;  // that get what another one has
  std::vector<std::atomic<bool>> not_finite_;
};

// What a later swap can read again: files always, the caller's tensors only as copies of their own. A slot that is its
// source serves as well.
Status resolve_sources(const Program& program, WeightSnapshot& snapshot, const std::vector<bool>& changed,
                       bool keep_copies) {
  for (size_t i = 0; i < changed.size(); ++i)
    if (changed[i] && !keep_copies) snapshot.sources[i] = nullptr;
  std::vector<bool> is_slot(changed.size(), false);
  for (size_t slot = 0; slot < program.weight_program.size(); ++slot) {
    const WeightEntry& entry = program.weight_program[slot];
    if (entry.expression) continue;
    const auto id = static_cast<size_t>(entry.sources[0]);
    if (!changed[id]) continue;
    is_slot[id] = true;
    snapshot.sources[id] = std::make_shared<SourceBytes>(SourceBytes{snapshot.slots[slot], nullptr, std::nullopt});
  }
  for (size_t i = 0; i < changed.size(); ++i) {
    if (!changed[i] || !keep_copies || is_slot[i]) continue;
    TN_ASSIGN_OR_RETURN(const Tensor tensor, snapshot.sources[i]->value());
    TN_ASSIGN_OR_RETURN(Tensor copy, Tensor::allocate(tensor.dtype(), tensor.dims(), nullptr));
    copy_elements(tensor.view(), copy.view());
    snapshot.sources[i] = std::make_shared<SourceBytes>(SourceBytes{std::move(copy), nullptr, std::nullopt});
  }
  return {};
}

// Why slots could not be made: every weight whose bytes are missing, not just the first one met.
Status explain(Status failure, const Program& program, const WeightSnapshot& snapshot, const std::vector<size_t>& slots,
               const std::vector<bool>& changed) {
  std::set<int32_t> needed;
  for (const size_t slot : slots)
    needed.insert(program.weight_program[slot].sources.begin(), program.weight_program[slot].sources.end());
  std::string missing;
  bool stays = false;
  for (const int32_t id : needed) {
    const auto tensor = snapshot.sources[static_cast<size_t>(id)]->value();
    if (tensor.ok()) continue;
    const auto index = static_cast<size_t>(id);
    missing += fmt::format("\n  {}: '{}': {}", changed[index] ? "unreadable" : "absent", program.sources[index].name,
                           tensor.status().to_string());
    if (!changed[index]) stays = true;
  }
  if (missing.empty()) return failure;
  return Status(
      failure.code(),
      fmt::format(
          "{}:{}",
          stays ? "these weights are packed together with the ones you replace, and their values were not found; add "
                  "them to the new set, or name the folder of the files they came from with the option 'source_dir'"
                : "the values of these weights cannot be read",
          missing));
}

// A tensor of a source in the shape that the program knows it in.
Result<Tensor> read_as(const WeightSource& source, const SourceInfo& info) {
  TN_ASSIGN_OR_RETURN(Tensor tensor, source.read(info.name));
  return tensor.dims() == info.dims ? std::move(tensor) : tensor.reshaped(info.dims);
}

}  // namespace

Result<NewWeights> make_new_weights(const SwapTools& tools, const WeightSnapshot& current,
                                    const std::shared_ptr<const WeightSource>& source, const SwapOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  const Program& program = tools.weights.program();
  TN_ASSIGN_OR_RETURN(PlannedSwap planned, plan_swap(program, current, *source, options));
  if (!planned.broken.empty()) return error(Code::Internal, "the weights change the plan they are computed for");
  auto next = std::make_shared<WeightSnapshot>(current);
  for (size_t i = 0; i < planned.changed.size(); ++i)
    if (planned.changed[i])
      next->sources[i] = std::make_shared<SourceBytes>(
          SourceBytes{{}, [source, info = program.sources[i]] { return read_as(*source, info); }, std::nullopt});

  NewWeights result;
  SwapReport& report = result.report;
  report.slots = tools.weights.slot_count();
  report.slots_redone = planned.slots.size();
  for (const size_t slot : planned.slots) report.bytes_redone += tools.weights.bytes(slot);
  // What retires with the old snapshot is what the next swap needs.
  tools.spare.keep_at_most(report.bytes_redone);
  const bool lasting = source->lasting() && options.map;
  SlotMaker maker(tools, *next, planned.changed, lasting);
  if (Status status = maker.make(planned.slots); !status.ok())
    return explain(std::move(status), program, *next, planned.slots, planned.changed);

  for (size_t i = 0; i < planned.changed.size(); ++i) {
    if (!planned.changed[i]) continue;
    report.replaced.push_back(program.sources[i].name);
    if (maker.is_not_finite(i)) report.not_finite.push_back(program.sources[i].name);
  }
  report.open = open_weights(program, *next);
  for (const std::string& name : planned.unchanged)
    if (!std::ranges::binary_search(report.open, name)) report.kept.push_back(name);
  report.ignored = std::move(planned.ignored);
  report.warnings = differing_attributes(program, *next, *source);
  if (!lasting) TN_RETURN_IF_ERROR(resolve_sources(program, *next, planned.changed, options.keep_sources));
  result.snapshot = std::move(next);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

Result<std::shared_ptr<const WeightSnapshot>> make_first_weights(const SwapTools& tools, WeightSnapshot weights) {
  auto snapshot = std::make_shared<WeightSnapshot>(std::move(weights));
  snapshot->slots.resize(tools.weights.slot_count());
  std::vector<size_t> slots(tools.weights.slot_count());
  for (size_t i = 0; i < slots.size(); ++i) slots[i] = i;
  const std::vector<bool> fresh(snapshot->sources.size(), false);
  TN_RETURN_IF_ERROR(SlotMaker(tools, *snapshot, fresh, true).make(slots));
  return std::shared_ptr<const WeightSnapshot>(std::move(snapshot));
}

}  // namespace tenon
