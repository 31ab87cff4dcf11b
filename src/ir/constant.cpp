#include "ir/constant.h"

#include "tensor/dim.h"

namespace tenon {

Status Constant::read() {
  if (tensor.defined()) return {};
  TN_ASSIGN_OR_RETURN(tensor, load());
  return {};
}

void Constant::note(Asked question) {
  if (is_literal()) return;
  for (const Asked& known : asked)
    if (known.property == question.property && known.asker == question.asker) return;
  asked.push_back(std::move(question));
}

bool Constant::may_be_asked() const {
  const auto bytes = storage_bytes(dtype, element_count(Shape(dims.begin(), dims.end())).value());
  return bytes && *bytes <= kMostAskedBytes;
}

namespace {

// Long literals are rare, and comparing them would cost more than storing them twice.
constexpr int64_t kMostInternedBytes = 4096;

std::optional<std::string> literal_key(const Tensor& tensor, std::string_view attribute) {
  if (tensor.dtype() == DType::String || tensor.bytes() > kMostInternedBytes) return std::nullopt;
  std::string key(attribute);
  key += '\0';
  key += static_cast<char>(tensor.dtype());
  key += std::to_string(tensor.dims().size());
  for (const int64_t d : tensor.dims()) key += ',' + std::to_string(d);
  key += ':';
  key.append(static_cast<const char*>(tensor.data()), static_cast<size_t>(tensor.bytes()));
  return key;
}

}  // namespace

ConstantId ConstantPool::literal(const Tensor& tensor, std::string_view attribute) {
  const auto make = [&] {
    Constant made = Constant::of("", tensor);
    made.attribute = attribute;
    return add(std::move(made));
  };
  const auto key = literal_key(tensor, attribute);
  if (!key) return make();
  if (const auto known = literals_.find(*key); known != literals_.end()) return known->second;
  return literals_.emplace(*key, make()).first->second;
}

}  // namespace tenon
