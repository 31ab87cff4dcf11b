#include "build/save_optimized.h"

#include <chrono>
#include <filesystem>

#include "base/file.h"
#include "base/file_kind.h"
#include "base/folder.h"
#include "build/optimize_file.h"
#include "onnx/place_weights.h"
#include "wire/onnx_tensors.h"

namespace tenon::build {

namespace {

// What the model that will be replaced refers to.
std::set<std::string> data_files_of(const std::string& path) {
  if (!is_there(path)) return {};
  const auto model = open_file(path);
  return model.ok() ? data_files((*model)->wire) : std::set<std::string>();
}

// Names for the data file of an output: "net.onnx.data", "net.onnx.1.data", ...
std::string data_file_name(const std::string& output, int number) {
  return file_name_of(output) + (number ? fmt::format(".{}.data", number) : ".data");
}

// Until the output is replaced, its old data file must stay as it is.
std::string free_data_file_name(const std::string& output, const std::set<std::string>& taken) {
  int number = 0;
  while (taken.contains(data_file_name(output, number))) ++number;
  return data_file_name(output, number);
}

// The data file of the model that was replaced, where the new one has another. One that cannot be removed does no harm.
void remove_old_data_files(const std::string& output, const std::set<std::string>& old,
                           const std::set<std::string>& now) {
  for (size_t i = 0; i <= old.size(); ++i) {
    const std::string name = data_file_name(output, static_cast<int>(i));
    if (old.contains(name) && !now.contains(name)) (void)remove_file(folder_of(output) + "/" + name).ok();
  }
}

Status check_free(const std::string& path, bool overwrite) {
  if (overwrite || !exists(path)) return {};
  return invalid_argument("'{}' exists; set the option 'overwrite' to replace it", path);
}

// The data file first; when the model does not get its name after it, it goes again.
Status write_files(const SaveRequest& request, const std::string& data_path, const PlacedWeights& placed,
                   const wire::MessageWriter& model) {
  if (placed.data.empty()) return write_file_atomically(request.output, model.pieces());
  TN_RETURN_IF_ERROR(check_free(data_path, request.overwrite));
  TN_RETURN_IF_ERROR(check_replaceable(request.output));
  const bool replaces = exists(data_path);
  Status data_status = write_file_atomically(data_path, placed.data);
  Status status = data_status.ok() ? write_file_atomically(request.output, model.pieces()) : std::move(data_status);
  const bool is_needed = data_files_of(request.output).contains(file_name_of(data_path));
  if (!status.ok() && !replaces && !is_needed) (void)remove_file(data_path).ok();
  return status;
}

// Where the data files of a model are; "" when some are in memory.
std::string data_folder(const ImportedModel& model) {
  if (model.options.wrap_external) return "";
  return model.path.empty() ? model.folder : folder_of(model.path);
}

}  // namespace

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code problem;
  return std::filesystem::equivalent(a, b, problem) && !problem;
}

std::set<std::string> data_files(const wire::Model& model) {
  std::set<std::string> locations;
  wire::for_each_tensor(model, [&](const wire::TensorProto& tensor) {
    if (!tensor.is_external) return;
    for (const wire::StringEntry& entry : tensor.external_data)
      if (entry.key == "location") locations.emplace(entry.value);
  });
  return locations;
}

Result<Json> write_rewritten(const ImportedModel& model, RewrittenModel& rewritten, const SaveRequest& request,
                             bool external_stays) {
  ExportedModel& exported = rewritten.exported;
  const std::set<std::string> old = data_files_of(request.output);
  std::set<std::string> taken = old;
  if (external_stays) taken.merge(data_files(exported.model));
  const PlaceOptions options{free_data_file_name(request.output, taken), external_stays, request.most_file_bytes};
  TN_ASSIGN_OR_RETURN(const PlacedWeights placed, place_weights(exported, model.bytes, model.external, options));
  TN_RETURN_IF_ERROR(renew_stamp(exported, model.bytes, placed.external.get(), request.capabilities.set));
  auto writer = wire::encode_model(exported.model);
  if (!writer.ok()) return std::move(writer).status().in(request.output);
  TN_RETURN_IF_ERROR(write_files(request, folder_of(request.output) + "/" + options.data_file, placed, *writer));
  const std::set<std::string> now = data_files(exported.model);
  remove_old_data_files(request.output, old, now);
  Json files = Json::array();
  for (const std::string& name : now) {
    const bool is_new = name == options.data_file;
    Json file = {{"name", name}, {"written", is_new ? "weights" : "nothing"}};
    if (is_new) file["bytes"] = placed.data_bytes;
    files.push_back(std::move(file));
  }
  return files;
}

Result<std::string> save_optimized(const ImportedModel& model, const SaveRequest& request) {
  const auto started = std::chrono::steady_clock::now();
  TN_RETURN_IF_ERROR(check_free(request.output, request.overwrite));
  TN_ASSIGN_OR_RETURN(RewrittenModel rewritten, optimize_model(model, request.capabilities.set));
  const std::string from = data_folder(model);
  const bool stays = !from.empty() && is_same_file(from, folder_of(request.output));
  TN_ASSIGN_OR_RETURN(Json files, write_rewritten(model, rewritten, request, stays));
  Json report = Json::parse(report_of(rewritten, request.capabilities));
  report["output"] = request.output;
  report["written"] = "model";
  report["data_files"] = std::move(files);
  report["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  return dump(report);
}

}  // namespace tenon::build
