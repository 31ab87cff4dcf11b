#include "runtime/text_memory.h"

#include <algorithm>
#include <string>

#include "base/checked_math.h"

namespace tenon {

namespace {

struct TextCharge {
  std::shared_ptr<MemoryBudget> budget;
  std::shared_ptr<const void> strings;
  int64_t bytes = 0;
  ~TextCharge() { budget->release(bytes); }
};

int64_t text_bytes(std::span<const std::string> strings) {
  const size_t inside = std::string().capacity();
  int64_t bytes = 0;
  for (const std::string& s : strings)
    if (s.capacity() > inside) bytes += static_cast<int64_t>(s.capacity()) + 1;
  return bytes;
}

}  // namespace

Status check_repeated_text(std::span<const TensorView> inputs, std::span<const TensorView> outputs,
                           const MemoryBudget& budget) {
  int64_t given = 0, made = 0, longest = 0;
  for (const TensorView& output : outputs)
    if (output.dtype == DType::String && output.data) made += output.size();
  if (made == 0) return {};
  for (const TensorView& input : inputs) {
    if (input.dtype != DType::String || !input.data) continue;
    given += input.size();
    size_t most = 0;
    for (const std::string& s : input.as<std::string>()) most = std::max(most, s.size());
    longest += static_cast<int64_t>(most);
  }
  if (made <= given || longest <= static_cast<int64_t>(std::string().capacity())) return {};
  const auto bytes = checked_mul(made, longest);
  if (bytes && *bytes <= budget.limit() - budget.used()) return {};
  return error(
      Code::ResourceLimit,
      "{} strings of up to {} bytes may need more memory than the limit of {} (raise the option 'memory_limit')", made,
      longest, budget.limit());
}

Result<Tensor> charge_text(const Tensor& strings, const std::shared_ptr<MemoryBudget>& budget) {
  const int64_t bytes = text_bytes(strings.as<std::string>());
  if (bytes == 0) return strings;
  TN_RETURN_IF_ERROR(budget->reserve(bytes));
  auto owner = std::make_shared<TextCharge>();
  owner->budget = budget;
  owner->strings = strings.owner();
  owner->bytes = bytes;
  return Tensor::borrow(DType::String, strings.dims(), strings.data(), std::move(owner));
}

}  // namespace tenon
