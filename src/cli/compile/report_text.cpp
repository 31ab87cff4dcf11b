#include "cli/compile/report_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/console.h"
#include "cli/text.h"
#include "cli/trial_inputs.h"

namespace cli {

namespace {

std::string validation_text(const Json& validation) {
  const std::string& verdict = validation["verdict"].text();
  if (verdict.empty()) return "-";
  double worst = 0;
  for (const Json& output : validation["outputs"].items()) worst = std::max(worst, output["max_abs"].number());
  if (validation["earlier"].boolean()) return verdict + " when it was compiled";
  return verdict == "same" ? fmt::format("same, max abs {:.3g}", worst) : verdict;
}

std::string status_text(const Json& model) {
  const std::string& status = model["status"].text();
  return model["cached"].boolean() ? status + ", cache hit" : status;
}

// The largest tensors that several models use.
std::string shared_text(const Json& group) {
  constexpr size_t kShown = 5;
  std::vector<const Json*> shared;
  for (const Json& tensor : group["tensors"].items())
    if (tensor["models"].items().size() > 1) shared.push_back(&tensor);
  std::stable_sort(shared.begin(), shared.end(),
                   [](const Json* a, const Json* b) { return (*a)["bytes"].integer() > (*b)["bytes"].integer(); });
  Table table({"shared", ">size", "models"});
  constexpr size_t kWidth = 60;
  for (size_t i = 0; i < std::min(shared.size(), kShown); ++i) {
    std::string what = (*shared[i])["expression"].text();
    if (what.size() > kWidth) what = what.substr(0, kWidth - 3) + "...";
    table.add({what, human_bytes((*shared[i])["bytes"].integer()), (*shared[i])["models"].plain()});
  }
  std::string text = table.text();
  if (shared.size() > kShown) text += fmt::format("  and {} more\n", shared.size() - kShown);
  return text;
}

std::string group_text(const Json& report) {
  const Json& group = report["group"];
  if (group.is_null()) return "";
  const auto bytes = [&](const char* key) { return human_bytes(group[key].integer()); };
  const std::string file = printable(group["weights_file"].text());
  std::string text = file.empty() ? fmt::format("weights: {}, embedded\n", bytes("bytes"))
                                  : fmt::format("weights: {}, {}\n", file, bytes("bytes"));
  const auto& models = report["models"].items();
  // Of one model that is left it cannot be said what it would share.
  if (std::count_if(models.begin(), models.end(), [](const Json& m) { return !m["output"].is_null(); }) < 2)
    return text;
  if (group["bytes_saved"].integer() == 0) return text + "nothing is shared: no two models have a weight in common\n";
  text += fmt::format("sharing saves {} of the {} that the models would take alone\n", bytes("bytes_saved"),
                      bytes("bytes_without_sharing"));
  return text + shared_text(group);
}

// The shapes that each model was compared at.
std::string tried_lines(const Json& report) {
  std::string text;
  for (const Json& model : report["models"].items())
    if (const std::string shapes = tried_text(model["validation"]["tried"]); !shapes.empty())
      text += fmt::format("  {} was tested with {}\n", printable(model["name"].text()), shapes);
  return text;
}

std::string forms_text(const Json& group) {
  std::string text;
  for (const Json& weight : group["stored_twice"].items()) {
    std::string forms;
    for (const Json& form : weight["forms"].items())
      forms += fmt::format("{}{} as {}", forms.empty() ? "" : ", ", human_bytes(form["bytes"].integer()),
                           form["layout"].text());
    text += fmt::format("stored in {} forms: {}: {}\n", weight["forms"].items().size(),
                        printable(weight["weight"].text()), printable(forms));
  }
  return text;
}

std::string written_lines(const Json& report) {
  std::string text;
  for (const Json& file : report["written"].items()) text += fmt::format("wrote {}\n", printable(file.text()));
  return text;
}

}  // namespace

std::string compile_report_text(const Json& report, const Console& console) {
  Table table({"model", "status", ">time", ">nodes", ">steps", ">weights", ">shared", "against the reference"});
  for (const Json& model : report["models"].items()) {
    const bool good = !model["output"].is_null();
    table.add({model["name"].text(), status_text(model), human_seconds(model["seconds"].number()),
               model["nodes"].plain(), model["steps"].plain(),
               good ? human_bytes(model["packed_bytes"].integer()) : "-",
               good ? human_bytes(model["shared"]["bytes"].integer()) : "-", validation_text(model["validation"])});
  }
  std::string text = table.text() + tried_lines(report) + forms_text(report["group"]) + group_text(report);
  const std::string& status = report["status"].text();
  if (status == "up to date")
    return text + console.paint(Color::Green, "everything is up to date") + "; nothing written\n";
  const std::string word = console.paint(status == "failed" ? Color::Red : Color::Green, status);
  return text + written_lines(report) + fmt::format("{} in {}\n", word, human_seconds(report["seconds"].number()));
}

}  // namespace cli
