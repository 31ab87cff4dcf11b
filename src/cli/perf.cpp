// tenon perf: how fast a model runs, which of its steps take the time, and how long other engines take.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "cli/artifacts.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/failure.h"
#include "cli/loaded_session.h"
#include "cli/models.h"
#include "cli/output_file.h"
#include "cli/perf/comparison.h"
#include "cli/perf/step_totals.h"
#include "cli/source_model.h"
#include "cli/stopwatch.h"
#include "cli/text.h"
#include "cli/trace.h"

namespace cli {

namespace {

int64_t peak_of_process() {
  rusage usage{};
  return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_maxrss * int64_t{1024} : 0;
}

// "a,b" as words.
std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> words;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    words.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

class Perf final : public Command {
 public:
  void declare(Arguments& arguments) override {
    arguments.positional("model", path_, "an ONNX model or a compiled model");
    arguments.number("--duration", limits_.seconds, "seconds to measure, for each engine (default: 2)");
    arguments.integer("--iterations", limits_.iterations, 1, 1'000'000'000,
                      "number of runs to measure, however long they take");
    arguments.integer("--warmup", warmup_, 0, 1'000'000'000,
                      "runs before the measurement (default: as many as fit into a tenth of the duration)");
    arguments.integer("--steps", shown_steps_, 0, 1'000'000, "number of steps to show (default: 20)");
    arguments.excludes("--iterations", "--duration");
    arguments.text("--compare", compared_, "ENGINES",
                   "run the model with other engines in turn, compare their outputs and their times: ort, openvino or "
                   "ort,openvino, from the Python packages of python3");
    arguments.text("--source", source_, "FILE",
                   "with --compare, the model that a compiled model was made from (default: found beside it by name "
                   "and hash)");
    arguments.needs("--source", "--compare");
    arguments.text("--trace", trace_, "FILE.json", "write the steps of a run, in the format of trace viewers");
    arguments.flag("--overwrite", overwrite_, "let --trace replace an existing file");
    arguments.needs("--overwrite", "--trace");
    inputs_.make_up_missing();
    inputs_.declare(arguments);
  }

  Exit execute(Console& console) override {
    const std::vector<std::string> engines = peer_engines();
    const OutputFile trace("--trace", trace_);
    const LoadedSession loaded(path_, inputs_, console);
    check_trace(trace);

    warm_up(loaded);
    std::unique_ptr<Comparison> comparison;
    if (!engines.empty()) comparison = compare(engines, loaded, console);
    if (!comparison) measure(loaded, console);
    const RunTimes& times = comparison ? comparison->own_times() : times_;
    const StepTotals steps = profile(loaded, times, trace);
    const Ceiling ceiling(Json::parse(loaded.context.machine_speed_json()));
    console.end_progress();
    const Result result{loaded, times, steps, ceiling, comparison.get()};
    if (console.is_json())
      console.print_document(document(result));
    else
      show(result, console);
    return comparison && !comparison->agrees() ? kFailed : kDone;
  }

 private:
  struct Result {
    const LoadedSession& loaded;
    const RunTimes& times;
    const StepTotals& steps;
    const Ceiling& ceiling;
    const Comparison* comparison;

    double share_of_peak() const { return ceiling.share(steps.flops(), 0, times.at(0.5)); }
  };

  std::vector<std::string> peer_engines() const {
    std::vector<std::string> engines;
    if (compared_.empty()) return engines;
    for (const std::string& word : words_of(compared_)) {
      engines.push_back(Peer::engine_of(word));
      if (engines.back().empty())
        throw Failure(kUsage, fmt::format("--compare: there is no engine '{}'{}; choose from: ort, openvino", word,
                                          suggestion(word, {"ort", "openvino"})));
      if (std::ranges::count(engines, engines.back()) > 1)
        throw Failure(kUsage, fmt::format("--compare: '{}' is named twice", word));
    }
    return engines;
  }

