// tenon analyze: what will run each node of a model, and what would help.
#include <fmt/format.h>

#include "cli/analysis_text.h"
#include "cli/arguments.h"
#include "cli/capability_flags.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/failure.h"
#include "cli/models.h"
#include "cli/output_file.h"
#include "cli/text.h"
#include "tenon/tenon.hpp"

namespace cli {

namespace {

class Analyze final : public Command {
 public:
  void declare(Arguments& arguments) override {
    arguments.positional("model", path_, "an ONNX model");
    arguments.choice("--target", target_, {"cpu", "cpu_exact", "reference"},
                     "the kernels to compile for (default: cpu)");
    arguments.choice("--consumer", consumer_, {"tenon", "onnxruntime"}, "who will run the model (default: tenon)");
    capabilities_.declare(arguments);
    arguments.flag("--no-optimize", no_optimize_, "analyze the model as it is, not its normal form");
    arguments.excludes("--no-optimize", "--enable");
    arguments.excludes("--no-optimize", "--disable");
    arguments.text("--report", report_, "FILE", "write the whole analysis as .json or .html");
    arguments.choice("--fail-on", fail_on_, {"reference"}, "fail if a node falls back to the reference");
    arguments.flag("--nodes", nodes_, "list every node");
    arguments.flag("--overwrite", overwrite_, "replace the report if it exists");
  }

  Exit execute(Console& console) override {
    if (!report_.empty() && !report_.ends_with(".json") && !report_.ends_with(".html"))
      throw Failure(kUsage, fmt::format("--report must end with .json or .html, but it is '{}'", report_));
    const OutputFile report("--report", report_);
    if (report.wanted()) report.check(overwrite_, {path_});
    tenon::Options options{{"provider", target_}, {"consumer", consumer_}, {"optimize", no_optimize_ ? "0" : "1"}};
    capabilities_.add_to(options);
    const bool is_compiled = refusing(kCannotLoad, path_, [&] { return tenon::is_context_file(path_); });
    const tenon::Model model = load_model(path_, {}, console);
    const Exit refused = is_compiled ? kCannotLoad : kFailed;
    const Json analysis = Json::parse(refusing(refused, path_, [&] { return tenon::analyze(model, options); }));
    if (report.wanted()) report.write(report_text(analysis));
    if (console.is_json())
      console.print_document(analysis);
    else
      console.print(analysis_text(path_, analysis, nodes_));
    return fails(analysis) ? kFailed : kDone;
  }

 private:
  std::string report_text(const Json& analysis) const {
    if (report_.ends_with(".json")) return analysis.dump() + "\n";
    Json list(Json::Array{});
    list.push(Json::Object{{"model", path_}, {"analysis", analysis}});
    return tenon::analysis_html(list.dump());
  }
  bool fails(const Json& analysis) const { return !fail_on_.empty() && analysis["summary"]["fallbacks"].integer() > 0; }

  std::string path_, target_ = "cpu", consumer_ = "tenon", report_, fail_on_;
  CapabilityFlags capabilities_;
  bool no_optimize_ = false, nodes_ = false, overwrite_ = false;
};

}  // namespace

CommandInfo analyze_command() {
  return {"analyze", "Show what will run each node of a model, what falls back to the reference, and what would help.",
          "  tenon analyze model.onnx\n"
          "  tenon analyze model.onnx --nodes --enable NAME\n"
          "  tenon analyze model.onnx --report analysis.html      with a drawing of the graph\n"
          "  tenon analyze model.onnx --fail-on reference         for scripts\n",
          []() -> std::unique_ptr<Command> { return std::make_unique<Analyze>(); }};
}

}  // namespace cli
