#include "cli/compile/names.h"

#include <filesystem>
#include <set>

#include "cli/input_files.h"
#include "cli/text.h"
#include "tenon/tenon.hpp"

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
  for (const std::string& file : names.files)
    if (const std::string input = replaced_input(names.path(file), settings.inputs()); !input.empty())
      throw Failure(kUsage, fmt::format("'{}' would be replaced by the result '{}'; choose another output", input,
                                        names.path(file)));
}

// Names end up in ONNX files, whose texts are UTF-8.
void check_is_text(const char* flag, const std::string& name) {
  if (!is_utf8(name))
    throw Failure(kUsage, fmt::format("{}: the name '{}' is not UTF-8, so it cannot be in an ONNX file; choose another",
                                      flag, name));
}

// A folder that is not there will be made; one that cannot be looked at will not.
void check_reachable(const std::string& folder) {
  std::error_code ignored;
  if (!folder.empty() && fs::status(folder, ignored).type() == fs::file_type::none)
    throw Failure(kFailed, folder_problem(folder));
}

// Failure(kFailed) for what is in the way and will not be replaced.
void check_place(const std::string& output) {
  const fs::path path(output);
  if (const std::string problem = folder_problem(path.parent_path().string()); !problem.empty())
    throw Failure(kFailed, fmt::format("{}: {}", output, problem));
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) throw Failure(kFailed, fmt::format("{}: is a folder; use --output-dir", output));
  tenon::check_replaceable(output);
}

}  // namespace

std::string stem_of(const std::string& path) { return fs::path(path).stem().string(); }

OutputNames choose_names(const CompileSettings& settings, const Console& console) {
  OutputNames result;
  result.names = unique_stems(settings.models, console);
  if (!settings.output.empty()) {
    const fs::path output(settings.output);
    check_place(settings.output);
    check_is_text("--output", output.filename().string());
    result.folder = output.parent_path().string();
    result.files = {output.filename().string()};
    result.weights_name = output.stem().string();
  } else {
    const bool beside = settings.output_dir.empty();
    result.folder = beside ? fs::path(settings.models[0]).parent_path().string() : settings.output_dir;
    while (result.folder.size() > 1 && result.folder.ends_with('/')) result.folder.pop_back();
    check_reachable(result.folder);
    for (const std::string& name : result.names) result.files.push_back(name + "_ctx.onnx");
    result.weights_name = result.names.size() == 1 ? result.names[0] : "shared";
  }
  if (!settings.bin_name.empty()) {
    check_is_text("--bin-name", settings.bin_name);
    result.weights_name = settings.bin_name;
  }
  check_inputs_stay(settings, result);
  return result;
}

}  // namespace cli
