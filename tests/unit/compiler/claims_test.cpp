// What the cpu target claims, as graphs in their text form.
#include <gtest/gtest.h>

#include "compiler/targets/cpu/claim.h"
#include "ir/text.h"

namespace tenon {
namespace {

std::string claimed(std::string_view text, bool exact = false) {
  auto graph = parse_graph(text);
  EXPECT_TRUE(graph.ok()) << graph.status().to_string();
  ChangeLog log;
  const std::vector<Rule> products = {claim_matmul(exact), claim_gemm(exact), claim_convolution(exact),
                                      claim_transposed_convolution(exact), claim_recurrent()};
  const std::vector<Rule> merging = {merge_products()};
  for (const auto& rules : {products, merging}) {
    const Status status = rewrite(*graph, rules, log);
    EXPECT_TRUE(status.ok()) << status.to_string();
  }
  return graph_text(*graph);
}

// Why the one node of a graph was not claimed.
std::string miss(const Rule& rule, std::string_view text) {
  auto graph = parse_graph(text);
  EXPECT_TRUE(graph.ok()) << graph.status().to_string();
  ChangeLog log;
  EXPECT_TRUE(rewrite(*graph, std::span(&rule, 1), log).ok());
  return log.misses.size() == 1 ? log.misses[0].reason : "";
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
  %y = PackedMatMul(%x, %0, %b) {columns=[2], k=3, activation="relu"} : float[n, 2]
  return %y as "y"
}
)");
}

TEST(Claims, ExactProductsKeepTheirWeightsAndTakeOneSum) {
  EXPECT_EQ(claimed(R"(
    %w: float[3, 2] source "w"
    %b: float[2] source "b"
    %s: float[2] source "s"
    graph (%x: float[n, 3], %z: float[n, 3]) {
      %p = MatMul(%x, %w)
      %q = Add(%p, %b)
      %y = Add(%q, %b)
      %r = MatMul(%z, %w)
      %t = Mul(%r, %s)
      return %y as "y", %t as "t"
    })",
                    true),
            R"(%w: float[3, 2] source "w"
%b: float[2] source "b"
%s: float[2] source "s"
graph (%x: float[n, 3], %z: float[n, 3]) {
  %0 = PackPanels(%w) {source="kn"} : float[1, 1, 3, 16]
  %q = PackedMatMul(%x, %0, %b) {columns=[2], k=3} : float[n, 2]
  %y = Add(%q, %b) : float[n, 2]
  %1 = PackPanels(%w) {source="kn"} : float[1, 1, 3, 16]
  %r = PackedMatMul(%z, %1) {columns=[2], k=3} : float[n, 2]
  %t = Mul(%r, %s) : float[n, 2]
  return %y as "y", %t as "t"
}
)");
}

TEST(Claims, ExactConvolutionsArePlainSums) {
  const std::string text = R"(
    %w: float[16, 16, 3, 3] source "w"
    %scale: float[16] source "scale"
    graph (%x: float[n, 16, 8, 8]) {
      %c = Conv(%x, %w)
      %y = BatchNormalization(%c, %scale, %scale, %scale, %scale)
      return %y as "y"
    })";
  const std::string fast = claimed(text), exact = claimed(text, true);
  EXPECT_NE(fast.find("winograd"), std::string::npos) << fast;
  EXPECT_EQ(fast.find("BatchNormalization"), std::string::npos) << fast;
  EXPECT_EQ(exact.find("winograd"), std::string::npos) << exact;
  EXPECT_NE(exact.find("BatchNormalization"), std::string::npos) << exact;
  EXPECT_NE(exact.find("PackedConv"), std::string::npos) << exact;
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

TEST(Claims, ATransposedConvolutionTakesTheBatchNormalizationAndTheActivationAfterIt) {
  EXPECT_EQ(claimed(R"(
    %w: float[4, 3, 2, 2] source "w"
    %b: float[6] source "b"
    %scale: float[6] source "scale"
    %shift: float[6] source "shift"
    %mean: float[6] source "mean"
    %var: float[6] source "var"
    graph (%x: float[n, 4, 8, 8]) {
      %c = ConvTranspose(%x, %w, %b) {group=2, strides=[2, 2]}
      %d = BatchNormalization(%c, %scale, %shift, %mean, %var)
      %y = Relu(%d)
      return %y as "y"
    })"),
            R"(%w: float[4, 3, 2, 2] source "w"
%b: float[6] source "b"
%scale: float[6] source "scale"
%shift: float[6] source "shift"
%mean: float[6] source "mean"
%var: float[6] source "var"
%0: float[] = [1e-05]
graph (%x: float[n, 4, 8, 8]) {
  %1 = Add(%var, %0) : float[6]
  %2 = Sqrt(%1) : float[6]
  %3 = Div(%scale, %2) : float[6]
  %4 = Sub(%b, %mean) : float[6]
  %5 = Mul(%4, %3) : float[6]
  %6 = Add(%5, %shift) : float[6]
  %7 = PackPanels(%w, %3) {source="cn", groups=2} : float[2, 1, 8, 16]
  %y = PackedConvTranspose(%x, %7, %6) {kernel_shape=[2, 2], strides=[2, 2], group=2, output_channels=6, activation="relu"} : float[n, 6, 16, 16]
  return %y as "y"
}
)");
}

