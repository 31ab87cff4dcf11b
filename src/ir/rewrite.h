#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/patch.h"

namespace tenon {

// A patch that would do, or why there is none.
class Attempt {
 public:
  static Attempt of(std::unique_ptr<Patch> patch) {
    Attempt a;
    a.patch = std::move(patch);
    return a;
  }
  // The rule matched so far that people may ask why it did not fire.
  static Attempt no(std::string reason) {
    Attempt a;
    a.reason = std::move(reason);
    return a;
  }
  // Not what the rule is about.
  static Attempt none() { return {}; }

  std::unique_ptr<Patch> patch;
  std::string reason;
};

// One way to replace nodes. It reads the graph and makes a patch; it changes nothing itself.
struct Rule {
  std::string_view name;    // a verb
  std::vector<OpId> roots;  // none: every op
  std::function<Attempt(Graph& graph, NodeId root)> match;
  int version = 1;  // raised when it makes something else of a graph than before
};

// Why a rule that is about a node did not fire there.
struct Miss {
  std::string_view rule;
  std::string root;  // the name of the node
  std::string reason;
};

// What was done to a graph and its bodies, in order.
struct ChangeLog {
  std::vector<Patch::Change> changes;
  std::vector<Miss> misses;  // in the end
  // Patches that were found only by looking at every node once more: no change of a neighbour told of them.
  size_t found_late = 0;
};

struct RewriteOptions {
  // Why a patch must not be applied although the graph would be right with it; nothing: it may.
  std::function<std::optional<std::string>(const Patch&)> objection;
  // Every patch must lower the measure of the graph (ir/measure.h).
  bool must_descend = false;
  // Told of each patch that was applied, with its number in the log. An error ends the rewriting.
  std::function<Status(const Patch::Change&, size_t number)> applied;
};

// Applies rules until none of them fires on any node, bodies first. For one node the rules are tried in their order.
Status rewrite(Graph& graph, std::span<const Rule> rules, ChangeLog& log, const RewriteOptions& options = {});

}  // namespace tenon
