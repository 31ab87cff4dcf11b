#pragma once

#include <string>
#include <vector>

#include "build/json.h"

namespace tenon::build {

inline constexpr const char* kManifestFile = "manifest.json";
inline constexpr const char* kAnalysisFile = "analysis.json";
inline constexpr const char* kEffectiveFile = "effective_build.json";

// What the last build wrote about itself into its folder.
struct Manifest {
  Json content;  // null when there is none that this version can read
  int64_t modified_ns = 0;
};
// Null for what is missing or no JSON.
Json read_json_file(const std::string& path);
Manifest read_manifest(const std::string& folder);

// The files that a build made, as the manifest lists them: [{file, identity}], by names in the folder.
Json outputs_json(const std::string& folder, const std::vector<std::string>& files);
// Whether the last build made this file of its folder.
bool is_own_output(const Json& manifest, const std::string& file);
// Whether a file that the last build made is there, and nobody has written to it.
bool is_intact(const Json& manifest, const std::string& folder, const std::string& file);
std::vector<std::string> outputs_of(const Json& manifest);

}  // namespace tenon::build
