#pragma once

#include "ops/packed.h"

// Convolutions with 3x3 kernels as products at the points of tiles: the filter's and the input's values at (n + 2)^2
// points are multiplied point by point, and n x n outputs follow from the products.
namespace tenon {

// One axis: filter to points, input to points, points to outputs. Zeros are left out of sums, which go from left to
// right.
template <int Outputs>
struct WinogradMatrices;

template <>
struct WinogradMatrices<2> {
  static constexpr double kFilter[4][3] = {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};
  static constexpr double kInput[4][4] = {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}};
  static constexpr double kOutput[2][4] = {{1, 1, 1, 0}, {0, 1, -1, -1}};
};

template <>
struct WinogradMatrices<4> {
  static constexpr double kFilter[6][3] = {{1.0 / 4, 0, 0},
                                           {-1.0 / 6, -1.0 / 6, -1.0 / 6},
                                           {-1.0 / 6, 1.0 / 6, -1.0 / 6},
                                           {1.0 / 24, 1.0 / 12, 1.0 / 6},
                                           {1.0 / 24, -1.0 / 12, 1.0 / 6},
                                           {0, 0, 1}};
  static constexpr double kInput[6][6] = {{4, 0, -5, 0, 1, 0},  {0, -4, -4, 1, 1, 0}, {0, 4, -4, -1, 1, 0},
                                          {0, -2, -1, 2, 1, 0}, {0, 2, -1, -2, 1, 0}, {0, 4, 0, -5, 0, 1}};
  static constexpr double kOutput[4][6] = {
      {1, 1, 1, 1, 1, 0}, {0, 1, -1, 2, -2, 0}, {0, 1, 1, 4, 4, 0}, {0, 1, -1, 8, -8, 1}};
};

}  // namespace tenon
