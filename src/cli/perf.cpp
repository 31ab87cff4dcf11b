// tenon perf: how fast a model runs, and which of its steps take the time.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "cli/command.h"
#include "cli/console.h"
#include "cli/loaded_session.h"
#include "cli/models.h"
#include "cli/stopwatch.h"
#include "cli/text.h"

namespace cli {

namespace {

// The time that this share of the runs does not exceed. `sorted` is not empty.
double percentile(const std::vector<double>& sorted, double share) {
  return sorted[static_cast<size_t>(std::lround(share * static_cast<double>(sorted.size() - 1)))];
}

// All runs of one step in a run of the model, or of the steps of a sub-graph that ran several times.
struct StepTotal {
  std::string name, kernel, variant;
  int64_t depth = 0;
  int64_t calls = 0;
  double seconds = 0;
};

// What was measured.
struct Timing {
  std::vector<double> runs;  // seconds, sorted
  std::vector<StepTotal> steps;
  int64_t profiled_runs = 0;
  double total = 0;  // of all steps outside of sub-graphs, per run

  double mean() const { return std::accumulate(runs.begin(), runs.end(), 0.0) / static_cast<double>(runs.size()); }
};

class Perf final : public Command {
 public:
  void declare(Arguments& arguments) override {
    arguments.positional("model", path_, "an ONNX model or a compiled model");
    arguments.number("--duration", duration_, "seconds to measure (default: 2)");
    arguments.integer("--iterations", iterations_, 1, 1'000'000'000,
                      "number of runs to measure, however long they take");
    arguments.integer("--warmup", warmup_, 0, 1'000'000'000,
                      "runs before the measurement (default: as many as fit into a tenth of the duration)");
    arguments.integer("--steps", shown_steps_, 0, 1'000'000, "number of steps to show (default: 20)");
    arguments.excludes("--iterations", "--duration");
    inputs_.make_up_missing();
    inputs_.declare(arguments);
  }

  Exit execute(Console& console) override {
    const LoadedSession loaded(path_, inputs_, console);
    const tenon::Session& session = loaded.session;

    console.progress("measuring " + path_);
    const Timing timing = measure(session, loaded.inputs);
    console.end_progress();
    const tenon::Session::Memory memory = session.memory();
    if (console.is_json())
      console.print_document(document(timing, memory, loaded.context.threads()));
    else
      show(timing, memory, loaded.context.threads(), console);
    return kDone;
  }

 private:
  Timing measure(const tenon::Session& session, const std::vector<tenon::Value>& inputs) const {
    const auto run = [&](tenon::Run* how) { refusing(kCannotRun, path_, [&] { return session.run(inputs, how); }); };
    for (const Stopwatch watch; warmup_ < 0 && watch.seconds() < duration_ / 10;) run(nullptr);
    for (int64_t i = 0; i < std::max<int64_t>(warmup_, 1); ++i) run(nullptr);

    Timing timing;
    const Stopwatch watch;
    const auto is_done = [&] {
      const auto count = static_cast<int64_t>(timing.runs.size());
      return iterations_ > 0 ? count >= iterations_ : count > 0 && watch.seconds() >= duration_;
    };
    while (!is_done()) {
      const Stopwatch one;
      run(nullptr);
      timing.runs.push_back(one.seconds());
    }
    std::ranges::sort(timing.runs);
    // Looking at every step takes time of its own, so these are other runs.
    timing.profiled_runs = std::clamp<int64_t>(static_cast<int64_t>(duration_ / 4 / timing.mean()), 1, 100);
    tenon::Run profiled;
    profiled.enable_profile();
    for (int64_t i = 0; i < timing.profiled_runs; ++i) {
      run(&profiled);
      add_steps(Json::parse(profiled.profile_json()), timing);
    }
    for (StepTotal& step : timing.steps) {
      step.seconds /= static_cast<double>(timing.profiled_runs);
      step.calls /= timing.profiled_runs;
      if (step.depth == 0) timing.total += step.seconds;
    }
    std::ranges::stable_sort(timing.steps, std::greater(), &StepTotal::seconds);
    return timing;
  }

