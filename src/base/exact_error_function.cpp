// The error function; see exact_math.h.
#include "base/exact_math.h"
#include "base/exact_math_parts.h"

namespace tenon::exact {

namespace {

constexpr Pair kTwoOverRootPi{0x1.20dd750429b6dp+0, 0x1.1ae3a914fed80p-56};

// (erf(x) / x - 2/sqrt(pi)) / x^2 by powers of x^2, for x up to 1. Interpolated at Chebyshev points.
constexpr std::array kNearZero{-0.37612638903183754,    0.11283791670955125,     -0.026866170645131086,
                               0.005223977625438503,    -0.0008548327023028033,  0.00012055332952889994,
                               -1.4925649089192494e-05, 1.646207695669396e-06,   -1.6365088153741382e-07,
                               1.4796645662374179e-08,  -1.2190533578200643e-09, 8.801355212469684e-11,
                               -4.375745968399339e-12};

// (1 - erf(x)) exp(x^2) by powers of u = kScale / (x + 3) + kShift, for x from 0.8125 to 6.125; u is between -1 and 1.
// Made the same way.
constexpr double kScale = 0x1.a31b1b1b1b1b2p+3, kShift = -0x1.37b7b7b7b7b7bp+1;
constexpr std::array kFar{0.22026145272819864,    0.17845179414884704,    0.06376493252978811,
                          0.017946545651559728,   0.0038136090419125033,  0.0005469105671799428,
                          3.206956710860272e-05,  -5.375936139945384e-06, -1.1700287165547371e-06,
                          3.1424634141805155e-08, 2.9590704379026126e-08, 6.19238977878388e-11,
                          -8.126870322561333e-10, 4.394184898885464e-12,  2.4597419847183453e-11,
                          -1.075503955507222e-12, -6.776108511649214e-13, 6.814889894947415e-14};

}  // namespace

double erf(double x) {
  if (x != x) return kNaN;
  const double a = std::fabs(x), sign = std::signbit(x) ? -1 : 1;
  if (a > 6) return sign;
  if (a < 0x1p-500) return x * kTwoOverRootPi.high;
  if (a < 0.9) {
    const Pair first = two_product(a, kTwoOverRootPi.high);
    const double square = a * a;
    return sign * (first.high + (first.low + a * kTwoOverRootPi.low + a * square * polynomial(kNearZero, square)));
  }
  const Exponential e = exponential(-two_product(a, a));
  const double factor = scale(polynomial(kFar, kScale / (a + 3) + kShift), e.k);
  const Pair rest = Pair{factor, 0} * (two_sum(1, e.s.high) + Pair{e.s.low, 0});
  const Pair result = two_sum(1, -rest.high);
  return sign * (result.high + (result.low - rest.low));
}

}  // namespace tenon::exact
