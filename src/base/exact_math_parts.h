#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

// What the functions of exact_math.h are made of: numbers of twice the precision of a double, and exponentials and
// logarithms of these.
namespace tenon::exact {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
// Below it a function with f(x) = x + O(x^2) needs care, and one with f(x) = x + O(x^3) is x.
inline constexpr double kTiny = 0x1p-28;

// high + low, where low is at most half a unit in the last place of high.
struct Pair {
  double high = 0, low = 0;
};

// The exact sum.
inline Pair two_sum(double a, double b) {
  const double sum = a + b, part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}

// The exact product of numbers that are neither huge nor tiny.
inline Pair two_product(double a, double b) {
  constexpr double kSplit = 0x1p27 + 1;
  const double ca = kSplit * a, cb = kSplit * b;
  const double ah = ca - (ca - a), bh = cb - (cb - b), al = a - ah, bl = b - bh;
  const double product = a * b;
  return {product, ((ah * bh - product) + ah * bl + al * bh) + al * bl};
}

inline Pair operator+(Pair a, Pair b) {
  const Pair sum = two_sum(a.high, b.high);
  return two_sum(sum.high, sum.low + (a.low + b.low));
}
inline Pair operator-(Pair a) { return {-a.high, -a.low}; }
inline Pair operator-(Pair a, Pair b) { return a + -b; }
inline Pair operator*(Pair a, Pair b) {
  const Pair product = two_product(a.high, b.high);
  return two_sum(product.high, product.low + (a.high * b.low + a.low * b.high));
}
inline Pair operator/(Pair a, Pair b) {
  const double quotient = a.high / b.high;
  const Pair back = two_product(quotient, b.high);
  const double rest = ((a.high - back.high) - back.low) + (a.low - quotient * b.low);
  return two_sum(quotient, rest / b.high);
}
// Of a positive number.
inline Pair square_root(Pair a) {
  const double root = std::sqrt(a.high);
  const Pair back = two_product(root, root);
  return two_sum(root, (((a.high - back.high) - back.low) + a.low) / (2 * root));
}

// The nearest whole number of one below 2^51.
inline double round_to_whole(double x) { return (x + 0x1.8p52) - 0x1.8p52; }

// c[0] + c[1] z + ..., by even and odd powers, which do not wait for each other.
template <size_t kCount>
double polynomial(const std::array<double, kCount>& c, double z) {
  const double square = z * z;
  constexpr size_t kLast = kCount - 1;
  double even = c[kLast - kLast % 2], odd = c[kLast - (kLast + 1) % 2];
  for (size_t i = kLast - kLast % 2; i >= 2; i -= 2) even = even * square + c[i - 2];
  for (size_t i = kLast - (kLast + 1) % 2; i >= 3; i -= 2) odd = odd * square + c[i - 2];
  return even + odd * z;
}

// x * 2^k, rounded once.
inline double scale(double x, int k) {
  if (k > 1023) {
    x *= 0x1p1023;
    k -= 1023;
    if (k > 1023) return x * kInfinity;
  } else if (k < -1022) {
    // The first factor leaves a normal number.
    x *= std::bit_cast<double>(static_cast<uint64_t>(1023 - 969) << 52);
    k += 969;
    if (k < -1022) k = -1022;
  }
  return x * std::bit_cast<double>(static_cast<uint64_t>(1023 + k) << 52);
}

// exp(x) = 2^k (1 + s), for |x| below a thousand.
struct Exponential {
  int k = 0;
  Pair s;
};
Exponential exponential(Pair x);

// log(1 + f) for a number 1 + f between 0.7 and 1.42.
Pair log_near_one(Pair f);
// log(x) + log(1 + rest / x) for normal x > 0; `rest` is small.
Pair logarithm(double x, double rest = 0);
// log(x) of twice the precision at some cost.
Pair precise_logarithm(double x);

// The value, negative when `sign` is.
inline double with_sign_of(double value, double sign) { return std::signbit(sign) ? -value : value; }

}  // namespace tenon::exact
