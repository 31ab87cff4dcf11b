#include <fmt/format.h>

#include <algorithm>

#include "build/html.h"
#include "build/report.h"
#include "build/text.h"

namespace tenon::build {

namespace {

// "x float[1, 3, 64, 64]; x float[2, 3, 32, 64]": the shapes that show something, or when there is none the others.
std::string tried_text(const Json& tried) {
  const auto joined = [&](bool useful) {
    std::string text;
    for (const Json& shapes : tried) {
      if ((member(shapes, "refused").is_null() && member(shapes, "shows_nothing").is_null()) != useful) continue;
      std::string inputs;
      for (const auto& [name, type] : member(shapes, "inputs").items())
        inputs += fmt::format("{}{} {}", inputs.empty() ? "" : ", ", name, plain_text(type));
      if (!inputs.empty()) text += (text.empty() ? "" : "; ") + inputs;
    }
    return text;
  };
  const std::string useful = joined(true);
  return useful.empty() ? joined(false) : useful;
}

std::string models_table(const Json& report) {
  std::string rows;
  for (const Json& model : list_in(report, "models")) {
    const bool good = !member(model, "output").is_null();
    rows += fmt::format("<tr class=\"{}\">", good ? "good" : "failed") + cell(text_in(model, "model")) +
            cell(text_in(model, "status")) + cell(plain_text(member(model, "output"))) +
            cell(human_seconds(number_in(model, "seconds")), "number") +
            cell(plain_text(member(model, "nodes")), "number") + cell(plain_text(member(model, "steps")), "number") +
            cell(good ? human_bytes(integer_in(model, "packed_bytes")) : "-", "number") +
            cell(good ? human_bytes(integer_in(member(model, "shared"), "bytes")) : "-", "number") +
            cell(joined_text(list_in(member(model, "shared"), "with"))) + "</tr>\n";
    if (!member(model, "error").is_null())
      rows += "<tr><td colspan=\"9\"><pre>" + escaped(text_in(model, "error")) + "</pre></td></tr>\n";
  }
  return "<h2>Models</h2>\n" +
         html_table(
             "<th>model</th><th>status</th><th>output</th><th class=\"number\">time</th>"
             "<th class=\"number\">nodes</th><th class=\"number\">steps</th><th class=\"number\">weights</th>"
             "<th class=\"number\">shared</th><th>shared with</th>",
             rows);
}

std::string validation_table(const Json& report) {
  std::string rows;
  for (const Json& model : list_in(report, "models")) {
    const Json& validation = member(model, "validation");
    for (const Json& output : list_in(validation, "outputs"))
      rows += "<tr>" + cell(text_in(model, "name")) + cell(text_in(validation, "verdict")) +
              cell(text_in(output, "name")) + cell(plain_text(member(output, "elements")), "number") +
              cell(plain_text(member(output, "mismatches")), "number") +
              cell(plain_text(member(output, "max_abs")), "number") +
              cell(plain_text(member(output, "allowed_abs")), "number") +
              cell(plain_text(member(output, "max_rel")), "number") +
              cell(plain_text(member(output, "cosine")), "number") + "</tr>\n";
    if (const std::string shapes = tried_text(list_in(validation, "tried")); !shapes.empty())
      rows += "<tr>" + cell(text_in(model, "name")) + cell(text_in(validation, "verdict")) +
              "<td colspan=\"7\">tested with " + escaped(shapes) + "</td></tr>\n";
    if (!text_in(validation, "message").empty())
      rows += "<tr>" + cell(text_in(model, "name")) + cell(text_in(validation, "verdict")) + "<td colspan=\"7\">" +
              escaped(text_in(validation, "message")) + "</td></tr>\n";
  }
  if (rows.empty()) return "<h2>Against the reference</h2><p>Nothing was compared.</p>\n";
  return "<h2>Against the reference</h2>\n" +
         html_table(
             "<th>model</th><th>verdict</th><th>output</th><th class=\"number\">elements</th>"
             "<th class=\"number\">differ</th><th class=\"number\">max abs</th><th class=\"number\">allowed</th>"
             "<th class=\"number\">max rel</th><th class=\"number\">cosine</th>",
             rows);
}

// Of one model that is left it cannot be said what it would share.
bool could_share(const Json& report) {
  const auto& models = list_in(report, "models");
  return std::count_if(models.begin(), models.end(), [](const Json& m) { return !member(m, "output").is_null(); }) > 1;
}

std::string tensors_table(const Json& report) {
  const Json& group = member(report, "group");
  const int64_t all = integer_in(group, "bytes_without_sharing"), saved = integer_in(group, "bytes_saved");
  const std::string file = text_in(group, "weights_file");
  std::string html = fmt::format("<h2>Weights</h2><p>{}: {}. ", file.empty() ? "embedded" : escaped(file),
                                 human_bytes(integer_in(group, "bytes")));
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
  std::string rows;
  for (const Json& tensor : list_in(group, "tensors"))
    rows += "<tr>" + cell(text_in(tensor, "expression"), "what") +
            cell(text_in(tensor, "dtype") + plain_text(member(tensor, "shape"))) + cell(text_in(tensor, "layout")) +
            cell(human_bytes(integer_in(tensor, "bytes")), "number") + cell(joined_text(list_in(tensor, "models"))) +
            "</tr>\n";
  return html +
         html_table("<th>made of</th><th>type</th><th>layout</th><th class=\"number\">size</th><th>models</th>", rows);
}

std::string forms_table(const Json& group) {
  std::string rows;
  for (const Json& weight : list_in(group, "stored_twice"))
    for (const Json& form : list_in(weight, "forms"))
      rows += "<tr>" + cell(text_in(weight, "weight"), "what") + cell(text_in(form, "layout")) +
              cell(human_bytes(integer_in(form, "bytes")), "number") + "</tr>\n";
  if (rows.empty()) return "";
  return "<h2>Weights stored in several forms</h2>\n" +
         html_table("<th>weight</th><th>form</th><th class=\"number\">size</th>", rows);
}

std::string written_list(const Json& report) {
  std::string items;
  for (const Json& file : list_in(report, "written")) items += "<li>" + escaped(plain_text(file)) + "</li>";
  return items.empty() ? "" : "<h2>Files written</h2><ul>" + items + "</ul>\n";
}

std::string stages_table(const Json& manifest) {
  std::string rows;
  for (const Json& model : list_in(manifest, "models")) {
    bool is_first = true;
    for (const auto& [name, stage] : member(model, "stages").items()) {
      rows += "<tr>" + cell(is_first ? text_in(model, "model") : "") + cell(name) + cell(text_in(stage, "status")) +
              cell(text_in(stage, "why")) + cell(human_bytes(integer_in(stage, "bytes_read")), "number") +
              cell(human_bytes(integer_in(stage, "bytes_written")), "number") +
              cell(human_seconds(number_in(stage, "seconds")), "number") + "</tr>\n";
      is_first = false;
    }
    if (!member(model, "error").is_null())
      rows += "<tr><td colspan=\"7\"><pre>" + escaped(text_in(model, "error")) + "</pre></td></tr>\n";
  }
  return "<h2>Stages</h2>\n" +
         html_table(
             "<th>model</th><th>stage</th><th>status</th><th>why</th><th class=\"number\">read</th>"
             "<th class=\"number\">written</th><th class=\"number\">time</th>",
             rows);
}

std::string head_of(const char* title, const Json& report) {
  return html_head(title) + fmt::format("<h1>{}: {}</h1>\n<p>Into {}, in {}.</p>\n", title,
                                        escaped(text_in(report, "status")), escaped(text_in(report, "folder")),
                                        human_seconds(number_in(report, "seconds")));
}

std::string compile_sections(const Json& report) {
  std::string html = models_table(report) + validation_table(report);
  if (!member(report, "group").is_null()) html += tensors_table(report) + forms_table(member(report, "group"));
  return html + written_list(report);
}

}  // namespace

std::string report_html(const Json& report) {
  // The manifest of a staged build has the report of the compile, if there was one.
  if (!report.contains("report"))
    return head_of("Compile report", report) + compile_sections(report) + "</body></html>\n";
  const Json& compile = member(report, "report");
  return head_of("Build report", report) + stages_table(report) + (compile.is_null() ? "" : compile_sections(compile)) +
         "</body></html>\n";
}

}  // namespace tenon::build
