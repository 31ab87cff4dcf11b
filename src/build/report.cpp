#include "build/report.h"

#include <algorithm>

#include "build/names.h"

namespace tenon::build {

namespace {

Json model_report(const OutputNames& names, const ModelJob& job) {
  Json entry;
  entry["model"] = job.path;
  entry["name"] = job.name;
  entry["status"] = job.state_text();
  entry["output"] = job.is_good() ? Json(names.path(job.file)) : Json();
  if (!job.error.empty()) entry["error"] = job.error;
  entry["seconds"] = job.seconds;
  entry["nodes"] = job.nodes;
  if (job.is_good()) {
    entry["steps"] = job.steps;
    entry["bytes"] = job.context_bytes;
    entry["packed_bytes"] = job.packed_bytes;
    entry["shared"] =
        Json::object({{"tensors", job.shared_tensors}, {"bytes", job.shared_bytes}, {"with", job.shared_with}});
  }
  if (!job.optimized.is_null()) entry["optimize"] = job.optimized;
  if (job.state == ModelJob::State::Compiled) entry["cached"] = job.cached;
  entry["validation"] = job.validation;
  entry["warnings"] = job.warnings;
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
  const Json& model = list_in(tensor, "models")[0];
  for (const Json& name : list_in(tensor, "sources"))
    for (const Json& source : sources) {
      const Json& users = list_in(source, "models");
      if (plain_text(name).empty() || member(source, "name") != name ||
          std::none_of(users.begin(), users.end(), [&](const Json& user) { return user == model; }))
        continue;
      weights.push_back({name.get<std::string>(), text_in(source, "hash"), integer_in(source, "bytes")});
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
  for (const Json& tensor : tensors)
    for (const StoredWeight& weight : weights_in(tensor, sources)) {
      auto it = std::find_if(forms_of.begin(), forms_of.end(),
                             [&](const auto& f) { return f.first.name == weight.name && f.first.hash == weight.hash; });
      if (it == forms_of.end()) it = forms_of.insert(it, {weight, Json::array()});
      const std::string layout = text_in(tensor, "layout");
      it->second.push_back(Json::object({{"layout", layout.empty() ? "rows" : layout},
                                         {"dtype", member(tensor, "dtype")},
                                         {"shape", member(tensor, "shape")},
                                         {"bytes", member(tensor, "bytes")},
                                         {"key", member(tensor, "key")}}));
    }
  Json result = Json::array();
  for (auto& [weight, forms] : forms_of)
    if (forms.size() > 1) result.push_back(Json::object({{"weight", weight.name}, {"forms", std::move(forms)}}));
  return result;
}

Json group_report(const GroupResult& group) {
  Json shared;
  shared["weights_file"] = group.weights_file;
  shared["bytes"] = group.weights_bytes;
  shared["packed_bytes"] = group.packed_bytes;
  shared["bytes_without_sharing"] = group.unshared_bytes;
  shared["bytes_saved"] = group.unshared_bytes - group.packed_bytes;
  shared["tensors"] = group.tensors;
  shared["stored_twice"] = stored_twice(group.tensors, group.sources);
  return shared;
}

}  // namespace

Json build_report(const BuildRequest& request, const OutputNames& names, const std::vector<ModelJob>& jobs,
                  const GroupResult& group, double seconds) {
  bool failed = false, written = false, current = false;
  Json models = Json::array();
  for (const ModelJob& job : jobs) {
    failed = failed || job.state == ModelJob::State::Failed;
    written = written || job.state == ModelJob::State::Compiled;
    current = current || job.state == ModelJob::State::UpToDate;
    models.push_back(model_report(names, job));
  }
  Json report;
  report["compiler"] = request.compiler;
  report["status"] = failed ? "failed" : written ? "compiled" : "up to date";
  report["folder"] = names.folder.empty() ? "." : names.folder;
  report["seconds"] = seconds;
  report["threads"] = request.threads;
  report["models"] = std::move(models);
  report["written"] = written_files(names, jobs, group);
  report["group"] = written || current ? group_report(group) : Json();
  return report;
}

}  // namespace tenon::build
