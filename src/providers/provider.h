#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/function_ref.h"
#include "base/memory.h"
#include "base/thread_pool.h"
#include "ops/op.h"
#include "plan/layout.h"
#include "tensor/value.h"

namespace tenon {

// What the executor does for a running kernel. Kernels never see the runtime itself.
class KernelServices {
 public:
  virtual ~KernelServices() = default;
  // Gives output i its dims and memory; for outputs whose size only the kernel knows.
  virtual Result<TensorView> allocate_output(size_t i, std::vector<int64_t> dims) = 0;
  virtual void set_output(size_t i, Value value) = 0;
  // Input i as a value of its own, which stays valid after the step.
  virtual Result<Value> take_input(size_t i) = 0;
  // Runs a sub-graph of the step on these inputs.
  virtual Result<std::vector<Value>> run_body(size_t body, std::vector<Value> inputs) = 0;
  virtual size_t body_input_count(size_t body) = 0;
  // What is known of a sub-graph's output without running it.
  virtual Type body_output_type(size_t body, size_t output) = 0;
  // An error when the caller cancelled the run or a limit is reached; long kernels ask now and then.
  virtual Status check_cancelled() = 0;
  virtual const std::shared_ptr<MemoryBudget>& budget() = 0;
  // Differs for every random step of every run, and is the same for the same session seed.
  virtual uint64_t random_stream() = 0;
  // Counts runs of a body, or other steps that cost time without data to pay for it. One limit holds for the whole run,
  // so that nested loops do not multiply it; the error names the limit.
  virtual Status count_iterations(int64_t count) = 0;
  // Called from any thread by kernels that watch their inputs, see Kernel.
  virtual void note_not_finite() {}
  // How many threads may be at one loop.
  virtual int threads() { return 1; }
  // Calls body(i) once for every i in [0, chunks), on several threads where the run has them, and returns after the
  // last call. Results must not depend on who runs which chunk.
  virtual void parallel_for(int64_t chunks, FunctionRef<void(int64_t)> body) {
    for (int64_t i = 0; i < chunks; ++i) body(i);
  }
};

// What a kernel sees of its step. Tensor inputs and outputs are dense views; other kinds go through value().
class KernelContext {
 public:
  KernelContext(const Params& params, std::span<const TensorView> inputs, std::span<const Value* const> boxed_inputs,
                std::span<const TensorView> outputs, KernelServices& services)
      : params_(params), inputs_(inputs), boxed_(boxed_inputs), outputs_(outputs), services_(services) {}

  template <class P>
  const P& params() const {
    return params_.get<P>();
  }
  size_t input_count() const { return inputs_.size(); }
  // False for an absent optional input.
  bool has(size_t i) const { return i < inputs_.size() && (inputs_[i].dtype != DType::Undefined || boxed_[i]); }
  const TensorView& in(size_t i) const { return inputs_[i]; }
  std::span<const TensorView> inputs() const { return inputs_; }
  // A sequence, optional or map input; null for tensors (see take()).
  const Value* boxed(size_t i) const { return i < boxed_.size() ? boxed_[i] : nullptr; }
  // Input i as a value that may be stored in an output.
  Result<Value> take(size_t i) { return services_.take_input(i); }

  size_t output_count() const { return outputs_.size(); }
  // False for an output that nobody wants.
  bool wants(size_t i) const { return i < outputs_.size() && outputs_[i].dtype != DType::Undefined; }
  const TensorView& out(size_t i) const { return outputs_[i]; }
  // For ops that decide their output's size.
  Result<TensorView> allocate(size_t i, std::vector<int64_t> dims) {
    return services_.allocate_output(i, std::move(dims));
  }
  void set(size_t i, Value value) { services_.set_output(i, std::move(value)); }

  // What the kernel's variant decided when it was bound.
  template <class S>
  const S& state() const {
    return *static_cast<const S*>(state_);
  }
  // Memory of the thread that asks, of the size that was asked for when the kernel was bound; aligned to 64 bytes, with
  // nothing in it.
  template <class T>
  T* scratch() const {
    return reinterpret_cast<T*>(scratch_ + scratch_bytes_ * ThreadPool::place_in_loop());
  }
  // Set by whoever calls the kernel.
  void set_state(const void* state) { state_ = state; }
  void set_scratch(std::byte* memory, int64_t bytes_per_thread) {
    scratch_ = memory;
    scratch_bytes_ = bytes_per_thread;
  }

  KernelServices& services() { return services_; }
  void parallel_for(int64_t chunks, FunctionRef<void(int64_t)> body) { services_.parallel_for(chunks, body); }
  const std::shared_ptr<MemoryBudget>& budget() { return services_.budget(); }

 private:
  const Params& params_;
  std::span<const TensorView> inputs_;
  std::span<const Value* const> boxed_;
  std::span<const TensorView> outputs_;
  KernelServices& services_;
  const void* state_ = nullptr;
  std::byte* scratch_ = nullptr;
  int64_t scratch_bytes_ = 0;
};

// The services of the kernel that runs on this thread, for mechanisms that all kernels share and that no loop should
// have to pass along: scratch memory (scratch.h) and giving up when the run is cancelled (poll_cancelled).
class KernelScope {
 public:
  explicit KernelScope(KernelServices& services);
  ~KernelScope();
  KernelScope(const KernelScope&) = delete;
  KernelScope& operator=(const KernelScope&) = delete;
  // Null outside of kernels.
  static KernelServices* current();

