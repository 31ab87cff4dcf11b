// Ops that only give their input another shape.
#include "providers/reference/copy.h"

namespace tenon {

namespace {

Status copy_input(KernelContext& c) {
  copy_all(c.in(0), c.out(0));
  return {};
}

// Any kind of value passes through unchanged.
Status pass_value(KernelContext& c) {
  if (!c.boxed(0) && c.out(0).data) return copy_input(c);
  TN_ASSIGN_OR_RETURN(Value value, c.take(0));
  c.set(0, std::move(value));
  return {};
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::Reshape>() {
  return copy_input;
}

template <>
KernelFunction reference_kernel<OpId::Unsqueeze>() {
  return copy_input;
}

template <>
KernelFunction reference_kernel<OpId::Squeeze>() {
  return copy_input;
}

template <>
KernelFunction reference_kernel<OpId::Flatten>() {
  return copy_input;
}

template <>
KernelFunction reference_kernel<OpId::Identity>() {
  return pass_value;
}

}  // namespace tenon
