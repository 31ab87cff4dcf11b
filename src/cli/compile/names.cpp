#include "cli/compile/names.h"

#include <filesystem>
#include <set>

namespace cli {

namespace fs = std::filesystem;

namespace {

// The first model of a stem has it; later ones get the first number that no other input has either.
std::vector<std::string> unique_stems(const std::vector<std::string>& models, const Console& console) {
  std::set<std::string> stems, taken;
  for (const std::string& path : models) stems.insert(stem_of(path));
  std::vector<std::string> names;
  for (const std::string& path : models) {
    const std::string stem = stem_of(path);
    std::string name = stem;
    for (int i = 1; taken.contains(name) || (name != stem && stems.contains(name)); ++i)
      name = fmt::format("{}_{}", stem, i);
    if (name != stem)
      console.warning(fmt::format("{}: another model is called '{}'; this one becomes '{}'", path, stem, name));
    taken.insert(name);
    names.push_back(name);
  }
  return names;
}

void check_inputs_stay(const CompileSettings& settings, const OutputNames& names) {
  for (size_t i = 0; i < names.files.size(); ++i)
    for (const std::string& input : settings.models) {
      std::error_code ignored;
      const bool same = fs::equivalent(names.path(i), input, ignored) ||
                        fs::weakly_canonical(names.path(i), ignored) == fs::weakly_canonical(input, ignored);
      if (same)
        throw Failure(kUsage, fmt::format("'{}' would be replaced by its own result; choose another output", input));
    }
}

}  // namespace

std::string stem_of(const std::string& path) { return fs::path(path).stem().string(); }

OutputNames choose_names(const CompileSettings& settings, const Console& console) {
  OutputNames result;
  result.names = unique_stems(settings.models, console);
  if (!settings.output.empty()) {
    const fs::path output(settings.output);
    std::error_code ignored;
    if (fs::is_directory(output, ignored))
      throw Failure(kFailed, fmt::format("{}: is a folder; use --output-dir", settings.output));
    if (output.has_parent_path() && !fs::is_directory(output.parent_path(), ignored))
      throw Failure(kFailed,
                    fmt::format("{}: there is no folder '{}'", settings.output, output.parent_path().string()));
    result.folder = output.parent_path().string();
    result.files = {output.filename().string()};
    result.weights_name = output.stem().string();
  } else {
    const bool beside = settings.output_dir.empty();
    result.folder = beside ? fs::path(settings.models[0]).parent_path().string() : settings.output_dir;
    while (result.folder.size() > 1 && result.folder.ends_with('/')) result.folder.pop_back();
    for (const std::string& name : result.names) result.files.push_back(name + "_ctx.onnx");
    result.weights_name = result.names.size() == 1 ? result.names[0] : "shared";
  }
  if (!settings.bin_name.empty()) result.weights_name = settings.bin_name;
  check_inputs_stay(settings, result);
  return result;
}

}  // namespace cli
