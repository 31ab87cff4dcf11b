#include "cli/compile/report.h"

#include <algorithm>
#include <cmath>

#include "cli/text.h"
#include "cli/trial_inputs.h"

namespace cli {

namespace {

Json list_of(const std::vector<std::string>& texts) {
  Json list(Json::Array{});
  for (const std::string& text : texts) list.push(text);
  return list;
}

Json model_report(const OutputNames& names, const ModelJob& job) {
  const bool good = job.state == ModelJob::State::Compiled || job.state == ModelJob::State::UpToDate;
  Json entry;
  entry.set("model", job.path);
  entry.set("name", job.name);
  entry.set("status", job.state_text());
  entry.set("output", good ? Json(names.path(job.file)) : Json());
  if (!job.error.empty()) entry.set("error", job.error);
  entry.set("seconds", job.seconds);
  entry.set("nodes", job.nodes);
  if (good) {
    entry.set("steps", job.steps);
    entry.set("bytes", job.context_bytes);
    entry.set("packed_bytes", job.packed_bytes);
    entry.set(
        "shared",
        Json::Object{{"tensors", job.shared_tensors}, {"bytes", job.shared_bytes}, {"with", list_of(job.shared_with)}});
  }
  entry.set("validation", job.validation);
  entry.set("warnings", list_of(job.warnings));
  return entry;
}

std::vector<std::string> written_files(const OutputNames& names, const std::vector<ModelJob>& jobs,
                                       const GroupResult& group) {
  std::vector<std::string> files;
  for (const ModelJob& job : jobs)
    if (job.state == ModelJob::State::Compiled) files.push_back(names.path(job.file));
  if (!files.empty() && !group.weights_file.empty()) files.push_back(names.path(group.weights_file));
  return files;
}

// A weight of one name and content.
struct StoredWeight {
  std::string name, hash;
  int64_t bytes = 0;
};

// The weights that a packed tensor holds: the largest it is made of. A scale that is folded into a filter is not stored
// with it once more.
std::vector<StoredWeight> weights_in(const Json& tensor, const Json& sources) {
  std::vector<StoredWeight> weights;
  int64_t largest = 0;
  const std::string& model = tensor["models"].items()[0].text();
  for (const Json& name : tensor["sources"].items())
    for (const Json& source : sources.items()) {
      const auto& users = source["models"].items();
      if (name.text().empty() || source["name"].text() != name.text() ||
          std::none_of(users.begin(), users.end(), [&](const Json& user) { return user.text() == model; }))
        continue;
      weights.push_back({name.text(), source["hash"].text(), source["bytes"].integer()});
      largest = std::max(largest, weights.back().bytes);
      break;
    }
  std::erase_if(weights, [&](const StoredWeight& weight) { return weight.bytes < largest; });
  return weights;
}

// Weights that several kernels read in different forms, as a table of embeddings does that is also multiplied with:
// each form takes its own bytes.
Json stored_twice(const Json& tensors, const Json& sources) {
  std::vector<std::pair<StoredWeight, Json>> forms_of;  // in the order of the file
  for (const Json& tensor : tensors.items())
    for (const StoredWeight& weight : weights_in(tensor, sources)) {
      auto it = std::find_if(forms_of.begin(), forms_of.end(),
                             [&](const auto& f) { return f.first.name == weight.name && f.first.hash == weight.hash; });
      if (it == forms_of.end()) it = forms_of.insert(it, {weight, Json(Json::Array{})});
      const std::string& layout = tensor["layout"].text();
      it->second.push(Json::Object{{"layout", layout.empty() ? "rows" : layout},
                                   {"dtype", tensor["dtype"]},
                                   {"shape", tensor["shape"]},
                                   {"bytes", tensor["bytes"]},
                                   {"key", tensor["key"]}});
    }
  Json result(Json::Array{});
  for (auto& [weight, forms] : forms_of)
    if (forms.items().size() > 1) result.push(Json::Object{{"weight", weight.name}, {"forms", std::move(forms)}});
  return result;
}

std::string validation_text(const Json& validation) {
  const std::string& verdict = validation["verdict"].text();
  if (verdict.empty()) return "-";
  double worst = 0;
  for (const Json& output : validation["outputs"].items()) worst = std::max(worst, output["max_abs"].number());
  if (validation["earlier"].boolean()) return verdict + " when it was compiled";
  return verdict == "same" ? fmt::format("same, max abs {:.3g}", worst) : verdict;
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
  text += fmt::format("shared: {} of {} that the models would take alone are saved\n", bytes("bytes_saved"),
                      bytes("bytes_without_sharing"));
  return text + shared_text(group);
}

// The shapes that each model was compared at.
std::string tried_lines(const Json& report) {
  std::string text;
  for (const Json& model : report["models"].items())
    if (const std::string shapes = tried_text(model["validation"]["tried"]); !shapes.empty())
      text += fmt::format("  {} was tried with {}\n", printable(model["name"].text()), shapes);
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

Json compile_report(const CompileSettings& settings, const OutputNames& names, const std::vector<ModelJob>& jobs,
                    const GroupResult& group, double seconds) {
  bool failed = false, written = false, current = false;
  Json models(Json::Array{});
  for (const ModelJob& job : jobs) {
    failed = failed || job.state == ModelJob::State::Failed;
    written = written || job.state == ModelJob::State::Compiled;
    current = current || job.state == ModelJob::State::UpToDate;
    models.push(model_report(names, job));
  }
  Json report;
  report.set("compiler", settings.compiler);
  report.set("status", failed ? "failed" : written ? "compiled" : "up to date");
  report.set("folder", names.folder.empty() ? "." : names.folder);
  report.set("seconds", seconds);
  report.set("threads", settings.threads);
  report.set("models", std::move(models));
  Json shared;
  if (written || current) {
    shared.set("weights_file", group.weights_file);
    shared.set("bytes", group.weights_bytes);
    shared.set("packed_bytes", group.packed_bytes);
    shared.set("bytes_without_sharing", group.unshared_bytes);
    shared.set("bytes_saved", group.unshared_bytes - group.packed_bytes);
    shared.set("tensors", group.tensors);
    shared.set("stored_twice", stored_twice(group.tensors, group.sources));
  }
  report.set("written", list_of(written_files(names, jobs, group)));
  report.set("group", std::move(shared));
  return report;
}

std::string compile_report_text(const Json& report, const Console& console) {
  Table table({"model", "status", ">time", ">nodes", ">steps", ">weights", ">shared", "against the reference"});
  for (const Json& model : report["models"].items()) {
    const bool good = !model["output"].is_null();
    table.add({model["name"].text(), model["status"].text(), human_seconds(model["seconds"].number()),
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
