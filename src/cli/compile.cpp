// tenon compile: models to compiled models that share one weights file.
#include <algorithm>
#include <chrono>
#include <set>

#include "cli/compile/compilers.h"
#include "cli/compile/group.h"
#include "cli/compile/report.h"
#include "cli/output_file.h"
#include "cli/text.h"

namespace cli {

namespace {

class Compile final : public Command {
 public:
  void declare(Arguments& arguments) override { flags_.declare(arguments); }

  Exit execute(Console& console) override {
    if (flags_.wants_list()) return list(console);
    if (flags_.wants_option_help()) return option_help(console);
    const auto start = std::chrono::steady_clock::now();
    const CompileSettings settings = flags_.resolve(console);
    require_compiler(settings.compiler);
    const OutputNames names = choose_names(settings, console);
    const OutputFile report_file("--report", settings.report);
    std::vector<std::string> other_files = settings.inputs();
    for (const std::string& file : names.files) other_files.push_back(names.path(file));
    report_file.check(settings.overwrite, other_files);
    std::vector<ModelJob> jobs = make_jobs(settings, names, console);
    console.progress(jobs.size() == 1 ? "reading " + jobs[0].path : fmt::format("reading {} models", jobs.size()));
    load_jobs(jobs, settings, console);
    check_flags(settings, jobs);
    GroupCompiler compiler(settings, names, jobs, console);
    compiler.run();
    console.end_progress();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const Json report = compile_report(settings, names, jobs, compiler.group(), seconds);
    show_problems(jobs, console);
    if (report_file.wanted())
      report_file.write(settings.report.ends_with(".html") ? compile_report_html(report) : report.dump() + "\n");
    console.is_json() ? console.print_document(report) : console.print(compile_report_text(report, console));
    return report["status"].text() == "failed" ? kFailed : kDone;
  }

 private:
  // What no model has may belong to one that could not be loaded, which is reported.
  static void check_flags(const CompileSettings& settings, const std::vector<ModelJob>& jobs) {
    std::vector<const tenon::Model*> models;
    for (const ModelJob& job : jobs)
      if (job.model) models.push_back(&*job.model);
    if (settings.flags.given() && models.size() == jobs.size()) check_trial_flags(settings.flags, models);
  }

  static void show_problems(const std::vector<ModelJob>& jobs, const Console& console) {
    std::set<std::string> shown;  // models may fail together, for one reason
    for (const ModelJob& job : jobs) {
      if (!job.error.empty() && shown.insert(job.error).second) console.error(job.error);
      const std::string& verdict = job.validation["verdict"].text();
      if (verdict == "inconclusive")
        console.warning(fmt::format("{}: validation is inconclusive: {}", job.path, job.validation["message"].text()));
      if (verdict == "never validated")
        console.warning(fmt::format("{}: is up to date but was never validated; add --validate to try it", job.path));
    }
  }

  static std::vector<ModelJob> make_jobs(const CompileSettings& settings, const OutputNames& names,
                                         const Console& console) {
    std::vector<ModelJob> jobs(settings.models.size());
    for (size_t i = 0; i < jobs.size(); ++i) {
      jobs[i].path = settings.models[i];
      jobs[i].name = names.names[i];
      jobs[i].file = names.files[i];
    }
    for (const auto& [stem, options] : settings.model_options)
      if (std::none_of(jobs.begin(), jobs.end(), [&](const ModelJob& job) { return stem_of(job.path) == stem; }))
        console.warning(fmt::format("--config: no model is called '{}', its settings do not count", stem));
    return jobs;
  }

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
    if (console.is_json()) throw Failure(kUsage, "--ep-options help is for people; it has no JSON form");
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
          "  tenon compile -m model.onnx --dim height=640 --dim width=480   what the result is tried with\n"
          "  tenon compile --list                                 the compilers that can be used here\n",
          []() -> std::unique_ptr<Command> { return std::make_unique<Compile>(); }};
}

}  // namespace cli
