// What the cpu target claims, as graphs in their text form.
#include <gtest/gtest.h>

#include "compiler/targets/cpu/claim.h"
#include "ir/text.h"

namespace tenon {
namespace {

std::string claimed(std::string_view text) {
  auto graph = parse_graph(text);
  EXPECT_TRUE(graph.ok()) << graph.status().to_string();
  ChangeLog log;
  const Status status = rewrite(*graph, std::span(&claim_products(), 1), log);
  EXPECT_TRUE(status.ok()) << status.to_string();
  return graph_text(*graph);
}

TEST(Claims, AProductTakesItsBiasAndActivation) {
  EXPECT_EQ(claimed(R"(
    %w: float[3, 2] source "w"
    %b: float[2] source "b"
    graph (%x: float[n, 3]) {
      %p = MatMul(%x, %w)
      %s = Add(%p, %b)
      %y = Relu(%s)
      return %y as "y"
    })"),
            R"(%w: float[3, 2] source "w"
%b: float[2] source "b"
graph (%x: float[n, 3]) {
  %0 = PackPanels(%w) {source="kn"} : float[1, 1, 3, 16]
  %y = PackedMatMul(%x, %0, %b) {n=2, k=3, activation="relu"} : float[n, 2]
  return %y as "y"
}
)");
}

TEST(Claims, AConvolutionTakesItsNormalization) {
  EXPECT_EQ(claimed(R"(
    %w: float[4, 3, 3, 3] source "w"
    %scale: float[4] source "scale"
    %shift: float[4] source "shift"
    %mean: float[4] source "mean"
    %var: float[4] source "var"
    graph (%x: float[n, 3, 8, 8]) {
      %c = Conv(%x, %w)
      %y = BatchNormalization(%c, %scale, %shift, %mean, %var)
      return %y as "y"
    })"),
            R"(%w: float[4, 3, 3, 3] source "w"
%scale: float[4] source "scale"
%shift: float[4] source "shift"
%mean: float[4] source "mean"
%var: float[4] source "var"
%0: float[] = [1e-05]
graph (%x: float[n, 3, 8, 8]) {
  %1 = Add(%var, %0) : float[4]
  %2 = Sqrt(%1) : float[4]
  %3 = Div(%scale, %2) : float[4]
  %4 = Mul(%mean, %3) : float[4]
  %5 = Sub(%shift, %4) : float[4]
  %6 = PackPanels(%w, %3) : float[1, 1, 27, 16]
  %y = PackedConv(%x, %6, %5) {kernel_shape=[3, 3], output_channels=4} : float[n, 4, 6, 6]
  return %y as "y"
}
)");
}

// g * v / |v|, as exporters write it.
TEST(Claims, AConvolutionTakesAWeightThatIsNormalizedItself) {
  EXPECT_EQ(claimed(R"(
    %v: float[4, 3, 5] source "v"
    %g: float[4, 1, 1] source "g"
    %axes: int64[2] = [1, 2]
    graph (%x: float[n, 3, 20]) {
      %norm = ReduceL2(%v, %axes)
      %unit = Div(%v, %norm)
      %w = Mul(%unit, %g)
      %y = Conv(%x, %w)
      return %y as "y"
    })"),
            R"(%v: float[4, 3, 5] source "v"
%g: float[4, 1, 1] source "g"
%axes: int64[2] = [1, 2]
graph (%x: float[n, 3, 20]) {
  %norm = ReduceL2(%v, %axes) : float[4, 1, 1]
  %unit = Div(%v, %norm) : float[4, 3, 5]
  %w = Mul(%unit, %g) : float[4, 3, 5]
  %0 = PackPanels(%w) : float[1, 1, 15, 16]
  %y = PackedConv(%x, %0) {kernel_shape=[5], output_channels=4} : float[n, 4, 16]
  return %y as "y"
}
)");
}

// Weights that are bounds stay weights; numbers of the model itself are parameters.
TEST(Claims, AProductReadsTheBoundsOfItsClip) {
  EXPECT_EQ(claimed(R"(
    %w: float[3, 2] source "w"
    %low: float[] source "low"
    %high: float[] source "high"
    %six: float[] = [6]
    graph (%x: float[n, 3]) {
      %p = MatMul(%x, %w)
      %y = Clip(%p, %low, %high)
      %q = Gemm(%x, %w)
      %z = Clip(%q, %low, %six)
      return %y as "y", %z as "z"
    })"),
            R"(%w: float[3, 2] source "w"
%low: float[] source "low"
%high: float[] source "high"
graph (%x: float[n, 3]) {
  %0 = PackPanels(%w) {source="kn"} : float[1, 1, 3, 16]
  %y = PackedMatMul(%x, %0, _, %low, %high) {n=2, k=3, activation="clip"} : float[n, 2]
  %1 = PackPanels(%w) {source="kn"} : float[1, 1, 3, 16]
  %z = PackedMatMul(%x, %1, _, %low) {n=2, k=3, activation="clip", activation_beta=6} : float[n, 2]
  return %y as "y", %z as "z"
}
)");
}

TEST(Claims, WeightsThatAreFedStayWithTheReference) {
  constexpr std::string_view kText = R"(graph (%x: float[n, 3], %w: float[3, 2]) {
  %y = MatMul(%x, %w) : float[n, 2]
  return %y as "y"
}
)";
  EXPECT_EQ(claimed(kText), kText);
}

TEST(Claims, AProductThatIsAnOutputKeepsItsActivationApart) {
  EXPECT_EQ(claimed(R"(
    %w: float[3, 2] source "w"
    graph (%x: float[n, 3]) {
      %p = MatMul(%x, %w)
      %y = Relu(%p)
      return %p as "p", %y as "y"
    })"),
            R"(%w: float[3, 2] source "w"
graph (%x: float[n, 3]) {
  %0 = PackPanels(%w) {source="kn"} : float[1, 1, 3, 16]
  %p = PackedMatMul(%x, %0) {n=2, k=3} : float[n, 2]
  %y = Relu(%p) : float[n, 2]
  return %p as "p", %y as "y"
}
)");
}

}  // namespace
}  // namespace tenon
