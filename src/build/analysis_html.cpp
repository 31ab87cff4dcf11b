#include <fmt/format.h>

#include "build/analyze.h"
#include "build/graph_svg.h"
#include "build/html.h"

namespace tenon::build {

namespace {

constexpr size_t kMostNamed = 12;

constexpr const char* kAnalysisStyle = R"html(
  g.cpu rect, i.cpu { fill: #2a8f4e44; stroke: #2a8f4e; background: #2a8f4e88; }
  g.reference rect, i.reference { fill: #c8402f44; stroke: #c8402f; background: #c8402f88; }
  g.none rect, i.none { fill: #c8402f; stroke: #c8402f; background: #c8402f; }
  i { display: inline-block; width: .8em; height: .8em; margin-right: .4em; background: #8884; }
  ul { list-style: none; padding: 0; } td.depth { padding-left: 2.5em; }
  tr.reference td:nth-child(3), tr.none td:nth-child(3) { color: var(--bad); font-weight: 600; }
)html";

std::string summary_html(const Json& analysis) {
  const Json& summary = member(analysis, "summary");
  std::string html =
      fmt::format("<p>{} nodes run as {} steps.</p>\n<ul>", integer_in(summary, "nodes"), integer_in(summary, "steps"));
  for (const auto& [provider, count] : member(summary, "providers").items())
    html += fmt::format("<li><i class=\"{0}\"></i>{0}: {1}</li>", escaped(provider), plain_text(count));
  html += "</ul>\n";
  if (const std::string error = text_in(analysis, "error"); !error.empty())
    html += "<pre>" + escaped(error) + "</pre>\n";
  return html;
}

std::string suggestions_html(const Json& suggestions) {
  std::string rows;
  for (const Json& item : suggestions)
    rows += "<tr>" + cell(text_in(item, "capability"), "what") + cell(text_in(item, "description")) +
            cell(text_in(item, "result")) + cell(plain_text(member(item, "fires")), "number") +
            cell(joined_text(list_in(item, "nodes"), ", ", kMostNamed)) + "</tr>\n";
  if (rows.empty()) return "<p>No capability that is off would help.</p>\n";
  return html_table(
      "<th>capability</th><th>what it does</th><th>result</th><th class=\"number\">applies</th>"
      "<th>nodes that the reference would no longer run</th>",
      rows);
}

// What nodes of several models have for names in the page.
std::string anchor(const char* kind, size_t model, size_t node) { return fmt::format("{}{}-{}", kind, model, node); }

std::string nodes_html(const Json& nodes, size_t model) {
  std::string rows;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const Json& node = nodes[i];
    const bool is_drawn = integer_in(node, "depth") == 0;
    const std::string name = escaped(text_in(node, "name"));
    rows += fmt::format("<tr id=\"{}\" class=\"{}\">", anchor("node", model, i), escaped(text_in(node, "provider")));
    rows += is_drawn ? fmt::format("<td class=\"what\"><a href=\"#{}\">{}</a></td>", anchor("box", model, i),
                                   name.empty() ? "(no name)" : name)
                     : "<td class=\"what depth\">" + name + "</td>";
    rows += cell(text_in(node, "op")) + cell(text_in(node, "provider")) + cell(text_in(node, "kernel"), "what") +
            cell(text_in(node, "variant")) + cell(joined_text(list_in(node, "with"), ", "), "what") +
            cell(joined_text(list_in(node, "reasons"), "; ")) + "</tr>\n";
  }
  return html_table(
      "<th>node</th><th>op</th><th>provider</th><th>kernel</th><th>variant</th><th>together with</th>"
      "<th>why nothing faster</th>",
      rows);
}

// Bodies are in the table alone.
std::string drawing(const Json& nodes, size_t model) {
  Json boxes = Json::array();
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (integer_in(nodes[i], "depth") != 0) continue;
    Json box = nodes[i];
    const std::string provider = text_in(box, "provider"), kernel = text_in(box, "kernel");
    box["kind"] = provider;
    box["title"] = fmt::format("{}: {} {}", text_in(box, "name"), provider, kernel);
    box["id"] = anchor("box", model, i);
    box["link"] = anchor("node", model, i);
    boxes.push_back(std::move(box));
  }
  return graph_html(boxes);
}

}  // namespace

std::string analysis_html(const Json& analyses) {
  std::string html = html_head("Analysis", kAnalysisStyle);
  for (size_t i = 0; i < analyses.size(); ++i) {
    const Json& analysis = member(analyses[i], "analysis");
    html += "<h1>" + escaped(text_in(analyses[i], "model")) + "</h1>\n" + summary_html(analysis);
    html += "<h2>What would help</h2>\n" + suggestions_html(list_in(analysis, "suggestions"));
    html += "<h2>Graph</h2>\n" + drawing(list_in(analysis, "nodes"), i);
    html += "<h2>Nodes</h2>\n" + nodes_html(list_in(analysis, "nodes"), i);
  }
  return html + "</body></html>\n";
}

}  // namespace tenon::build
