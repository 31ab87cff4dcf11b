// A Thompson machine: all ways through the pattern are followed at once, one character at a time.
#include "base/text/regex.h"

#include <utility>

#include "base/text/regex_syntax.h"
#include "base/text/utf8.h"

namespace tenon {

namespace {
constexpr size_t kMaxInstructions = 100'000;
}

struct Regex::Program {
  struct Instruction {
    enum class Kind : uint8_t { Set, Assert, Jump, Split, Match };
    Kind kind = Kind::Match;
    regex::Assertion assertion{};
    size_t set = 0;              // Set
    size_t next = 0, other = 0;  // where to go on; other: Split only
  };
  std::vector<Instruction> code;
  std::vector<regex::CharacterSet> sets;
};

namespace {

using Instruction = Regex::Program::Instruction;
using Kind = Instruction::Kind;
using regex::Node;

class Compiler {
 public:
  explicit Compiler(Regex::Program& program) : program_(program) {}

  Status compile(const Node& node) {
    TN_RETURN_IF_ERROR(emit(node));
    return add({Kind::Match, {}, 0, 0, 0});
  }

 private:
  size_t here() const { return program_.code.size(); }

  Status add(Instruction instruction) {
    if (here() >= kMaxInstructions)
      return error(Code::ResourceLimit, "the pattern needs more than {} instructions", kMaxInstructions);
    program_.code.push_back(instruction);
    return {};
  }

  Status emit(const Node& node) {
    // Repeated nothing makes no instructions, but takes time all the same.
    if (++visits_ > 10 * kMaxInstructions) return error(Code::ResourceLimit, "the pattern repeats too much");
    switch (node.kind) {
      case Node::Kind::Empty:
        return {};
      case Node::Kind::Set:
        program_.sets.push_back(node.set);
        return add({Kind::Set, {}, program_.sets.size() - 1, here() + 1, 0});
      case Node::Kind::Assert:
        return add({Kind::Assert, node.assertion, 0, here() + 1, 0});
      case Node::Kind::Sequence:
        for (const auto& child : node.children) TN_RETURN_IF_ERROR(emit(*child));
        return {};
      case Node::Kind::Choice:
        return emit_choice(node);
      case Node::Kind::Repeat:
        return emit_repeat(node);
    }
    return {};
  }

  Status emit_choice(const Node& node) {
    std::vector<size_t> exits;
    for (size_t i = 0; i < node.children.size(); ++i) {
      const bool is_last = i + 1 == node.children.size();
      const size_t split = here();
      if (!is_last) TN_RETURN_IF_ERROR(add({Kind::Split, {}, 0, split + 1, 0}));
      TN_RETURN_IF_ERROR(emit(*node.children[i]));
      if (is_last) break;
      exits.push_back(here());
      TN_RETURN_IF_ERROR(add({Kind::Jump, {}, 0, 0, 0}));
      program_.code[split].other = here();
    }
    for (size_t exit : exits) program_.code[exit].next = here();
    return {};
  }

  // x{2,4} is xx(x(x)?)?, x{2,} is xxx*.
  Status emit_repeat(const Node& node) {
    const Node& child = *node.children[0];
    for (int i = 0; i < node.least; ++i) TN_RETURN_IF_ERROR(emit(child));
    if (node.most < 0) {
      const size_t split = here();
      TN_RETURN_IF_ERROR(add({Kind::Split, {}, 0, split + 1, 0}));
      TN_RETURN_IF_ERROR(emit(child));
      TN_RETURN_IF_ERROR(add({Kind::Jump, {}, 0, split, 0}));
      program_.code[split].other = here();
      return {};
    }
    std::vector<size_t> splits;
    for (int i = node.least; i < node.most; ++i) {
      splits.push_back(here());
      TN_RETURN_IF_ERROR(add({Kind::Split, {}, 0, here() + 1, 0}));
      TN_RETURN_IF_ERROR(emit(child));
    }
    for (size_t split : splits) program_.code[split].other = here();
    return {};
  }

