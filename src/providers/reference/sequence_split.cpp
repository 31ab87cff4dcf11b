// Between one tensor and a sequence of its parts.
#include <algorithm>

#include "base/checked_math.h"
#include "ops/sequence.h"
#include "providers/reference/elements.h"
#include "providers/reference/indexing.h"
#include "providers/reference/integers.h"
#include "providers/reference/kernel.h"
#include "providers/reference/work_meter.h"
#include "providers/scratch.h"
#include "tensor/text_memory.h"

namespace tenon {

namespace {

constexpr int64_t kUnitsPerPart = 64;  // of the time that a tensor takes to be made

// The extents of the parts: given one by one, or all of one length with a shorter last one.
Result<Scratch<int64_t>> part_sizes(KernelContext& c, int64_t extent) {
  Scratch<int64_t> sizes;
  if (c.has(1) && c.in(1).rank() == 1) {
    int64_t left = extent;
    for (int64_t size : integers_of(c.in(1))) {
      if (size < 0 || size > left)
        return invalid_argument("a part of size {} does not fit into the remaining {}", size, left);
      left -= size;
      sizes.push_back(size);
    }
    if (left != 0) return invalid_argument("the parts leave {} of {} elements unused", left, extent);
    return sizes;
  }
  const int64_t length = c.has(1) ? integer_at(c.in(1), 0) : 1;
  if (length <= 0) return invalid_argument("the parts have the length {}; it must be positive", length);
  // Each part takes a heap block, so an axis of an empty tensor must not ask for more than any real one could.
  TN_RETURN_IF_ERROR(c.services().count_iterations(ceil_div(extent, length)));
  for (int64_t at = 0; at < extent; at += std::min(length, extent - at)) sizes.push_back(std::min(length, extent - at));
  return sizes;
}

Result<Tensor> part_of(KernelContext& c, int64_t axis, int64_t start, int64_t size) {
  const TensorView& in = c.in(0);
  std::vector<int64_t> dims(in.dims.begin(), in.dims.end());
  dims[static_cast<size_t>(axis)] = size;
  TN_ASSIGN_OR_RETURN(Tensor part, Tensor::allocate(in.dtype, std::move(dims), c.budget()));
  if (part.size() == 0) return part;
  const AxisSplit split(in.dims, axis);
  TN_RETURN_IF_ERROR(dispatch_by_size(in.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* from = static_cast<const T*>(in.data);
    T* to = static_cast<T*>(part.mutable_data());
    WorkMeter meter;
    for (int64_t o = 0; o < split.outer; ++o, meter.spend(size * split.inner + 1))
      std::copy_n(from + (o * split.extent + start) * split.inner, size * split.inner, to + o * size * split.inner);
    return Status();
  }));
  return charge_text(part, c.budget());
}

// The dims of the joined tensor: the parts' own with their extents along the axis added up.
Result<std::vector<int64_t>> joined_dims(const Sequence& sequence, int64_t given_axis, bool new_axis, int64_t& axis) {
  std::vector<int64_t> joined;
  for (const Value& item : sequence.items) {
    const Tensor* t = item.tensor();
    if (!t) return invalid_argument("only tensors can be concatenated, not {}", item.type().to_string());
    std::vector<int64_t> dims = t->dims();
    const int64_t rank = static_cast<int64_t>(dims.size()) + new_axis;
    if (given_axis < -rank || given_axis >= rank)
      return invalid_argument("axis {} is out of range for parts of rank {}", given_axis, rank);
    axis = given_axis < 0 ? given_axis + rank : given_axis;
    if (new_axis) dims.insert(dims.begin() + axis, 1);
    if (joined.empty() && &item == &sequence.items.front()) {
      joined = dims;
      continue;
    }
    const size_t at = static_cast<size_t>(axis);
    const auto extent = joined.size() == dims.size() ? checked_add(joined[at], dims[at]) : std::nullopt;
    if (extent) dims[at] = joined[at] = *extent;
    if (!extent || dims != joined || t->dtype() != sequence.items.front().tensor()->dtype())
      return invalid_argument("the parts have different types or shapes: {} and {}",
                              sequence.items.front().type().to_string(), item.type().to_string());
  }
  return joined;
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::SplitToSequence>() {
  return [](KernelContext& c) -> Status {
    const auto& p = c.params<SplitToSequenceParams>();
    const int64_t axis = p.axis < 0 ? p.axis + c.in(0).rank() : p.axis;
    TN_ASSIGN_OR_RETURN(auto sizes, part_sizes(c, c.in(0).dims[static_cast<size_t>(axis)]));
    Sequence sequence{Type::tensor(c.in(0).dtype), {}};
    int64_t start = 0;
    WorkMeter meter;
    for (int64_t size : sizes) {
      meter.spend(kUnitsPerPart);
      TN_ASSIGN_OR_RETURN(Tensor part, part_of(c, axis, start, size));
      start += size;
      // keepdims has a meaning only where every part is a single slice.
      if (!p.keepdims && !c.has(1)) {
        std::vector<int64_t> dims = part.dims();
        dims.erase(dims.begin() + axis);
        part = part.reshaped(std::move(dims));
      }
      sequence.items.emplace_back(std::move(part));
    }
    c.set(0, std::move(sequence));
    return {};
  };
}

template <>
KernelFunction reference_kernel<OpId::ConcatFromSequence>() {
  return [](KernelContext& c) -> Status {
    const auto& p = c.params<ConcatFromSequenceParams>();
    const Sequence* sequence = c.boxed(0) ? c.boxed(0)->sequence() : nullptr;
    if (!sequence || sequence->items.empty()) return invalid_argument("an empty sequence cannot be concatenated");
    int64_t axis = 0;
    TN_ASSIGN_OR_RETURN(auto dims, joined_dims(*sequence, p.axis, p.new_axis, axis));
    TN_ASSIGN_OR_RETURN(Tensor joined, Tensor::allocate(sequence->items[0].tensor()->dtype(), dims, c.budget()));
    if (is_sub_byte(joined.dtype())) return unsupported("a sequence of packed elements cannot be concatenated");
    const AxisSplit split = joined.size() > 0 ? AxisSplit(dims, axis) : AxisSplit({}, 0);
    TN_RETURN_IF_ERROR(dispatch_by_size(joined.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      T* to = static_cast<T*>(joined.mutable_data());
      int64_t at = 0;
      for (const Value& item : sequence->items) {
        if (joined.size() == 0) break;
        const T* from = static_cast<const T*>(item.tensor()->data());
        const int64_t run = item.tensor()->size() / split.outer;
        WorkMeter meter;
        for (int64_t o = 0; o < split.outer; ++o, meter.spend(run + 1))
          std::copy_n(from + o * run, run, to + o * split.extent * split.inner + at);
        at += run;
      }
      return Status();
    }));
    TN_ASSIGN_OR_RETURN(joined, charge_text(joined, c.budget()));
    c.set(0, std::move(joined));
    return {};
  };
}

}  // namespace tenon
