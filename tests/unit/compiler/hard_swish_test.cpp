// Which nodes are joined to a HardSwish, as graphs in their text form.
#include <gtest/gtest.h>

#include "compiler/targets/cpu/claim.h"
#include "ir/text.h"

namespace tenon {
namespace {

// What join_hard_swish makes of the nodes between x and y.
std::string after_joining(const std::string& nodes) {
  auto graph = parse_graph(R"(
    %six: float[] = [6]
    %sixth: float[] = [0.16666667]
    %three: float[] = [3]
    %zero: float[] = [0]
    graph (%x: float[n, 4]) {)" +
                           nodes + R"(
      return %y as "y"
    })");
  EXPECT_TRUE(graph.ok()) << graph.status().to_string();
  ChangeLog log;
  const Rule rule = join_hard_swish();
  EXPECT_TRUE(rewrite(*graph, std::span(&rule, 1), log).ok());
  const std::string text = graph_text(*graph);
  const size_t begin = text.find("{\n  ") + 4;
  return text.substr(begin, text.find("  return") - begin);
}

TEST(HardSwish, IsJoined) {
  const std::string gate = "%s = Add(%x, %three) %g = Clip(%s, %zero, %six) ";
  for (const std::string& nodes :
       {gate + "%p = Mul(%x, %g) %y = Div(%p, %six)", gate + "%p = Mul(%g, %x) %y = Mul(%p, %sixth)",
        gate + "%p = Div(%g, %six) %y = Mul(%x, %p)", gate + "%p = Mul(%x, %sixth) %y = Mul(%p, %g)",
        std::string("%g = HardSigmoid(%x) {alpha=0.16666667, beta=0.5} %y = Mul(%x, %g)")})
    EXPECT_EQ(after_joining(nodes), "%y = HardSwish(%x) : float[n, 4]\n") << nodes;
  // Other numbers, and a gate that something else reads.
  for (const std::string& nodes :
       {gate + "%p = Mul(%x, %g) %y = Div(%p, %three)",
        std::string("%s = Add(%x, %six) %g = Clip(%s, %zero, %six) %p = Mul(%x, %g) %y = Div(%p, %six)"),
        gate + "%p = Mul(%x, %g) %d = Div(%p, %six) %y = Add(%d, %g)",
        std::string("%g = HardSigmoid(%x) {alpha=0.2, beta=0.5} %y = Mul(%x, %g)")})
    EXPECT_EQ(after_joining(nodes).find("HardSwish"), std::string::npos) << nodes;
}

}  // namespace
}  // namespace tenon
