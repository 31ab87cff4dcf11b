#include "ops/fourier.h"

#include <cmath>
#include <complex>
#include <numbers>

#include "base/exact_math.h"
#include "providers/reference/doubles.h"
#include "providers/reference/indexing.h"
#include "providers/reference/kernel.h"
#include "providers/scratch.h"

namespace tenon {

namespace {

using Complex = std::complex<double>;
using Signal = Scratch<Complex>;

// exp(sign * 2 pi i k / n), exact at multiples of a quarter turn.
Complex root_of_unity(size_t k, size_t n, double sign) {
  k %= n;
  if (k == 0) return {1.0, 0.0};
  if (2 * k == n) return {-1.0, 0.0};
  if (4 * k == n) return {0.0, sign};
  if (4 * k == 3 * n) return {0.0, -sign};
  const double angle = sign * 2.0 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
  return {exact::cos(angle), exact::sin(angle)};
}

// The defining sum; even lengths first split into their even and odd elements.
Signal transform(const Signal& x, double sign, WorkMeter& meter) {
  const size_t n = x.size();
  Signal y(n);
  if (n % 2 == 0 && n > 0) {
    Signal even(n / 2), odd(n / 2);
    for (size_t i = 0; i < n / 2; ++i) {
      even[i] = x[2 * i];
      odd[i] = x[2 * i + 1];
    }
    even = transform(even, sign, meter);
    odd = transform(odd, sign, meter);
    for (size_t k = 0; k < n / 2; ++k) {
      meter.spend(4);
      const Complex turned = root_of_unity(k, n, sign) * odd[k];
      y[k] = even[k] + turned;
      y[k + n / 2] = even[k] - turned;
    }
    return y;
  }
  Signal roots(n);
  for (size_t k = 0; k < n; ++k) {
    meter.spend(4);
    roots[k] = root_of_unity(k, n, sign);
  }
  for (size_t k = 0; k < n; ++k) {
    for (size_t i = 0, turn = 0; i < n; ++i, turn = (turn + k) % n) {
      meter.spend();
      y[k] += x[i] * roots[turn];
    }
  }
  return y;
}

Signal forward(const Signal& x, WorkMeter& meter) { return transform(x, -1.0, meter); }

Signal inverse(const Signal& x, WorkMeter& meter) {
  Signal y = transform(x, 1.0, meter);
  for (Complex& value : y) value /= static_cast<double>(y.size());
  return y;
}

// The other half of the spectrum of a real signal; elements that must be real lose their imaginary part.
void complete_spectrum(Signal& x) {
  const size_t n = x.size();
  x[0] = x[0].real();
  for (size_t k = 1; 2 * k <= n; ++k) {
    if (2 * k == n) x[k] = x[k].real();
    x[n - k] = std::conj(x[k]);
  }
}

// Complex elements along an axis of a tensor whose last axis holds 1 or 2 components.
struct SignalLine {
  int64_t start, step, components;
  Complex read(const Doubles& x, int64_t i) const {
    const int64_t at = start + i * step;
    return {x[at], components == 2 ? x[at + 1] : 0.0};
  }
  void write(Doubles& y, int64_t i, Complex value) const {
    y[start + i * step] = value.real();
    if (components == 2) y[start + i * step + 1] = value.imag();
  }
};

int64_t scalar_of(const TensorView& view) {
  return view.dtype == DType::Int32 ? view.as<int32_t>()[0] : view.as<int64_t>()[0];
}

Status run_dft(KernelContext& c) {
  const auto& p = c.params<DFTParams>();
  if (c.out(0).size() == 0) return {};
  const Dims in = c.in(0).dims, out = c.out(0).dims;
  const int64_t rank = c.in(0).rank();
  int64_t axis = c.has(2) ? scalar_of(c.in(2)) : -2;
  axis = axis < 0 ? axis + rank : axis;
  TN_ASSIGN_OR_RETURN(Doubles x, read_doubles(c, 0));
  TN_ASSIGN_OR_RETURN(Doubles y, Doubles::filled(c.out(0).size(), 0.0, c.budget()));
  const AxisSplit from(in, axis), to(out, axis);
  int64_t length = to.extent;
  if (p.onesided && !p.inverse) length = c.has(1) ? scalar_of(c.in(1)) : from.extent;
  const int64_t used = std::min(from.extent, p.onesided && p.inverse ? length / 2 + 1 : length);
  const int64_t lanes = from.inner / in.back();  // signals that interleave
  WorkMeter meter;
  for (int64_t i = 0; i < from.outer * lanes; ++i) {
    const int64_t outer = i / lanes, lane = i % lanes;
    const SignalLine source{outer * from.extent * from.inner + lane * in.back(), from.inner, in.back()};
    const SignalLine target{outer * to.extent * to.inner + lane * out.back(), to.inner, out.back()};
    Signal signal(static_cast<size_t>(length));
    for (int64_t t = 0; t < used; ++t) signal[static_cast<size_t>(t)] = source.read(x, t);
    if (p.onesided && p.inverse && length > 0) complete_spectrum(signal);
    signal = p.inverse ? inverse(signal, meter) : forward(signal, meter);
    for (int64_t t = 0; t < to.extent; ++t) target.write(y, t, signal[static_cast<size_t>(t)]);
  }
  y.store(c.out(0));
  return {};
}

Status run_stft(KernelContext& c) {
  if (c.out(0).size() == 0) return {};
  const Dims in = c.in(0).dims, out = c.out(0).dims;
  const int64_t components = in.size() == 3 ? in[2] : 1, step = scalar_of(c.in(1));
  const int64_t frame = c.has(3) ? scalar_of(c.in(3)) : c.has(2) ? c.in(2).dims[0] : in[1];
  TN_ASSIGN_OR_RETURN(Doubles x, read_doubles(c, 0));
  TN_ASSIGN_OR_RETURN(Doubles window, read_doubles(c, 2));
  TN_ASSIGN_OR_RETURN(Doubles y, Doubles::filled(c.out(0).size(), 0.0, c.budget()));
  WorkMeter meter;
  for (int64_t b = 0; b < out[0]; ++b) {
    for (int64_t f = 0; f < out[1]; ++f) {
      const SignalLine source{(b * in[1] + f * step) * components, components, components};
      const SignalLine target{(b * out[1] + f) * out[2] * 2, 2, 2};
      Signal signal(static_cast<size_t>(frame));
      for (int64_t t = 0; t < frame; ++t)
        signal[static_cast<size_t>(t)] = source.read(x, t) * (window.present() ? window[t] : 1.0);
      signal = forward(signal, meter);
      for (int64_t k = 0; k < out[2]; ++k) target.write(y, k, signal[static_cast<size_t>(k)]);
    }
  }
  y.store(c.out(0));
  return {};
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::DFT>() {
  return run_dft;
}
template <>
KernelFunction reference_kernel<OpId::STFT>() {
  return run_stft;
}

}  // namespace tenon
