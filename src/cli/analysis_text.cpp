#include "cli/analysis_text.h"

#include <fmt/format.h>

#include "cli/text.h"

namespace cli {

namespace {

constexpr size_t kMostNamed = 6;

std::string joined(const Json& texts, const char* separator) {
  std::string result;
  for (const Json& text : texts.items()) result += (result.empty() ? "" : separator) + printable(text.text());
  return result;
}

std::string helped_text(const Json::Array& nodes) {
  std::string names;
  for (size_t i = 0; i < nodes.size() && i < kMostNamed; ++i) names += (i ? ", " : "") + printable(nodes[i].text());
  if (nodes.size() > kMostNamed) names += fmt::format(" and {} more nodes", nodes.size() - kMostNamed);
  return names.empty() ? "" : "; helps " + names;
}

std::string nodes_text(const Json& nodes) {
  Table table({"node", "op", "provider", "kernel", "variant"});
  for (const Json& node : nodes.items())
    table.add({std::string(2 * static_cast<size_t>(node["depth"].integer()), ' ') + node["name"].text(),
               node["op"].text(), node["provider"].text(), node["kernel"].text(), node["variant"].text()});
  return "\nnodes\n" + table.text();
}

std::string fallbacks_text(const Json& nodes) {
  std::string text;
  for (const Json& node : nodes.items()) {
    const std::string& provider = node["provider"].text();
    if (provider != "reference" && provider != "none") continue;
    text += fmt::format("  {} ({}): {}\n", printable(node["name"].text()), node["op"].text(),
                        joined(node["reasons"], "; "));
  }
  return text.empty() ? "\nno node falls back to the reference\n" : "\nfall back to the reference\n" + text;
}

std::string suggestions_text(const Json& suggestions) {
  std::string text;
  for (const Json& item : suggestions.items())
    text += fmt::format("  --enable {}: {} ({} times){}\n", item["capability"].text(), item["description"].text(),
                        item["fires"].integer(), helped_text(item["nodes"].items()));
  return text.empty() ? "" : "\nwould help\n" + text;
}

}  // namespace

std::string analysis_text(const std::string& path, const Json& analysis, bool nodes) {
  const Json& summary = analysis["summary"];
  std::string text = fmt::format("{}: {} run as {}\n", printable(path), counted(summary["nodes"].integer(), "node"),
                                 counted(summary["steps"].integer(), "step"));
  Table providers({"provider", ">nodes"});
  for (const auto& [name, count] : summary["providers"].entries()) providers.add({name, count.plain()});
  text += providers.text();
  Table kernels({"kernel", "variant", ">nodes"});
  for (const Json& kernel : summary["kernels"].items())
    kernels.add({kernel["kernel"].text(), kernel["variant"].text(), kernel["nodes"].plain()});
  text += "\n" + kernels.text();
  if (!analysis["error"].text().empty()) text += "\ncannot be compiled: " + printable(analysis["error"].text()) + "\n";
  if (nodes) text += nodes_text(analysis["nodes"]);
  return text + fallbacks_text(analysis["nodes"]) + suggestions_text(analysis["suggestions"]);
}

}  // namespace cli
