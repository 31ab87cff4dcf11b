// Exponentials and logarithms. The C library's functions of the same names are not used: their bits differ from one
// version and processor to the next.
#include "base/exact_math.h"
#include "base/exact_math_parts.h"

namespace tenon::exact {

namespace {

// ln 2 in two pieces; an exponent times the first is exact.
constexpr double kLn2High = 0x1.62e42fee00000p-1, kLn2Low = 0x1.a39ef35793c76p-33;
constexpr double kLog2E = 0x1.71547652b82fep+0;

// 1/3!, 1/4!, ...
constexpr std::array kInverseFactorials{1.0 / 6,        1.0 / 24,        1.0 / 120,         1.0 / 720,
                                        1.0 / 5040,     1.0 / 40320,     1.0 / 362880,      1.0 / 3628800,
                                        1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800.0};

// exp(r) - 1 for |r| below 0.36.
Pair expm1_near_zero(Pair r) {
  const double square = r.high * r.high;
  const Pair sum = two_sum(r.high, square / 2);
  return two_sum(sum.high, sum.low + (r.low * (1 + r.high) + square * r.high * polynomial(kInverseFactorials, r.high)));
}

// 2/3, 2/5, ...
constexpr std::array kInverseOdds{2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11, 2.0 / 13,
                                  2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21, 2.0 / 23};
// Without the first.
constexpr std::array kLaterInverseOdds{2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11, 2.0 / 13,
                                       2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21, 2.0 / 23};

// s = f / (2 + f), so that log(1 + f) = 2 (s + s^3/3 + s^5/5 + ...).
Pair ratio_of(Pair f) { return f / (two_sum(2, f.high) + Pair{f.low, 0}); }

Pair precise_log_near_one(Pair f) {
  const Pair s = ratio_of(f), square = s * s;
  const double later = square.high * polynomial(kLaterInverseOdds, square.high);
  const Pair factor = Pair{2.0 / 3, 0x1.5555555555555p-55} + Pair{later, 0};
  return Pair{2 * s.high, 2 * s.low} + s * square * factor;
}

// m 2^k with m between sqrt(1/2) and sqrt(2).
struct Split {
  double m = 0;
  int k = 0;
};
Split split(double x) {
  int k = 0;
  if (x < 0x1p-1022) {
    x *= 0x1p54;
    k = -54;
  }
  const auto bits = std::bit_cast<uint64_t>(x);
  k += static_cast<int>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0xfffffffffffffu) | uint64_t{1023} << 52);
  if (m > 1.4142135623730951) {
    m /= 2;
    ++k;
  }
  return {m, k};
}

Pair add_exponent(Pair log, int k) {
  const Pair low = two_product(k, kLn2Low);
  return (Pair{k * kLn2High, 0} + low) + log;
}

}  // namespace

Exponential exponential(Pair x) {
  const double k = round_to_whole(x.high * kLog2E);
  const Pair r = two_sum(x.high - k * kLn2High, x.low - k * kLn2Low);
  return {static_cast<int>(k), expm1_near_zero(r)};
}

Pair log_near_one(Pair f) {
  const Pair s = ratio_of(f);
  const double square = s.high * s.high;
  return two_sum(2 * s.high, 2 * s.low + square * s.high * polynomial(kInverseOdds, square));
}

Pair logarithm(double x, double rest) {
  const Split parts = split(x);
  return add_exponent(log_near_one(two_sum(parts.m - 1, scale(rest, -parts.k))), parts.k);
}

Pair precise_logarithm(double x) {
  const Split parts = split(x);
  return add_exponent(precise_log_near_one({parts.m - 1, 0}), parts.k);
}

namespace {

// Where results round to infinity, and to zero.
constexpr double kMostExponent = 709.79, kLeastExponent = -745.14;

double exp_of(Pair x) {
  const Exponential e = exponential(x);
  const Pair sum = two_sum(1, e.s.high);
  return scale(sum.high + (sum.low + e.s.low), e.k);
}

}  // namespace

double exp(double x) {
  if (x != x) return kNaN;
  if (x > kMostExponent) return kInfinity;
  if (x < kLeastExponent) return 0;
  return exp_of({x, 0});
}

double expm1(double x) {
  if (x != x) return kNaN;
  if (x > kMostExponent) return kInfinity;
  if (x < -40) return -1;
  if (std::fabs(x) < 0x1p-54) return x;
  const Exponential e = exponential({x, 0});
  if (e.k == 0) return e.s.high + e.s.low;
  // Above it the one that is taken away does not count, and 2^k may be too large.
  if (e.k > 60) return exp_of({x, 0});
  const double power = scale(1, e.k);
  const Pair sum = two_sum(power, -1) + Pair{power * e.s.high, power * e.s.low};
  return sum.high + sum.low;
}

double log(double x) {
  if (x != x || x < 0) return kNaN;
  if (x == 0) return -kInfinity;
  if (x == kInfinity) return x;
  const Pair result = logarithm(x);
  return result.high + result.low;
}

double log1p(double x) {
  if (x != x || x < -1) return kNaN;
  if (x == -1) return -kInfinity;
  if (x == kInfinity || std::fabs(x) < 0x1p-54) return x;
  const Pair sum = two_sum(1, x);
  const Pair result = x > -0.29 && x < 0.41 ? log_near_one({x, 0}) : logarithm(sum.high, sum.low);
  return result.high + result.low;
}

