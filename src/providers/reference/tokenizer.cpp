#include "ops/tokenizer.h"

#include <algorithm>

#include "base/text/regex.h"
#include "base/text/utf8.h"
#include "providers/reference/kernel.h"
#include "providers/reference/text_meter.h"
#include "providers/reference/work_meter.h"
#include "providers/scratch.h"

namespace tenon {

namespace {

using Characters = std::span<const char32_t>;  // of a text that stays
using Tokens = Scratch<Characters>;

class Cutter {
 public:
  static Result<Cutter> make(const TokenizerParams& p) {
    Cutter cutter(p);
    std::vector<std::string> patterns = p.separators;
    if (!p.tokenexp.empty()) patterns = {p.tokenexp};
    if (p.by_character()) patterns.clear();
    for (const std::string& pattern : patterns) {
      TN_ASSIGN_OR_RETURN(Regex regex, Regex::compile(pattern));
      cutter.patterns_.push_back(std::move(regex));
    }
    return cutter;
  }

  Tokens cut(Characters text) {
    meter_.spend(static_cast<int64_t>(text.size()) + 1);
    if (p_.by_character()) {
      Tokens tokens;
      for (size_t i = 0; i < text.size(); ++i) tokens.push_back(text.subspan(i, 1));
      return tokens;
    }
    if (!p_.tokenexp.empty()) return matches(text);
    Tokens tokens = {text};
    for (const Regex& separator : patterns_) {
      Tokens finer;
      for (const Characters token : tokens) split(token, separator, finer);
      tokens = std::move(finer);
    }
    return tokens;
  }

 private:
  explicit Cutter(const TokenizerParams& p) : p_(p), shortest_(static_cast<size_t>(p.mincharnum)) {}

  // After a match that is too short, the search goes on one character later.
  Tokens matches(Characters text) {
    Tokens tokens;
    for (size_t at = 0; at <= text.size();) {
      const auto match = patterns_[0].find(text, at, [&](int64_t steps) { meter_.spend(steps); });
      if (!match) break;
      const bool long_enough = match->end - match->begin >= shortest_;
      if (long_enough) tokens.push_back(text.subspan(match->begin, match->end - match->begin));
      at = long_enough ? match->end : match->begin + 1;
    }
    return tokens;
  }

  // What lies between separators. An empty one still takes a character away, so that there is an end.
  void split(Characters text, const Regex& separator, Tokens& tokens) {
    size_t at = 0;
    const auto keep = [&](size_t end) {
      if (end - at >= shortest_) tokens.push_back(text.subspan(at, end - at));
    };
    while (at <= text.size()) {
      const auto match = separator.find(text, at, [&](int64_t steps) { meter_.spend(steps); });
      if (!match) return keep(text.size());
      keep(match->begin);
      at = match->end > match->begin ? match->end : match->begin + 1;
    }
  }

  const TokenizerParams& p_;
  size_t shortest_;
  WorkMeter meter_;
  std::vector<Regex> patterns_;
};

std::string to_utf8(Characters characters) {
  std::string text;
  for (char32_t c : characters) append_code_point(text, c);
  return text;
}

// The tokens of one string, with its marks and padded to the width of the row.
void write_row(const Tokens& tokens, const TokenizerParams& p, std::span<std::string> row, TextMeter& meter) {
  size_t at = 0;
  WorkMeter work;
  if (p.mark) row[at++] = "\x02";
  for (const Characters token : tokens) {
    work.spend(static_cast<int64_t>(token.size()) + 1);
    meter.copy(to_utf8(token), row[at++]);
  }
  if (p.mark) row[at++] = "\x03";
  while (at < row.size()) {
    work.spend(static_cast<int64_t>(p.pad_value.size()) + 1);
    meter.copy(p.pad_value, row[at++]);
  }
}

Status tokenize(KernelContext& c) {
  const auto& p = c.params<TokenizerParams>();
  std::vector<int64_t> dims(c.in(0).dims.begin(), c.in(0).dims.end());
  const auto texts = c.in(0).as<std::string>();
  if (texts.empty()) {
    dims.back() = 0;
    return c.allocate(0, std::move(dims)).status();
  }
  TN_ASSIGN_OR_RETURN(Cutter cutter, Cutter::make(p));
  Scratch<Scratch<char32_t>> characters;
  Scratch<Tokens> rows;
  size_t most = 0;
  for (size_t i = 0; i < texts.size(); ++i) {
    Scratch<char32_t>& text = characters.emplace_back();
    WorkMeter meter;
    for (std::string_view rest = texts[i]; !rest.empty(); meter.spend()) text.push_back(next_code_point(rest));
    if (std::any_of(text.begin(), text.end(), [](char32_t code) { return code >= kInvalidByte; }))
      return invalid_argument("X[{}] is not UTF-8", i);
    rows.push_back(cutter.cut(text));
    most = std::max(most, rows.back().size());
  }
  const size_t width = most == 0 ? 0 : most + (p.mark ? 2 : 0);
  dims.push_back(static_cast<int64_t>(width));
  TN_ASSIGN_OR_RETURN(TensorView out, c.allocate(0, std::move(dims)));
  if (width == 0) return {};
  TextMeter meter;
  for (size_t i = 0; i < rows.size(); ++i)
    write_row(rows[i], p, out.as<std::string>().subspan(i * width, width), meter);
  return {};
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::Tokenizer>() {
  return tokenize;
}

}  // namespace tenon
