// Values are compared with correctly rounded ones, which were computed with two hundred digits and more.
#include "base/exact_math.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/hash.h"

namespace tenon {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Point {
  const char* name;
  double (*function)(double);
  double x, expected;
};

constexpr Point kPoints[] = {
    {"exp", exact::exp, 0x1.5e446e32c5bbcp+7, 0x1.95c069ed3d15bp+252},
    {"exp", exact::exp, 0x1.160cb68feeed0p+9, 0x1.373520c53fdbep+802},
    {"exp", exact::exp, 0x1.81f5c05ab19c0p+8, 0x1.c4bcac6ea3b4cp+556},
    {"exp", exact::exp, -0x1.80b5be3c48e3ap+8, 0x1.f942e7ea6be90p-556},
    {"exp", exact::exp, -0x1.32f1d069aab42p+0, 0x1.34bb11f8bca75p-2},
    {"exp", exact::exp, 0x1.1ee39885daee6p+1, 0x1.2cfbdcee0e10dp+3},
    {"exp", exact::exp, -0x1.7bf4cc8b431b0p+1, 0x1.a4f23e076be49p-5},
    {"exp", exact::exp, 0x1.ed68275cffac0p+0, 0x1.b7c550998904ap+2},
    {"exp", exact::exp, -0x1.7480000000000p+9, 0x0.0000000000001p-1022},
    {"exp", exact::exp, 0x1.12e0be826d695p-30, 0x1.000000044b830p+0},
    {"expm1", exact::expm1, 0x1.7c3fb5dda83e8p+1, 0x1.28165a628af89p+4},
    {"expm1", exact::expm1, -0x1.485898e33c970p-2, -0x1.18e82adfb9be6p-2},
    {"expm1", exact::expm1, -0x1.f83cab33d5d98p+0, -0x1.b8932ec6a7bd8p-1},
    {"expm1", exact::expm1, -0x1.1b9d7ed44abf7p+1, -0x1.c827ab55bc6a7p-1},
    {"expm1", exact::expm1, -0x1.919f259b65384p-5, -0x1.87ef85a6a3d0fp-5},
    {"expm1", exact::expm1, -0x1.67f2ab003e868p-7, -0x1.65fa69991a56cp-7},
    {"expm1", exact::expm1, 0x1.dceb6590a6500p-11, 0x1.dd22f1a4038e0p-11},
    {"expm1", exact::expm1, 0x1.2c40000000000p+8, 0x1.1fda3eaeb3d0ep+433},
    {"expm1", exact::expm1, 0x1.19799812dea11p-40, 0x1.19799812df3bdp-40},
    {"expm1", exact::expm1, -0x1.3400000000000p+5, -0x1.0000000000000p+0},
    {"log", exact::log, 0x1.65188e5cb77fcp+2, 0x1.b818564170d6cp+0},
    {"log", exact::log, 0x1.3e9311c35497cp+3, 0x1.2628cf5ae05c3p+1},
    {"log", exact::log, 0x1.fca16e7a6c892p+2, 0x1.0952c91fca08ep+1},
    {"log", exact::log, 0x1.909cddd3154b2p+2, 0x1.d5886065a2863p+0},
    {"log", exact::log, 0x0.012688b70e62bp-1022, -0x1.64e69394d9508p+9},
    {"log", exact::log, 0x1.7e43c8800759cp+996, 0x1.5963447f87fb5p+9},
    {"log", exact::log, 0x1.000001ad7f29bp+0, 0x1.ad7f2847b6492p-24},
    {"log", exact::log, 0x1.fffffca501acbp-1, -0x1.ad7f2b1049b9fp-24},
    {"log", exact::log, 0x1.f75104d551d69p-16, -0x1.4d420db4d09fap+3},
    {"log1p", exact::log1p, 0x1.7a7d28ecea3d7p+1, 0x1.601ef17564f98p+0},
    {"log1p", exact::log1p, -0x1.edf209c903b30p-5, -0x1.fd76c831d445dp-5},
    {"log1p", exact::log1p, -0x1.19c6f7fe6aa92p-2, -0x1.498bcd764dc74p-2},
    {"log1p", exact::log1p, 0x1.7d28d7ac3e7a2p+0, 0x1.d2dd09bd00d6ep-1},
    {"log1p", exact::log1p, -0x1.750e7d3d4e240p-1, -0x1.4de3d97c75ce8p+0},
    {"log1p", exact::log1p, 0x1.5fd7fe1796495p-37, 0x1.5fd7fe178ebb0p-37},
    {"log1p", exact::log1p, -0x1.ad7f29abcaf48p-24, -0x1.ad7f2b1414ae8p-24},
    {"log1p", exact::log1p, 0x1.5af1d78b58c40p+66, 0x1.7069e2aa2aa5bp+5},
    {"sinh", exact::sinh, -0x1.6498f8c4aa6cfp+1, -0x1.0272ce8e432f6p+3},
    {"sinh", exact::sinh, 0x1.6de85b8d96e80p-4, 0x1.6e64ff54303acp-4},
    {"sinh", exact::sinh, -0x1.9f42a7016d640p-3, -0x1.a21c95d627a6dp-3},
    {"sinh", exact::sinh, 0x1.406285846ce30p+1, 0x1.8465147e9ccd0p+2},
    {"sinh", exact::sinh, 0x1.47ae147ae147bp-7, 0x1.47af7a654e9efp-7},
    {"sinh", exact::sinh, -0x1.9400000000000p+5, -0x1.cf65319c5751ap+71},
    {"sinh", exact::sinh, 0x1.631999999999ap+9, 0x1.84910bde1ee21p+1023},
    {"cosh", exact::cosh, 0x1.8cfba969e1ad8p-1, 0x1.50e25788b70b9p+0},
    {"cosh", exact::cosh, 0x1.5af48d6a5fca0p-4, 0x1.00eb40fb2e82ep+0},
    {"cosh", exact::cosh, -0x1.335a9319c0a00p-6, 0x1.000b88291095ep+0},
    {"cosh", exact::cosh, -0x1.83d12c23b9475p+0, 0x1.3134b3c7de291p+1},
    {"cosh", exact::cosh, 0x1.47ae147ae147bp-7, 0x1.000346de27853p+0},
    {"cosh", exact::cosh, -0x1.9400000000000p+5, 0x1.cf65319c5751ap+71},
    {"cosh", exact::cosh, 0x1.631999999999ap+9, 0x1.84910bde1ee21p+1023},
    {"tanh", exact::tanh, -0x1.76f13342052eep+1, -0x1.fd158d4cacdf5p-1},
    {"tanh", exact::tanh, -0x1.d87866076ab67p+0, -0x1.e7148afd80412p-1},
    {"tanh", exact::tanh, 0x1.26f61a39d0698p+0, 0x1.a30fb3f3501a1p-1},
    {"tanh", exact::tanh, -0x1.cbde39f6b57d3p+0, -0x1.e4922ca8e7b6dp-1},
    {"tanh", exact::tanh, -0x1.90c8d1f759298p-1, -0x1.4f007fb68ec5ep-1},
    {"tanh", exact::tanh, 0x1.0624dd2f1a9fcp-10, 0x1.0624d77516ce2p-10},
    {"tanh", exact::tanh, -0x1.9000000000000p+3, -0x1.ffffffffc2eb9p-1},
    {"tanh", exact::tanh, 0x1.b7cdfd9d7bdbbp-34, 0x1.b7cdfd9d7bdbbp-34},
    {"asinh", exact::asinh, -0x1.3d9c2e894707fp+2, -0x1.270d23954a1ecp+1},
    {"asinh", exact::asinh, 0x1.a6760a4416740p+1, 0x1.e8cf40af1b83fp+0},
    {"asinh", exact::asinh, -0x1.ba4a3165ae7a6p+1, -0x1.f411828f3604cp+0},
    {"asinh", exact::asinh, -0x1.29790f5454bbcp+1, -0x1.946e5bff9fcdap+0},
    {"asinh", exact::asinh, 0x1.4f8b588e368f1p-17, 0x1.4f8b588e1e8a2p-17},
    {"asinh", exact::asinh, 0x1.dcd6500000000p+29, 0x1.56a9a0b23d188p+4},
    {"asinh", exact::asinh, -0x1.7e43c8800759cp+996, -0x1.59bbfd8b83e44p+9},
    {"acosh", exact::acosh, 0x1.000001ad7f29bp+0, 0x1.d4effc065cae4p-12},
    {"acosh", exact::acosh, 0x1.215d72b2f7036p+2, 0x1.18414e21b18f6p+1},
    {"acosh", exact::acosh, 0x1.85034d105f59cp+1, 0x1.c6c83bfd4d8a5p+0},
    {"acosh", exact::acosh, 0x1.18ded6aaf0939p+2, 0x1.145764673b23ap+1},
    {"acosh", exact::acosh, 0x1.c789022d6a74dp+1, 0x1.f136a13fc4f49p+0},
    {"acosh", exact::acosh, 0x1.dcd6500000000p+29, 0x1.56a9a0b23d188p+4},
    {"acosh", exact::acosh, 0x1.7e43c8800759cp+996, 0x1.59bbfd8b83e44p+9},
    {"atanh", exact::atanh, 0x1.ef259b40563fcp-2, 0x1.0e21296497b71p-1},
    {"atanh", exact::atanh, -0x1.a24ef9e21b1f6p-1, -0x1.25d33b5e91a77p+0},
    {"atanh", exact::atanh, 0x1.510cd8e7d2d20p-4, 0x1.51d06506a43cdp-4},
    {"atanh", exact::atanh, 0x1.fd5c7cba0eb80p-7, 0x1.fd66fdc7eea9dp-7},
    {"atanh", exact::atanh, 0x1.7c4063ba73a86p-1, 0x1.e9b0c32eca23dp-1},
    {"atanh", exact::atanh, 0x1.0c6f7a0b5ed8dp-20, 0x1.0c6f7a0b5f3b3p-20},
    {"atanh", exact::atanh, 0x1.ffffde7210be9p-1, 0x1.d046eb8b86c1cp+2},
    {"sin", exact::sin, -0x1.f13ac7e2654d0p+0, -0x1.dd12733ad0809p-1},
    {"sin", exact::sin, 0x1.5fe4463f01650p+0, 0x1.f62cd0bb7ac45p-1},
    {"sin", exact::sin, -0x1.8ae918649f076p+2, 0x1.ccad2918ff385p-4},
    {"sin", exact::sin, -0x1.92ba459ec2000p+0, -0x1.ffffa2ae048ecp-1},
    {"sin", exact::sin, -0x1.3d1e6e19cfcb2p+1, -0x1.3b9277e6f2c03p-1},
    {"sin", exact::sin, 0x1.86a0000000000p+16, 0x1.24daa9c527e96p-5},
    {"sin", exact::sin, 0x1.0f0cf064dd592p+73, -0x1.b453ab76bf397p-1},
    {"sin", exact::sin, -0x1.921fb54442d11p+1, -0x1.d1a62633145c0p-49},
    {"sin", exact::sin, 0x1.7e43c8800759cp+996, -0x1.a2c16b010e385p-1},
    {"cos", exact::cos, -0x1.396bc97535d10p+2, 0x1.7859861439f60p-3},
    {"cos", exact::cos, 0x1.1b705e7055e5ep+2, -0x1.1e9571a4bc3cep-2},
    {"cos", exact::cos, -0x1.b0109eac62d30p+0, -0x1.ddf72ef87b5c2p-4},
    {"cos", exact::cos, 0x1.acf54655038b8p+2, 0x1.d3a692a88d8d0p-1},
    {"cos", exact::cos, 0x1.4287bd017dcc8p+0, 0x1.394517dfe7c58p-2},
    {"cos", exact::cos, 0x1.86a0000000000p+16, -0x1.ffac3841b3da7p-1},
    {"cos", exact::cos, 0x1.0f0cf064dd592p+73, 0x1.0be2cef01c8f4p-1},
    {"cos", exact::cos, 0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54},
    {"cos", exact::cos, 0x1.7e43c8800759cp+996, -0x1.2699022adc4c1p-1},
    {"tan", exact::tan, 0x1.7885887a271e0p+0, 0x1.3ee78a6ee4f83p+3},
    {"tan", exact::tan, 0x1.ee946a343d6b8p+0, -0x1.52df67f85aa01p+1},
    {"tan", exact::tan, 0x1.3c32e6f9d47f0p+1, -0x1.96b5ab4644ce0p-1},
    {"tan", exact::tan, -0x1.38e4d8e9a6bd2p+2, 0x1.66ab6e1972f98p+2},
    {"tan", exact::tan, -0x1.abd543e446340p-1, -0x1.1b17a626e411ap+0},
    {"tan", exact::tan, 0x1.86a0000000000p+16, -0x1.250a9d503313dp-5},
    {"tan", exact::tan, 0x1.921fb54442d18p+0, 0x1.d02967c31cdb5p+53},
    {"tan", exact::tan, 0x1.7e43c8800759cp+996, 0x1.6be411f37ac77p+0},
    {"asin", exact::asin, -0x1.0aafbeaa9169cp-1, -0x1.1882b5b253c98p-1},
    {"asin", exact::asin, -0x1.8f5df1cf29f18p-3, -0x1.91f13edae863ep-3},
    {"asin", exact::asin, -0x1.9cf99a1cb2034p-1, -0x1.e0712d292c646p-1},
    {"asin", exact::asin, 0x1.df0e510d9fda6p-1, 0x1.35ca016bfb668p+0},
    {"asin", exact::asin, -0x1.23d5fb4c31b2ap-1, -0x1.3686a5b8aa8a1p-1},
    {"asin", exact::asin, 0x1.0c6f7a0b5ed8dp-20, 0x1.0c6f7a0b5f0a0p-20},
    {"asin", exact::asin, 0x1.fffffca501acbp-1, 0x1.920266447a7fap+0},
    {"acos", exact::acos, 0x1.5fc669e00f8bcp-2, 0x1.3859f97f2db00p+0},
    {"acos", exact::acos, -0x1.98bd5b37e2ca8p-2, 0x1.fb3ccfcc64770p+0},
    {"acos", exact::acos, 0x1.7f0e0c45fcfcep-1, 0x1.737771a836ff9p-1},
    {"acos", exact::acos, 0x1.4c373da0be2b8p-2, 0x1.3d8a0e311aa40p+0},
    {"acos", exact::acos, -0x1.7939b41dde2cap-1, 0x1.3314e0e79b244p+1},
    {"acos", exact::acos, 0x1.0c6f7a0b5ed8dp-20, 0x1.921fa47d4b30dp+0},
    {"acos", exact::acos, -0x1.fffffca501acbp-1, 0x1.92110dc45ea89p+1},
    {"atan", exact::atan, 0x1.09045f40896eap+1, 0x1.1ef015e9b3c89p+0},
    {"atan", exact::atan, 0x1.55b85eba72b64p+1, 0x1.365fb58d9a58bp+0},
    {"atan", exact::atan, 0x1.3635459ad2126p+1, 0x1.2df09f839a37fp+0},
    {"atan", exact::atan, 0x1.ac5abcdf0dd40p-2, 0x1.95b41020de61fp-2},
    {"atan", exact::atan, -0x1.104968cf284e0p+1, -0x1.21a0c7c2f9942p+0},
    {"atan", exact::atan, 0x1.4f8b588e368f1p-17, 0x1.4f8b588e06854p-17},
    {"atan", exact::atan, 0x1.86a0000000000p+16, 0x1.921f0d7e968a8p+0},
    {"atan", exact::atan, -0x1.c6bf526340000p+49, -0x1.921fb54442d14p+0},
    {"erf", exact::erf, -0x1.d860463c9f772p+0, -0x1.fb5ba0695b417p-1},
    {"erf", exact::erf, 0x1.48a1ae4d402b0p+1, 0x1.ffdafb12776ddp-1},
    {"erf", exact::erf, 0x1.417e72dde4040p-2, 0x1.5f312bca78919p-2},
    {"erf", exact::erf, -0x1.eaabde67b47b1p+0, -0x1.fc8fb4676cc66p-1},
    {"erf", exact::erf, 0x1.26f4a86921aacp+1, 0x1.ff6d5ddd327bfp-1},
    {"erf", exact::erf, 0x1.b2e884efa2538p-1, 0x1.8a6c118ae04ccp-1},
    {"erf", exact::erf, 0x1.ac339d8600bc0p-2, 0x1.c86dc0461de48p-2},
    {"erf", exact::erf, 0x1.5798ee2308c3ap-27, 0x1.83b547fb79514p-27},
    {"erf", exact::erf, 0x1.6000000000000p+2, 0x1.fffffffffffbep-1},
    {"erf", exact::erf, 0x1.ccccccccccccdp-1, 0x1.98045a6c8a2e6p-1},
};

// How many doubles lie between two of the same sign.
int64_t distance(double a, double b) { return std::abs(std::bit_cast<int64_t>(a) - std::bit_cast<int64_t>(b)); }

TEST(ExactMath, IsRightToTheLastPlace) {
  for (const Point& p : kPoints) {
    const double result = p.function(p.x);
    EXPECT_LE(distance(result, p.expected), 1) << p.name << "(" << p.x << ") = " << result;
    EXPECT_EQ(static_cast<float>(result), static_cast<float>(p.expected)) << p.name << "(" << p.x << ")";
  }
}

struct PowerPoint {
  double x, y, expected;
};

constexpr PowerPoint kPowers[] = {
    {0x1.b17bcc5f45d3dp+1, 0x1.6dd69ccad7d80p+1, 0x1.0557d6478760bp+5},
    {0x1.d96ba4e86cca6p+1, -0x1.55724a3bebceap+3, 0x1.d271c2787355ap-21},
    {0x1.13e43e20f5bc5p+1, 0x1.e28b397fd9bbcp+3, 0x1.a20612bceeda5p+16},
    {0x1.5ebc677dae662p-2, -0x1.c7cf9df5cb1b2p+4, 0x1.06714ab4e9010p+44},
    {0x1.f8b3b8772e629p+2, -0x1.eacefd5a31ad0p+2, 0x1.1c7b06769a3a6p-23},
    {0x1.0d69a07946e60p+2, -0x1.c2dd1c953c6aep+4, 0x1.7afbb01f01964p-59},
    {0x1.000001ad7f29bp+0, 0x1.dcd6500000000p+29, 0x1.349445c228792p+144},
    {0x1.9adb569a7afe3p+2, 0x1.21dcc6a98cb5fp+8, 0x1.77b9422bfec22p+777},
    {0x1.56e1fc2f8f359p-997, -0x1.028f5c28f5c29p+0, 0x1.754e31cd07302p+1006},
    {-0x1.8000000000000p+1, 0x1.4000000000000p+2, -0x1.e600000000000p+7},
    {-0x1.0000000000000p+1, -0x1.c000000000000p+2, -0x1.0000000000000p-7},
    {0x1.999999999999ap-4, 0x1.8000000000000p+1, 0x1.0624dd2f1a9fdp-10},
    {0x1.4e718d7d7625ap+664, -0x1.999999999999ap+0, 0x0.00000000007e8p-1022},
};

TEST(ExactMath, PowersAreRightToTheLastPlace) {
  for (const PowerPoint& p : kPowers) EXPECT_LE(distance(exact::pow(p.x, p.y), p.expected), 1) << p.x << " ^ " << p.y;
}

TEST(ExactMath, SquaresAreExact) {
  for (double x = 1.1; x < 1e12; x *= 1.7)
    EXPECT_EQ(exact::pow(static_cast<float>(x), 2), double{static_cast<float>(x)} * static_cast<float>(x));
}

TEST(ExactMath, KnowsTheLimits) {
  EXPECT_EQ(exact::exp(-kInfinity), 0);
  EXPECT_EQ(exact::exp(1000), kInfinity);
  EXPECT_EQ(exact::exp(0), 1);
  EXPECT_EQ(exact::exp(-745), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(exact::expm1(-kInfinity), -1);
  EXPECT_EQ(exact::log(0), -kInfinity);
  EXPECT_EQ(exact::log(1), 0);
  EXPECT_EQ(exact::log(kInfinity), kInfinity);
  EXPECT_EQ(exact::log1p(-1), -kInfinity);
  EXPECT_EQ(exact::tanh(kInfinity), 1);
  EXPECT_EQ(exact::tanh(-kInfinity), -1);
  EXPECT_EQ(exact::sinh(-800), -kInfinity);
  EXPECT_EQ(exact::cosh(-800), kInfinity);
  EXPECT_EQ(exact::atan(kInfinity), std::acos(-1.0) / 2);
  EXPECT_EQ(exact::acos(1), 0);
  EXPECT_EQ(exact::atanh(-1), -kInfinity);
  EXPECT_EQ(exact::erf(kInfinity), 1);
  EXPECT_EQ(exact::erf(-7), -1);
}

TEST(ExactMath, PowersKnowTheLimits) {
  EXPECT_EQ(exact::pow(kNaN, 0), 1);
  EXPECT_EQ(exact::pow(1, kNaN), 1);
  EXPECT_EQ(exact::pow(-1, kInfinity), 1);
  EXPECT_EQ(exact::pow(-0.0, -3), -kInfinity);
  EXPECT_EQ(exact::pow(-0.0, -2), kInfinity);
  EXPECT_EQ(exact::pow(-kInfinity, 3), -kInfinity);
  EXPECT_EQ(exact::pow(0.5, kInfinity), 0);
  EXPECT_EQ(exact::pow(0.5, -kInfinity), kInfinity);
  EXPECT_EQ(exact::pow(2, 1024), kInfinity);
  EXPECT_EQ(exact::pow(-2, 1025), -kInfinity);
  EXPECT_EQ(exact::pow(2, -1074), std::numeric_limits<double>::denorm_min());
  EXPECT_TRUE(std::isnan(exact::pow(-2, 0.5)));
}

TEST(ExactMath, KeepsTheSignOfZero) {
  for (auto f : {exact::expm1, exact::log1p, exact::sinh, exact::tanh, exact::asinh, exact::atanh, exact::sin,
                 exact::tan, exact::asin, exact::atan, exact::erf}) {
    EXPECT_TRUE(std::signbit(f(-0.0)));
    EXPECT_FALSE(std::signbit(f(0.0)));
  }
}

TEST(ExactMath, HasOneNaN) {
  const auto expected = std::bit_cast<uint64_t>(kNaN);
  const double other = std::bit_cast<double>(uint64_t{0xfff8000000000123});
  for (auto f : {exact::exp, exact::expm1, exact::log, exact::log1p, exact::sinh, exact::cosh, exact::tanh,
                 exact::asinh, exact::acosh, exact::atanh, exact::sin, exact::cos, exact::tan, exact::asin, exact::acos,
                 exact::atan, exact::erf})
    EXPECT_EQ(std::bit_cast<uint64_t>(f(other)), expected);
  EXPECT_EQ(std::bit_cast<uint64_t>(exact::log(-1)), expected);
  EXPECT_EQ(std::bit_cast<uint64_t>(exact::sin(kInfinity)), expected);
  EXPECT_EQ(std::bit_cast<uint64_t>(exact::asin(2)), expected);
  EXPECT_EQ(std::bit_cast<uint64_t>(exact::pow(other, 1)), expected);
}

// The bits of all functions at many points. They never change: weights that were packed before would not be found to
// be the same any more.
TEST(ExactMath, HasTheSameBitsEverywhere) {
  std::string bits;
  uint64_t state = 1;
  const auto put = [&](double value) {
    const auto word = std::bit_cast<uint64_t>(value);
    bits.append(reinterpret_cast<const char*>(&word), sizeof(word));
  };
  for (int i = 0; i < 20000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const double unit = static_cast<double>(state >> 11) * 0x1p-53, x = 40 * unit - 20;
    for (auto f : {exact::exp, exact::expm1, exact::sinh, exact::cosh, exact::tanh, exact::asinh, exact::sin,
                   exact::cos, exact::tan, exact::atan, exact::erf})
      put(f(x));
    for (auto f : {exact::log, exact::log1p, exact::atanh, exact::asin, exact::acos}) put(f(unit));
    put(exact::acosh(1 + unit));
    put(exact::pow(unit, x));
    put(exact::sin(x * 1e30));
    put(exact::log(std::fabs(x)));
  }
  EXPECT_EQ(hash_bytes(bits).hex(), "b4cf2c40c16ddc1d6f910e11cead3c51");
}

}  // namespace
}  // namespace tenon
