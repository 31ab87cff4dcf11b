// Sine, cosine, tangent and their inverses; see exact_math.h.
#include "base/exact_math.h"
#include "base/exact_math_parts.h"

namespace tenon::exact {

namespace {

constexpr Pair kHalfPi{0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};
constexpr Pair kPi{0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53};

// The bits of 2/pi behind the point, after 64 zeros.
constexpr uint64_t kTwoOverPi[] = {0,
                                   0xa2f9836e4e441529,
                                   0xfc2757d1f534ddc0,
                                   0xdb6295993c439041,
                                   0xfe5163abdebbc561,
                                   0xb7246e3a424dd2e0,
                                   0x06492eea09d1921c,
                                   0xfe1deb1cb129a73e,
                                   0xe88235f52ebb4484,
                                   0xe99c7026b45f7e41,
                                   0x3991d639835339f4,
                                   0x9c845f8bbdf9283b,
                                   0x1ff897ffde05980f,
                                   0xef2f118b5a0a6d1f,
                                   0x6d367ecf27cb09b7,
                                   0x4f463f669e5fea2d,
                                   0x7527bac7ebe5f17b,
                                   0x3d0739f78a5292ea,
                                   0x6bfb5fb11f8d5d08,
                                   0x56033046fc7b6bab};

__extension__ using Wide = unsigned __int128;

// x = r + quadrant * pi/2 for some r between -pi/4 and pi/4.
struct Reduced {
  Pair r;
  unsigned quadrant = 0;
};

// 64 bits of the table from a bit on.
uint64_t bits_from(int bit) {
  const auto word = static_cast<size_t>(bit / 64);
  const int shift = bit % 64;
  return shift == 0 ? kTwoOverPi[word] : kTwoOverPi[word] << shift | kTwoOverPi[word + 1] >> (64 - shift);
}

// 0.w0w1w2 as a number of double precision twice, times pi/2.
Pair quarter_turns(uint64_t w0, uint64_t w1, uint64_t w2) {
  int exponent = 0;
  if (w0 == 0) {
    w0 = w1;
    w1 = w2;
    w2 = 0;
    exponent = -64;
  }
  const int zeros = std::countl_zero(w0);
  if (zeros > 0) {
    w0 = w0 << zeros | w1 >> (64 - zeros);
    w1 = w1 << zeros | w2 >> (64 - zeros);
    exponent -= zeros;
  }
  const double high = static_cast<double>(w0 >> 11);
  const double low = static_cast<double>((w0 & 0x7ff) << 42 | w1 >> 22);
  const Pair fraction{scale(high, exponent - 53), scale(low, exponent - 106)};
  return two_sum(fraction.high, fraction.low) * kHalfPi;
}

// For positive finite x that are not small: x * 2/pi modulo 4, in integers.
Reduced reduce(double x) {
  const auto bits = std::bit_cast<uint64_t>(x);
  const int exponent = static_cast<int>(bits >> 52) - 1023 - 52;
  const uint64_t m = (bits & 0xfffffffffffffu) | uint64_t{1} << 52;
  // Bits of 2/pi that give whole turns are left out.
  const int first = exponent - 2 + 64;
  const Wide low = Wide{m} * bits_from(first + 128), middle = Wide{m} * bits_from(first + 64);
  const auto p2 = static_cast<uint64_t>(low);
  const Wide sum = (low >> 64) + static_cast<uint64_t>(middle);
  const auto p1 = static_cast<uint64_t>(sum);
  const uint64_t p0 = static_cast<uint64_t>(sum >> 64) + static_cast<uint64_t>(middle >> 64) + m * bits_from(first);
  unsigned quadrant = static_cast<unsigned>(p0 >> 62);
  uint64_t w0 = p0 << 2 | p1 >> 62, w1 = p1 << 2 | p2 >> 62, w2 = p2 << 2;
  if (w0 >> 63 == 0) return {quarter_turns(w0, w1, w2), quadrant};
  w2 = ~w2 + 1;
  w1 = ~w1 + (w2 == 0 ? 1 : 0);
  w0 = ~w0 + (w2 == 0 && w1 == 0 ? 1 : 0);
  return {-quarter_turns(w0, w1, w2), (quadrant + 1) % 4};
}

Reduced reduced(double x) {
  if (x < kHalfPi.high / 2) return {{x, 0}, 0};
  return reduce(x);
}

Pair sin_near_zero(Pair r) {
  constexpr std::array kTerms{-1.0 / 6,
                              1.0 / 120,
                              -1.0 / 5040,
                              1.0 / 362880,
                              -1.0 / 39916800,
                              1.0 / 6227020800.0,
                              -1.0 / 1307674368000.0,
                              1.0 / 355687428096000.0};
  const double square = r.high * r.high;
  return two_sum(r.high, r.high * square * polynomial(kTerms, square) + r.low * (1 - square / 2));
}

Pair cos_near_zero(Pair r) {
  constexpr std::array kTerms{1.0 / 24,
                              -1.0 / 720,
                              1.0 / 40320,
                              -1.0 / 3628800,
                              1.0 / 479001600,
                              -1.0 / 87178291200.0,
                              1.0 / 20922789888000.0,
                              -1.0 / 6402373705728000.0};
  const Pair square = two_product(r.high, r.high);
  const Pair sum = two_sum(1, -square.high / 2);
  const double rest = square.high * square.high * polynomial(kTerms, square.high);
  return two_sum(sum.high, sum.low - square.low / 2 - r.high * r.low + rest);
}

// Sine for quadrants 0 and 2, cosine for the others; `turned` quarter turns further.
double sine_of(const Reduced& reduced, unsigned turned) {
  const unsigned quadrant = (reduced.quadrant + turned) % 4;
  const Pair result = quadrant % 2 == 0 ? sin_near_zero(reduced.r) : cos_near_zero(reduced.r);
  const double value = result.high + result.low;
  return quadrant < 2 ? value : -value;
}

}  // namespace

double sin(double x) {
  const double a = std::fabs(x);
  if (x != x || a == kInfinity) return kNaN;
  if (a < kTiny) return x;
  return with_sign_of(1, x) * sine_of(reduced(a), 0);
}

double cos(double x) {
  const double a = std::fabs(x);
  if (x != x || a == kInfinity) return kNaN;
  if (a < kTiny) return 1;
  return sine_of(reduced(a), 1);
}

double tan(double x) {
  const double a = std::fabs(x);
  if (x != x || a == kInfinity) return kNaN;
  if (a < kTiny) return x;
  const Reduced r = reduced(a);
  const Pair sine = sin_near_zero(r.r), cosine = cos_near_zero(r.r);
  const Pair result = r.quadrant % 2 == 0 ? sine / cosine : -(cosine / sine);
  return with_sign_of(1, x) * (result.high + result.low);
}

namespace {

// atan(j / 8)
constexpr Pair kAtanOfEighths[] = {{0, 0},
                                   {0x1.fd5ba9aac2f6ep-4, -0x1.cd37686760c17p-59},
                                   {0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57},
                                   {0x1.6f61941e4def1p-2, -0x1.c63aae6f6e918p-56},
                                   {0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56},
                                   {0x1.1e00babdefeb4p-1, -0x1.928df287a668fp-58},
                                   {0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56},
                                   {0x1.700a7c5784634p-1, -0x1.8c34d25aadef6p-56},
                                   {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55}};

// The angle whose tangent is y / x, for 0 <= y and 0 < x that are not both tiny or huge.
Pair angle(Pair y, Pair x) {
  if (y.high > x.high) return kHalfPi - angle(x, y);
  const double eighths = round_to_whole(8 * (y.high / x.high));
  const Pair c{eighths / 8, 0};
  const Pair t = (y - c * x) / (x + c * y);
  constexpr std::array kTerms{-1.0 / 3, 1.0 / 5, -1.0 / 7, 1.0 / 9, -1.0 / 11, 1.0 / 13, -1.0 / 15};
  const double square = t.high * t.high;
  const Pair small = two_sum(t.high, t.low + t.high * square * polynomial(kTerms, square));
  return kAtanOfEighths[static_cast<size_t>(eighths)] + small;
}

// sqrt(1 - x^2)
Pair other_leg(double x) { return square_root(two_sum(1, -x) * two_sum(1, x)); }

}  // namespace

double atan(double x) {
  if (x != x) return kNaN;
  const double a = std::fabs(x);
  if (a < kTiny) return x;
  if (a > 0x1p60) return with_sign_of(kHalfPi.high, x);
  const Pair result = angle({a, 0}, {1, 0});
  return with_sign_of(result.high + result.low, x);
}

double asin(double x) {
  const double a = std::fabs(x);
  if (x != x || a > 1) return kNaN;
  if (a < kTiny) return x;
  const Pair result = a == 1 ? kHalfPi : angle({a, 0}, other_leg(a));
  return with_sign_of(result.high + result.low, x);
}

double acos(double x) {
  const double a = std::fabs(x);
  if (x != x || a > 1) return kNaN;
  if (a == 1) return x > 0 ? 0 : kPi.high;
  if (a < 0x1p-60) return kHalfPi.high;
  const Pair acute = angle(other_leg(a), {a, 0});
  const Pair result = x > 0 ? acute : kPi - acute;
  return result.high + result.low;
}

}  // namespace tenon::exact
