// tenon build: import, optimize, analyze and compile, each only where something has changed.
#include <fmt/format.h>

#include "cli/arguments.h"
#include "cli/build/report_text.h"
#include "cli/build/settings.h"
#include "cli/command.h"
#include "cli/compile/words.h"
#include "cli/console.h"
#include "cli/failure.h"
#include "cli/models.h"
#include "cli/output_file.h"

namespace cli {

namespace {

class StagedCommand final : public Command {
 public:
  void declare(Arguments& arguments) override { flags_.declare(arguments); }

  Exit execute(Console& console) override {
    const BuildSettings settings = flags_.resolve(console);
    tenon::Build build(settings.options());
    build.listen([&](tn_build_event event, size_t model, const std::string& text) {
      tell(console, settings, event, model, text);
    });
    for (const BuildModel& model : settings.models) build.add(model.path, settings.model_options(model));
    try {
      build.prepare();
    } catch (const tenon::Error& error) {
      throw Failure(error.code() == TN_INVALID_ARGUMENT ? kUsage : kFailed, in_words_of_flags(error.what()));
    }
    check_config_stays(settings, build);
    const OutputFile report_file("--report", settings.report);
    if (report_file.wanted()) report_file.check(settings.overwrite, read_or_written(settings, build));
    const Json report = Json::parse(build.run());
    console.end_progress();
    for (const Json& model : report["models"].items())
      if (!model["error"].is_null()) console.error(in_words_of_flags(model["error"].text()));
    if (report_file.wanted())
      report_file.write(settings.report.ends_with(".html") ? tenon::report_html(report.dump()) : report.dump() + "\n");
    console.is_json() ? console.print_document(report) : console.print(build_report_text(report, console));
    return report["status"].text() == "failed" ? kFailed : kDone;
  }

 private:
  static void tell(const Console& console, const BuildSettings& settings, tn_build_event event, size_t model,
                   const std::string& text) {
    if (event == TN_BUILD_PROGRESS) return console.progress(text);
    if (event == TN_BUILD_DETAIL) return console.detail(text);
    const std::string message = in_words_of_flags(text);
    console.warning(model == TN_BUILD_NO_MODEL ? message : in_file(settings.models[model].path, message));
  }

  static std::vector<std::string> written(const BuildSettings& settings, const tenon::Build& build) {
    std::vector<std::string> files;
    for (size_t i = 0; i < build.size(); ++i) files.push_back(build.output(i));
    for (const char* file : {"manifest.json", "analysis.json", "effective_build.json"})
      files.push_back(settings.output + "/" + file);
    return files;
  }
  static std::vector<std::string> read_or_written(const BuildSettings& settings, const tenon::Build& build) {
    std::vector<std::string> files = written(settings, build);
    for (const BuildModel& model : settings.models) files.push_back(model.path);
    if (!settings.config.empty()) files.push_back(settings.config);
    return files;
  }

  // The library knows of the models only.
  static void check_config_stays(const BuildSettings& settings, const tenon::Build& build) {
    if (settings.config.empty()) return;
    for (const std::string& output : written(settings, build))
      if (!tenon::replaced_input(output, {&settings.config, 1}).empty())
        throw Failure(kUsage, fmt::format("'{}' would be overwritten by the result '{}'; choose another output",
                                          settings.config, output));
  }

  BuildFlags flags_;
};

}  // namespace

CommandInfo build_command() {
  return {
      "build", "Optimize, analyze and compile models, and do nothing again that is done already.",
      "  tenon build -m model.onnx -o out                     writes the compiled model, manifest.json, analysis.json\n"
      "  tenon build -m prefill.onnx -m decode.onnx -o out    a group that shares one weights file\n"
      "  tenon build -c build.json\n"
      "  tenon build -m model.onnx -o out --dry-run           what would run, and why\n"
      "  tenon build -m model.onnx -o out --keep optimized    also out/model_opt.onnx\n"
      "  tenon build -m model.onnx -o out --no-compile        only that\n",
      []() -> std::unique_ptr<Command> { return std::make_unique<StagedCommand>(); }};
}

}  // namespace cli
