#include "ir/text.h"

#include <gtest/gtest.h>

namespace tenon {
namespace {

constexpr std::string_view kNormalization = R"(%gamma: float[64] source "ln.weight"
%0: int64[1] = [-1]
%1: int64[1] = [3]
graph (%x: float[batch, 64], %go: bool[]) {
  %mean = ReduceMean(%x, %0) : float[batch, 1]
  %d = Sub(%x, %mean) : float[batch, 64]
  %y = If(%go)
    graph {
      %a = Mul(%d, %gamma) : float[batch, 64]
      return %a as "then"
    }
    graph {
      return %d as "else"
    } : float[batch, 64]
  %2, %3 = TopK(%y, %1) {axis=1, largest=0} : float[batch, 3], int64[batch, 3]
  return %2 as "out"
}
)";

TEST(GraphText, ComesBackAsItWasPrinted) {
  auto graph = parse_graph(kNormalization);
  ASSERT_TRUE(graph.ok()) << graph.status().to_string();
  EXPECT_EQ(graph_text(*graph), kNormalization);
}

TEST(GraphText, HasNodesWithoutResults) {
  constexpr std::string_view kChecked = R"(graph (%x: float[...], %y: float[...]) {
  RequireShapes(%x, %y) {op_type="QGemm", names=["A", "B"], required=["[m, k]", "[k, n]"], given=["", ""]}
  %z = MatMul(%x, %y) : float[...]
  return %z as "z"
}
)";
  const auto graph = parse_graph(kChecked);
  ASSERT_TRUE(graph.ok()) << graph.status().to_string();
  EXPECT_EQ(graph_text(*graph), kChecked);
  EXPECT_FALSE(parse_graph("graph (%x: float[2]) {\n  Abs(%x)\n  return %x\n}").ok());
}

TEST(GraphText, SaysEverythingOfANode) {
  auto graph = parse_graph(R"(
    %i: int64[2] = [1, 0] // comments go to the end of the line
    %w: float16[1] = x003c
    %s: string[2] = ["a,b", "c\"d\x0a"]
    graph (%"odd name": float[n, 2*n + 1, ?], %q: seq(float[...]), %z: float[2] default %v) {
      %g = Gather(%"odd name", %i) {axis=1}
      %t = Transpose(%g) {perm=[2, 0, 1]}
      %c = ConstantOfShape(%i) {value=float[1] [2.5]}
      return %t as "t", %c
    })");
  EXPECT_FALSE(graph.ok());  // %v is not there
  graph = parse_graph(R"(
    %i: int64[2] = [1, 0] // comments go to the end of the line
    %w: float16[1] = x003c
    %s: string[2] = ["a,b", "c\"d\x0a"]
    %v: float[2] source "z"
    graph (%"odd name": float[n, 2*n + 1, ?5], %q: seq(float[...]), %z: float[2] default %v) {
      %g = Gather(%"odd name", %i) {axis=1}
      %t = Transpose(%g) {perm=[2, 0, 1]}
      %c = ConstantOfShape(%i) {value=float[1] [2.5]}
      %k = Add(%w, %w)
      %e = Equal(%s, %s)
      return %t as "t", %c, %k, %e
    })");
  ASSERT_TRUE(graph.ok()) << graph.status().to_string();
  EXPECT_EQ(graph_text(*graph), R"(%i: int64[2] = [1, 0]
%w: float16[1] = x003c
%s: string[2] = ["a,b", "c\"d\x0a"]
%0: float[2] source "z"
graph (%"odd name": float[n, 2*n + 1, ?0], %q: seq(float[...]), %z: float[2] default %0) {
  %g = Gather(%"odd name", %i) {axis=1} : float[n, 2, ?0]
  %t = Transpose(%g) {perm=[2, 0, 1]} : float[?0, n, 2]
  %c = ConstantOfShape(%i) {value=float[1] [2.5]} : float[1, 0]
  %k = Add(%w, %w) : float16[1]
  %e = Equal(%s, %s) : bool[2]
  return %t as "t", %c as "c", %k as "k", %e as "e"
}
)");
}

TEST(GraphText, ChecksWrittenTypes) {
  const auto status = parse_graph("graph (%x: float[2]) { %y = Neg(%x) : float[3] return %y }").status();
  EXPECT_NE(status.to_string().find("line 1: it is float[2], not float[3]"), std::string::npos) << status.to_string();
}

TEST(GraphText, RefusesWhatItCannotRead) {
  for (const char* text :
       {"", "graph", "graph {", "graph { return", "graph { %a = Nop() return }", "graph { %a = Neg(%b) return %a }",
        "%a: float[n] = [1] graph { return %a }", "%a: float[2] = [1] graph { return %a }",
        "%a: float[2] = #12 graph {}", "graph (%x: what[2]) { return %x }",
        "graph (%x: float[2]) { %y = Neg(%x) {alpha=1} return %y }", "graph (%x: float[2]) { %x = Neg(%x) return %x }",
        "%\"", "%a: string[1] = [\"", "graph { return } graph { return }",
        "%a: float[99999999999] = [1] graph { return %a }",
        "graph (%x: float[2]) { %y = Elu(%x) {alpha=one} return %y }",
        "graph (%x: float[2]) { %y = Concat(%x) {axis=[} return %y }"})
    EXPECT_FALSE(parse_graph(text).ok()) << text;
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "graph (%x: bool[]) { %y = If(%x) ";
  EXPECT_FALSE(parse_graph(deep).ok());
}

}  // namespace
}  // namespace tenon
