#include "ops/rotary_embedding.h"

#include <algorithm>

#include "providers/reference/doubles.h"
#include "providers/reference/kernel.h"
#include "providers/reference/rotary_embedding.h"
#include "providers/reference/work_meter.h"
#include "tensor/value.h"

namespace tenon {

void rotate_head(std::span<const double> from, std::span<double> to, std::span<const double> cosines,
                 std::span<const double> sines, bool interleaved) {
  const size_t half = cosines.size();
  for (size_t i = 0; i < half; ++i) {
    const size_t first = interleaved ? 2 * i : i, second = interleaved ? 2 * i + 1 : i + half;
    const double a = from[first], b = from[second];
    to[first] = cosines[i] * a - sines[i] * b;
    to[second] = sines[i] * a + cosines[i] * b;
  }
}

namespace {

class RotaryEmbedding {
 public:
  RotaryEmbedding(KernelContext& c, const RotaryEmbeddingParams& p, const MRotaryEmbeddingParams* streams)
      : c_(c), p_(p), streams_(streams) {}

  Status run() {
    if (c_.out(0).size() == 0) return {};
    const Shape cache = to_shape(c_.in(1).dims);
    TN_ASSIGN_OR_RETURN(const RotarySizes s, rotary_sizes(p_, to_shape(c_.in(0).dims), &cache));
    length_ = s.length.value();
    tokens_ = s.batch.value() * length_;
    half_ = s.half.value();
    TN_ASSIGN_OR_RETURN(Doubles x, read_doubles(c_, 0));
    TN_ASSIGN_OR_RETURN(cosines_, read_doubles(c_, 1));
    TN_ASSIGN_OR_RETURN(sines_, read_doubles(c_, 2));
    TN_ASSIGN_OR_RETURN(Doubles y, Doubles::copy_of(c_.in(0), c_.budget()));
    const int64_t heads = s.heads.value(), head = s.head.value();
    const bool packed = c_.in(0).dims.size() == 3;
    WorkMeter meter;
    for (int64_t token = 0; token < tokens_; ++token) {
      meter.spend(heads * head + 1);
      TN_RETURN_IF_ERROR(find_angles(token));
      for (int64_t h = 0; h < heads; ++h) {
        const int64_t b = token / length_, t = token % length_;
        const int64_t offset = (packed ? token * heads + h : (b * heads + h) * length_ + t) * head;
        rotate_head({x.data() + offset, static_cast<size_t>(head)}, {y.data() + offset, static_cast<size_t>(head)},
                    cosine_, sine_, p_.interleaved);
      }
    }
    y.store(c_.out(0));
    return {};
  }

 private:
  // The angles of one token.
  Status find_angles(int64_t token) {
    int64_t positions[3] = {token, token, token};
    if (c_.has(3)) {
      for (int64_t stream = 0; stream < (streams_ ? 3 : 1); ++stream) {
        TN_ASSIGN_OR_RETURN(positions[stream], position_id(stream, token));
      }
    }
    cosine_.resize(static_cast<size_t>(half_));
    sine_.resize(static_cast<size_t>(half_));
    const DType dtype = c_.in(1).dtype;
    const double scale = streams_ ? static_cast<double>(streams_->scale) : 1.0;
    for (int64_t i = 0; i < half_; ++i) {
      const int64_t from = positions[streams_ ? streams_->stream(i) : 0] * half_ + i;
      cosine_[static_cast<size_t>(i)] = round_to(dtype, cosines_[from] * scale);
      sine_[static_cast<size_t>(i)] = round_to(dtype, sines_[from] * scale);
    }
    return {};
  }

  // From position_ids [streams, batch, length], or the position of the first token of every sequence.
  Result<int64_t> position_id(int64_t stream, int64_t token) const {
    const auto ids = c_.in(3).as<int64_t>();
    const bool only_first = c_.in(3).dims.size() < 2;
    const int64_t index = only_first ? 0 : stream * tokens_ + token;
    const int64_t id = ids[static_cast<size_t>(index)], rows = c_.in(1).dims[0];
    const int64_t step = only_first ? token % length_ : 0;
    if (id >= 0 && id < rows - step) return id + step;
    const std::string place = std::to_string(token / length_) + ", " + std::to_string(token % length_);
    if (only_first)
      return invalid_argument(
          "position_ids is {}; the token {} positions later is beyond the caches, which have {} positions", id, step,
          rows);
    return invalid_argument("position_ids[{}{}] is {}, but the caches have {} positions",
                            streams_ ? std::to_string(stream) + ", " : "", place, id, rows);
  }

  KernelContext& c_;
  const RotaryEmbeddingParams& p_;
  const MRotaryEmbeddingParams* streams_;
  int64_t tokens_ = 0, length_ = 0, half_ = 0;
  Doubles cosines_, sines_;
  std::vector<double> cosine_, sine_;
};

}  // namespace

template <>
KernelFunction reference_kernel<OpId::RotaryEmbedding>() {
  return
      [](KernelContext& c) -> Status { return RotaryEmbedding(c, c.params<RotaryEmbeddingParams>(), nullptr).run(); };
}

template <>
KernelFunction reference_kernel<OpId::MRotaryEmbedding>() {
  return [](KernelContext& c) -> Status {
    const auto& p = c.params<MRotaryEmbeddingParams>();
    return RotaryEmbedding(c, p.rotary, &p).run();
  };
}

}  // namespace tenon
