#include "ops/optional.h"

#include "providers/reference/kernel.h"

namespace tenon {

template <>
KernelFunction reference_kernel<OpId::Optional>() {
  return [](KernelContext& c) -> Status {
    if (!c.has(0)) {
      c.set(0, Optional{c.params<OptionalParams>().element(), nullptr});
      return {};
    }
    TN_ASSIGN_OR_RETURN(Value item, c.take(0));
    Type type = item.type();
    c.set(0, Optional{std::move(type), std::make_shared<const Value>(std::move(item))});
    return {};
  };
}

template <>
KernelFunction reference_kernel<OpId::OptionalGetElement>() {
  return [](KernelContext& c) -> Status {
    TN_ASSIGN_OR_RETURN(Value value, c.take(0));
    const Optional* optional = value.optional();
    if (optional && !optional->item) return invalid_argument("the optional is empty");
    c.set(0, optional ? *optional->item : value);
    return {};
  };
}

template <>
KernelFunction reference_kernel<OpId::OptionalHasElement>() {
  return [](KernelContext& c) -> Status {
    const Optional* optional = c.boxed(0) ? c.boxed(0)->optional() : nullptr;
    c.out(0).as<bool>()[0] = optional ? optional->item != nullptr : c.has(0);
    return {};
  };
}

}  // namespace tenon
