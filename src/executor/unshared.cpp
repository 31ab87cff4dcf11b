#include "executor/unshared.h"

#include "tensor/text_memory.h"

namespace tenon {

namespace {

Result<Tensor> unshared_tensor(Tensor tensor, const std::shared_ptr<MemoryBudget>& budget) {
  if (tensor.owner().use_count() == 1) return tensor;
  TN_ASSIGN_OR_RETURN(Tensor copy, Tensor::allocate(tensor.dtype(), tensor.dims(), budget));
  copy_elements(tensor.view(), copy.view());
  return charge_text(copy, budget);
}

}  // namespace

// Containers are taken apart and let go of before their tensors are looked at: one that somebody else holds too keeps
// its tensors, which then have a second holder.
Result<Value> unshared(Value value, const std::shared_ptr<MemoryBudget>& budget) {
  if (Tensor* tensor = value.tensor()) {
    TN_ASSIGN_OR_RETURN(*tensor, unshared_tensor(std::move(*tensor), budget));
    return value;
  }
  if (const Sequence* held = value.sequence()) {
    Sequence sequence = *held;
    value = Value();
    for (Value& item : sequence.items) {
      TN_ASSIGN_OR_RETURN(item, unshared(std::move(item), budget));
    }
    return Value(std::move(sequence));
  }
  if (const Optional* held = value.optional(); held && held->item) {
    const Type element = held->element;
    Value item = *held->item;
    value = Value();
    TN_ASSIGN_OR_RETURN(item, unshared(std::move(item), budget));
    return Value(Optional{element, std::make_shared<const Value>(std::move(item))});
  }
  if (const Map* held = value.map()) {
    Map map = *held;
    value = Value();
    TN_ASSIGN_OR_RETURN(map.values, unshared_tensor(std::move(map.values), budget));
    return Value(std::move(map));
  }
  return value;
}

}  // namespace tenon
