// Attention that exporters take apart, as the cpu target computes it.
#include <gtest/gtest.h>

#include "compiler/targets/cpu/claim.h"
#include "ir/text.h"

namespace tenon {
namespace {

struct Claimed {
  std::string text;
  std::vector<Miss> misses;
};

// With weights that may be replaced, as the target claims them.
Claimed claimed(std::string_view text) {
  auto graph = parse_graph(text);
  EXPECT_TRUE(graph.ok()) << graph.status().to_string();
  ChangeLog log;
  const std::vector<Rule> rules{claim_attention(), absorb_heads()};
  graph->constants->may_ask_weights = false;
  const Status status = rewrite(*graph, rules, log);
  EXPECT_TRUE(status.ok()) << status.to_string();
  return {graph_text(*graph), log.misses};
}

std::string why_not(std::string_view text) {
  const Claimed made = claimed(text);
  return made.misses.empty() ? made.text : made.misses[0].reason;
}

TEST(AttentionClaims, HeadsNextToEachOtherGoInAndOut) {
  EXPECT_EQ(claimed(R"(
    %root: float[] = [8]
    %split: int64[4] = [0, 0, 3, 4]
    %join: int64[3] = [0, 0, 12]
    graph (%q: float[b, 5, 12], %k: float[b, n, 12], %v: float[b, n, 12], %mask: float[b, 1, 1, n]) {
      %q1 = Reshape(%q, %split)
      %q2 = Transpose(%q1) {perm=[0, 2, 1, 3]}
      %k1 = Reshape(%k, %split)
      %k2 = Transpose(%k1) {perm=[0, 2, 3, 1]}
      %v1 = Reshape(%v, %split)
      %v2 = Transpose(%v1) {perm=[0, 2, 1, 3]}
      %s = MatMul(%q2, %k2)
      %d = Div(%s, %root)
      %a = Add(%d, %mask)
      %p = Softmax(%a) {axis=-1}
      %o = MatMul(%p, %v2)
      %t = Transpose(%o) {perm=[0, 2, 1, 3]}
      %y = Reshape(%t, %join)
      return %y as "y"
    })")
                .text,
            R"(%0: int64[4] = [0, 0, 3, 4]
%join: int64[3] = [0, 0, 12]
graph (%q: float[b, 5, 12], %k: float[b, n, 12], %v: float[b, n, 12], %mask: float[b, 1, 1, n]) {
  %1 = Attention(%q, %k, %v, %mask) {q_num_heads=3, kv_num_heads=3, scale=0.125, whole_mask=1, hidden_score=-inf} : float[b, 5, 12]
  %t = Reshape(%1, %0) : float[b, 5, 3, 4]
  %y = Reshape(%t, %join) : float[b, 5, 12]
  return %y as "y"
}
)");
}

TEST(AttentionClaims, AWeightStaysAFactorOfTheQueries) {
  EXPECT_EQ(claimed(R"(
    %scale: float[1] source "scale"
    %split: int64[4] = [0, 0, 3, 4]
    graph (%q: float[b, 5, 12], %k: float[b, 3, n, 4], %v: float[b, 3, n, 6]) {
      %q1 = Reshape(%q, %split)
      %q2 = Transpose(%q1) {perm=[0, 2, 1, 3]}
      %q3 = Mul(%q2, %scale)
      %k1 = Transpose(%k) {perm=[0, 1, 3, 2]}
      %k2 = Mul(%k1, %scale)
      %s = MatMul(%q3, %k2)
      %p = Softmax(%s) {axis=-1}
      %o = MatMul(%p, %v)
      %y = Transpose(%o) {perm=[0, 2, 1, 3]}
      return %y as "y"
    })")
                .text,
            R"(%scale: float[1] source "scale"
%0: int64[4] = [0, 0, 3, 6]
graph (%q: float[b, 5, 12], %k: float[b, 3, n, 4], %v: float[b, 3, n, 6]) {
  %1 = Mul(%q, %scale) : float[b, 5, 12]
  %2 = Mul(%1, %scale) : float[b, 5, 12]
  %3 = Attention(%2, %k, %v) {q_num_heads=3, kv_num_heads=3, scale=1, hidden_score=-inf} : float[b, 5, 18]
  %y = Reshape(%3, %0) : float[b, 5, 3, 6]
  return %y as "y"
}
)");
}

TEST(AttentionClaims, ANumberThatIsComputedStaysAFactor) {
  EXPECT_EQ(claimed(R"(
    graph (%q: float[b, 3, 5, 4], %k: float[b, 3, n, 4], %v: float[b, 3, n, 6], %scale: float[1]) {
      %kt = Transpose(%k) {perm=[0, 1, 3, 2]}
      %ks = Mul(%scale, %kt)
      %s = MatMul(%q, %ks)
      %d = Div(%s, %scale)
      %p = Softmax(%d) {axis=-1}
      %y = MatMul(%p, %v)
      return %y as "y"
    })")
                .text,
            R"(graph (%q: float[b, 3, 5, 4], %k: float[b, 3, n, 4], %v: float[b, 3, n, 6], %scale: float[1]) {
  %0 = Div(%q, %scale) : float[b, 3, 5, 4]
  %1 = Mul(%0, %scale) : float[b, 3, 5, 4]
  %y = Attention(%1, %k, %v) {scale=1, hidden_score=-inf} : float[b, 3, 5, 6]
  return %y as "y"
}
)");
}

TEST(AttentionClaims, RepeatedKeysThatAreReadElsewhereStay) {
  EXPECT_EQ(claimed(R"(
    %two: int64[1] = [2]
    %twice: int64[5] = [1, 1, 2, 1, 1]
    %all: int64[4] = [0, 4, -1, 8]
    graph (%q: float[b, 4, t, 8], %k: float[b, 2, n, 8], %v: float[b, 2, n, 8]) {
      %kr = Unsqueeze(%k, %two)
      %ke = Expand(%kr, %twice)
      %kh = Reshape(%ke, %all)
      %vr = Unsqueeze(%v, %two)
      %ve = Expand(%vr, %twice)
      %vh = Reshape(%ve, %all)
      %kt = Transpose(%kh) {perm=[0, 1, 3, 2]}
      %s = MatMul(%q, %kt)
      %p = Softmax(%s) {axis=-1}
      %y = MatMul(%p, %vh)
      return %y as "y", %kh as "kh"
    })")
                .text,
            R"(%two: int64[1] = [2]
%twice: int64[5] = [1, 1, 2, 1, 1]
%all: int64[4] = [0, 4, -1, 8]
graph (%q: float[b, 4, t, 8], %k: float[b, 2, n, 8], %v: float[b, 2, n, 8]) {
  %kr = Unsqueeze(%k, %two) : float[b, 2, 1, n, 8]
  %ke = Expand(%kr, %twice) : float[b, 2, 2, n, 8]
  %kh = Reshape(%ke, %all) : float[b, 4, n, 8]
  %vr = Unsqueeze(%v, %two) : float[b, 2, 1, n, 8]
  %ve = Expand(%vr, %twice) : float[b, 2, 2, n, 8]
  %vh = Reshape(%ve, %all) : float[b, 4, n, 8]
  %y = Attention(%q, %kh, %vh) {scale=1, hidden_score=-inf} : float[b, 4, t, 8]
  return %y as "y", %kh as "kh"
}
)");
}

TEST(AttentionClaims, KeysAndValuesGoOnFromAPast) {
  EXPECT_EQ(
      claimed(R"(
    %low: float[] = [-3e38]
    %two: int64[1] = [2]
    %twice: int64[5] = [1, 1, 2, 1, 1]
    %all: int64[4] = [0, 4, -1, 8]
    graph (%q: float[b, 4, t, 8], %k: float[b, 2, t, 8], %v: float[b, 2, t, 8], %before: float[b, 2, past, 8], %valued: float[b, 2, past, 8], %seen: bool[1, 1, rows, columns]) {
      %ks = Concat(%before, %k) {axis=2}
      %vs = Concat(%valued, %v) {axis=-2}
      %kr = Unsqueeze(%ks, %two)
      %ke = Expand(%kr, %twice)
      %kh = Reshape(%ke, %all)
      %vr = Unsqueeze(%vs, %two)
      %ve = Expand(%vr, %twice)
      %vh = Reshape(%ve, %all)
      %kt = Transpose(%kh) {perm=[0, 1, 3, 2]}
      %s = MatMul(%q, %kt)
      %a = Where(%seen, %s, %low)
      %p = Softmax(%a) {axis=-1}
      %y = MatMul(%p, %vh)
      return %y as "y", %ks as "ks", %vs as "vs"
    })")
          .text,
      R"(graph (%q: float[b, 4, t, 8], %k: float[b, 2, t, 8], %v: float[b, 2, t, 8], %before: float[b, 2, past, 8], %valued: float[b, 2, past, 8], %seen: bool[1, 1, rows, columns]) {
  %y, %ks, %vs = Attention(%q, %k, %v, %seen, %before, %valued) {scale=1, whole_mask=1, hidden_score=-3e+38} : float[b, 4, t, 8], float[b, 2, past + t, 8], float[b, 2, past + t, 8]
  return %y as "y", %ks as "ks", %vs as "vs"
}
)");
}

