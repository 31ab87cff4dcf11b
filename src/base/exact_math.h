#pragma once

// Functions of real numbers whose bits depend on their arguments alone: not on the C library, the processor or the
// compiler. They use nothing but operations that IEEE 754 defines, in the default environment and without contraction.
// Errors are about half a unit in the last place of a double (erf: one), so results that are rounded to float are
// nearly always the correctly rounded ones. Every NaN that they make is the same one.
namespace tenon::exact {

double exp(double x);
inline double sigmoid(double x) { return 1 / (1 + exp(-x)); }
double expm1(double x);
double log(double x);
double log1p(double x);
double pow(double x, double y);

double sinh(double x);
double cosh(double x);
double tanh(double x);
double asinh(double x);
double acosh(double x);
double atanh(double x);

double sin(double x);
double cos(double x);
double tan(double x);
double asin(double x);
double acos(double x);
double atan(double x);

double erf(double x);

}  // namespace tenon::exact
