#include "providers/reference/random.h"

#include <bit>
#include <cmath>
#include <span>

namespace tenon {

std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * counter[0], b = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

RandomStream RandomStream::of(std::optional<float> seed, KernelServices& services) {
  return RandomStream(seed ? std::bit_cast<uint32_t>(*seed) : services.random_stream());
}

RandomStream RandomStream::of(std::optional<int64_t> seed, KernelServices& services) {
  return RandomStream(seed ? static_cast<uint64_t>(*seed) : services.random_stream());
}

uint64_t RandomStream::bits(uint64_t index) const {
  // One block gives two numbers.
  const uint64_t block = index / 2;
  const auto words = philox({static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), 0, 0},
                            {static_cast<uint32_t>(key_), static_cast<uint32_t>(key_ >> 32)});
  const size_t first = index % 2 * 2;
  return uint64_t{words[first + 1]} << 32 | words[first];
}

double RandomStream::uniform(uint64_t index, int digits) const {
  return std::ldexp(static_cast<double>(bits(index) >> (64 - digits)), -digits);
}

double RandomStream::normal(uint64_t index) const {
  // The middle of one of 2^52 intervals: never 0 or 1.
  return normal_quantile(std::ldexp(static_cast<double>(bits(index) >> 12) + 0.5, -52));
}

namespace {

double polynomial(std::span<const double> coefficients, double x) {
  double result = 0;
  for (size_t i = coefficients.size(); i-- > 0;) result = result * x + coefficients[i];
  return result;
}

// log(x) for 0 < x < 1 from its series around 1, to about one unit in the last place.
double plain_log(double x) {
  int exponent;
  double mantissa = std::frexp(x, &exponent);
  if (mantissa < 0.70710678118654752440) {
    mantissa *= 2;
    --exponent;
  }
  const double s = (mantissa - 1) / (mantissa + 1), square = s * s;
  double sum = 0;
  for (int k = 25; k >= 1; k -= 2) sum = sum * square + 1.0 / k;
  return 2 * s * sum + exponent * 0.69314718055994530942;
}

}  // namespace

// Wichura's algorithm AS 241 (PPND16).
double normal_quantile(double p) {
  constexpr double a[] = {3.3871328727963666080e0,  1.3314166789178437745e+2, 1.9715909503065514427e+3,
                          1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
                          3.3430575583588128105e+4, 2.5090809287301226727e+3};
  constexpr double b[] = {1.0,
                          4.2313330701600911252e+1,
                          6.8718700749205790830e+2,
                          5.3941960214247511077e+3,
                          2.1213794301586595867e+4,
                          3.9307895800092710610e+4,
                          2.8729085735721942674e+4,
                          5.2264952788528545610e+3};
  constexpr double c[] = {1.42343711074968357734e0,  4.63033784615654529590e0, 5.76949722146069140550e0,
                          3.64784832476320460504e0,  1.27045825245236838258e0, 2.41780725177450611770e-1,
                          2.27238449892691845833e-2, 7.74545014278341407640e-4};
  constexpr double d[] = {1.0,
                          2.05319162663775882187e0,
                          1.67638483018380384940e0,
                          6.89767334985100004550e-1,
                          1.48103976427480074590e-1,
                          1.51986665636164571966e-2,
                          5.47593808499534494600e-4,
                          1.05075007164441684324e-9};
  constexpr double e[] = {6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,
                          2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                          2.71155556874348757815e-5, 2.01033439929228813265e-7};
  constexpr double f[] = {1.0,
                          5.99832206555887937690e-1,
                          1.36929880922735805310e-1,
                          1.48753612908506148525e-2,
                          7.86869131145613259100e-4,
                          1.84631831751005468180e-5,
                          1.42151175831644588870e-7,
                          2.04426310338993978564e-15};
  const double q = p - 0.5;
  if (std::fabs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * polynomial(a, r) / polynomial(b, r);
  }
  const double r = std::sqrt(-plain_log(q < 0 ? p : 1 - p));
  const double tail =
      r <= 5 ? polynomial(c, r - 1.6) / polynomial(d, r - 1.6) : polynomial(e, r - 5) / polynomial(f, r - 5);
  return q < 0 ? -tail : tail;
}

}  // namespace tenon
