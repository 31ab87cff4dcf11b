#include "swap/shared_slots.h"

#include <algorithm>

#include "plan/keys.h"
#include "plan/tensor_bytes.h"

namespace tenon {

namespace {

// What is at most this large is hashed as a whole.
constexpr int64_t kSmall = 4096;
constexpr size_t kSamples = 16, kSampleBytes = 64;

bool is_small(const SourceInfo& info) {
  return info.dtype == DType::String || storage_bytes(info.dtype, count_of(info.dims)).value_or(0) <= kSmall;
}

Hash128 hash_of_samples(std::string_view bytes) {
  std::string samples;
  for (size_t i = 0; i < kSamples; ++i)
    samples += bytes.substr((bytes.size() - kSampleBytes) / (kSamples - 1) * i, kSampleBytes);
  return hash_bytes(samples);
}

// Equal for equal content, where the same is known of both.
Result<Hash128> fingerprint(const SourceInfo& info, const SourceBytes& source, const Tensor* at_hand) {
  if (!is_small(info) && source.content) return *source.content;
  TN_ASSIGN_OR_RETURN(const Tensor tensor, at_hand ? Result<Tensor>(*at_hand) : source.value());
  if (is_small(info)) return content_hash(tensor);
  std::string scratch;
  return hash_of_samples(stored_bytes(tensor, scratch));
}

// Whether two sources of one fingerprint are equal.
bool is_equal(const SourceInfo& info, const SourceBytes& left, const SourceBytes& right) {
  if (is_small(info) || (left.content && right.content)) return true;
  const auto a = left.value(), b = right.value();
  std::string scratch;  // unused by large sources, which are no strings
  return a.ok() && b.ok() && stored_bytes(*a, scratch) == stored_bytes(*b, scratch);
}

}  // namespace

SharedSlots::Slot* SharedSlots::find(const Program& program, const WeightEntry& entry, const WeightSnapshot& snapshot,
                                     std::span<const Value> inputs) {
  std::vector<Hash128> fingerprints(program.sources.size());
  Slot wanted;
  for (size_t i = 0; i < entry.sources.size(); ++i) {
    const auto index = static_cast<size_t>(entry.sources[i]);
    const auto& source = snapshot.sources[index];
    if (!source || !source->available()) return nullptr;
    const auto found = fingerprint(program.sources[index], *source, inputs.empty() ? nullptr : inputs[i].tensor());
    if (!found.ok()) return nullptr;
    fingerprints[index] = *found;
    wanted.sources.push_back(source);
  }
  wanted.not_finite.resize(wanted.sources.size());
  std::deque<Slot>& alike = slots_[packed_key(program, entry, fingerprints)];
  for (Slot& slot : alike) {
    bool equal = true;
    for (size_t i = 0; equal && i < entry.sources.size(); ++i)
      equal = is_equal(program.sources[static_cast<size_t>(entry.sources[i])], *slot.sources[i], *wanted.sources[i]);
    if (equal) return &slot;
  }
  return &alike.emplace_back(std::move(wanted));
}

}  // namespace tenon
