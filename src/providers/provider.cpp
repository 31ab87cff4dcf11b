#include "providers/provider.h"

#include <algorithm>

#include "providers/cpu/kernel.h"
#include "providers/reference/kernel.h"

namespace tenon {

Kernel find_kernel(std::string_view family) {
  constexpr std::string_view reference = "reference/", control = "control/", cpu = "cpu/";
  if (family.starts_with(reference)) return {find_reference_kernel(family.substr(reference.size())), true};
  // Control flow only moves whole values between sub-plans, so packed elements stay packed.
  if (family.starts_with(control)) return {find_reference_kernel(family.substr(control.size())), false};
  if (family.starts_with(cpu)) return find_cpu_kernel(family.substr(cpu.size()));
  return {};
}

namespace {

thread_local KernelServices* current_services = nullptr;

}  // namespace

KernelScope::KernelScope(KernelServices& services) : outer_(current_services) { current_services = &services; }
KernelScope::~KernelScope() { current_services = outer_; }
KernelServices* KernelScope::current() { return current_services; }

void poll_cancelled() {
  if (!current_services) return;
  if (Status status = current_services->check_cancelled(); !status.ok()) throw KernelStop{std::move(status)};
}

namespace {

bool any_sub_byte(std::span<const TensorView> views) {
  return std::any_of(views.begin(), views.end(), [](const TensorView& v) { return is_sub_byte(v.dtype); });
}

// Copies of sub-byte tensors with one element per byte, for the time of one kernel call.
class Unpacked {
 public:
  Unpacked(std::span<const TensorView> views, const std::shared_ptr<MemoryBudget>& budget)
      : views_(views.begin(), views.end()), budget_(budget) {}

  Status allocate() {
    for (TensorView& v : views_) {
      if (!is_sub_byte(v.dtype) || !v.data) continue;
      TN_ASSIGN_OR_RETURN(auto buffer, Buffer::allocate(v.size(), budget_));
      packed_.push_back({&v, v.data});
      v.data = buffer->data();
      buffers_.push_back(std::move(buffer));
    }
    return {};
  }
  void unpack() {
    for (auto& [view, packed] : packed_) unpack_sub_byte(view->dtype, packed, view->size(), view->data);
  }
  void pack() {
    for (auto& [view, packed] : packed_) pack_sub_byte(view->dtype, view->data, view->size(), packed);
  }
  std::span<const TensorView> views() const { return views_; }

 private:
  std::vector<TensorView> views_;
  std::vector<std::pair<TensorView*, void*>> packed_;
  std::vector<std::shared_ptr<Buffer>> buffers_;
  const std::shared_ptr<MemoryBudget>& budget_;
};

}  // namespace

namespace {

Status call(KernelFunction function, KernelContext context) {
  const KernelScope scope(context.services());
  try {
    return function(context);
  } catch (KernelStop& stop) {
    return std::move(stop.status);
  }
}

}  // namespace

Status call_kernel(const Kernel& kernel, const Params& params, std::span<const TensorView> inputs,
                   std::span<const Value* const> boxed_inputs, std::span<const TensorView> outputs,
                   KernelServices& services) {
  if (!kernel.one_element_per_byte || (!any_sub_byte(inputs) && !any_sub_byte(outputs)))
    return call(kernel.function, {params, inputs, boxed_inputs, outputs, services});
  Unpacked in(inputs, services.budget()), out(outputs, services.budget());
  TN_RETURN_IF_ERROR(in.allocate());
  TN_RETURN_IF_ERROR(out.allocate());
  in.unpack();
  TN_RETURN_IF_ERROR(call(kernel.function, {params, in.views(), boxed_inputs, out.views(), services}));
  out.pack();
  return {};
}

}  // namespace tenon
