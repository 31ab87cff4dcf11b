#include "cli/kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "cli/text.h"

namespace cli {

namespace {

// Steps that one kernel runs for the same reasons.
struct Group {
  std::string kernel, variant;
  std::vector<std::string> reasons, nodes;
};

class Groups {
 public:
  explicit Groups(const Json& misses) {
    if (!misses.is_array()) return;
    for (const Json& miss : misses.items())
      missed_[miss["node"].text()].push_back(fmt::format("{}: {}", miss["claim"].text(), miss["reason"].text()));
  }

  void add(const Json& plan) {
    for (const Json& step : plan["steps"].items()) {
      Group group{step["kernel"].text(), step["variant"].text(), {}, {}};
      if (step["refused"].is_array())
        for (const Json& refused : step["refused"].items())
          group.reasons.push_back(fmt::format("{}: {}", refused["variant"].text(), refused["reason"].text()));
      // A node that a claim passed by is run by the reference.
      if (const auto missed = missed_.find(step["node"].text());
          missed != missed_.end() && group.kernel.starts_with("reference/"))
        group.reasons.insert(group.reasons.end(), missed->second.begin(), missed->second.end());
      place(std::move(group)).nodes.push_back(step["node"].text());
      if (step["bodies"].is_array())
        for (const Json& body : step["bodies"].items()) add(body);
    }
  }

  const std::vector<Group>& all() const { return groups_; }

 private:
  Group& place(Group group) {
    const auto same = [&](const Group& g) {
      return g.kernel == group.kernel && g.variant == group.variant && g.reasons == group.reasons;
    };
    const auto found = std::find_if(groups_.begin(), groups_.end(), same);
    return found != groups_.end() ? *found : groups_.emplace_back(std::move(group));
  }

  std::map<std::string, std::vector<std::string>> missed_;
  std::vector<Group> groups_;
};

Json texts(const std::vector<std::string>& list) {
  Json result(Json::Array{});
  for (const std::string& text : list) result.push(text);
  return result;
}

}  // namespace

Json kernels_of(const Json& plan) {
  Groups groups(plan["misses"]);
  groups.add(plan);
  Json list(Json::Array{});
  for (const Group& group : groups.all())
    list.push(Json::Object{{"kernel", group.kernel},
                           {"variant", group.variant},
                           {"nodes", texts(group.nodes)},
                           {"reasons", texts(group.reasons)}});
  return list;
}

std::string kernels_text(const Json& kernels) {
  constexpr size_t kShown = 3;
  Table table({"kernel", "variant", ">steps", "nodes"});
  std::string reasons;
  for (const Json& entry : kernels.items()) {
    const auto& nodes = entry["nodes"].items();
    std::string names;
    for (size_t i = 0; i < std::min(nodes.size(), kShown); ++i) names += (i ? ", " : "") + nodes[i].text();
    if (nodes.size() > kShown) names += ", ...";
    const std::string& variant = entry["variant"].text();
    table.add({entry["kernel"].text(), variant.empty() ? "depends on the shapes" : variant,
               std::to_string(nodes.size()), names});
    for (const Json& reason : entry["reasons"].items())
      reasons += printable(fmt::format("  {} ({}): {}\n", entry["kernel"].text(), names, reason.text()));
  }
  if (!reasons.empty()) reasons = "\nwhy a faster kernel was not chosen\n" + reasons;
  return "\nkernels\n" + table.text() + reasons;
}

}  // namespace cli
