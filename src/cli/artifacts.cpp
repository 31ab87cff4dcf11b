#include "cli/artifacts.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "cli/failure.h"
#include "cli/input_files.h"
#include "cli/models.h"

namespace cli {

namespace fs = std::filesystem;

std::string ArtifactGroup::weights_name() const {
  if (embedded()) return fs::path(paths[0]).stem().string();
  const size_t dash = weights_file.rfind('-');
  return dash == std::string::npos ? fs::path(weights_file).stem().string() : weights_file.substr(0, dash);
}

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

void add_source_dirs(const std::vector<std::string>& folders, tenon::Options& options) {
  for (const std::string& folder : folders) {
    if (const std::string problem = folder_problem(folder); folder.empty() || !problem.empty())
      throw Failure(kUsage, "--source-dir: " + (folder.empty() ? "the folder name is empty" : problem));
    options.set("source_dir:" + folder, "1");
  }
}

std::vector<std::string> files_of(const ArtifactGroup& group, const tenon::Artifact& artifact,
                                  const std::vector<std::string>& source_dirs) {
  std::vector<std::string> folders = {group.folder}, files = group.paths;
  folders.insert(folders.end(), source_dirs.begin(), source_dirs.end());
  if (!group.embedded()) files.push_back((fs::path(group.folder) / group.weights_file).string());
  std::set<std::string> names;
  const Json described = Json::parse(artifact.describe("models,sources"));
  for (const Json& model : described["models"].items()) names.insert(model["source_file"].text());
  for (const Json& source : described["sources"].items()) names.insert(source["file"].text());
  names.erase("");
  for (const std::string& folder : folders)
    for (const std::string& name : names) files.push_back((fs::path(folder) / name).string());
  return files;
}

ArtifactGroup group_of_file(const std::string& path) {
  return refusing(kCannotLoad, path, [&] {
    const Json described = Json::parse(tenon::describe_context_file(path));
    return ArtifactGroup{fs::path(path).parent_path().string(),
                         {path},
                         described["weights_file"].text(),
                         described["content_id"].text(),
                         ""};
  });
}

std::vector<ArtifactGroup> groups_in_folder(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code problem, ignored;
  for (fs::directory_iterator entry(folder, problem), end; !problem && entry != end; entry.increment(problem))
    if (entry->is_regular_file(ignored) && entry->path().extension() == ".onnx")
      names.push_back(entry->path().string());
  if (problem) throw Failure(kCannotLoad, fmt::format("{}: cannot read the folder: {}", folder, problem.message()));
  std::sort(names.begin(), names.end());
  std::vector<ArtifactGroup> groups;
  std::map<std::string, size_t> by_content;
  for (const std::string& path : names) {
    ArtifactGroup one;
    try {
      if (!tenon::is_context_file(path)) continue;
      one = group_of_file(path);
    } catch (const std::exception& error) {
      // By its name it should be one; others are none of our business.
      if (path.ends_with("_ctx.onnx")) groups.push_back({folder, {path}, "", "", in_file(path, error.what())});
      continue;
    }
    // Embedded weights belong to their own file, whatever is in them.
    const std::string key = one.embedded() ? path : one.weights_file + "/" + one.content_id;
    const auto [it, is_new] = by_content.emplace(key, groups.size());
    if (is_new)
      groups.push_back(std::move(one));
    else
      groups[it->second].paths.push_back(path);
  }
  return groups;
}

std::vector<ArtifactGroup> find_groups(const std::string& path) {
  if (!is_folder(path)) return {group_of_file(path)};
  std::vector<ArtifactGroup> groups = groups_in_folder(path);
  if (groups.empty()) throw Failure(kCannotLoad, path + ": this folder contains no compiled model");
  return groups;
}

tenon::Artifact open_group(const ArtifactGroup& group, const tenon::Options& options) {
  if (!group.problem.empty()) throw Failure(kCannotLoad, group.problem);
  return refusing(kCannotLoad, group.paths[0], [&] { return tenon::Artifact::load(group.paths, options); });
}

}  // namespace cli
