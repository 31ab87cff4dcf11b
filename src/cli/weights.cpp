// tenon weights: the weights of models and compiled models.
#include "cli/command.h"
#include "cli/console.h"
#include "cli/failure.h"
#include "cli/weights/action.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/input_files.h"
#include "cli/text.h"

namespace cli {

namespace {

struct Action {
  std::string name;
  std::vector<std::string> takes, needs;
  Exit (*run)(const WeightFlags&, Console&);
};

const std::vector<Action>& actions() {
  static const std::vector<Action> all = {
      {"list", {"--source-dir"}, {}, list_weights},
      {"set",
       {"--from", "--only", "--strict", "--source-dir", "--output", "--output-dir", "--in-place", "--overwrite"},
       {"--from"},
       set_weights},
      {"strip", {"--output", "--overwrite"}, {"--output"}, strip_weights},
      {"export", {"--output", "--source-dir", "--overwrite"}, {"--output"}, export_weights},
  };
  return all;
}

bool contains(const std::vector<std::string>& list, const std::string& text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

class WeightsCommand final : public Command {
 public:
  void declare(Arguments& arguments) override {
    arguments.positional("action", flags_.action, "list, set, strip or export");
    arguments.positional("model", flags_.path,
                         "a model, a compiled model (X_ctx.onnx), or a folder of compiled models");
    arguments.text("--from", flags_.from, "SRC",
                   "set: an ONNX model, a .safetensors or .npz file, or a folder of external-data files with the same "
                   "names and layout as the files that the weights came from");
    arguments.texts("--only", flags_.only, "NAME", "set: replace only this weight; may be repeated");
    arguments.flag("--strict", flags_.strict, "set: fail if the source has a tensor that no model has");
    arguments.texts("--source-dir", flags_.source_dirs, "DIR",
                    "a folder to search for the files that the weights came from");
    arguments.text("-o,--output", flags_.output, "FILE", "the new compiled model; export: the .safetensors file");
    arguments.text("--output-dir", flags_.output_dir, "DIR", "set: the folder for the new compiled models");
    arguments.flag("--in-place", flags_.in_place, "set: replace the compiled models themselves");
    arguments.flag("--overwrite", flags_.overwrite, "replace existing files");
  }

  Exit execute(Console& console) override {
    const auto action =
        std::find_if(actions().begin(), actions().end(), [&](const Action& a) { return a.name == flags_.action; });
    if (action == actions().end()) {
      std::vector<std::string> names;
      for (const Action& a : actions()) names.push_back(a.name);
      const std::string near = suggestion(flags_.action, names);
      throw Failure(kUsage,
                    fmt::format("weights: unknown action '{}'{}", flags_.action,
                                near.empty() ? fmt::format("; the actions are {}", fmt::join(names, ", ")) : near));
    }
    for (const std::string& flag : given())
      if (!contains(action->takes, flag))
        throw Failure(kUsage, fmt::format("{} does not apply to 'weights {}'", flag, action->name));
    for (const std::string& flag : action->needs)
      if (!contains(given(), flag)) throw Failure(kUsage, fmt::format("'weights {}' needs {}", action->name, flag));
    return action->run(flags_, console);
  }

 private:
  std::vector<std::string> given() const {
    std::vector<std::string> flags;
    const auto add = [&](bool is_given, const char* flag) {
      if (is_given) flags.emplace_back(flag);
    };
    add(!flags_.from.empty(), "--from");
    add(!flags_.only.empty(), "--only");
    add(flags_.strict, "--strict");
    add(!flags_.source_dirs.empty(), "--source-dir");
    add(!flags_.output.empty(), "--output");
    add(!flags_.output_dir.empty(), "--output-dir");
    add(flags_.in_place, "--in-place");
    add(flags_.overwrite, "--overwrite");
    return flags;
  }

  WeightFlags flags_;
};

bool is_plain_model(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  try {
    return !tenon::is_context_file(path);
  } catch (const tenon::Error&) {
    return false;  // it is no model at all
  }
}

}  // namespace

void check_replaceable(const std::string& path, const std::vector<std::string>& inputs) {
  if (const std::string input = tenon::replaced_input(path, inputs); !input.empty())
    throw Failure(kUsage,
                  fmt::format("'{}' would be overwritten, but it is also an input; choose another output", input));
  if (is_plain_model(path))
    throw Failure(kUsage, fmt::format("'{}' is a model that is not compiled; choose another output", path));
}

void check_output(const OutputFile& output, const WeightFlags& flags, const ArtifactGroup& group,
                  const tenon::Artifact& artifact) {
  check_replaceable(output.path(), files_of(group, artifact, flags.source_dirs));
  output.check(flags.overwrite, {});
}

CommandInfo weights_command() {
  return {"weights", "Show, replace, remove or export the weights of compiled models.",
          "  tenon weights list model_ctx.onnx\n"
          "  tenon weights set model_ctx.onnx --from tuned.safetensors -o tuned_ctx.onnx\n"
          "  tenon weights set out --from tuned.onnx --in-place   every compiled model of a folder\n"
          "  tenon weights strip model_ctx.onnx -o empty_ctx.onnx\n"
          "  tenon weights export model_ctx.onnx -o weights.safetensors\n",
          []() -> std::unique_ptr<Command> { return std::make_unique<WeightsCommand>(); }};
}

}  // namespace cli
