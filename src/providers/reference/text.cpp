#include "ops/text.h"

#include <algorithm>
#include <unordered_set>

#include "base/text/regex.h"
#include "base/text/unicode.h"
#include "base/text/utf8.h"
#include "providers/reference/indexing.h"
#include "providers/reference/kernel.h"
#include "providers/reference/text_meter.h"
#include "providers/reference/work_meter.h"
#include "providers/scratch.h"

namespace tenon {

namespace {

// How many bytes of white space a text begins with.
size_t leading_space(std::string_view text) {
  std::string_view rest = text;
  while (!rest.empty()) {
    std::string_view next = rest;
    if (!is_white_space(next_code_point(next))) break;
    rest = next;
  }
  return text.size() - rest.size();
}

// Words between runs of white space; the last part is what is left when no more splits are allowed.
Scratch<std::string_view> split_words(std::string_view text, uint64_t max_splits) {
  Scratch<std::string_view> parts;
  WorkMeter meter;
  text.remove_prefix(leading_space(text));
  while (!text.empty() && parts.size() < max_splits) {
    std::string_view rest = text;
    while (!rest.empty() && leading_space(rest) == 0) next_code_point(rest);
    parts.emplace_back(text.substr(0, text.size() - rest.size()));
    rest.remove_prefix(leading_space(rest));
    meter.spend(static_cast<int64_t>(text.size() - rest.size()));
    text = rest;
  }
  if (!text.empty()) parts.emplace_back(text);
  return parts;
}

Scratch<std::string_view> split_at(std::string_view text, std::string_view delimiter, uint64_t max_splits) {
  Scratch<std::string_view> parts;
  WorkMeter meter;
  for (size_t found; parts.size() < max_splits && (found = text.find(delimiter)) != text.npos;) {
    meter.spend(static_cast<int64_t>(found) + 1);
    parts.emplace_back(text.substr(0, found));
    text.remove_prefix(found + delimiter.size());
  }
  parts.emplace_back(text);
  return parts;
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::StringConcat>() {
  return [](KernelContext& c) -> Status {
    const TensorView &a = c.in(0), &b = c.in(1), &out = c.out(0);
    if (out.size() == 0) return {};
    const auto left = a.as<std::string>(), right = b.as<std::string>();
    TextMeter meter;
    WorkMeter work;
    for (Walker<2> w(out.dims, {broadcast_strides(a.dims, out.dims), broadcast_strides(b.dims, out.dims)}); w.more();
         w.next()) {
      const std::string &before = left[static_cast<size_t>(w.at(0))], &after = right[static_cast<size_t>(w.at(1))];
      meter.add(before.size() + after.size());
      work.spend(static_cast<int64_t>(before.size() + after.size()));
      out.as<std::string>()[static_cast<size_t>(w.position())] = before + after;
    }
    return {};
  };
}

template <>
KernelFunction reference_kernel<OpId::StringNormalizer>() {
  return [](KernelContext& c) -> Status {
    const auto& p = c.params<StringNormalizerParams>();
    auto key = [&](const std::string& word) { return p.is_case_sensitive ? word : to_lower(word); };
    std::unordered_set<std::string> stopwords;
    for (const std::string& word : p.stopwords) stopwords.insert(key(word));
    Scratch<std::string> kept;
    TextMeter meter;
    WorkMeter work;
    for (const std::string& word : c.in(0).as<std::string>()) {
      work.spend(static_cast<int64_t>(word.size()) + 1);
      if (!stopwords.empty() && stopwords.contains(key(word))) continue;
      kept.push_back(p.case_change_action == "LOWER"   ? to_lower(word)
                     : p.case_change_action == "UPPER" ? to_upper(word)
                                                       : word);
      meter.add(kept.back().size());
    }
    if (kept.empty()) kept.emplace_back();
    std::vector<int64_t> dims{static_cast<int64_t>(kept.size())};
    if (c.in(0).rank() == 2) dims.insert(dims.begin(), 1);
    TN_ASSIGN_OR_RETURN(TensorView out, c.allocate(0, std::move(dims)));
    std::ranges::move(kept, out.as<std::string>().begin());
    return {};
  };
}

template <>
KernelFunction reference_kernel<OpId::StringSplit>() {
  return [](KernelContext& c) -> Status {
    const auto& p = c.params<StringSplitParams>();
    // A negative limit wraps to one that no text reaches.
    const uint64_t max_splits = static_cast<uint64_t>(p.maxsplit.value_or(-1));
    Scratch<Scratch<std::string_view>> parts;
    size_t most = 0;
    for (const std::string& text : c.in(0).as<std::string>()) {
      parts.push_back(p.delimiter.empty() ? split_words(text, max_splits) : split_at(text, p.delimiter, max_splits));
      most = std::max(most, parts.back().size());
    }
    const Dims dims = c.in(0).dims;
    if (c.wants(1)) {
      TN_ASSIGN_OR_RETURN(TensorView counts, c.allocate(1, {dims.begin(), dims.end()}));
      for (size_t i = 0; i < parts.size(); ++i) counts.as<int64_t>()[i] = static_cast<int64_t>(parts[i].size());
    }
    if (!c.wants(0)) return {};
    std::vector<int64_t> padded(dims.begin(), dims.end());
    padded.push_back(static_cast<int64_t>(most));
    TN_ASSIGN_OR_RETURN(TensorView out, c.allocate(0, std::move(padded)));
    TextMeter meter;
    WorkMeter work;
    for (size_t i = 0; i < parts.size(); ++i)
      for (size_t k = 0; k < parts[i].size(); ++k) {
        meter.add(parts[i][k].size());
        work.spend(static_cast<int64_t>(parts[i][k].size()) + 1);
        out.as<std::string>()[i * most + k] = parts[i][k];
      }
    return {};
  };
}

template <>
KernelFunction reference_kernel<OpId::RegexFullMatch>() {
  return [](KernelContext& c) -> Status {
    TN_ASSIGN_OR_RETURN(const Regex regex, Regex::compile(c.params<RegexFullMatchParams>().pattern));
    const auto texts = c.in(0).as<std::string>();
    auto matches = c.out(0).as<bool>();
    WorkMeter meter;
    for (size_t i = 0; i < texts.size(); ++i) {
      meter.spend(static_cast<int64_t>(texts[i].size()) + 1);
      TN_ASSIGN_OR_RETURN(matches[i], regex.full_match(texts[i]));
    }
    return {};
  };
}

}  // namespace tenon
