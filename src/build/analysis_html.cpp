#include <fmt/format.h>

#include "build/analyze.h"
#include "build/graph_svg.h"
#include "build/html.h"

namespace tenon::build {

namespace {

// More nodes than people look at in one drawing.
constexpr size_t kMostDrawn = 2000;

constexpr const char* kAnalysisStyle = R"html(
  .graph { overflow: auto; max-height: 40em; border: 1px solid var(--line); }
  svg text { font: 11px system-ui, sans-serif; fill: currentColor; text-anchor: middle; } svg text.op { font-weight: 600; }
  svg path { fill: none; stroke: #8888; } svg rect { fill: #8882; stroke: #888; }
  g.cpu rect, i.cpu { fill: #2a8f4e44; stroke: #2a8f4e; background: #2a8f4e88; }
  g.reference rect, i.reference { fill: #c8402f44; stroke: #c8402f; background: #c8402f88; }
  g.none rect, i.none { fill: #c8402f; stroke: #c8402f; background: #c8402f; }
  i { display: inline-block; width: .8em; height: .8em; margin-right: .4em; background: #8884; }
  tr.reference td:nth-child(3), tr.none td:nth-child(3) { color: var(--bad); font-weight: 600; }
)html";

std::string joined(const Json& texts, const char* separator) {
  std::string result;
  for (const Json& text : texts) result += (result.empty() ? "" : separator) + plain_text(text);
  return result;
}

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
            cell(joined(list_in(item, "nodes"), ", ")) + "</tr>\n";
  if (rows.empty()) return "<p>No capability that is off would help.</p>\n";
  return "<table><tr><th>capability</th><th>what it does</th><th>result</th><th class=\"number\">applies</th>"
         "<th>nodes that the reference would no longer run</th></tr>\n" +
         rows + "</table>\n";
}

std::string nodes_html(const Json& nodes) {
  std::string html =
      "<table><tr><th>node</th><th>op</th><th>provider</th><th>kernel</th><th>variant</th><th>together with</th>"
      "<th>why nothing faster</th></tr>\n";
  for (const Json& node : nodes)
    html += fmt::format("<tr class=\"{}\">", escaped(text_in(node, "provider"))) + cell(text_in(node, "name"), "what") +
            cell(text_in(node, "op")) + cell(text_in(node, "provider")) + cell(text_in(node, "kernel"), "what") +
            cell(text_in(node, "variant")) + cell(joined(list_in(node, "with"), ", ")) +
            cell(joined(list_in(node, "reasons"), "; ")) + "</tr>\n";
  return html + "</table>\n";
}

std::string graph_html(const Json& nodes) {
  Json top = Json::array();
  for (const Json& node : nodes)
    if (integer_in(node, "depth") == 0) top.push_back(node);
  if (top.size() > kMostDrawn)
    return fmt::format("<p>The graph has {} nodes; only graphs of up to {} are drawn.</p>\n", top.size(), kMostDrawn);
  return "<div class=\"graph\">\n" + graph_svg(top) + "</div>\n";
}

}  // namespace

std::string analysis_html(const Json& analyses) {
  std::string html = html_head("Analysis", kAnalysisStyle);
  for (const Json& entry : analyses) {
    const Json& analysis = member(entry, "analysis");
    html += "<h1>" + escaped(text_in(entry, "model")) + "</h1>\n" + summary_html(analysis);
    html += "<h2>What would help</h2>\n" + suggestions_html(list_in(analysis, "suggestions"));
    html += "<h2>Graph</h2>\n" + graph_html(list_in(analysis, "nodes"));
    html += "<h2>Nodes</h2>\n" + nodes_html(list_in(analysis, "nodes"));
  }
  return html + "</body></html>\n";
}

}  // namespace tenon::build
