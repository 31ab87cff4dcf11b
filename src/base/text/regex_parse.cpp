#include "base/text/regex_set.h"
#include "base/text/unicode.h"
#include "base/text/utf8.h"

namespace tenon::regex {

namespace {

using NodePointer = std::unique_ptr<Node>;

NodePointer make(Node::Kind kind) {
  auto node = std::make_unique<Node>();
  node->kind = kind;
  return node;
}

struct Flags {
  bool fold_case = false, multi_line = false, dot_all = false;
};

class Parser {
 public:
  explicit Parser(std::string_view pattern) : text_(code_points(pattern)) {}

  Result<NodePointer> run() {
    TN_ASSIGN_OR_RETURN(NodePointer node, choice(0));
    if (!done()) return wrong("an unmatched )");
    return node;
  }

 private:
  bool done() const { return at_ >= text_.size(); }
  char32_t peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : 0; }
  bool accept(char32_t c) {
    if (done() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  Status wrong(std::string_view what) const {
    return invalid_argument("the pattern has {} at character {}", what, at_);
  }

  Result<NodePointer> choice(int depth) {
    if (depth > kMaxNesting) return wrong("groups that are nested too deeply");
    const Flags outer = flags_;
    NodePointer alternatives = make(Node::Kind::Choice);
    do {
      TN_ASSIGN_OR_RETURN(NodePointer branch, sequence(depth));
      alternatives->children.push_back(std::move(branch));
    } while (accept('|'));
    flags_ = outer;
    return alternatives->children.size() == 1 ? std::move(alternatives->children[0]) : std::move(alternatives);
  }

  Result<NodePointer> sequence(int depth) {
    NodePointer parts = make(Node::Kind::Sequence);
    while (!done() && peek() != '|' && peek() != ')') {
      NodePointer part;
      if (peek() == '\\' && peek(1) == 'Q') {
        part = quoted(*parts);
      } else {
        TN_ASSIGN_OR_RETURN(part, atom(depth));
      }
      TN_ASSIGN_OR_RETURN(part, repeated(std::move(part)));
      parts->children.push_back(std::move(part));
    }
    return parts;
  }

  // Any number of repetition operators after an atom; RE2 refuses two in a row.
  Result<NodePointer> repeated(NodePointer part) {
    int least = 0, most = 0;
    TN_ASSIGN_OR_RETURN(bool found, repetition(least, most));
    if (!found) return part;
    accept('?');  // lazy: no difference for a full match
    NodePointer repeat = make(Node::Kind::Repeat);
    repeat->least = least;
    repeat->most = most;
    repeat->children.push_back(std::move(part));
    TN_ASSIGN_OR_RETURN(bool again, repetition(least, most));
    if (again) return wrong("two repetition operators in a row");
    return repeat;
  }

  Result<bool> repetition(int& least, int& most) {
    if (accept('*')) return least = 0, most = -1, true;
    if (accept('+')) return least = 1, most = -1, true;
    if (accept('?')) return least = 0, most = 1, true;
    if (peek() != '{') return false;
    // Braces that do not hold counts are ordinary characters.
    const size_t start = at_++;
    const bool has_least = number(least);
    most = least;
    bool well_formed = has_least;
    if (has_least && accept(',') && !number(most)) most = -1;
    well_formed = well_formed && accept('}');
    if (!well_formed) {
      at_ = start;
      return false;
    }
    if (least > kMaxRepeat || most > kMaxRepeat || (most >= 0 && most < least)) return wrong("a bad repetition count");
    return true;
  }

  bool number(int& value) {
    const size_t start = at_;
    for (value = 0; peek() >= '0' && peek() <= '9'; ++at_)
      value = std::min(value * 10 + static_cast<int>(peek() - '0'), kMaxRepeat + 1);
    return at_ > start;
  }

  NodePointer set_node(CharacterSet set) {
    NodePointer node = make(Node::Kind::Set);
    set.fold_case = flags_.fold_case;
    node->set = std::move(set);
    return node;
  }
  static NodePointer assertion(Assertion which) {
    NodePointer node = make(Node::Kind::Assert);
    node->assertion = which;
    return node;
  }

  Result<NodePointer> atom(int depth) {
    switch (peek()) {
      case '(':
        return group(depth);
      case '[':
        return bracket();
      case '\\':
        return escape();
      case '*':
      case '+':
      case '?':
        return wrong("a repetition operator with nothing to repeat");
      case '.':
        ++at_;
        return set_node(flags_.dot_all ? everything() : everything_but_newline());
      case '^':
        ++at_;
        return assertion(flags_.multi_line ? Assertion::LineBegin : Assertion::TextBegin);
      case '$':
        ++at_;
        return assertion(flags_.multi_line ? Assertion::LineEnd : Assertion::TextEnd);
      default:
        if (peek() > kMaxCodePoint) return wrong("a byte that is not UTF-8");
        return set_node(single(text_[at_++]));
    }
  }

  // (re), (?:re), (?P<name>re), (?<name>re), (?flags), (?flags:re).
  Result<NodePointer> group(int depth) {
    ++at_;
    const Flags outer = flags_;
    if (accept('?')) {
      const bool is_name = peek() == '<' && peek(1) != '=' && peek(1) != '!';
      if ((peek() == 'P' && peek(1) == '<') || is_name) {
        TN_RETURN_IF_ERROR(group_name());
      } else {
        TN_ASSIGN_OR_RETURN(bool has_body, group_flags());
        if (!has_body) return make(Node::Kind::Empty);
      }
    }
    TN_ASSIGN_OR_RETURN(NodePointer body, choice(depth + 1));
    if (!accept(')')) return wrong("a missing )");
    flags_ = outer;
    return body;
  }

  Status group_name() {
    accept('P');
    ++at_;
    const size_t start = at_;
    while (!done() && peek() != '>') {
      const char32_t c = text_[at_];
      const bool is_word = c < 128 && escaped_set('w')->contains(c);
      if (!is_word) return wrong("a bad group name");
      ++at_;
    }
    if (at_ == start || !accept('>')) return wrong("a bad group name");
    return {};
  }

  // True when a body follows; else the flags hold to the end of the enclosing group.
  Result<bool> group_flags() {
    bool value = true;
    Flags changed = flags_;
    while (true) {
      if (done()) return wrong("a missing )");
      switch (text_[at_++]) {
        case 'i':
          changed.fold_case = value;
          break;
        case 'm':
          changed.multi_line = value;
          break;
        case 's':
          changed.dot_all = value;
          break;
        case 'U':  // swaps greedy and lazy: no difference for a full match
          break;
        case '-':
          if (!value) return wrong("a bad group flag");
          value = false;
          break;
        case ':':
          flags_ = changed;
          return true;
        case ')':
          flags_ = changed;
          return false;
        default:
          return wrong("a kind of group that is not supported");
      }
    }
  }

  Result<NodePointer> escape() {
    ++at_;
    if (done()) return wrong("a \\ at its end");
    const char32_t letter = text_[at_];
    auto assert_here = [&](Assertion which) {
      ++at_;
      return assertion(which);
    };
    switch (letter) {
      case 'A':
        return assert_here(Assertion::TextBegin);
      case 'z':
        return assert_here(Assertion::TextEnd);
      case 'b':
        return assert_here(Assertion::WordBoundary);
      case 'B':
        return assert_here(Assertion::NoWordBoundary);
      default:
        break;
    }
    TN_ASSIGN_OR_RETURN(CharacterSet set, escaped());
    return set_node(std::move(set));
  }

  // \Q...\E: everything stands for itself. The last character is returned, since a repetition means only that one.
  NodePointer quoted(Node& parts) {
    NodePointer last = make(Node::Kind::Empty);
    for (at_ += 2; !done(); ++at_) {
      if (peek() == '\\' && peek(1) == 'E') {
        at_ += 2;
        break;
      }
      parts.children.push_back(std::move(last));
      last = set_node(single(text_[at_]));
    }
    return last;
  }

  // What comes after a \ that stands for a set or a character, inside and outside of brackets.
  Result<CharacterSet> escaped() {
    const char32_t letter = text_[at_];
    if (auto set = escaped_set(letter)) {
      ++at_;
      return *set;
    }
    if (letter == 'p' || letter == 'P') return property();
    TN_ASSIGN_OR_RETURN(char32_t code, escaped_character());
    return single(code);
  }

  // \pL, \PL, \p{Lu}, \p{^Lu}.
  Result<CharacterSet> property() {
    bool negated = text_[at_++] == 'P';
    std::string name;
    const bool braced = accept('{');
    if (braced && accept('^')) negated = !negated;
    while (!done() && peek() < 128 && (braced ? peek() != '}' : name.empty())) name += static_cast<char>(text_[at_++]);
    if (braced && !accept('}')) return wrong("a property without a closing }");
    if (name != "Any" && !is_category_name(name))
      return unsupported("the pattern uses the character property '{}', which is not a Unicode general category", name);
    CharacterSet set;
    set.categories.push_back({name, negated});
    return set;
  }

  Result<char32_t> escaped_character() {
    const char32_t letter = text_[at_++];
    switch (letter) {
      case 'a':
        return U'\a';
      case 'f':
        return U'\f';
      case 'n':
        return U'\n';
      case 'r':
        return U'\r';
      case 't':
        return U'\t';
      case 'v':
        return U'\v';
      case 'x':
        return hexadecimal();
      default:
        break;
    }
    if (letter >= '0' && letter <= '7') return octal(letter);
    const bool is_word = letter < 128 && escaped_set('w')->contains(letter);
    if (is_word || letter > kMaxCodePoint) return wrong("an escape that is not supported");
    return letter;
  }

  // \0, \07, \123; other digits would be back-references.
  Result<char32_t> octal(char32_t first) {
    if (first != '0' && (peek() < '0' || peek() > '7')) return wrong("a back-reference");
    char32_t code = first - '0';
    for (int i = 0; i < 2 && peek() >= '0' && peek() <= '7'; ++i) code = code * 8 + (text_[at_++] - '0');
    return code;
  }

  Result<char32_t> hexadecimal() {
    const bool braced = accept('{');
    char32_t code = 0;
    int digits = 0;
    for (; digits < (braced ? 8 : 2); ++digits, ++at_) {
      const char32_t c = peek();
      const int value = c >= '0' && c <= '9'   ? static_cast<int>(c - '0')
                        : c >= 'a' && c <= 'f' ? static_cast<int>(c - 'a') + 10
                        : c >= 'A' && c <= 'F' ? static_cast<int>(c - 'A') + 10
                                               : -1;
      if (value < 0) break;
      code = code * 16 + static_cast<char32_t>(value);
    }
    const bool complete = braced ? digits > 0 && accept('}') : digits == 2;
    if (!complete || code > kMaxCodePoint) return wrong("a bad \\x escape");
    return code;
  }

  Result<NodePointer> bracket() {
    ++at_;
    CharacterSet set;
    set.negated = accept('^');
    for (bool first = true; first || peek() != ']'; first = false) {
      if (done()) return wrong("a missing ]");
      TN_RETURN_IF_ERROR(bracket_item(set));
    }
    ++at_;
    // Case folds before negation, in sets inside as well.
    for (CharacterSet& inner : set.nested) inner.fold_case = flags_.fold_case;
    return set_node(std::move(set));
  }

  Status bracket_item(CharacterSet& set) {
    if (peek() == '[' && peek(1) == ':') return bracket_class(set);
    CharacterSet item = single(text_[at_]);
    if (accept('\\')) {
      if (done()) return wrong("a \\ at its end");
      TN_ASSIGN_OR_RETURN(item, escaped());
    } else {
      ++at_;
    }
    const bool is_character = item.ranges.size() == 1 && !item.negated && item.ranges[0].first == item.ranges[0].last;
    const bool is_range = is_character && peek() == '-' && peek(1) != ']' && at_ + 1 < text_.size();
    if (!is_range) {
      set.nested.push_back(std::move(item));
      return {};
    }
    ++at_;
    char32_t last = text_[at_++];
    if (last == '\\') {
      if (done()) return wrong("a \\ at its end");
      TN_ASSIGN_OR_RETURN(last, escaped_character());
    }
    if (last < item.ranges[0].first) return wrong("a range that runs backwards");
    set.ranges.push_back({item.ranges[0].first, last});
    return {};
  }

  Status bracket_class(CharacterSet& set) {
    std::string name;
    for (at_ += 2; !done() && peek() != ':' && peek() < 128; ++at_) name += static_cast<char>(text_[at_]);
    auto known = posix_set(name);
    if (!known || peek() != ':' || peek(1) != ']') return wrong("a bad character class");
    at_ += 2;
    set.nested.push_back(std::move(*known));
    return {};
  }

  std::vector<char32_t> text_;
  size_t at_ = 0;
  Flags flags_;
};

}  // namespace

Result<std::unique_ptr<Node>> parse(std::string_view pattern) {
  if (pattern.size() > kMaxPatternBytes)
    return error(Code::ResourceLimit, "the pattern has {} bytes; the limit is {}", pattern.size(), kMaxPatternBytes);
  return Parser(pattern).run();
}

}  // namespace tenon::regex
