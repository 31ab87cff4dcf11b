#include "cli/inspect_artifact.h"

#include <fmt/format.h>

#include <map>

#include "cli/artifacts.h"
#include "cli/compile/settings.h"
#include "cli/console.h"
#include "cli/graph_view.h"
#include "cli/kernels.h"
#include "cli/models.h"
#include "cli/text.h"

namespace cli {

namespace {

std::string comma_list(const Json& list) {
  std::string text;
  for (const Json& item : list.items()) text += (text.empty() ? "" : ", ") + (item.text().empty() ? "-" : item.text());
  return text;
}

std::string models_text(const std::string& path, const ArtifactGroup& group, const Json& described) {
  const Json& model = described["models"].items()[0];
  Table facts({"", ""});
  facts.add({"model", model["name"].text()});
  facts.add({"made by", described["made_by"].text()});
  facts.add({"from", model["source_file"].text()});
  facts.add({"weights", group.embedded() ? "embedded" : group.weights_file});
  facts.add({"steps", model["steps"].plain()});
  facts.add(
      {"packed", fmt::format("{}, {}", counted(static_cast<int64_t>(described["packed"].items().size()), "tensor"),
                             human_bytes(model["packed_bytes"].integer()))});
  if (model["open_slots"].integer() > 0)
    facts.add({"open", fmt::format("{} of {} packed weights are not set; use 'tenon weights set'",
                                   model["open_slots"].plain(), model["slots"].plain())});
  facts.add({"sources", model["sources"].plain()});
  facts.add({"guards", model["guards"].plain()});
  facts.add({"plan key", model["plan_key"].text()});
  return printable(path) + "\n" + facts.text() + inputs_and_outputs_text(model);
}

std::string packed_text(const Json& packed) {
  Table table({"packed", "type", "layout", ">size"});
  for (const Json& tensor : packed.items())
    table.add({tensor["expression"].text(), tensor["dtype"].text() + tensor["shape"].plain(), tensor["layout"].text(),
               human_bytes(tensor["bytes"].integer())});
  return table.empty() ? "" : "\npacked\n" + table.text();
}

std::string sources_text(const Json& sources) {
  Table table({"weight", "type", "shape", ">size", "bytes"});
  for (const Json& source : sources.items()) {
    const std::string& name = source["name"].text();
    table.add({name.empty() ? "(a literal)" : name, source["dtype"].text(), source["shape"].plain(),
               human_bytes(source["bytes"].integer()), source["place"].text()});
  }
  return "\nsources\n" + table.text();
}

std::string compiled_plan_text(const Json& plan) {
  Table table({">step", "kernel", "node", "parameters"});
  int64_t index = 0;
  for (const Json& step : plan.items()[0]["steps"].items())
    table.add({std::to_string(index++), step["kernel"].text(), step["node"].text(), step["params"].text()});
  return "\nplan\n" + table.text();
}

std::string guard_text(const Json& guard) {
  const std::string source = printable(guard["source"].text()), property = guard["property"].text();
  if (property == "pinned") return fmt::format("    guard    '{}' is pinned\n", source);
  if (const std::string answer = guard["answer"].text(); !answer.empty())
    return fmt::format("    guard    whether '{}' is {} ({}), asked by {}\n", source, property, answer,
                       printable(guard["asker"].text()));
  return fmt::format("    guard    the {} of '{}', asked by {}\n", property, source, printable(guard["asker"].text()));
}

// Numbers without a name stand in the expression already.
Json with_names(const Json& sources) {
  Json named(Json::Array{});
  for (const Json& source : sources.items())
    if (!source.text().empty()) named.push(source);
  return named;
}

}  // namespace

Json weight_program_of(const std::string& path, const tenon::Model& model) {
  return Json::parse(tenon::Artifact::compile(stem_of(path), model).describe("weight_program"))["weight_program"];
}

std::string weight_program_text(const Json& programs) {
  std::string text = "\nweight program\n";
  for (const Json& program : programs.items())
    for (const Json& slot : program["slots"].items()) {
      text += fmt::format("  slot {} = {}\n", slot["slot"].plain(), printable(slot["expression"].text()));
      if (!slot["layout"].text().empty()) text += fmt::format("    layout   {}\n", printable(slot["layout"].text()));
      if (const Json named = with_names(slot["sources"]); !named.items().empty())
        text += fmt::format("    sources  {}\n", printable(comma_list(named)));
      for (const Json& guard : slot["guards"].items()) text += guard_text(guard);
      text += fmt::format("    used by  {}\n", printable(comma_list(slot["users"])));
    }
  return text;
}

Exit inspect_artifact(const std::string& path, const ArtifactSections& sections, Console& console) {
  console.progress("reading " + path);
  const ArtifactGroup group = group_of_file(path);
  const tenon::Artifact artifact = open_group(group);
  std::string wanted = "models,packed";
  if (sections.weights) wanted += ",sources";
  if (sections.weight_program) wanted += ",weight_program";
  if (sections.plan || sections.kernels) wanted += ",plan";
  const Json described = Json::parse(refusing(kFailed, path, [&] { return artifact.describe(wanted); }));
  console.end_progress();
  if (console.is_json()) {
    Json document;
    document.set("path", path);
    document.set("weights_file", group.weights_file);
    for (const auto& [section, content] : described.entries())
      if ((section != "plan" || sections.plan) && (section != "packed" || sections.weights))
        document.set(section, content);
    if (sections.kernels) document.set("kernels", kernels_of(described["plan"].items()[0]));
    console.print_document(document);
    return kDone;
  }
  console.print(models_text(path, group, described));
  if (sections.weights) console.print(packed_text(described["packed"]) + sources_text(described["sources"]));
  if (sections.plan) console.print(compiled_plan_text(described["plan"]));
  if (sections.kernels) console.print(kernels_text(kernels_of(described["plan"].items()[0])));
  if (sections.weight_program) console.print(weight_program_text(described["weight_program"]));
  return kDone;
}

}  // namespace cli
