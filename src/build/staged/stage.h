#pragma once

#include <array>
#include <string>
#include <vector>

#include "build/staged/known_files.h"

namespace tenon::build {

// What a model goes through.
enum class StageName { Import, Optimize, Analyze, Compile };
inline constexpr std::array<const char*, 4> kStageNames = {"import", "optimize", "analyze", "compile"};

struct Stage {
  std::string status;  // "ran", "skipped", "failed", "off"; with dry_run "would run"
  std::string why;
  std::string key;  // of everything that decides about its result
  int64_t bytes_read = 0, bytes_written = 0;
  double seconds = 0;
};

// A model of a staged build.
struct StagedModel {
  std::string path, name;
  std::vector<FileRecord> files;  // the model first
  std::string structure;          // fingerprint of its graph, in which most weights do not count
  std::array<Stage, 4> stages;
  Json capabilities;            // those that are on
  Json rounds = Json::array();  // of switching on what was suggested
  Json analysis;                // null: there is none
  std::string output, error;

  Stage& at(StageName name) { return stages[static_cast<size_t>(name)]; }
  const Stage& at(StageName name) const { return stages[static_cast<size_t>(name)]; }
  // Of its files, to hash them.
  int64_t bytes_read() const;
  bool are_files_known() const;
};

Json model_json(const StagedModel& model);
// What the last manifest says of a model; null when it says nothing.
const Json& model_in(const Json& manifest, const std::string& path);
// Whether a stage had this key when it last came to its end.
bool was_done(const Json& model, StageName name, const std::string& key);

}  // namespace tenon::build