namespace {

bool is_whole(double y) { return std::fabs(y) >= 0x1p53 || std::nearbyint(y) == y; }
bool is_odd(double y) { return std::fabs(y) < 0x1p53 && is_whole(y) && (static_cast<int64_t>(y) & 1) != 0; }

// For bases and exponents that are zero or infinite.
double pow_at_limits(double x, double y) {
  const double size = std::fabs(x);
  if (std::fabs(y) == kInfinity) {
    if (size == 1) return 1;
    return (size > 1) == (y > 0) ? kInfinity : 0;
  }
  const double result = (size == 0) == (y > 0) ? 0 : kInfinity;
  return std::signbit(x) && is_odd(y) ? -result : result;
}

}  // namespace

double pow(double x, double y) {
  if (y == 0 || x == 1) return 1;
  if (x != x || y != y) return kNaN;
  if (y == 2) return x * x;
  const double size = std::fabs(x);
  if (size == 0 || size == kInfinity || std::fabs(y) == kInfinity) return pow_at_limits(x, y);
  if (x < 0 && !is_whole(y)) return kNaN;
  const double sign = x < 0 && is_odd(y) ? -1 : 1;
  const Pair log = precise_logarithm(size);
  const double about = y * log.high;
  if (about > kMostExponent + 1) return sign * kInfinity;
  if (about < kLeastExponent - 1) return sign * 0.0;
  // Products of tiny numbers are not exact, and one plus them is.
  if (std::fabs(about) < 0x1p-60) return sign;
  return sign * exp_of(two_product(y, log.high) + Pair{y * log.low, 0});
}

// --- hyperbolic functions ---------------------------------------------------------------------------------------

namespace {

// exp(x) / 2 and exp(-x) / 2 for x between 0 and 30.
struct Halves {
  Pair rising, falling;
};
Halves halves(double x) {
  const Exponential e = exponential({x, 0});
  const Pair one_plus = two_sum(1, e.s.high) + Pair{e.s.low, 0};
  const double power = scale(0.5, e.k);
  const Pair rising{power * one_plus.high, power * one_plus.low};
  return {rising, Pair{0.25, 0} / rising};
}

// exp(x) / 2 for large x, which may not overflow.
double half_exp(double x) {
  const Exponential e = exponential({x, 0});
  const Pair sum = two_sum(1, e.s.high);
  return scale(sum.high + (sum.low + e.s.low), e.k - 1);
}

constexpr double kMostHyperbolic = 711;

}  // namespace

double sinh(double x) {
  if (x != x) return kNaN;
  const double a = std::fabs(x);
  if (a < kTiny) return x;
  if (a > kMostHyperbolic) return with_sign_of(kInfinity, x);
  if (a > 30) return with_sign_of(half_exp(a), x);
  if (a < 0.4) {
    constexpr std::array kTerms{1.0 / 6,        1.0 / 120,          1.0 / 5040,           1.0 / 362880,
                                1.0 / 39916800, 1.0 / 6227020800.0, 1.0 / 1307674368000.0};
    const double square = x * x;
    return x + x * square * polynomial(kTerms, square);
  }
  const Halves h = halves(a);
  const Pair result = h.rising - h.falling;
  return with_sign_of(result.high + result.low, x);
}

double cosh(double x) {
  if (x != x) return kNaN;
  const double a = std::fabs(x);
  if (a > kMostHyperbolic) return kInfinity;
  if (a > 30) return half_exp(a);
  const Halves h = halves(a);
  const Pair result = h.rising + h.falling;
  return result.high + result.low;
}

// With e = exp(2x) - 1 it is e / (e + 2).
double tanh(double x) {
  if (x != x) return kNaN;
  const double a = std::fabs(x);
  if (a < kTiny) return x;
  if (a > 22) return with_sign_of(1, x);
  const Exponential e = exponential({2 * a, 0});
  const double power = scale(1, e.k);
  const Pair grown = two_sum(power, -1) + Pair{power * e.s.high, power * e.s.low};
  const Pair result = grown / (grown + Pair{2, 0});
  return with_sign_of(result.high + result.low, x);
}

namespace {

// log(1 + f) for any f > 0.
double log_of_one_plus(Pair f) {
  if (f.high < 0.41) {
    const Pair result = log_near_one(f);
    return result.high + result.low;
  }
  const Pair sum = two_sum(1, f.high) + Pair{f.low, 0};
  const Pair result = logarithm(sum.high, sum.low);
  return result.high + result.low;
}

// log(2x) for large x.
double log_of_twice(double x) {
  const Pair result = logarithm(x) + Pair{kLn2High, kLn2Low};
  return result.high + result.low;
}

}  // namespace

double asinh(double x) {
  if (x != x) return kNaN;
  const double a = std::fabs(x);
  if (a < kTiny || a == kInfinity) return x;
  if (a > 0x1p28) return with_sign_of(log_of_twice(a), x);
  const Pair square = two_product(a, a), root = square_root(Pair{1, 0} + square);
  return with_sign_of(log_of_one_plus(Pair{a, 0} + square / (Pair{1, 0} + root)), x);
}

double acosh(double x) {
  if (x != x || x < 1) return kNaN;
  if (x == kInfinity) return x;
  if (x == 1) return 0;
  if (x > 0x1p28) return log_of_twice(x);
  const Pair above{x - 1, 0};
  return log_of_one_plus(above + square_root(above * (two_sum(x, 1))));
}

double atanh(double x) {
  const double a = std::fabs(x);
  if (x != x || a > 1) return kNaN;
  if (a == 1) return with_sign_of(kInfinity, x);
  if (a < kTiny) return x;
  return with_sign_of(log_of_one_plus(Pair{2 * a, 0} / two_sum(1, -a)) / 2, x);
}

}  // namespace tenon::exact
