// The text form of dims: printing and parsing.
#include <cctype>
#include <charconv>

#include "tensor/dim_polynomial.h"

namespace tenon {

namespace {

// What a name is made of; a question mark begins names that nobody gave.
bool is_name_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '?'; }
bool is_name_part(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; }

bool is_plain_name(const std::string& name) {
  if (name.empty() || !is_name_start(name[0])) return false;
  for (size_t i = 1; i < name.size(); ++i)
    if (!is_name_part(name[i])) return false;
  return name != "floor" && name != "ceil" && name != "mod" && name != "min" && name != "max";
}

// Names that are not plain identifiers are quoted; a quote or backslash inside is escaped.
std::string symbol_text(const std::string& name) {
  if (is_plain_name(name)) return name;
  std::string text = "'";
  for (char c : name) {
    if (c == '\'' || c == '\\') text += '\\';
    text += c;
  }
  return text + "'";
}

}  // namespace

std::string Dim::atom_text(const Atom& atom) {
  const std::string a = atom.a.to_string(), b = atom.b.to_string();
  switch (atom.function) {
    case Function::Symbol:
      return symbol_text(atom.name);
    case Function::FloorDiv:
      return "floor(" + a + ", " + b + ")";
    case Function::CeilDiv:
      return "ceil(" + a + ", " + b + ")";
    case Function::Mod:
      return "mod(" + a + ", " + b + ")";
    case Function::Min:
      return "min(" + a + ", " + b + ")";
    case Function::Max:
      return "max(" + a + ", " + b + ")";
  }
  return "?";
}

std::string Dim::to_string() const {
  if (is_invalid()) return "invalid";
  if (is_constant()) return std::to_string(value_);
  std::string text;
  // The constant term sorts first but reads better last.
  std::string constant;
  for (const Term& t : polynomial_->terms) {
    const bool negative = t.coefficient < 0;
    const uint64_t magnitude =
        negative ? 0 - static_cast<uint64_t>(t.coefficient) : static_cast<uint64_t>(t.coefficient);
    std::string part;
    if (t.atoms.empty() || magnitude != 1) part = std::to_string(magnitude);
    for (const auto& atom : t.atoms) part += (part.empty() ? "" : "*") + atom_text(*atom);
    std::string& target = t.atoms.empty() ? constant : text;
    if (t.atoms.empty())
      target = (negative ? " - " : " + ") + part;
    else
      target += target.empty() ? (negative ? "-" : "") + part : (negative ? " - " : " + ") + part;
  }
  return text + constant;
}

// sum := ['-'] product (('+'|'-') product)*;  product := factor ('*' factor)*
// factor := integer | name | 'quoted' | function '(' sum ',' sum ')'
class DimParser {
 public:
  explicit DimParser(std::string_view text) : text_(text) {}

  Result<Dim> parse() {
    TN_ASSIGN_OR_RETURN(Dim d, sum());
    skip_space();
    if (at_ != text_.size()) return fail();
    if (d.is_invalid()) return invalid_model("the dimension '{}' is too large", text_);
    return d;
  }

 private:
  Status fail() const { return invalid_model("the dimension '{}' has a syntax error at position {}", text_, at_); }
  void skip_space() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  Result<Dim> sum() {
    if (++depth_ > 64) return fail();
    const bool negative = take('-');
    TN_ASSIGN_OR_RETURN(Dim total, product());
    if (negative) total = Dim(-1) * total;
    for (;;) {
      if (take('+')) {
        TN_ASSIGN_OR_RETURN(Dim next, product());
        total = total + next;
      } else if (take('-')) {
        TN_ASSIGN_OR_RETURN(Dim next, product());
        total = total - next;
      } else {
        --depth_;
        return total;
      }
    }
  }

  Result<Dim> product() {
    TN_ASSIGN_OR_RETURN(Dim total, factor());
    while (take('*')) {
      TN_ASSIGN_OR_RETURN(Dim next, factor());
      total = total * next;
    }
    return total;
  }

  Result<Dim> factor() {
    skip_space();
    if (at_ >= text_.size()) return fail();
    const char c = text_[at_];
    if (std::isdigit(static_cast<unsigned char>(c))) {
      int64_t value = 0;
      auto [end, problem] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
      if (problem != std::errc()) return fail();
      at_ = static_cast<size_t>(end - text_.data());
      return Dim(value);
    }
    if (c == '\'') return quoted();
    if (!is_name_start(c)) return fail();
    std::string name(1, c);
    for (++at_; at_ < text_.size() && is_name_part(text_[at_]);) name += text_[at_++];
    if (at_ < text_.size() && text_[at_] == '(') return function(name);
    return Dim::symbol(std::move(name));
  }

  Result<Dim> quoted() {
    std::string name;
    for (++at_; at_ < text_.size() && text_[at_] != '\''; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      name += text_[at_];
    }
    if (!take('\'')) return fail();
    return Dim::symbol(std::move(name));
  }

  Result<Dim> function(const std::string& name) {
    if (!take('(')) return fail();
    TN_ASSIGN_OR_RETURN(Dim a, sum());
    if (!take(',')) return fail();
    TN_ASSIGN_OR_RETURN(Dim b, sum());
    if (!take(')')) return fail();
    if (name == "floor") return floor_div(a, b);
    if (name == "ceil") return ceil_div(a, b);
    if (name == "mod") return floor_mod(a, b);
    if (name == "min") return min(a, b);
    if (name == "max") return max(a, b);
    return fail();
  }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
};

Result<Dim> Dim::parse(std::string_view text) { return DimParser(text).parse(); }

}  // namespace tenon
