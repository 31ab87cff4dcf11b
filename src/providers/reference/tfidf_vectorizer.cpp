#include <map>

#include "ops/text.h"
#include "providers/reference/integers.h"
#include "providers/reference/kernel.h"
#include "providers/reference/work_meter.h"
#include "providers/scratch.h"

namespace tenon {

namespace {

// A tree of the pool's n-grams: every step takes one token. Flat, because n-grams may be very long.
template <class Token>
struct GramTree {
  struct Node {
    std::map<Token, size_t> next;
    int64_t ngram = -1;  // the number of the n-gram that ends here
  };
  std::vector<Node> nodes{Node()};

  size_t step(size_t node, const Token& token) {
    const auto [it, is_new] = nodes[node].next.emplace(token, nodes.size());
    const size_t next = it->second;
    if (is_new) nodes.emplace_back();
    return next;
  }
};

template <class Token>
GramTree<Token> build_tree(const TfIdfVectorizerParams& p, const std::vector<Token>& pool) {
  GramTree<Token> tree;
  int64_t ngram = 0;
  for (size_t i = 0; i < p.ngram_counts.size(); ++i) {
    const size_t length = i + 1, begin = static_cast<size_t>(p.ngram_counts[i]);
    const size_t end = length < p.ngram_counts.size() ? static_cast<size_t>(p.ngram_counts[length]) : pool.size();
    const int64_t size = static_cast<int64_t>(length);
    const bool wanted = size >= p.min_gram_length && size <= p.max_gram_length;
    for (size_t at = begin; at < end; at += length, ++ngram) {
      if (!wanted) continue;
      size_t node = 0;
      for (size_t k = 0; k < length; ++k) node = tree.step(node, pool[at + k]);
      tree.nodes[node].ngram = ngram;
    }
  }
  return tree;
}

// Calls found(ngram) for every n-gram of a row, with every distance between its tokens up to the allowed one.
template <class Token, class Found>
void find_ngrams(const TfIdfVectorizerParams& p, const GramTree<Token>& tree, const Scratch<Token>& row, Found found) {
  const int64_t size = static_cast<int64_t>(row.size());
  // A distance beyond the row finds nothing but single tokens, which count once.
  const int64_t distances = std::min(p.max_skip_count, size) + 1;
  WorkMeter meter;
  for (int64_t distance = 1; distance <= distances; ++distance) {
    for (int64_t start = 0; start < size; ++start) {
      size_t node = 0;
      for (int64_t at = start; at < size; at += distance) {
        meter.spend();
        const auto it = tree.nodes[node].next.find(row[static_cast<size_t>(at)]);
        if (it == tree.nodes[node].next.end()) break;
        node = it->second;
        const int64_t ngram = tree.nodes[node].ngram;
        if (ngram >= 0 && (at > start || distance == 1)) found(ngram);
      }
    }
  }
}

template <class Token, class Read>
void vectorize(KernelContext& c, const std::vector<Token>& pool, Read read) {
  const auto& p = c.params<TfIdfVectorizerParams>();
  const GramTree<Token> tree = build_tree(p, pool);
  const TensorView &in = c.in(0), &out = c.out(0);
  const int64_t columns = out.dims.back(), rows = out.size() / columns, width = rows == 0 ? 0 : in.size() / rows;
  auto target = out.as<float>();
  Scratch<double> counts(p.ngram_indexes.size());
  for (int64_t r = 0; r < rows; ++r) {
    Scratch<Token> row;
    for (int64_t i = 0; i < width; ++i) row.push_back(read(r * width + i));
    std::fill(counts.begin(), counts.end(), 0);
    find_ngrams(p, tree, row, [&](int64_t ngram) { ++counts[static_cast<size_t>(ngram)]; });
    const auto line = target.subspan(static_cast<size_t>(r * columns), static_cast<size_t>(columns));
    std::fill(line.begin(), line.end(), 0.0f);
    for (size_t n = 0; n < counts.size(); ++n) {
      const double weight = c.has(1) && p.mode != "TF" ? c.in(1).as<float>()[n] : 1;
      const double count = p.mode == "IDF" ? (counts[n] > 0 ? 1 : 0) : counts[n];
      float& cell = line[static_cast<size_t>(p.ngram_indexes[n])];
      cell = static_cast<float>(cell + count * weight);
    }
  }
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::TfIdfVectorizer>() {
  return [](KernelContext& c) -> Status {
    const auto& p = c.params<TfIdfVectorizerParams>();
    if (p.pool_strings.empty())
      vectorize(c, p.pool_int64s, [&](int64_t i) { return integer_at(c.in(0), i); });
    else
      vectorize(c, p.pool_strings, [&](int64_t i) { return c.in(0).as<std::string>()[static_cast<size_t>(i)]; });
    return {};
  };
}

}  // namespace tenon
