#include "build/model_html.h"

#include <fmt/format.h>

#include "build/graph_svg.h"
#include "build/html.h"
#include "build/text.h"

namespace tenon::build {

namespace {

constexpr const char* kModelStyle = R"html(
  g.input rect, g.output rect { rx: 14px; fill: #58f2; stroke: #58f; } td.depth { padding-left: 2.5em; }
)html";

std::string facts_html(const Json& summary) {
  std::string opsets;
  for (const auto& [domain, version] : member(summary, "opsets").items())
    opsets += fmt::format("{}{} {}", opsets.empty() ? "" : ", ", domain, plain_text(version));
  const Json& weights = member(summary, "weights");
  const std::pair<const char*, std::string> facts[] = {
      {"graph", text_in(summary, "graph")},
      {"nodes", plain_text(member(summary, "nodes"))},
      {"weights", fmt::format("{}, {}", integer_in(weights, "count"), human_bytes(integer_in(weights, "bytes")))},
      {"op versions", opsets},
      {"made by", text_in(summary, "producer") + " " + text_in(summary, "producer_version")}};
  std::string html = "<dl>";
  for (const auto& [name, value] : facts)
    if (value.find_first_not_of(' ') != std::string::npos)
      html += fmt::format("<dt>{}</dt><dd>{}</dd>", name, escaped(value));
  return html + "</dl>\n";
}

// What a node reads, with what its bodies read around them.
Json reads_of(const Json& node) {
  Json names = list_in(node, "inputs");
  for (const Json& body : list_in(node, "bodies"))
    for (const Json& inner : list_in(body, "nodes"))
      for (const Json& name : reads_of(inner)) names.push_back(name);
  return names;
}

Json names_of(const Json& values) {
  Json names = Json::array();
  for (const Json& value : values) names.push_back(text_in(value, "name"));
  return names;
}

Json end_box(const Json& value, const char* kind, size_t number, Json inputs, Json outputs) {
  const std::string name = text_in(value, "name");
  return {{"name", text_in(value, "type")},
          {"op", name},
          {"kind", kind},
          {"title", name + ": " + text_in(value, "type")},
          {"id", fmt::format("{}{}", kind, number)},
          {"inputs", std::move(inputs)},
          {"outputs", std::move(outputs)}};
}

std::string drawing(const Json& graph) {
  Json boxes = Json::array();
  for (const Json& value : list_in(graph, "inputs"))
    boxes.push_back(end_box(value, "input", boxes.size(), Json::array(), Json::array({text_in(value, "name")})));
  size_t number = 0;
  for (const Json& node : list_in(graph, "nodes")) {
    const std::string name = text_in(node, "name"), params = text_in(node, "params");
    boxes.push_back({{"name", name},
                     {"op", text_in(node, "op")},
                     {"kind", "node"},
                     {"title", name + (params.empty() ? "" : ": " + params)},
                     {"id", fmt::format("box{}", number)},
                     {"link", fmt::format("node{}", number)},
                     {"inputs", reads_of(node)},
                     {"outputs", names_of(list_in(node, "outputs"))}});
    ++number;
  }
  for (const Json& value : list_in(graph, "outputs"))
    boxes.push_back(end_box(value, "output", boxes.size(), Json::array({text_in(value, "name")}), Json::array()));
  return graph_html(boxes);
}

std::string values_text(const Json& values) {
  std::string text;
  for (const Json& value : values) {
    const std::string name = value.is_string() ? value.get<std::string>() : text_in(value, "name");
    const std::string type = value.is_string() ? "" : text_in(value, "type");
    text += (text.empty() ? "" : ", ") + (name.empty() ? "-" : name) + (type.empty() ? "" : ": " + type);
  }
  return text;
}

// Nodes in bodies follow the node that they belong to.
void add_rows(const Json& graph, int depth, std::string& rows) {
  size_t number = 0;
  for (const Json& node : list_in(graph, "nodes")) {
    const std::string name = escaped(text_in(node, "name"));
    rows += depth == 0 ? fmt::format("<tr id=\"node{0}\"><td class=\"what\"><a href=\"#box{0}\">{1}</a></td>", number,
                                     name.empty() ? "(no name)" : name)
                       : fmt::format("<tr><td class=\"what depth\">{}</td>", name);
    rows += cell(text_in(node, "op")) + cell(text_in(node, "params"), "what") +
            cell(values_text(list_in(node, "inputs")), "what") + cell(values_text(list_in(node, "outputs")), "what") +
            "</tr>\n";
    for (const Json& body : list_in(node, "bodies")) add_rows(body, depth + 1, rows);
    ++number;
  }
}

}  // namespace

std::string model_html(const std::string& title, const Json& described) {
  const Json& graph = member(described, "graph");
  std::string rows;
  add_rows(graph, 0, rows);
  return html_head(title, kModelStyle) + "<h1>" + escaped(title) + "</h1>\n" +
         facts_html(member(described, "summary")) + "<h2>Graph</h2>\n" + drawing(graph) + "<h2>Nodes</h2>\n" +
         html_table("<th>node</th><th>op</th><th>parameters</th><th>inputs</th><th>outputs</th>", rows) +
         "</body></html>\n";
}

}  // namespace tenon::build
