// tenon compile: models to compiled models that share one weights file.
#include <fmt/format.h>

#include "cli/command.h"
#include "cli/compile/compilers.h"
#include "cli/compile/report_text.h"
#include "cli/compile/run.h"
#include "cli/console.h"
#include "cli/failure.h"
#include "cli/text.h"

namespace cli {

namespace {

class Compile final : public Command {
 public:
  void declare(Arguments& arguments) override { flags_.declare(arguments); }

  Exit execute(Console& console) override {
    if (flags_.wants_list()) return list(console);
    if (flags_.wants_option_help()) return option_help(console);
    const CompileSettings settings = flags_.resolve(console);
    CompileRun run(settings, console);
    const Json report = run.report();
    if (run.report_file().wanted())
      run.report_file().write(settings.report.ends_with(".html") ? tenon::report_html(report.dump())
                                                                 : report.dump() + "\n");
    console.is_json() ? console.print_document(report) : console.print(compile_report_text(report, console));
    return report["status"].text() == "failed" ? kFailed : kDone;
  }

 private:
  static Exit list(Console& console) {
    const std::vector<CompilerInfo> compilers = probe_compilers();
    if (console.is_json()) {
      console.print_document(Json::Object{{"compilers", compilers_json(compilers)}});
      return kDone;
    }
    Table table({"compiler", "", "here"});
    for (const CompilerInfo& info : compilers) {
      const std::string name = info.alias.empty() ? info.name : fmt::format("{} ({})", info.name, info.alias);
      table.add({name, info.what, info.state()});
    }
    console.print(table.text());
    return kDone;
  }

  static Exit option_help(Console& console) {
    if (console.is_json()) throw Failure(kUsage, "--ep-options help prints text only; leave out --format json");
    console.print(provider_option_help());
    return kDone;
  }

  CompileFlags flags_;
};

}  // namespace

CommandInfo compile_command() {
  return {"compile", "Compile models into files that start fast and share one weights file.",
          "  tenon compile -m model.onnx                          writes model_ctx.onnx and its weights beside it\n"
          "  tenon compile -m prefill.onnx -m decode.onnx --output-dir out\n"
          "  tenon compile -m model.onnx -o app/model_ctx.onnx --embed\n"
          "  tenon compile -m model.onnx --report report.html\n"
          "  tenon compile -m model.onnx --dim height=640 --dim width=480   the sizes to validate the result with\n"
          "  tenon compile --list                                 the compilers and whether they can be used here\n",
          []() -> std::unique_ptr<Command> { return std::make_unique<Compile>(); }};
}

}  // namespace cli
