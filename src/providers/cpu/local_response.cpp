// LRN of floats: sums of squares over neighbouring channels, for a block of places at a time.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/exact_math.h"
#include "ops/normalization.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/moved_elements.h"
#include "providers/cpu/rows.h"
#include "providers/reference/indexing.h"

namespace tenon {

namespace {

constexpr int64_t kResponsePlaces = 512;  // of a block

struct ResponseState {
  const RowFunctions* rows = nullptr;
};

Result<KernelState> bind_response(const BindRequest& request) {
  if (request.inputs[0].dtype != DType::Float32) return error(Code::Unsupported, "its elements are not float32");
  return KernelState{std::make_shared<ResponseState>(&row_functions(request.isa))};
}

class ResponseBlock {
 public:
  ResponseBlock(const LRNParams& params, const RowFunctions& rows, const AxisSplit& split)
      : p_(params), rows_(rows), split_(split), before_((params.size - 1) / 2), after_(params.size - 1 - before_),
        factor_(double{params.alpha} / static_cast<double>(params.size)) {}

  // x and y are the first channel's.
  void run(const float* x, int64_t count, float* y) const {
    std::array<float, kResponsePlaces> sums;
    const auto factor = static_cast<float>(factor_);
    WorkMeter meter;
    for (int64_t channel = 0; channel < split_.extent; ++channel) {
      const int64_t first = std::max<int64_t>(0, channel - before_);
      const int64_t last = after_ >= split_.extent - channel ? split_.extent - 1 : channel + after_;
      meter.spend((last - first + 1) * count);
      std::fill_n(sums.begin(), count, 0.0f);
      for (int64_t other = first; other <= last; ++other)
        rows_.accumulate(Accumulation::SumOfSquares, x + other * split_.inner, sums.data(), count);
      for (int64_t i = 0; i < count; ++i) {
        const int64_t at = channel * split_.inner + i;
        const float base = p_.bias + factor * sums[static_cast<size_t>(i)];
        // Squares of huge numbers are no floats.
        y[at] = base > 1e-30f && base < 1e30f ? x[at] * power(base) : exactly(x + i, channel, first, last);
      }
    }
  }

 private:
  // base to the power of -beta
  float power(float base) const {
    if (p_.beta != 0.75f) return static_cast<float>(std::pow(double{base}, -double{p_.beta}));
    const float root = 1.0f / std::sqrt(base);
    return root * std::sqrt(root);
  }

  float exactly(const float* x, int64_t channel, int64_t first, int64_t last) const {
    double squares = 0;
    for (int64_t other = first; other <= last; ++other)
      squares += double{x[other * split_.inner]} * double{x[other * split_.inner]};
    return static_cast<float>(double{x[channel * split_.inner]} /
                              exact::pow(double{p_.bias} + factor_ * squares, double{p_.beta}));
  }

  const LRNParams& p_;
  const RowFunctions& rows_;
  const AxisSplit& split_;
  int64_t before_, after_;
  double factor_;
};

Status run_response(KernelContext& c) {
  if (c.out(0).size() == 0) return {};
  const AxisSplit split(c.in(0).dims, 1);
  const ResponseBlock block(c.params<LRNParams>(), *c.state<ResponseState>().rows, split);
  const float* x = static_cast<const float*>(c.in(0).data);
  float* y = static_cast<float*>(c.out(0).data);
  const int64_t parts = ceil_div(split.inner, kResponsePlaces);
  c.parallel_for(split.outer * parts, [&](int64_t chunk) {
    const int64_t begin = chunk % parts * kResponsePlaces, start = chunk / parts * split.extent * split.inner + begin;
    block.run(x + start, std::min(kResponsePlaces, split.inner - begin), y + start);
  });
  return {};
}

}  // namespace

std::span<const Variant> lrn_variants() {
  static const auto variants = with_reference(OpId::LRN, {{"blocks", run_response, bind_response, true}});
  return variants;
}

}  // namespace tenon