TEST(AttentionClaims, MatricesOfHeadsHaveOneBatch) {
  EXPECT_EQ(claimed(R"(
    %low: float[] = [-inf]
    graph (%x: float[t, 6, 4], %k: float[6, t, 4], %v: float[6, t, 4], %hidden: bool[t, t]) {
      %q = Transpose(%x) {perm=[1, 0, 2]}
      %k1 = Transpose(%k) {perm=[0, 2, 1]}
      %s = MatMul(%q, %k1)
      %a = Where(%hidden, %low, %s)
      %p = Softmax(%a) {axis=2}
      %y = MatMul(%p, %v)
      return %y as "y"
    })")
                .text,
            R"(%0: int64[1] = [0]
graph (%x: float[t, 6, 4], %k: float[6, t, 4], %v: float[6, t, 4], %hidden: bool[t, t]) {
  %q = Transpose(%x) {perm=[1, 0, 2]} : float[6, t, 4]
  %1 = Not(%hidden) : bool[t, t]
  %2 = Unsqueeze(%q, %0) : float[1, 6, t, 4]
  %3 = Unsqueeze(%k, %0) : float[1, 6, t, 4]
  %4 = Unsqueeze(%v, %0) : float[1, 6, t, 4]
  %5 = Attention(%2, %3, %4, %1) {scale=1, whole_mask=1, hidden_score=-inf} : float[1, 6, t, 4]
  %y = Squeeze(%5, %0) : float[6, t, 4]
  return %y as "y"
}
)");
}