  void check_trace(const OutputFile& trace) const {
    if (!trace.wanted()) return;
    std::vector<std::string> read = inputs_.files();
    read.push_back(path_);
    if (!source_.empty()) read.push_back(source_);
    trace.check(overwrite_, read);
  }

  std::vector<tenon::Value> run(const LoadedSession& loaded, tenon::Run* how = nullptr) const {
    return refusing(kCannotRun, path_, [&] { return loaded.session.run(loaded.inputs, how); });
  }

  void warm_up(const LoadedSession& loaded) const {
    for (const Stopwatch watch; warmup_ < 0 && watch.seconds() < limits_.seconds / 10;) run(loaded);
    for (int64_t i = 0; i < std::max<int64_t>(warmup_, 1); ++i) run(loaded);
  }

  void measure(const LoadedSession& loaded, const Console& console) {
    console.progress("measuring " + path_);
    const Stopwatch watch;
    const auto is_done = [&] {
      const auto count = static_cast<int64_t>(times_.size());
      return limits_.iterations > 0 ? count >= limits_.iterations : count > 0 && watch.seconds() >= limits_.seconds;
    };
    while (!is_done()) {
      const Stopwatch one;
      run(loaded);
      times_.add(one.seconds());
    }
  }

  std::unique_ptr<Comparison> compare(const std::vector<std::string>& engines, const LoadedSession& loaded,
                                      const Console& console) const {
    const bool is_compiled = refusing(kCannotLoad, path_, [&] { return tenon::is_context_file(path_); });
    if (!is_compiled && !source_.empty())
      throw Failure(kUsage, "--source is for compiled models; other engines run this model itself");
    const std::string source = is_compiled ? source_path() : path_;
    std::optional<tenon::Model> made_from;
    if (is_compiled) made_from = load_model(source, {}, console);
    const tenon::Model& model = made_from ? *made_from : loaded.model;
    auto comparison = refusing(kCannotRun, path_, [&] {
      return std::make_unique<Comparison>(
          engines, Comparison::Subject{model, source, loaded.session, loaded.context, loaded.inputs}, console);
    });
    console.progress("measuring " + path_);
    comparison->measure(limits_);
    return comparison;
  }

  // What a compiled model was made from.
  std::string source_path() const {
    const Json described = Json::parse(open_group(group_of_file(path_)).describe());
    const Json& model = described["models"].items()[0];
    if (!source_.empty()) {
      const std::string reason = why_not_source(model, source_);
      if (!reason.empty()) throw Failure(kCannotLoad, fmt::format("{}: --source: {}", path_, reason));
      return source_;
    }
    std::string reason;
    const std::string folder = std::filesystem::path(path_).parent_path().string();
    std::string found = find_source(model, {folder}, "name it with --source", reason);
    if (found.empty())
      throw Failure(kCannotLoad,
                    fmt::format("{}: other engines run the model that it was compiled from: {}", path_, reason));
    return found;
  }

  // Looking at every step takes time of its own, so these are other runs.
  StepTotals profile(const LoadedSession& loaded, const RunTimes& times, const OutputFile& trace) const {
    const auto wanted = static_cast<int64_t>(limits_.seconds / 4 / times.mean());
    StepTotals steps;
    tenon::Run profiled;
    profiled.enable_profile();
    Json last;
    for (int64_t i = 0; i < std::clamp<int64_t>(wanted, 1, 100); ++i) {
      const Stopwatch watch;
      run(loaded, &profiled);
      const double seconds = watch.seconds();
      last = Json::parse(profiled.profile_json());
      steps.add_run(last, seconds);
    }
    steps.finish();
    if (trace.wanted()) trace.write(trace_of(last));
    return steps;
  }