// g * v / |v|, as exporters write it.
// How the weight of a convolution is packed, which its shape and attributes alone decide.
std::string packing(const std::string& weight, const std::string& attributes = "") {
  const std::string depth = std::ranges::count(weight, ',') == 4 ? "d, " : "";
  const std::string text = claimed("%w: float[" + weight + "] source \"w\"\ngraph (%x: float[n, c, " + depth +
                                   "h, v]) {\n  %y = Conv(%x, %w) {" + attributes + "}\n  return %y as \"y\"\n}");
  const size_t at = text.find("PackPanels(");
  return at == std::string::npos
             ? text
             : text.substr(at, text.find(')', at) + 1 - at) +
                   text.substr(text.find(')', at) + 1, text.find(" :", at) - text.find(')', at) - 1);
}

TEST(Claims, ShapesOfWeightsDecideHowTheyArePacked) {
  EXPECT_EQ(packing("32, 32, 3, 3"), R"(PackPanels(%w) {layout="winograd4"})");
  EXPECT_EQ(packing("512, 227, 3, 3"), R"(PackPanels(%w) {layout="winograd4"})");
  EXPECT_EQ(packing("512, 512, 3, 3"), R"(PackPanels(%w) {layout="winograd2"})");
  EXPECT_EQ(packing("1024, 512, 3, 3"), R"(PackPanels(%w) {layout="winograd2"})");
  EXPECT_EQ(packing("1024, 513, 3, 3"), "PackPanels(%w)");
  EXPECT_EQ(packing("15, 64, 3, 3"), "PackPanels(%w)");
  EXPECT_EQ(packing("64, 15, 3, 3"), "PackPanels(%w)");
  EXPECT_EQ(packing("64, 64, 1, 1"), "PackPanels(%w)");
  EXPECT_EQ(packing("64, 64, 3, 3", "strides=[2, 2]"), "PackPanels(%w)");
  EXPECT_EQ(packing("64, 64, 3, 3", "dilations=[2, 2]"), "PackPanels(%w)");
  EXPECT_EQ(packing("16, 8, 3, 3, 3"), R"(PackPanels(%w) {layout="winograd4"})");
  EXPECT_EQ(packing("16, 5, 3, 3, 3"), "PackPanels(%w)");
  EXPECT_EQ(packing("256, 256, 3, 3, 3"), R"(PackPanels(%w) {layout="winograd2"})");
  EXPECT_EQ(packing("512, 512, 3, 3, 3"), "PackPanels(%w)");
  EXPECT_EQ(packing("16, 16, 8, 3, 3"), "PackPanels(%w)");
  EXPECT_EQ(packing("16, 16, 3, 3, 1"), "PackPanels(%w)");
  EXPECT_EQ(packing("16, 16, 3, 3, 3", "strides=[2, 1, 1]"), "PackPanels(%w)");
  EXPECT_EQ(packing("64, 32, 3, 3", "group=2"), "PackPanels(%w) {groups=2}");
  EXPECT_EQ(packing("64, 1, 3, 3", "group=64"), R"(PackPanels(%w) {layout="depthwise16"})");
}

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
  %y = PackedMatMul(%x, %0, _, %low, %high) {columns=[2], k=3, activation="clip"} : float[n, 2]
  %1 = PackPanels(%w) {source="kn"} : float[1, 1, 3, 16]
  %z = PackedMatMul(%x, %1, _, %low) {columns=[2], k=3, activation="clip", activation_beta=6} : float[n, 2]
  return %y as "y", %z as "z"
}
)");
}

