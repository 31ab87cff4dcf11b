#include "build/names.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "build/input_files.h"
#include "build/text.h"
#include "tenon/tenon.hpp"

namespace tenon::build {

namespace fs = std::filesystem;

namespace {

std::string stem_of(const ModelRequest& model) {
  return model.name.empty() ? fs::path(model.path).stem().string() : model.name;
}

// The first model of a stem has it; later ones get the first number that no other input has either.
std::vector<std::string> unique_stems(const std::vector<ModelRequest>& models, const Listener& tell) {
  std::set<std::string> stems, taken;
  for (const ModelRequest& model : models) stems.insert(stem_of(model));
  std::vector<std::string> names;
  for (size_t i = 0; i < models.size(); ++i) {
    const std::string stem = stem_of(models[i]);
    std::string name = stem;
    for (int n = 1; taken.contains(name) || (name != stem && stems.contains(name)); ++n)
      name = fmt::format("{}_{}", stem, n);
    if (name != stem)
      tell(Event::Warning, i, fmt::format("another model is named '{}'; this one becomes '{}'", stem, name));
    taken.insert(name);
    names.push_back(name);
  }
  return names;
}

void check_inputs_stay(const BuildRequest& request, const OutputNames& names) {
  std::vector<std::string> inputs;
  for (const ModelRequest& model : request.models) inputs.push_back(model.path);
  for (const std::string& file : names.files)
    if (const std::string input = replaced_input(names.path(file), inputs); !input.empty())
      throw Error(
          TN_INVALID_ARGUMENT,
          fmt::format("'{}' would be overwritten by the result '{}'; choose another output", input, names.path(file)));
}

// Names end up in ONNX files, whose texts are UTF-8.
void check_is_text(const char* option, const std::string& name) {
  if (!is_utf8(name))
    throw Error(
        TN_INVALID_ARGUMENT,
        fmt::format("option '{}': the name '{}' is not UTF-8, which ONNX files require; choose another", option, name));
}

// A folder that is not there will be made; one that cannot be looked at will not.
void check_reachable(const std::string& folder) {
  std::error_code ignored;
  if (!folder.empty() && fs::status(folder, ignored).type() == fs::file_type::none)
    throw Error(TN_IO, folder_problem(folder));
}

// TN_IO for what is in the way and will not be replaced.
void check_place(const std::string& output) {
  const fs::path path(output);
  if (const std::string problem = folder_problem(path.parent_path().string()); !problem.empty())
    throw Error(TN_IO, fmt::format("{}: {}", output, problem));
  std::error_code ignored;
  if (fs::is_directory(path, ignored))
    throw Error(TN_IO, fmt::format("{}: this is a folder; use the option 'output_dir'", output));
  try {
    check_replaceable(output);
  } catch (const Error& error) {
    throw Error(TN_IO, error.what());
  }
}

}  // namespace

OutputNames choose_names(const BuildRequest& request, const Listener& tell) {
  OutputNames result;
  result.names = unique_stems(request.models, tell);
  if (!request.output.empty()) {
    const fs::path output(request.output);
    check_place(request.output);
    check_is_text("output", output.filename().string());
    result.folder = output.parent_path().string();
    result.files = {output.filename().string()};
    result.weights_name = output.stem().string();
  } else {
    const bool beside = request.output_dir.empty();
    result.folder = beside ? fs::path(request.models[0].path).parent_path().string() : request.output_dir;
    while (result.folder.size() > 1 && result.folder.ends_with('/')) result.folder.pop_back();
    check_reachable(result.folder);
    for (const std::string& name : result.names) result.files.push_back(name + "_ctx.onnx");
    result.weights_name = result.names.size() == 1 ? result.names[0] : "shared";
  }
  if (!request.weights_name.empty()) {
    check_is_text("weights_name", request.weights_name);
    result.weights_name = request.weights_name;
  }
  check_inputs_stay(request, result);
  return result;
}

}  // namespace tenon::build
