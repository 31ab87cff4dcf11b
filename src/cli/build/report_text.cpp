#include "cli/build/report_text.h"

#include <fmt/format.h>

#include "cli/console.h"
#include "cli/text.h"

namespace cli {

namespace {

std::string bytes_text(int64_t bytes) { return bytes == 0 ? "-" : human_bytes(bytes); }

void add_stages(const Json& model, Table& table) {
  bool is_first = true;
  for (const auto& [name, stage] : model["stages"].entries()) {
    table.add({is_first ? model["name"].text() : "", name, stage["status"].text(), stage["why"].text(),
               bytes_text(stage["bytes_read"].integer()), bytes_text(stage["bytes_written"].integer()),
               human_seconds(stage["seconds"].number())});
    is_first = false;
  }
}

std::string rounds_text(const Json& model) {
  std::string text;
  for (const Json& round : model["rounds"].items())
    for (const Json& name : round["enabled"].items())
      text += fmt::format("  {}: enabled {}, as the analysis suggests\n", printable(model["name"].text()), name.text());
  return text;
}

}  // namespace

std::string build_report_text(const Json& report, const Console& console) {
  Table table({"model", "stage", "", "why", ">read", ">written", ">time"});
  std::string rounds, outputs;
  for (const Json& model : report["models"].items()) {
    add_stages(model, table);
    rounds += rounds_text(model);
    if (!model["output"].is_null()) outputs += fmt::format("  {}\n", printable(model["output"].text()));
  }
  const std::string& status = report["status"].text();
  const std::string word = console.paint(status == "failed" ? Color::Red : Color::Green, status);
  return table.text() + rounds + (outputs.empty() ? "" : "results\n" + outputs) +
         fmt::format("{} in {}: {} read, {} written\n", word, human_seconds(report["seconds"].number()),
                     human_bytes(report["bytes_read"].integer()), human_bytes(report["bytes_written"].integer()));
}

}  // namespace cli