 private:
  KernelServices* outer_;
};

// Ends a kernel from the depth of its loops; call_kernel returns the status.
struct KernelStop {
  Status status;
};
// Ends the kernel on this thread when its run is cancelled.
void poll_cancelled();

using KernelFunction = Status (*)(KernelContext&);

// The instruction sets that kernels are compiled for. A kernel that has none for one of them uses the next lower one.
enum class Isa : uint8_t { Scalar, Sse4, Neon, Avx2, Avx512 };
// Those that this machine runs, best first.
const std::vector<Isa>& usable_isas();
std::string_view isa_name(Isa isa);  // "avx2"
// Refuses what this machine does not run.
Result<Isa> isa_of_name(std::string_view name);

// What a kernel knows when it is bound: everything about its step but the elements.
struct BindRequest {
  const Params& params;
  std::span<const TensorView> inputs, outputs;  // dtypes and dims; absent ones are undefined
  Isa isa;
  // By input and output; empty: all are plain. Only families that take blocked values see others.
  std::span<const ValueLayout> input_layouts{}, output_layouts{};
};

// Of an input or output of a step.
inline bool is_blocked(std::span<const ValueLayout> layouts, size_t i) {
  return i < layouts.size() && !layouts[i].is_plain();
}

// What binding decides, once for a tuple of shapes.
struct KernelState {
  std::shared_ptr<const void> data;                      // see KernelContext::state
  int64_t scratch_bytes = 0;                             // of each thread, see KernelContext::scratch
  int64_t chunks = std::numeric_limits<int64_t>::max();  // of its loops; no more threads than these can be at them
};

// One way to run a family's steps, those of some layouts: in blocks are steps with any value in blocks.
struct Variant {
  std::string_view name;
  KernelFunction run = nullptr;
  // Says why it cannot run the step, or what it decided. Null: it takes every step and has nothing to decide.
  Result<KernelState> (*bind)(const BindRequest&) = nullptr;
  // A run may have smaller extents than those it was bound for: it reads dims anew each time. True for all that have
  // nothing to decide.
  bool reads_dims = false;
  // Steps whose values are in these layouts are its business. Whether it takes values in blocks follows from dtypes,
  // ranks, parameters and extents of channels alone.
  enum class For : uint8_t { Plain, Blocks, Both };
  For layouts = For::Plain;
  // Whatever its family does.
  bool keeps_subnormals = false;
};

// Kernels that compute the same from the same parameters, weights and layouts.
struct KernelFamily {
  std::string name;                     // "reference/Conv", "cpu/PackedConv", "control/If"
  std::span<const Variant> variants{};  // in order of preference; the first that takes the step runs it
  // Grows when steps that were compiled before mean something else.
  int version = 1;
  // Its values may have other layouts than plain; BindRequest tells which.
  bool takes_blocked = false;
  // And blocks may have borders and segments.
  bool takes_borders = false;
  // The kernel sees sub-byte elements one per byte; whoever calls it unpacks and packs around it.
  bool one_element_per_byte = false;
  // The kernel looks at every element of its inputs and calls note_not_finite when one is NaN or infinite.
  bool watches_inputs = false;
  // It gives the same bits on every machine and for any number of threads, so that weight programs may use it.
  bool exact = false;
  // It may take subnormal numbers as zero, unless the session keeps them.
  bool flushes_subnormals = false;
};

// Null when no provider has it.
const KernelFamily* find_family(std::string_view name);
// The version of a family, which steps that are made for it carry; 1 when there is none.
int version_of_family(std::string_view name);

// Somebody who computes whole parts of models, from blobs that a compiler of theirs made. Called from any thread, by
// several runs at once.
struct ExternalProvider {
  std::string name;
  // Makes what runs from a blob. The blob stays as long as the result is run, not as long as the result itself.
  std::function<Result<std::shared_ptr<void>>(std::span<const std::byte> blob)> open;
  // Computes all outputs from the inputs, which are lent for the call.
  std::function<Status(void* opened, std::span<const Value> inputs, std::span<Value> outputs)> run;
};
// For all sessions of the process, for good. Refuses a name that is taken.
Status register_external_provider(ExternalProvider provider);

// A kernel that is ready to be called with tensors of certain shapes.
struct BoundKernel {
  const Variant* variant = nullptr;
  KernelState state;
};
// Why a variant does not run a step.
struct Refusal {
  std::string_view variant;
  std::string reason;
};
// The first variant that takes the step; the refusals of those before it are added to `refusals`.
Result<BoundKernel> bind_kernel(const KernelFamily& family, const BindRequest& request,
                                std::vector<Refusal>* refusals = nullptr);

// Sub-byte elements of `packed` to one byte each in `spread`, or back.
Status unpack_elements(const TensorView& packed, const TensorView& spread, KernelServices& services);
Status pack_elements(const TensorView& spread, const TensorView& packed, KernelServices& services);

// Binds a kernel and calls it once, with memory of its own.
Status call_kernel(const KernelFamily& family, const Params& params, std::span<const TensorView> inputs,
                   std::span<const Value* const> boxed_inputs, std::span<const TensorView> outputs,
                   KernelServices& services, Isa isa = usable_isas().front());
// The same for one that is bound.
Status call_bound(const BoundKernel& kernel, const KernelFamily& family, const Params& params,
                  std::span<const TensorView> inputs, std::span<const Value* const> boxed_inputs,
                  std::span<const TensorView> outputs, KernelServices& services);

// Copies floats and says whether there is NaN or infinity among them. `streaming` stores bypass the caches, where the
// copy would only push out what runs need; then `to` must be aligned to 64 bytes.
bool copy_floats(const float* from, int64_t count, bool streaming, float* to);

}  // namespace tenon
