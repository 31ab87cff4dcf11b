#include "providers/provider.h"

#include <fmt/format.h>

#include <algorithm>

#include "providers/cpu/kernel.h"
#include "providers/external/provider.h"
#include "providers/reference/kernel.h"

namespace tenon {

const KernelFamily* find_family(std::string_view name) {
  if (name.starts_with("cpu/")) return find_cpu_family(name);
  if (name.starts_with("external/")) return find_external_family(name);
  return find_reference_family(name);
}

int version_of_family(std::string_view name) {
  const KernelFamily* family = find_family(name);
  return family ? family->version : 1;
}

Result<BoundKernel> bind_kernel(const KernelFamily& family, const BindRequest& request,
                                std::vector<Refusal>* refusals) {
  std::string reasons;
  const auto any_blocked = [](std::span<const ValueLayout> layouts) {
    return std::ranges::any_of(layouts, [](const ValueLayout& l) { return !l.is_plain(); });
  };
  const bool in_blocks = any_blocked(request.input_layouts) || any_blocked(request.output_layouts);
  for (const Variant& variant : family.variants) {
    if (variant.layouts == (in_blocks ? Variant::For::Plain : Variant::For::Blocks)) continue;
    if (!variant.bind) return BoundKernel{&variant, {}};
    auto state = variant.bind(request);
    if (state.ok()) return BoundKernel{&variant, std::move(*state)};
    if (refusals) refusals->push_back({variant.name, state.status().to_string()});
    reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", variant.name, state.status().to_string());
  }
  if (reasons.empty()) reasons = in_blocks ? "none takes values in blocks" : "none takes plain values";
  return error(Code::Unsupported, "no kernel of the family '{}' can run this step ({})", family.name, reasons);
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

// In pieces of whole bytes, so that large tensors can be given up.
template <class F>
Status in_pieces(const TensorView& packed, const TensorView& spread, KernelServices& services, F&& f) {
  constexpr int64_t kPiece = 1 << 22;
  for (int64_t begin = 0; begin < packed.size(); begin += kPiece) {
    TN_RETURN_IF_ERROR(services.check_cancelled());
    f(static_cast<std::byte*>(packed.data) + begin / 8 * dtype_bits(packed.dtype),
      static_cast<std::byte*>(spread.data) + begin, std::min(kPiece, packed.size() - begin));
  }
  return {};
}

}  // namespace

Status unpack_elements(const TensorView& packed, const TensorView& spread, KernelServices& services) {
  return in_pieces(packed, spread, services, [&](std::byte* from, std::byte* to, int64_t elements) {
    unpack_sub_byte(packed.dtype, from, elements, to);
  });
}

Status pack_elements(const TensorView& spread, const TensorView& packed, KernelServices& services) {
  return in_pieces(packed, spread, services, [&](std::byte* to, std::byte* from, int64_t elements) {
    pack_sub_byte(packed.dtype, from, elements, to);
  });
}

namespace {

// Copies of sub-byte tensors with one element per byte, for the time of one kernel call.
class Unpacked {
 public:
  explicit Unpacked(std::span<const TensorView> views) : packed_(views), views_(views.begin(), views.end()) {}

  Status allocate(const std::shared_ptr<MemoryBudget>& budget) {
    for (TensorView& v : views_) {
      if (!is_sub_byte(v.dtype) || !v.data) continue;
      TN_ASSIGN_OR_RETURN(auto buffer, Buffer::allocate(v.size(), budget));
      v.data = buffer->data();
      buffers_.push_back(std::move(buffer));
    }
    return {};
  }
  Status unpack(KernelServices& services) {
    return for_each([&](size_t i) { return unpack_elements(packed_[i], views_[i], services); });
  }
  Status pack(KernelServices& services) {
    return for_each([&](size_t i) { return pack_elements(views_[i], packed_[i], services); });
  }
  std::span<const TensorView> views() const { return views_; }

 private:
  template <class F>
  Status for_each(F&& f) {
    for (size_t i = 0; i < views_.size(); ++i)
      if (views_[i].data != packed_[i].data) TN_RETURN_IF_ERROR(f(i));
    return {};
  }
  std::span<const TensorView> packed_;
  std::vector<TensorView> views_;
  std::vector<std::shared_ptr<Buffer>> buffers_;
};

Status call(const BoundKernel& kernel, KernelContext context) {
  std::shared_ptr<Buffer> scratch;
  if (const int64_t bytes = kernel.state.scratch_bytes; bytes > 0) {
    TN_ASSIGN_OR_RETURN(scratch,
                        Buffer::allocate(bytes * std::min<int64_t>(context.services().threads(), kernel.state.chunks),
                                         context.budget()));
    context.set_scratch(scratch->data(), bytes);
  }
  context.set_state(kernel.state.data.get());
  const KernelScope scope(context.services());
  try {
    return kernel.variant->run(context);
  } catch (KernelStop& stop) {
    return std::move(stop.status);
  }
}

}  // namespace

Status call_bound(const BoundKernel& kernel, const KernelFamily& family, const Params& params,
                  std::span<const TensorView> inputs, std::span<const Value* const> boxed_inputs,
                  std::span<const TensorView> outputs, KernelServices& services) {
  if (!family.one_element_per_byte || (!any_sub_byte(inputs) && !any_sub_byte(outputs)))
    return call(kernel, {params, inputs, boxed_inputs, outputs, services});
  Unpacked in(inputs), out(outputs);
  TN_RETURN_IF_ERROR(in.allocate(services.budget()));
  TN_RETURN_IF_ERROR(out.allocate(services.budget()));
  TN_RETURN_IF_ERROR(in.unpack(services));
  TN_RETURN_IF_ERROR(call(kernel, {params, in.views(), boxed_inputs, out.views(), services}));
  return out.pack(services);
}

Status call_kernel(const KernelFamily& family, const Params& params, std::span<const TensorView> inputs,
                   std::span<const Value* const> boxed_inputs, std::span<const TensorView> outputs,
                   KernelServices& services, Isa isa) {
  TN_ASSIGN_OR_RETURN(const BoundKernel kernel, bind_kernel(family, {params, inputs, outputs, isa}));
  return call_bound(kernel, family, params, inputs, boxed_inputs, outputs, services);
}

}  // namespace tenon
