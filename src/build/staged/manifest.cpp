#include "build/staged/manifest.h"

#include <fstream>
#include <iterator>

#include "build/staged/known_files.h"

namespace tenon::build {

namespace {

constexpr int64_t kFormat = 1;

const Json& output_in(const Json& manifest, const std::string& file) {
  static const Json nothing;
  for (const Json& output : list_in(manifest, "outputs"))
    if (text_in(output, "file") == file) return output;
  return nothing;
}

}  // namespace

Json read_json_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  Json content = Json::parse(text, nullptr, false);
  return content.is_discarded() ? Json() : content;
}

Manifest read_manifest(const std::string& folder) {
  const std::string path = folder + "/" + kManifestFile;
  const Json identity = identity_of_file(path);
  if (identity.is_null()) return {};
  Json content = read_json_file(path);
  if (!content.is_object() || integer_in(content, "format") != kFormat) return {};
  return {std::move(content), integer_in(identity, "modified_ns")};
}

Json outputs_json(const std::string& folder, const std::vector<std::string>& files) {
  Json outputs = Json::array();
  for (const std::string& file : files)
    outputs.push_back({{"file", file}, {"identity", identity_of_file(folder + "/" + file)}});
  return outputs;
}

bool is_own_output(const Json& manifest, const std::string& file) { return !output_in(manifest, file).is_null(); }

bool is_intact(const Json& manifest, const std::string& folder, const std::string& file) {
  const Json identity = identity_of_file(folder + "/" + file);
  return !identity.is_null() && member(output_in(manifest, file), "identity") == identity;
}

std::vector<std::string> outputs_of(const Json& manifest) {
  std::vector<std::string> files;
  for (const Json& output : list_in(manifest, "outputs"))
    // A manifest that somebody has edited must not name files elsewhere.
    if (const std::string file = text_in(output, "file"); !file.empty() && file.find('/') == std::string::npos)
      files.push_back(file);
  return files;
}

}  // namespace tenon::build