// Each weight keeps a slot of its own; the input is read once.
TEST(Claims, ProductsOfOneInputBecomeOneStep) {
  EXPECT_EQ(claimed(R"(
    %q: float[3, 2] source "q"
    %k: float[3, 17] source "k"
    %v: float[5, 3] source "v"
    %b: float[17] source "b"
    graph (%x: float[n, 3]) {
      %a = MatMul(%x, %q)
      %s = MatMul(%x, %k)
      %t = Add(%s, %b)
      %c = Gemm(%x, %v) {transB=1}
      %r = Relu(%c)
      return %a as "a", %t as "t", %r as "r"
    })"),
            R"(%q: float[3, 2] source "q"
%k: float[3, 17] source "k"
%v: float[5, 3] source "v"
%b: float[17] source "b"
graph (%x: float[n, 3]) {
  %0 = PackPanels(%q) {source="kn"} : float[1, 1, 3, 16]
  %1 = PackPanels(%k) {source="kn"} : float[1, 2, 3, 16]
  %a, %t = PackedMatMul(%x, %0, _, _, _, %1, %b) {columns=[2, 17], k=3} : float[n, 2], float[n, 17]
  %2 = PackPanels(%v) : float[1, 1, 3, 16]
  %r = PackedMatMul(%x, %2) {columns=[5], k=3, activation="relu"} : float[n, 5]
  return %a as "a", %t as "t", %r as "r"
}
)");
}

TEST(Claims, SayWhyANodeIsLeft) {
  EXPECT_EQ(miss(claim_matmul(), R"(graph (%x: float[n, 3], %w: float[3, 2]) {
      %y = MatMul(%x, %w)
      return %y as "y"
    })"),
            "its weight does not depend on constants alone");
  EXPECT_EQ(miss(claim_matmul(), R"(%w: double[3, 2] source "w"
    graph (%x: double[n, 3]) {
      %y = MatMul(%x, %w)
      return %y as "y"
    })"),
            "its weight is double; packed kernels multiply float32");
  EXPECT_EQ(miss(claim_gemm(), R"(%w: float[3, 2] source "w"
    graph (%x: float[3, n]) {
      %y = Gemm(%x, %w) {transA=1}
      return %y as "y"
    })"),
            "it transposes its input");
  EXPECT_EQ(miss(claim_convolution(), R"(%w: float[4, 3, 5] source "w"
    graph (%x: float[n, 3, 9], %b: float[4]) {
      %y = Conv(%x, %w, %b)
      return %y as "y"
    })"),
            "its bias does not depend on constants alone");
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
  %p = PackedMatMul(%x, %0) {columns=[2], k=3} : float[n, 2]
  %y = Relu(%p) : float[n, 2]
  return %p as "p", %y as "y"
}
)");
}

// The weights of each gate and direction are packed by themselves; whatever else a layer has stays an input.
TEST(Claims, ALayerReadsItsWeightsInPanels) {
  EXPECT_EQ(claimed(R"(
    %w: float[2, 60, 5] source "w"
    %r: float[2, 60, 20] source "r"
    %b: float[2, 120] source "b"
    graph (%x: float[n, m, 5], %h: float[2, m, 20]) {
      %y, %last = GRU(%x, %w, %r, %b, _, %h) {direction="bidirectional", linear_before_reset=1}
      return %y as "y", %last as "last"
    })"),
            R"(%w: float[2, 60, 5] source "w"
%r: float[2, 60, 20] source "r"
%b: float[2, 120] source "b"
%0: int64[2] = [120, 5]
%1: int64[2] = [120, 20]
graph (%x: float[n, m, 5], %h: float[2, m, 20]) {
  %2 = Reshape(%w, %0) : float[120, 5]
  %3 = PackPanels(%2) {groups=6} : float[6, 2, 5, 16]
  %4 = Reshape(%r, %1) : float[120, 20]
  %5 = PackPanels(%4) {groups=6} : float[6, 2, 20, 16]
  %y, %last = GRU(%x, %3, %5, %b, _, %h) {direction="bidirectional", hidden_size=20, weights="panels16", linear_before_reset=1} : float[n, 2, m, 20], float[2, m, 20]
  return %y as "y", %last as "last"
}
)");
}

TEST(Claims, ALayerWhoseWeightsHaveOpenShapesIsLeft) {
  EXPECT_EQ(miss(claim_recurrent(), R"(
    graph (%x: float[n, m, 5], %w: float[1, k, 5], %r: float[1, k, h]) {
      %y = RNN(%x, %w, %r)
      return %y as "y"
    })"),
            "the shapes of W and R are not known");
}

}  // namespace
}  // namespace tenon