  Regex::Program& program_;
  size_t visits_ = 0;
};

bool is_word(char32_t c) {
  return c < 128 && ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_');
}

bool holds(regex::Assertion assertion, std::span<const char32_t> text, size_t at) {
  const bool first = at == 0, last = at == text.size();
  const bool boundary = (!first && is_word(text[at - 1])) != (!last && is_word(text[at]));
  switch (assertion) {
    case regex::Assertion::TextBegin:
      return first;
    case regex::Assertion::TextEnd:
      return last;
    case regex::Assertion::LineBegin:
      return first || text[at - 1] == '\n';
    case regex::Assertion::LineEnd:
      return last || text[at] == '\n';
    case regex::Assertion::WordBoundary:
      return boundary;
    case regex::Assertion::NoWordBoundary:
      return !boundary;
  }
  return false;
}

// One way through the pattern: the instruction it waits at, and where in the text it began.
struct Thread {
  size_t pc, origin;
};

// The threads that wait for a character, each instruction once: the first to reach it stays.
class Threads {
 public:
  Threads(const Regex::Program& program, std::span<const char32_t> text)
      : program_(program), text_(text), seen_at_(program.code.size(), 0) {}

  void begin(size_t at) {
    at_ = at;
    waiting_.clear();
    match_origin_.reset();
  }
  // Follows everything that needs no character.
  void add(size_t start, size_t origin) {
    pending_.push_back(start);
    while (!pending_.empty()) {
      const size_t pc = pending_.back();
      pending_.pop_back();
      ++steps_;
      if (seen_at_[pc] == at_ + 1) continue;
      seen_at_[pc] = at_ + 1;
      const Instruction& i = program_.code[pc];
      if (i.kind == Kind::Match) match_origin_ = origin;
      if (i.kind == Kind::Set) waiting_.push_back({pc, origin});
      if (i.kind == Kind::Split) pending_.push_back(i.other);
      const bool passes =
          i.kind == Kind::Jump || i.kind == Kind::Split || (i.kind == Kind::Assert && holds(i.assertion, text_, at_));
      if (passes) pending_.push_back(i.next);
    }
  }
  // Lets a thread take the character before the current position, if it can.
  void advance(const Thread& thread) {
    const Instruction& i = program_.code[thread.pc];
    if (program_.sets[i.set].contains(text_[at_ - 1])) add(i.next, thread.origin);
  }
  const std::vector<Thread>& waiting() const { return waiting_; }
  // Since the last call.
  int64_t steps() { return std::exchange(steps_, 0) + static_cast<int64_t>(waiting_.size()) + 1; }
  // Where the match that ends here began.
  const std::optional<size_t>& match_origin() const { return match_origin_; }

 private:
  const Regex::Program& program_;
  std::span<const char32_t> text_;
  std::vector<size_t> seen_at_;  // position + 1 at which an instruction was last reached
  std::vector<Thread> waiting_;
  std::vector<size_t> pending_;
  size_t at_ = 0;
  int64_t steps_ = 0;
  std::optional<size_t> match_origin_;
};

}  // namespace

Result<Regex> Regex::compile(std::string_view pattern) {
  TN_ASSIGN_OR_RETURN(auto tree, regex::parse(pattern));
  auto program = std::make_shared<Program>();
  TN_RETURN_IF_ERROR(Compiler(*program).compile(*tree));
  return Regex(std::move(program));
}

bool Regex::full_match(std::span<const char32_t> text, Spend spend) const {
  Threads threads(*program_, text);
  threads.begin(0);
  threads.add(0, 0);
  for (size_t at = 1; at <= text.size(); ++at) {
    spend(threads.steps());
    const std::vector<Thread> waiting = threads.waiting();
    if (waiting.empty()) return false;
    threads.begin(at);
    for (const Thread& thread : waiting) threads.advance(thread);
  }
  return threads.match_origin().has_value();
}

std::optional<Regex::Match> Regex::find(std::span<const char32_t> text, size_t from, Spend spend) const {
  spend(static_cast<int64_t>(program_->code.size()));
  Threads threads(*program_, text);
  std::optional<Match> best;
  std::vector<Thread> waiting;  // in the order of their origins, so the leftmost reaches an instruction first
  for (size_t at = from; at <= text.size(); ++at) {
    threads.begin(at);
    spend(threads.steps());
    for (const Thread& thread : waiting)
      if (!best || thread.origin <= best->begin) threads.advance(thread);
    if (!best) threads.add(0, at);
    if (threads.match_origin()) best = Match{*threads.match_origin(), at};
    waiting = threads.waiting();
    if (best && waiting.empty()) break;
  }
  return best;
}

}  // namespace tenon
