#include "cli/compile/report.h"
#include "cli/text.h"
#include "cli/trial_inputs.h"

namespace cli {

namespace {

constexpr const char* kHead = R"html(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Compile report</title>
<style>
  :root { color-scheme: light dark; --line: #8884; --soft: #8881; --good: #2a8f4e; --bad: #c8402f; }
  body { margin: 2em auto; max-width: 76em; padding: 0 1em; font: 15px/1.5 system-ui, sans-serif; }
  h1 { font-size: 1.4em; } h2 { font-size: 1.1em; margin-top: 2em; }
  table { border-collapse: collapse; width: 100%; } th { text-align: left; font-weight: 600; }
  td, th { padding: .35em .7em; border-bottom: 1px solid var(--line); vertical-align: top; }
  td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
  td.what { font-family: ui-monospace, monospace; font-size: .85em; word-break: break-word; }
  tr.failed td:nth-child(2) { color: var(--bad); font-weight: 600; } tr.good td:nth-child(2) { color: var(--good); }
  pre { background: var(--soft); padding: .8em; overflow: auto; } .bar { background: var(--soft); height: .6em; }
  .bar div { background: var(--good); height: 100%; }
</style></head><body>
)html";

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : printable(text)) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '"')
      result += "&quot;";
    else
      result += c;
  }
  return result;
}

std::string cell(const std::string& text, const char* kind = "") {
  return *kind ? fmt::format("<td class=\"{}\">{}</td>", kind, escaped(text)) : "<td>" + escaped(text) + "</td>";
}

std::string models_table(const Json& report) {
  std::string html =
      "<h2>Models</h2><table><tr><th>model</th><th>status</th><th>output</th><th class=\"number\">time</th>"
      "<th class=\"number\">nodes</th><th class=\"number\">steps</th><th class=\"number\">weights</th>"
      "<th class=\"number\">shared</th><th>shared with</th></tr>\n";
  for (const Json& model : report["models"].items()) {
    const bool good = !model["output"].is_null();
    html += fmt::format("<tr class=\"{}\">", good ? "good" : "failed") + cell(model["model"].text()) +
            cell(model["status"].text()) + cell(model["output"].plain()) +
            cell(human_seconds(model["seconds"].number()), "number") + cell(model["nodes"].plain(), "number") +
            cell(model["steps"].plain(), "number") +
            cell(good ? human_bytes(model["packed_bytes"].integer()) : "-", "number") +
            cell(good ? human_bytes(model["shared"]["bytes"].integer()) : "-", "number") +
            cell(good ? model["shared"]["with"].plain() : "-") + "</tr>\n";
    if (!model["error"].is_null())
      html += "<tr><td colspan=\"9\"><pre>" + escaped(model["error"].text()) + "</pre></td></tr>\n";
  }
  return html + "</table>\n";
}

std::string validation_table(const Json& report) {
  std::string rows;
  for (const Json& model : report["models"].items()) {
    const Json& validation = model["validation"];
    for (const Json& output : validation["outputs"].items())
      rows += "<tr>" + cell(model["name"].text()) + cell(validation["verdict"].text()) + cell(output["name"].text()) +
              cell(output["elements"].plain(), "number") + cell(output["mismatches"].plain(), "number") +
              cell(output["max_abs"].plain(), "number") + cell(output["allowed_abs"].plain(), "number") +
              cell(output["max_rel"].plain(), "number") + cell(output["cosine"].plain(), "number") + "</tr>\n";
    if (const std::string shapes = tried_text(validation["tried"]); !shapes.empty())
      rows += "<tr>" + cell(model["name"].text()) + cell(validation["verdict"].text()) +
              "<td colspan=\"7\">tried with " + escaped(shapes) + "</td></tr>\n";
    if (!validation["message"].text().empty())
      rows += "<tr>" + cell(model["name"].text()) + cell(validation["verdict"].text()) + "<td colspan=\"7\">" +
              escaped(validation["message"].text()) + "</td></tr>\n";
  }
  if (rows.empty()) return "<h2>Against the reference</h2><p>Nothing was compared.</p>\n";
  return "<h2>Against the reference</h2><table><tr><th>model</th><th>verdict</th><th>output</th>"
         "<th class=\"number\">elements</th><th class=\"number\">differ</th><th class=\"number\">max abs</th>"
         "<th class=\"number\">allowed</th><th class=\"number\">max rel</th><th class=\"number\">cosine</th></tr>\n" +
         rows + "</table>\n";
}

// Of one model that is left it cannot be said what it would share.
bool could_share(const Json& report) {
  const auto& models = report["models"].items();
  return std::count_if(models.begin(), models.end(), [](const Json& m) { return !m["output"].is_null(); }) > 1;
}

std::string tensors_table(const Json& report) {
  const Json& group = report["group"];
  const int64_t all = group["bytes_without_sharing"].integer(), saved = group["bytes_saved"].integer();
  const std::string file = group["weights_file"].text();
  std::string html = fmt::format("<h2>Weights</h2><p>{}: {}. ", file.empty() ? "embedded" : escaped(file),
                                 human_bytes(group["bytes"].integer()));
  if (!could_share(report)) {
    html += "</p>\n";
  } else if (saved == 0) {
    html += "Nothing is shared: no two models have a weight in common.</p>\n";
  } else {
    html += fmt::format("Sharing saves {} of the {} that the models would take alone.</p>\n", human_bytes(saved),
                        human_bytes(all));
    html += fmt::format("<div class=\"bar\"><div style=\"width: {}%\"></div></div>\n",
                        100 * saved / std::max<int64_t>(all, 1));
  }
  html += "<table><tr><th>made of</th><th>type</th><th>layout</th><th class=\"number\">size</th><th>models</th></tr>\n";
  for (const Json& tensor : group["tensors"].items())
    html += "<tr>" + cell(tensor["expression"].text(), "what") +
            cell(tensor["dtype"].text() + tensor["shape"].plain()) + cell(tensor["layout"].text()) +
            cell(human_bytes(tensor["bytes"].integer()), "number") + cell(tensor["models"].plain()) + "</tr>\n";
  return html + "</table>\n";
}

std::string forms_table(const Json& group) {
  std::string rows;
  for (const Json& weight : group["stored_twice"].items())
    for (const Json& form : weight["forms"].items())
      rows += "<tr>" + cell(weight["weight"].text(), "what") + cell(form["layout"].text()) +
              cell(human_bytes(form["bytes"].integer()), "number") + "</tr>\n";
  if (rows.empty()) return "";
  return "<h2>Weights stored in several forms</h2><table><tr><th>weight</th><th>form</th>"
         "<th class=\"number\">size</th></tr>\n" +
         rows + "</table>\n";
}

std::string written_list(const Json& report) {
  std::string items;
  for (const Json& file : report["written"].items()) items += "<li>" + escaped(file.text()) + "</li>";
  return items.empty() ? "" : "<h2>Files written</h2><ul>" + items + "</ul>\n";
}

}  // namespace

std::string compile_report_html(const Json& report) {
  std::string html = kHead;
  html += fmt::format("<h1>Compile report: {}</h1>\n<p>Into {}, in {}.</p>\n", escaped(report["status"].text()),
                      escaped(report["folder"].text()), human_seconds(report["seconds"].number()));
  html += models_table(report) + validation_table(report);
  if (!report["group"].is_null()) html += tensors_table(report) + forms_table(report["group"]);
  html += written_list(report);
  return html + "</body></html>\n";
}

}  // namespace cli
