#include <algorithm>

#include "ops/attention.h"
#include "providers/reference/doubles.h"
#include "providers/reference/kernel.h"

namespace tenon {

namespace {

// X as vectors of one head at one position.
struct Heads {
  int64_t batch, heads, length, size;
  bool packed;
  static Heads of(Dims x, int64_t num_heads) {
    if (x.size() == 4) return {x[0], x[1], x[2], x[3], false};
    return {x[0], num_heads, x[1], x[2] / num_heads, true};
  }
  int64_t offset(int64_t b, int64_t h, int64_t t) const {
    return (packed ? (b * length + t) * heads + h : (b * heads + h) * length + t) * size;
  }
};

Status run_rotary_embedding(KernelContext& c) {
  const auto& p = c.params<RotaryEmbeddingParams>();
  if (c.out(0).size() == 0) return {};
  const Heads heads = Heads::of(c.in(0).dims, p.num_heads);
  const int64_t half = (p.rotary_embedding_dim > 0 ? p.rotary_embedding_dim : heads.size) / 2;
  TN_ASSIGN_OR_RETURN(Doubles x, read_doubles(c, 0));
  TN_ASSIGN_OR_RETURN(Doubles cosines, read_doubles(c, 1));
  TN_ASSIGN_OR_RETURN(Doubles sines, read_doubles(c, 2));
  TN_ASSIGN_OR_RETURN(Doubles y, Doubles::filled(c.out(0).size(), 0.0, c.budget()));
  std::copy_n(x.data(), x.size(), y.data());
  for (int64_t b = 0; b < heads.batch; ++b) {
    for (int64_t t = 0; t < heads.length; ++t) {
      int64_t position = b * heads.length + t;
      if (c.has(3)) {
        const int64_t id = c.in(3).as<int64_t>()[static_cast<size_t>(position)];
        if (id < 0 || id >= c.in(1).dims[0])
          return invalid_argument("position_ids[{}, {}] is {}, the caches have {} positions", b, t, id,
                                  c.in(1).dims[0]);
        position = id;
      }
      for (int64_t h = 0; h < heads.heads; ++h) {
        const double* from = x.data() + heads.offset(b, h, t);
        double* to = y.data() + heads.offset(b, h, t);
        for (int64_t i = 0; i < half; ++i) {
          const int64_t first = p.interleaved ? 2 * i : i, second = p.interleaved ? 2 * i + 1 : i + half;
          const double cosine = cosines[position * half + i], sine = sines[position * half + i];
          to[first] = cosine * from[first] - sine * from[second];
          to[second] = sine * from[first] + cosine * from[second];
        }
      }
    }
  }
  y.store(c.out(0));
  return {};
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::RotaryEmbedding>() {
  return run_rotary_embedding;
}

}  // namespace tenon