TEST(AttentionClaims, SaysWhyNot) {
  EXPECT_EQ(why_not(R"(
    graph (%q: float[2, 3, 5, 4], %k: float[2, 3, 4, 6], %v: float[2, 3, 6, 4]) {
      %s = MatMul(%q, %k)
      %p = Softmax(%s) {axis=2}
      %y = MatMul(%p, %v)
      return %y as "y"
    })"),
            "its Softmax is not along the keys");
  EXPECT_EQ(why_not(R"(
    graph (%q: float[1, 3, 5, 4], %k: float[b, 3, 4, 6], %v: float[b, 3, 6, 4]) {
      %s = MatMul(%q, %k)
      %p = Softmax(%s) {axis=3}
      %y = MatMul(%p, %v)
      return %y as "y"
    })"),
            "its batches or heads are not known to be the same");
  EXPECT_EQ(why_not(R"(
    graph (%q: float[1, 3, 1, 4], %k: float[1, 3, 4, 6], %v: float[1, 3, 6, 4], %m: float[1, 3, n, 6]) {
      %s = MatMul(%q, %k)
      %a = Add(%s, %m)
      %p = Softmax(%a) {axis=3}
      %y = MatMul(%p, %v)
      return %y as "y"
    })"),
            "the shape of its mask is not known to fit");
  EXPECT_EQ(why_not(R"(
    %scale: float[1, 1, 1, 1, 1] = [2]
    graph (%q: float[1, 3, 5, 4], %k: float[1, 3, 4, 6], %v: float[1, 3, 6, 4]) {
      %s = MatMul(%q, %k)
      %d = Mul(%s, %scale)
      %p = Softmax(%d) {axis=4}
      %y = MatMul(%p, %v)
      return %y as "y"
    })"),
            "its scale is not one number");
  EXPECT_EQ(why_not(R"(
    %low: float[] source "low"
    graph (%q: float[1, 3, 5, 4], %k: float[1, 3, 4, 6], %v: float[1, 3, 6, 4], %m: bool[5, 6]) {
      %s = MatMul(%q, %k)
      %a = Where(%m, %s, %low)
      %p = Softmax(%a) {axis=3}
      %y = MatMul(%p, %v)
      return %y as "y"
    })"),
            "the score of what it hides is not known");
  EXPECT_EQ(why_not(R"(
    graph (%q: float[1, 3, 5, 4], %k: float[1, 3, 4, 6], %v: float[1, 3, 6, 4]) {
      %s = MatMul(%q, %k)
      %p = Softmax(%s) {axis=3}
      %y = MatMul(%p, %v)
      return %y as "y", %p as "p"
    })")
                .substr(0, 20),
            "something else reads");
}

}  // namespace
}  // namespace tenon
