#pragma once

// Comes before any Highway header in a file of SIMD code: the instruction sets it is compiled for. Kernels keep arrays
// of vectors in registers, which vectors of a length only known at run time do not allow; what lies between the other
// targets is not worth its compile time.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)

// Loops whose vectors stay in registers, which tools/check_spills.py sees to.
#define TENON_HOT __attribute__((hot))
