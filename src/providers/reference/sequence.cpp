#include "ops/sequence.h"

#include "providers/reference/integers.h"
#include "providers/reference/kernel.h"

namespace tenon {

namespace {

Result<const Sequence*> sequence_at(KernelContext& c, size_t i) {
  const Value* value = c.boxed(i);
  const Sequence* sequence = value ? value->sequence() : nullptr;
  if (!sequence) return invalid_argument("input {} must be a sequence", i);
  return sequence;
}

// The position input i counted from the front; `places` of them are allowed, negative ones count from `size`.
Result<size_t> position_at(KernelContext& c, size_t i, int64_t size, int64_t places) {
  if (!c.has(i)) return static_cast<size_t>(places - 1);
  if (c.in(i).size() != 1) return invalid_argument("the position must be a single integer");
  const int64_t position = integer_at(c.in(i), 0);
  if (position < -size || position >= places)
    return invalid_argument("position {} is outside {}..{}", position, -size, places - 1);
  return static_cast<size_t>(position < 0 ? position + size : position);
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::SequenceAt>() {
  return [](KernelContext& c) -> Status {
    TN_ASSIGN_OR_RETURN(const Sequence* sequence, sequence_at(c, 0));
    const int64_t size = static_cast<int64_t>(sequence->items.size());
    TN_ASSIGN_OR_RETURN(size_t position, position_at(c, 1, size, size));
    c.set(0, sequence->items[position]);
    return {};
  };
}

template <>
KernelFunction reference_kernel<OpId::SequenceConstruct>() {
  return [](KernelContext& c) -> Status {
    Sequence sequence;
    for (size_t i = 0; i < c.input_count(); ++i) {
      TN_ASSIGN_OR_RETURN(Value item, c.take(i));
      if (i == 0) sequence.element = without_shape(item.type());
      sequence.items.push_back(std::move(item));
    }
    c.set(0, std::move(sequence));
    return {};
  };
}

template <>
KernelFunction reference_kernel<OpId::SequenceEmpty>() {
  return [](KernelContext& c) -> Status {
    c.set(0, Sequence{Type::tensor(c.params<SequenceEmptyParams>().dtype), {}});
    return {};
  };
}

template <>
KernelFunction reference_kernel<OpId::SequenceErase>() {
  return [](KernelContext& c) -> Status {
    TN_ASSIGN_OR_RETURN(const Sequence* sequence, sequence_at(c, 0));
    const int64_t size = static_cast<int64_t>(sequence->items.size());
    if (size == 0) return invalid_argument("an empty sequence has no element to erase");
    TN_ASSIGN_OR_RETURN(size_t position, position_at(c, 1, size, size));
    Sequence result = *sequence;
    result.items.erase(result.items.begin() + static_cast<std::ptrdiff_t>(position));
    c.set(0, std::move(result));
    return {};
  };
}

template <>
KernelFunction reference_kernel<OpId::SequenceInsert>() {
  return [](KernelContext& c) -> Status {
    TN_ASSIGN_OR_RETURN(const Sequence* sequence, sequence_at(c, 0));
    const int64_t size = static_cast<int64_t>(sequence->items.size());
    TN_ASSIGN_OR_RETURN(size_t position, position_at(c, 2, size, size + 1));
    TN_ASSIGN_OR_RETURN(Value item, c.take(1));
    Sequence result = *sequence;
    if (result.element.kind == Type::Kind::Unknown) result.element = without_shape(item.type());
    result.items.insert(result.items.begin() + static_cast<std::ptrdiff_t>(position), std::move(item));
    c.set(0, std::move(result));
    return {};
  };
}

template <>
KernelFunction reference_kernel<OpId::SequenceLength>() {
  return [](KernelContext& c) -> Status {
    TN_ASSIGN_OR_RETURN(const Sequence* sequence, sequence_at(c, 0));
    c.out(0).as<int64_t>()[0] = static_cast<int64_t>(sequence->items.size());
    return {};
  };
}

}  // namespace tenon
