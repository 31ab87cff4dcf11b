#include "executor/unshared.h"

#include <limits>

#include "base/memory_charge.h"
#include "tensor/text_memory.h"

namespace tenon {

namespace {

class Unsharing {
 public:
  explicit Unsharing(const std::shared_ptr<MemoryBudget>& budget) : budget_(budget) {
    if (budget) left_ = budget->limit() - budget->used();
  }

  // Containers are taken apart and let go of before their tensors are looked at: one that somebody else holds too keeps
  // its tensors, which then have a second holder.
  Result<Value> unshared(Value value) {
    if (Tensor* tensor = value.tensor()) {
      TN_ASSIGN_OR_RETURN(*tensor, unshared(std::move(*tensor)));
      return value;
    }
    if (const Sequence* held = value.sequence()) {
      TN_RETURN_IF_ERROR(count(held->items.size() * sizeof(Value)));
      Sequence sequence = *held;
      value = Value();
      for (Value& item : sequence.items) {
        TN_ASSIGN_OR_RETURN(item, unshared(std::move(item)));
      }
      return Value(std::move(sequence));
    }
    if (const Optional* held = value.optional(); held && held->item) {
      TN_RETURN_IF_ERROR(count(sizeof(Value)));
      const Type element = held->element;
      Value item = *held->item;
      value = Value();
      TN_ASSIGN_OR_RETURN(item, unshared(std::move(item)));
      return Value(Optional{element, std::make_shared<const Value>(std::move(item))});
    }
    if (const Map* held = value.map()) {
      Map map = *held;
      value = Value();
      TN_ASSIGN_OR_RETURN(map.values, unshared(std::move(map.values)));
      return Value(std::move(map));
    }
    return value;
  }

 private:
  Result<Tensor> unshared(Tensor tensor) {
    if (tensor.owner().use_count() == 1) return tensor;
    TN_ASSIGN_OR_RETURN(Tensor copy, Tensor::allocate(tensor.dtype(), tensor.dims(), budget_));
    copy_elements(tensor.view(), copy.view());
    return charge_text(copy, budget_);
  }

  // Lists that share their parts grow when each gets its own: a few of them, nested, can stand for any number.
  Status count(size_t bytes) {
    left_ -= charge_for(static_cast<int64_t>(bytes));
    if (left_ >= 0) return {};
    return error(Code::ResourceLimit,
                 "copying its nested lists would exceed the memory limit (raise the option 'memory_limit')");
  }

  const std::shared_ptr<MemoryBudget>& budget_;
  int64_t left_ = std::numeric_limits<int64_t>::max();
};

}  // namespace

Result<Value> unshared(Value value, const std::shared_ptr<MemoryBudget>& budget) {
  return Unsharing(budget).unshared(std::move(value));
}

}  // namespace tenon
