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
