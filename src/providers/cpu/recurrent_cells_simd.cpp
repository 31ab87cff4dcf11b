#include "providers/cpu/recurrent_cells.h"
#include "providers/cpu/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/recurrent_cells_simd.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "providers/cpu/simd_math.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::recurrent {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace math = tenon::simd::HWY_NAMESPACE;

using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;
constexpr int64_t kLanes = static_cast<int64_t>(hn::MaxLanes(D()));

HWY_INLINE V number(float x) { return hn::Set(D(), x); }
HWY_INLINE V load(const float* from) { return hn::LoadU(D(), from); }
HWY_INLINE void store(V v, float* to) { hn::StoreU(v, D(), to); }
// Comparisons with NaN are false, so that NaN stays.
HWY_INLINE V clip(V x, V least, V greatest) {
  x = hn::IfThenElse(hn::Lt(x, least), least, x);
  return hn::IfThenElse(hn::Gt(x, greatest), greatest, x);
}
HWY_INLINE V below_zero(V x, V then, V otherwise) { return hn::IfThenElse(hn::Lt(x, hn::Zero(D())), then, otherwise); }

HWY_NOINLINE V apply(const CellActivation& a, V x) {
  const D d;
  const V alpha = number(a.alpha), beta = number(a.beta), zero = hn::Zero(d), one = number(1.0f);
  switch (a.function) {
    case RecurrentFunction::Tanh:
      return math::tanh(d, x);
    case RecurrentFunction::Sigmoid:
      return math::sigmoid(d, x);
    case RecurrentFunction::Relu:
      return below_zero(x, zero, x);
    case RecurrentFunction::Softsign:
      return hn::Div(x, hn::Add(one, hn::Abs(x)));
    case RecurrentFunction::Softplus:
      return math::softplus(d, x);
    case RecurrentFunction::LeakyRelu:
      return below_zero(x, hn::Mul(alpha, x), x);
    case RecurrentFunction::ThresholdedRelu:
      return hn::IfThenElseZero(hn::Gt(x, alpha), x);
    case RecurrentFunction::Elu:
      return below_zero(x, hn::Mul(alpha, math::exp_minus_one_below_zero(d, x)), x);
    case RecurrentFunction::Affine:
      return hn::MulAdd(alpha, x, beta);
    case RecurrentFunction::ScaledTanh:
      return hn::Mul(alpha, math::tanh(d, hn::Mul(beta, x)));
    case RecurrentFunction::HardSigmoid:
      return clip(hn::MulAdd(alpha, x, beta), zero, one);
  }
  return x;
}

// The functions that layers have unless they name others.
struct Usual {
  HWY_INLINE explicit Usual(const CellFunctions&) {}
  HWY_INLINE V gate(V x) const { return math::sigmoid(D(), x); }
  HWY_INLINE V candidate(V x) const { return math::tanh(D(), x); }
  HWY_INLINE V result(V x) const { return math::tanh(D(), x); }
};

struct Any {
  HWY_INLINE explicit Any(const CellFunctions& f) : functions(f), limit(number(f.limit)) {}
  HWY_INLINE V limited(V x) const { return functions.limit > 0 ? clip(x, hn::Neg(limit), limit) : x; }
  HWY_INLINE V gate(V x) const { return apply(functions.gate, limited(x)); }
  HWY_INLINE V candidate(V x) const { return apply(functions.candidate, limited(x)); }
  HWY_INLINE V result(V x) const { return apply(functions.result, x); }
  const CellFunctions& functions;
  V limit;
};

template <class Functions>
HWY_ATTR void rnn(const CellFunctions& functions, const CellRow& row) {
  const Functions f(functions);
  for (int64_t u = 0; u < row.units; u += kLanes) store(f.candidate(load(row.gates + u)), row.after + u);
}

template <class Functions>
HWY_ATTR void lstm(const CellFunctions& functions, const CellRow& row) {
  const Functions f(functions);
  const float *in = row.gates, *out = in + row.gate_stride, *forget = out + row.gate_stride;
  const float *cell = forget + row.gate_stride, *peepholes = row.peepholes;
  for (int64_t u = 0; u < row.units; u += kLanes) {
    const V before = load(row.memory + u);
    V i = load(in + u), o = load(out + u), keep = load(forget + u);
    if (peepholes) {
      i = hn::MulAdd(load(peepholes + u), before, i);
      keep = hn::MulAdd(load(peepholes + 2 * row.gate_stride + u), before, keep);
    }
    i = f.gate(i);
    keep = functions.input_forget ? hn::Sub(number(1.0f), i) : f.gate(keep);
    const V memory = hn::MulAdd(keep, before, hn::Mul(i, f.candidate(load(cell + u))));
    if (peepholes) o = hn::MulAdd(load(peepholes + row.gate_stride + u), memory, o);
    store(memory, row.memory + u);
    store(hn::Mul(f.gate(o), f.result(memory)), row.after + u);
  }
}

// (1 - update) * candidate + update * before
HWY_INLINE V blend(V update, V candidate, V before) {
  return hn::MulAdd(update, before, hn::Mul(hn::Sub(number(1.0f), update), candidate));
}

template <class Functions>
HWY_ATTR void gru_linear(const CellFunctions& functions, const CellRow& row) {
  const Functions f(functions);
  const float *update = row.gates, *reset = update + row.gate_stride, *hidden = reset + row.gate_stride;
  for (int64_t u = 0; u < row.units; u += kLanes) {
    const V r = f.gate(load(reset + u));
    const V candidate = f.candidate(hn::MulAdd(r, load(row.reset + u), load(hidden + u)));
    store(blend(f.gate(load(update + u)), candidate, load(row.before + u)), row.after + u);
  }
}

template <class Functions>
HWY_ATTR void gru_reset(const CellFunctions& functions, const CellRow& row) {
  const Functions f(functions);
  const float* reset = row.gates + row.gate_stride;
  for (int64_t u = 0; u < row.units; u += kLanes) {
    store(f.gate(load(row.gates + u)), row.gates + u);
    store(hn::Mul(f.gate(load(reset + u)), load(row.before + u)), row.reset + u);
  }
}

template <class Functions>
HWY_ATTR void gru_update(const CellFunctions& functions, const CellRow& row) {
  const Functions f(functions);
  const float* hidden = row.gates + 2 * row.gate_stride;
  for (int64_t u = 0; u < row.units; u += kLanes)
    store(blend(load(row.gates + u), f.candidate(load(hidden + u)), load(row.before + u)), row.after + u);
}

template <class Functions>
const CellTable& table_of() {
  static constexpr CellTable made{rnn<Functions>, lstm<Functions>, gru_linear<Functions>, gru_reset<Functions>,
                                  gru_update<Functions>};
  return made;
}

const CellTable& table(bool usual) { return usual ? table_of<Usual>() : table_of<Any>(); }

}  // namespace HWY_NAMESPACE
}  // namespace tenon::recurrent
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "providers/cpu/dispatch.h"

namespace tenon {
namespace recurrent {
TENON_EXPORT(table);
}

const CellTable& cell_table(Isa isa, const CellFunctions& f) {
  using namespace recurrent;
  const bool usual = f.gate.function == RecurrentFunction::Sigmoid && f.candidate.function == RecurrentFunction::Tanh &&
                     f.result.function == RecurrentFunction::Tanh && f.limit == 0;
  return TENON_DISPATCH(table, isa)(usual);
}
}  // namespace tenon
#endif
