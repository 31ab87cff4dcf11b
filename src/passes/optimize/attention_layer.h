#pragma once

#include "passes/optimize/attention_pattern.h"

// Attention from [batch, length, heads * size] to the same, with the splitting into heads.
namespace tenon {

// What is split into heads: [batch, length, heads * size] -> [batch, length, heads, size] -> with the heads in front.
struct SplitHeads {
  Pattern x = Pattern::any();
  Pattern parts = Pattern::op(OpId::Reshape, {x, Pattern::any()});
  Pattern heads = Pattern::op(OpId::Transpose, {parts});
};

struct AttentionLayerPattern {
  SplitHeads q, k, v;
  // Keys and values of the past, which lie behind one another in one value.
  Pattern past = Pattern::any(), first = Pattern::scalar(), second = Pattern::scalar();
  Pattern all_keys = with_past(first, k), all_values = with_past(second, v);
  Pattern turned = Pattern::op(OpId::Transpose, {Pattern::either({all_keys, k.heads})});
  AttentionCore core{q.heads, Pattern::either({turned, k.heads}), Pattern::either({all_values, v.heads})};
  Pattern joined = Pattern::op(OpId::Transpose, {core.whole});
  Pattern whole = Pattern::op(OpId::Reshape, {joined, Pattern::any()});

 private:
  Pattern with_past(const Pattern& index, const SplitHeads& fresh) const {
    return Pattern::op(OpId::Concat, {Pattern::op(OpId::Gather, {past, index}), fresh.heads});
  }
};

struct AttentionLayer {
  ValueId q = kNone, k = kNone, v = kNone;             // before they are split
  ValueId past = kNone, keys = kNone, values = kNone;  // keys and values together with the past; kNone: there is none
  int64_t heads = 0;
  float scale = 1;
  Shape scores;  // [batch, heads, queries, keys]
};

// Reads a match of the pattern. A reason where it is no layer, or nothing proves that it is one.
std::optional<std::string> read_attention_layer(Graph& graph, const AttentionLayerPattern& pattern, const Match& m,
                                                std::string_view asker, AttentionLayer& layer);

}  // namespace tenon
