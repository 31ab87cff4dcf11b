#include <algorithm>

#include "ops/attention.h"
#include "providers/reference/doubles.h"
#include "providers/reference/element_access.h"
#include "providers/reference/elements.h"
#include "providers/reference/kernel.h"
#include "providers/reference/work_meter.h"

namespace tenon {

namespace {

// A mask of any accepted shape.
class IntegerMask {
 public:
  static Result<IntegerMask> of(const TensorView& mask, int64_t batch, int64_t queries, int64_t past, int64_t keys) {
    IntegerMask m(mask, batch, queries, past, keys);
    if (mask.dims.size() != 1) return m;
    for (int64_t i = 0; i < (m.has_starts() ? 2 * batch : batch); ++i)
      if (const int64_t position = integer_at(mask, i); position < 0 || position > keys)
        return invalid_argument("mask_index[{}] is {}, but there are {} keys", i, position, keys);
    return m;
  }

  bool forbids(int64_t b, int64_t s, int64_t t) const {
    const auto at = [&](int64_t i) { return integer_at(mask_, i); };
    switch (mask_.dims.size()) {
      case 1:
        return t >= at(b) || (has_starts() && t < at(batch_ + b));
      case 2:
        return mask_.dims[0] == batch_ && mask_.dims[1] == keys_ && at(b * keys_ + t) <= 0;
      case 3:
        return at((b * queries_ + s) * keys_ + t) <= 0;
      default:
        return at((b * mask_.dims[2] + past_ + s) * mask_.dims[3] + t) <= 0;
    }
  }

 private:
  IntegerMask(const TensorView& mask, int64_t batch, int64_t queries, int64_t past, int64_t keys)
      : mask_(mask), batch_(batch), queries_(queries), past_(past), keys_(keys) {}
  bool has_starts() const { return mask_.dims[0] == 2 * batch_; }

  const TensorView& mask_;
  int64_t batch_, queries_, past_, keys_;
};

Status run_attention_bias(KernelContext& c) {
  const TensorView& out = c.out(0);
  const int64_t batch = out.dims[0], heads = out.dims[1], rows = out.dims[2], keys = out.dims[3];
  const int64_t queries = c.in(0).dims[1], past = c.has(2) ? c.in(2).dims[2] : 0;
  TN_ASSIGN_OR_RETURN(const auto mask, IntegerMask::of(c.in(3), batch, queries, past, keys));
  TN_ASSIGN_OR_RETURN(Doubles bias, read_doubles(c, 4));
  TN_ASSIGN_OR_RETURN(Doubles y, Doubles::filled(out.size(), 0.0, c.budget()));
  if (y.size() == 0) return {};
  const bool batched = bias.present() && c.in(4).dims[0] != 1;
  const double filter = static_cast<double>(c.params<AttentionBiasParams>().mask_filter_value);
  for (int64_t row = 0; row < batch * heads * rows; ++row) {
    const int64_t b = row / (heads * rows), s = row % rows, bias_row = batched ? row : row % (heads * rows);
    for_each_index(keys, [&](int64_t t) {
      y[row * keys + t] = (bias.present() ? bias[bias_row * keys + t] : 0.0) + (mask.forbids(b, s, t) ? filter : 0.0);
    });
  }
  y.store(out);
  return {};
}

// The sequence of the batch whose cache holds position t of sequence b.
Result<int64_t> writer(const KernelContext& c, int64_t b, int64_t t) {
  if (!c.has(3)) return b;
  const int64_t beams = c.in(3).dims[1], beam = integer_at(c.in(3), b * c.in(3).dims[2] + t);
  if (beam < 0 || beam >= beams)
    return invalid_argument("cache_indirection[{}, {}, {}] is {}, but there are {} beams", b / beams, b % beams, t,
                            beam, beams);
  return b / beams * beams + beam;
}

Status run_key_value_cache(KernelContext& c) {
  const auto& dims = c.in(0).dims;
  const int64_t batch = dims[0], heads = dims[1], capacity = dims[2], size = dims[3];
  const bool packed = c.in(1).dims.size() == 3;
  const int64_t length = c.in(1).dims[packed ? 1 : 2], used = integer_at(c.in(2), 0);
  if (used < 0 || used > capacity - length)
    return invalid_argument("past_sequence_length is {}, but the cache holds {} positions and {} are new", used,
                            capacity, length);
  if (c.in(0).size() == 0) return {};
  return dispatch_by_size(c.in(0).dtype, [&](auto tag) -> Status {
    using T = typename decltype(tag)::type;
    const auto cache = raw<T>(c.in(0)), next = raw<T>(c.in(1));
    const auto vector = [&](std::span<T> data, int64_t row) { return data.begin() + row * size; };
    WorkMeter meter;
    for (int64_t b = 0; b < batch; ++b) {
      for (int64_t t = 0; c.wants(0) && t < used; ++t) {
        meter.spend(heads * size);
        TN_ASSIGN_OR_RETURN(const int64_t from, writer(c, b, t));
        for (int64_t h = 0; h < heads; ++h)
          std::copy_n(vector(cache, (from * heads + h) * capacity + t), size,
                      vector(raw<T>(c.out(0)), (b * heads + h) * used + t));
      }
    }
    if (!c.wants(1)) return {};
    const auto present = raw<T>(c.out(1));
    std::ranges::copy(cache, present.begin());
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t t = 0; t < length; ++t) {
        meter.spend(heads * size);
        for (int64_t h = 0; h < heads; ++h)
          std::copy_n(vector(next, packed ? (b * length + t) * heads + h : (b * heads + h) * length + t), size,
                      vector(present, (b * heads + h) * capacity + used + t));
      }
    return {};
  });
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::AttentionBias>() {
  return run_attention_bias;
}

template <>
KernelFunction reference_kernel<OpId::KeyValueCache>() {
  return run_key_value_cache;
}

}  // namespace tenon
