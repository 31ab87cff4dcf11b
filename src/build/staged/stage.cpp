#include "build/staged/stage.h"

#include <algorithm>

namespace tenon::build {

namespace {

Json file_json(const FileRecord& file) {
  return {{"path", file.path},
          {"bytes", file.bytes},
          {"hash", file.hash},
          {"parts", file.parts},
          {"bytes_read", file.bytes_read},
          {"source", file.is_missing  ? "missing"
                     : file.was_known ? "hash known"
                                      : "hashed"},
          {"identity", file.identity}};
}

Json stage_json(const Stage& stage) {
  return {{"status", stage.status},
          {"why", stage.why},
          {"key", stage.key},
          {"bytes_read", stage.bytes_read},
          {"bytes_written", stage.bytes_written},
          {"seconds", stage.seconds}};
}

}  // namespace

int64_t StagedModel::bytes_read() const {
  int64_t bytes = 0;
  for (const FileRecord& file : files) bytes += file.bytes_read;
  return bytes;
}

bool StagedModel::are_files_known() const { return std::ranges::all_of(files, &FileRecord::was_known); }

Json model_json(const StagedModel& model) {
  Json files = Json::array(), stages = Json::object();
  for (const FileRecord& file : model.files) files.push_back(file_json(file));
  for (size_t i = 0; i < kStageNames.size(); ++i) stages[kStageNames[i]] = stage_json(model.stages[i]);
  return {{"model", model.path},
          {"name", model.name},
          {"output", model.output.empty() ? Json() : Json(model.output)},
          {"error", model.error.empty() ? Json() : Json(model.error)},
          {"structure", model.structure},
          {"capabilities", model.capabilities},
          {"rounds", model.rounds},
          {"files", std::move(files)},
          {"stages", std::move(stages)}};
}

const Json& model_in(const Json& manifest, const std::string& path) {
  static const Json nothing;
  for (const Json& model : list_in(manifest, "models"))
    if (text_in(model, "model") == path) return model;
  return nothing;
}

bool was_done(const Json& model, StageName name, const std::string& key) {
  const Json& stage = member(member(model, "stages"), kStageNames[static_cast<size_t>(name)]);
  const std::string status = text_in(stage, "status");
  return (status == "ran" || status == "skipped") && !key.empty() && text_in(stage, "key") == key;
}

}  // namespace tenon::build
