#include "providers/provider.h"

#include <algorithm>

#include "providers/cpu/kernel.h"
#include "providers/reference/kernel.h"

namespace tenon {

Kernel find_kernel(std::string_view family) {
  constexpr std::string_view reference = "reference/", control = "control/", cpu = "cpu/";
  if (family.starts_with(reference)) {
    const auto op = op_from_name(family.substr(reference.size()));
    if (!op) return {};
    return {.function = find_reference_kernel(op_def(*op).name),
            .one_element_per_byte = true,
            .exact = op_def(*op).fits_weight_program()};
  }
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

// Elements and bytes of one piece.
void unpack_sub_byte_piece(DType dtype, void* packed, int64_t elements, void* one_per_byte) {
  unpack_sub_byte(dtype, packed, elements, one_per_byte);
}
void pack_sub_byte_piece(DType dtype, void* packed, int64_t elements, void* one_per_byte) {
  pack_sub_byte(dtype, one_per_byte, elements, packed);
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
  Status unpack(KernelServices& services) { return in_pieces(services, unpack_sub_byte_piece); }
  Status pack(KernelServices& services) { return in_pieces(services, pack_sub_byte_piece); }
  std::span<const TensorView> views() const { return views_; }

 private:
  // In pieces of whole bytes, so that large tensors can be given up.
  Status in_pieces(KernelServices& services, void (*f)(DType, void*, int64_t, void*)) {
    constexpr int64_t kPiece = 1 << 22;
    for (auto& [view, packed] : packed_)
      for (int64_t begin = 0; begin < view->size(); begin += kPiece) {
        TN_RETURN_IF_ERROR(services.check_cancelled());
        f(view->dtype, static_cast<std::byte*>(packed) + begin / 8 * dtype_bits(view->dtype),
          std::min(kPiece, view->size() - begin), static_cast<std::byte*>(view->data) + begin);
      }
    return {};
  }

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
  TN_RETURN_IF_ERROR(in.unpack(services));
  TN_RETURN_IF_ERROR(call(kernel.function, {params, in.views(), boxed_inputs, out.views(), services}));
  return out.pack(services);
}

}  // namespace tenon