  static void add_steps(const Json& steps, Timing& timing) {
    // A step that runs again is in a sub-graph; names of nodes need not be unique.
    std::map<std::tuple<std::string, std::string, int64_t>, size_t> seen;
    for (size_t i = 0; i < timing.steps.size(); ++i)
      seen.emplace(std::tuple(timing.steps[i].name, timing.steps[i].kernel, timing.steps[i].depth), i);
    for (const Json& step : steps.items()) {
      const std::tuple key(step["name"].text(), step["kernel"].text(), step["depth"].integer());
      const auto [found, is_new] = seen.emplace(key, timing.steps.size());
      if (is_new)
        timing.steps.push_back({std::get<0>(key), std::get<1>(key), step["variant"].text(), std::get<2>(key)});
      StepTotal& total = timing.steps[found->second];
      total.seconds += step["duration_us"].number() * 1e-6;
      ++total.calls;
    }
  }

  static int64_t peak_of_process() {
    rusage usage{};
    return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_maxrss * int64_t{1024} : 0;
  }

  static std::string kernel_text(const StepTotal& step) {
    return step.variant.empty() || step.variant == "plain" ? step.kernel
                                                           : fmt::format("{} ({})", step.kernel, step.variant);
  }

  void show(const Timing& timing, const tenon::Session::Memory& memory, int threads, Console& console) const {
    const auto at = [&](double share) { return human_seconds(percentile(timing.runs, share)); };
    console.print(fmt::format("{}: {} on {}\n", path_, counted(static_cast<int64_t>(timing.runs.size()), "run"),
                              counted(threads, "thread")));
    console.print(fmt::format("  latency     min {}, p50 {}, p90 {}, p99 {}, max {}\n", at(0), at(0.5), at(0.9),
                              at(0.99), at(1)));
    console.print(fmt::format("  throughput  {:.1f} runs per second\n", 1 / timing.mean()));
    console.print(fmt::format("  memory      {} for the values of a run, {} peak of the process\n",
                              human_bytes(memory.peak), human_bytes(peak_of_process())));
    if (timing.steps.empty() || shown_steps_ == 0) return;
    console.print(
        fmt::format("\n"
                    "Steps (mean of {}, {} in total):\n",
                    counted(timing.profiled_runs, "run"), human_seconds(timing.total)));
    Table table({">time", ">share", ">calls", "kernel", "node"});
    for (size_t i = 0; i < std::min(timing.steps.size(), static_cast<size_t>(shown_steps_)); ++i) {
      const StepTotal& step = timing.steps[i];
      table.add({human_seconds(step.seconds), fmt::format("{:.1f} %", 100 * step.seconds / timing.total),
                 std::to_string(step.calls), kernel_text(step), step.name});
    }
    console.print(table.text());
    if (const size_t left = timing.steps.size(); left > static_cast<size_t>(shown_steps_))
      console.print(fmt::format("  and {} more (--steps N shows more)\n", left - static_cast<size_t>(shown_steps_)));
  }

  Json document(const Timing& timing, const tenon::Session::Memory& memory, int threads) const {
    Json steps(Json::Array{});
    for (const StepTotal& step : timing.steps)
      steps.push(Json::Object{{"name", step.name},
                              {"kernel", step.kernel},
                              {"variant", step.variant},
                              {"depth", step.depth},
                              {"calls", step.calls},
                              {"seconds", step.seconds},
                              {"share", timing.total > 0 ? step.seconds / timing.total : 0.0}});
    const auto at = [&](double share) { return percentile(timing.runs, share); };
    return Json::Object{{"model", path_},
                        {"threads", threads},
                        {"runs", static_cast<int64_t>(timing.runs.size())},
                        {"seconds", Json::Object{{"min", at(0)},
                                                 {"p50", at(0.5)},
                                                 {"p90", at(0.9)},
                                                 {"p99", at(0.99)},
                                                 {"max", at(1)},
                                                 {"mean", timing.mean()}}},
                        {"runs_per_second", 1 / timing.mean()},
                        {"memory", Json::Object{{"run_peak", memory.peak}, {"process_peak", peak_of_process()}}},
                        {"profiled_runs", timing.profiled_runs},
                        {"steps", std::move(steps)}};
  }

  std::string path_;
  double duration_ = 2;
  int64_t iterations_ = 0, warmup_ = -1, shown_steps_ = 20;
  InputFlags inputs_;
};

}  // namespace

CommandInfo perf_command() {
  return {"perf", "Measure how fast a model runs and where the time goes.",
          "  tenon perf model.onnx                               two seconds of runs on random inputs\n"
          "  tenon perf model.onnx --dim batch=8 --threads 1\n"
          "  tenon perf model_ctx.onnx --iterations 100 --steps 50\n"
          "  tenon perf model.onnx --inputs in.npz --format json\n",
          []() -> std::unique_ptr<Command> { return std::make_unique<Perf>(); }};
}

}  // namespace cli
