#include "tensor/text_memory.h"

#include <string>

namespace tenon {

namespace {

struct Charge {
  std::shared_ptr<MemoryBudget> budget;
  std::shared_ptr<const void> owner;
  int64_t bytes = 0;
  ~Charge() { budget->release(bytes); }
};

int64_t text_bytes(std::span<const std::string> strings) {
  const size_t inside = std::string().capacity();
  int64_t bytes = 0;
  for (const std::string& s : strings)
    if (s.capacity() > inside) bytes += static_cast<int64_t>(s.capacity()) + 1;
  return bytes;
}

}  // namespace

Result<Tensor> with_charge(const Tensor& tensor, int64_t bytes, const std::shared_ptr<MemoryBudget>& budget) {
  if (bytes == 0 || !budget) return tensor;
  TN_RETURN_IF_ERROR(budget->reserve(bytes));
  auto owner = std::make_shared<Charge>();
  owner->budget = budget;
  owner->owner = tensor.owner();
  owner->bytes = bytes;
  return Tensor::borrow(tensor.dtype(), tensor.dims(), tensor.data(), std::move(owner));
}

Result<Tensor> charge_text(const Tensor& tensor, const std::shared_ptr<MemoryBudget>& budget) {
  if (tensor.dtype() != DType::String) return tensor;
  return with_charge(tensor, text_bytes(tensor.as<std::string>()), budget);
}

}  // namespace tenon
