#include "tensor/canonical.h"

#include <cstring>

namespace tenon {

namespace {

uint8_t used_bits_of_last_byte(const TensorView& view) {
  const int used = static_cast<int>(view.size() % 8) * dtype_bits(view.dtype) % 8;
  return static_cast<uint8_t>(used == 0 ? 0xFF : (1 << used) - 1);
}

// Never as `bool`, which such bytes need not be.
std::span<uint8_t> bytes_of(const TensorView& view) {
  return {static_cast<uint8_t*>(view.data), static_cast<size_t>(view.bytes())};
}

// Eight at a time: masks may be large, and every run looks at them.
bool all_zero_or_one(std::span<const uint8_t> bytes) {
  uint64_t any = 0;
  size_t i = 0;
  for (uint64_t word = 0; i + sizeof(word) <= bytes.size(); i += sizeof(word)) {
    std::memcpy(&word, bytes.data() + i, sizeof(word));
    any |= word;
  }
  for (; i < bytes.size(); ++i) any |= bytes[i];
  return (any & 0xfefefefefefefefeu) == 0;
}

}  // namespace

bool is_canonical(const TensorView& view) {
  if (view.dtype == DType::Bool) {
    return all_zero_or_one(bytes_of(view));
  }
  if (!is_sub_byte(view.dtype) || view.size() == 0) return true;
  return (bytes_of(view).back() & ~used_bits_of_last_byte(view)) == 0;
}

void make_canonical(const TensorView& view) {
  if (view.dtype == DType::Bool)
    for (uint8_t& byte : bytes_of(view)) byte = byte != 0;
  if (is_sub_byte(view.dtype) && view.size() > 0) bytes_of(view).back() &= used_bits_of_last_byte(view);
}

namespace {

// NaNs are what is above the largest exponent without a fraction, whatever the sign.
template <class Bits>
void replace_nans(const TensorView& view, Bits infinity, Bits nan) {
  constexpr auto kSize = static_cast<int64_t>(sizeof(Bits));
  const auto magnitude = static_cast<Bits>(static_cast<Bits>(~Bits{0}) >> 1);
  auto* elements = static_cast<Bits*>(view.data);
  for (int64_t i = 0, count = view.bytes() / kSize; i < count; ++i)
    if ((elements[i] & magnitude) > infinity) elements[i] = nan;
}

}  // namespace

void make_nans_canonical(const TensorView& view) {
  switch (view.dtype) {
    case DType::Float32:
    case DType::Complex64:
      return replace_nans<uint32_t>(view, 0x7f800000u, 0x7fc00000u);
    case DType::Float64:
    case DType::Complex128:
      return replace_nans<uint64_t>(view, 0x7ff0000000000000u, 0x7ff8000000000000u);
    case DType::Float16:
      return replace_nans<uint16_t>(view, 0x7c00, 0x7e00);
    case DType::BFloat16:
      return replace_nans<uint16_t>(view, 0x7f80, 0x7fc0);
    case DType::Float8E5M2:
      return replace_nans<uint8_t>(view, 0x7c, 0x7e);
    case DType::Float8E4M3FN:
      return replace_nans<uint8_t>(view, 0x7e, 0x7f);
    default:
      return;  // integers, and floats that have one NaN or none
  }
}

Result<Tensor> canonical(Tensor tensor, const std::shared_ptr<MemoryBudget>& budget) {
  if (is_canonical(tensor.view())) return tensor;
  TN_ASSIGN_OR_RETURN(Tensor copy, Tensor::allocate(tensor.dtype(), tensor.dims(), budget));
  copy_elements(tensor.view(), copy.view());
  make_canonical(copy.view());
  return copy;
}

Result<Value> canonical(Value value, const std::shared_ptr<MemoryBudget>& budget) {
  if (Tensor* tensor = value.tensor()) {
    TN_ASSIGN_OR_RETURN(*tensor, canonical(std::move(*tensor), budget));
    return value;
  }
  if (const Sequence* sequence = value.sequence()) {
    Sequence made{sequence->element, {}};
    for (const Value& item : sequence->items) {
      TN_ASSIGN_OR_RETURN(Value element, canonical(item, budget));
      made.items.push_back(std::move(element));
    }
    return Value(std::move(made));
  }
  if (const Optional* optional = value.optional(); optional && optional->item) {
    TN_ASSIGN_OR_RETURN(Value item, canonical(*optional->item, budget));
    return Value(Optional{optional->element, std::make_shared<const Value>(std::move(item))});
  }
  if (const Map* map = value.map(); map && !is_canonical(map->values.view())) {
    Map made = *map;
    TN_ASSIGN_OR_RETURN(made.values, canonical(std::move(made.values), budget));
    return Value(std::move(made));
  }
  return value;
}

}  // namespace tenon
