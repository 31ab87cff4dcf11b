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

using Tokens = Scratch<std::string_view>;  // of a text that stays

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

  // The text is UTF-8.
  Result<Tokens> cut(std::string_view text) {
    meter_.spend(static_cast<int64_t>(text.size()) + 1);
    if (p_.by_character()) return characters(text);
    if (!p_.tokenexp.empty()) return matches(text);
    Tokens tokens = {text};
    for (const Regex& separator : patterns_) {
      Tokens finer;
      for (const std::string_view token : tokens) TN_RETURN_IF_ERROR(split(token, separator, finer));
      tokens = std::move(finer);
    }
    return tokens;
  }

 private:
  explicit Cutter(const TokenizerParams& p) : p_(p), shortest_(static_cast<size_t>(p.mincharnum)) {}

  static Tokens characters(std::string_view text) {
    Tokens tokens;
    for (size_t at = 0; at < text.size();) {
      const size_t next = character_boundary_after(text, at + 1);
      tokens.push_back(text.substr(at, next - at));
      at = next;
    }
    return tokens;
  }

  bool is_long_enough(std::string_view token) const { return count_characters(token) >= shortest_; }

  // A search may read the text to its end, whatever it finds.
  Result<std::optional<Regex::Match>> find(const Regex& regex, std::string_view text, size_t at) {
    meter_.spend(static_cast<int64_t>(text.size() - at) + 1);
    return regex.find(text, at);
  }

  // After a match that is too short, the search goes on one character later.
  Result<Tokens> matches(std::string_view text) {
    Tokens tokens;
    for (size_t at = 0; at <= text.size();) {
      TN_ASSIGN_OR_RETURN(const auto match, find(patterns_[0], text, at));
      if (!match) break;
      const std::string_view token = text.substr(match->begin, match->end - match->begin);
      const bool keep = is_long_enough(token);
      if (keep) tokens.push_back(token);
      at = keep ? match->end : character_boundary_after(text, match->begin + 1);
    }
    return tokens;
  }

  // What lies between separators. An empty one still takes a character away, so that there is an end.
  Status split(std::string_view text, const Regex& separator, Tokens& tokens) {
    size_t at = 0;
    const auto keep = [&](size_t end) {
      const std::string_view token = text.substr(at, end - at);
      if (is_long_enough(token)) tokens.push_back(token);
    };
    while (at <= text.size()) {
      TN_ASSIGN_OR_RETURN(const auto match, find(separator, text, at));
      if (!match) {
        keep(text.size());
        break;
      }
      keep(match->begin);
      at = match->end > match->begin ? match->end : character_boundary_after(text, match->begin + 1);
    }
    return {};
  }

  const TokenizerParams& p_;
  size_t shortest_;
  WorkMeter meter_;
  std::vector<Regex> patterns_;
};

// The tokens of one string, with its marks and padded to the width of the row.
void write_row(const Tokens& tokens, const TokenizerParams& p, std::span<std::string> row, TextMeter& meter) {
  size_t at = 0;
  WorkMeter work;
  if (p.mark) row[at++] = "\x02";
  for (const std::string_view token : tokens) {
    work.spend(static_cast<int64_t>(token.size()) + 1);
    meter.add(token.size());
    row[at++] = token;
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
  Scratch<Tokens> rows;
  size_t most = 0;
  for (size_t i = 0; i < texts.size(); ++i) {
    if (!is_utf8(texts[i])) return invalid_argument("X[{}] is not UTF-8", i);
    TN_ASSIGN_OR_RETURN(Tokens tokens, cutter.cut(texts[i]));
    rows.push_back(std::move(tokens));
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