  void show(const Result& result, Console& console) const {
    const RunTimes& times = result.times;
    const auto at = [&](double share) { return human_seconds(times.at(share)); };
    console.print(fmt::format("{}: {} on {}\n", path_, counted(static_cast<int64_t>(times.size()), "run"),
                              counted(result.loaded.context.threads(), "thread")));
    console.print(fmt::format("  latency     min {}, p50 {}, p90 {}, p99 {}, max {}\n", at(0), at(0.5), at(0.9),
                              at(0.99), at(1)));
    console.print(fmt::format("  throughput  {:.1f} runs per second\n", 1 / times.mean()));
    console.print(fmt::format("  arithmetic  {:.3g} GFLOP in a run, {:.1f} % of what this machine computes at most\n",
                              result.steps.flops() * 1e-9, 100 * result.share_of_peak()));
    console.print(fmt::format("  machine     {:.1f} GFLOP/s ({}), {:.1f} GB/s outside of caches\n",
                              result.ceiling.flops() * 1e-9, result.ceiling.json()["cpu_isa"].text(),
                              result.ceiling.bytes() * 1e-9));
    console.print(fmt::format("  memory      {} for the values of a run, {} peak of the process\n",
                              human_bytes(result.loaded.session.memory().peak), human_bytes(peak_of_process())));
    if (result.comparison) console.print("\nEngines, in turns:\n" + result.comparison->text());
    show_steps(result, console);
  }

  void show_steps(const Result& result, Console& console) const {
    if (result.steps.empty() || shown_steps_ == 0) return;
    console.print(fmt::format("\nSteps (medians of {}, {} in total, {} between them):\n",
                              counted(result.steps.runs(), "run"), human_seconds(result.steps.seconds()),
                              human_seconds(result.steps.seconds_between())));
    console.print(result.steps.text(static_cast<size_t>(shown_steps_), result.ceiling));
    if (const auto left = static_cast<int64_t>(result.steps.size()) - shown_steps_; left > 0)
      console.print(fmt::format("  and {} more (--steps N shows more)\n", left));
  }

  Json document(const Result& result) const {
    const tenon::Session::Memory memory = result.loaded.session.memory();
    Json entry = Json::Object{{"model", path_},
                              {"threads", result.loaded.context.threads()},
                              {"runs", static_cast<int64_t>(result.times.size())},
                              {"seconds", result.times.json()},
                              {"runs_per_second", 1 / result.times.mean()},
                              {"machine", result.ceiling.json()},
                              {"work", Json::Object{{"flops", result.steps.flops()},
                                                    {"bytes", result.steps.bytes()},
                                                    {"share_of_peak", result.share_of_peak()}}},
                              {"memory", Json::Object{{"run_peak", memory.peak}, {"process_peak", peak_of_process()}}}};
    if (result.comparison) entry.set("engines", result.comparison->json());
    if (!trace_.empty()) entry.set("trace", trace_);
    entry.set("profiled_runs", result.steps.runs());
    entry.set("seconds_between_steps", result.steps.seconds_between());
    entry.set("steps", result.steps.json(result.ceiling));
    return entry;
  }

  std::string path_, compared_, source_, trace_;
  TurnLimits limits_;
  int64_t warmup_ = -1, shown_steps_ = 20;
  bool overwrite_ = false;
  RunTimes times_;
  InputFlags inputs_;
};

}  // namespace

CommandInfo perf_command() {
  return {"perf", "Measure how fast a model runs, where the time goes, and how long other engines take.",
          "  tenon perf model.onnx                               two seconds of runs on random inputs\n"
          "  tenon perf model.onnx --dim batch=8 --threads 1\n"
          "  tenon perf model_ctx.onnx --iterations 100 --steps 50\n"
          "  tenon perf model.onnx --compare ort,openvino        other engines in turn with Tenon\n"
          "  tenon perf model.onnx --trace steps.json\n"
          "  tenon perf model.onnx --inputs in.npz --format json\n",
          []() -> std::unique_ptr<Command> { return std::make_unique<Perf>(); }};
}

}  // namespace cli
