#include "cli/perf/step_totals.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "cli/console.h"
#include "cli/text.h"

namespace cli {

namespace {

std::string kernel_text(const StepTotal& step) {
  return step.variant.empty() || step.variant == "plain" ? step.kernel
                                                         : fmt::format("{} ({})", step.kernel, step.variant);
}

std::string dims_text(const Json& dims) {
  std::string text;
  for (const Json& extent : dims.items()) text += (text.empty() ? "" : "x") + extent.plain();
  return text;
}

// Of a step that several nodes became, the first.
std::string node_text(const std::string& name) {
  constexpr size_t kMost = 60;
  constexpr std::string_view kBetween = " + ";
  size_t nodes = 1;
  for (size_t at = 0; (at = name.find(kBetween, at)) != std::string::npos; at += kBetween.size()) ++nodes;
  if (nodes == 1 || name.size() <= kMost) return name;
  return fmt::format("{} and {} more", name.substr(0, name.find(kBetween)), nodes - 1);
}

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

std::string calls_text(double calls) { return fmt::format("{:.6g}", calls); }

// Billions per second, or "-" for nothing at all.
std::string rate_text(double amount, double seconds) {
  return amount <= 0 || seconds <= 0 ? "-" : fmt::format("{:.1f}", amount / seconds * 1e-9);
}

Json step_json(const StepTotal& step, double total, const Ceiling& ceiling) {
  const double flops = step.counts_flops ? step.flops : -1;
  return Json::Object{{"name", step.name},
                      {"kernel", step.kernel},
                      {"variant", step.variant},
                      {"depth", step.depth},
                      {"dims", step.dims},
                      {"calls", static_cast<int64_t>(step.calls)},
                      {"seconds", step.seconds},
                      {"share", total > 0 ? step.seconds / total : 0.0},
                      {"flops", step.counts_flops ? Json(step.flops) : Json()},
                      {"bytes", step.bytes},
                      {"share_of_peak", ceiling.share(flops, step.bytes, step.seconds)}};
}

}  // namespace

void StepTotals::add_run(const Json& profile, double seconds) {
  ++runs_;
  run_seconds_.push_back(seconds);
  for (const Json& step : profile.items()) {
    const std::tuple key(step["name"].text(), step["kernel"].text(), step["depth"].integer());
    const auto [found, is_new] = places_.emplace(key, steps_.size());
    if (is_new) steps_.push_back({std::get<0>(key), std::get<1>(key), step["variant"].text(), std::get<2>(key)});
    StepTotal& total = steps_[found->second];
    total.by_run.resize(static_cast<size_t>(runs_));  // 0 where it did not run
    total.by_run.back() += step["duration_us"].number() * 1e-6;
    total.bytes += step["bytes"].number();
    if (step["flops"].is_null())
      total.counts_flops = false;
    else
      total.flops += step["flops"].number();
    total.dims = step["dims"];
    ++total.calls;
  }
}

void StepTotals::finish() {
  for (StepTotal& step : steps_) {
    for (double* sum : {&step.calls, &step.flops, &step.bytes}) *sum /= static_cast<double>(runs_);
    step.by_run.resize(static_cast<size_t>(runs_));
    step.seconds = median(step.by_run);
    if (step.depth == 0) seconds_ += step.seconds;
  }
  seconds_between_ = std::max(0.0, median(run_seconds_) - seconds_);
  std::ranges::stable_sort(steps_, std::greater(), &StepTotal::seconds);
  places_.clear();
}

double StepTotals::flops() const {
  return std::accumulate(steps_.begin(), steps_.end(), 0.0,
                         [](double sum, const StepTotal& step) { return sum + step.flops; });
}
double StepTotals::bytes() const {
  return std::accumulate(steps_.begin(), steps_.end(), 0.0,
                         [](double sum, const StepTotal& step) { return sum + step.bytes; });
}

std::string StepTotals::text(size_t shown, const Ceiling& ceiling) const {
  Table table({">time", ">share", ">calls", ">GFLOP/s", ">GB/s", ">of peak", "kernel", "output", "node"});
  for (const StepTotal& step : std::span(steps_).first(std::min(steps_.size(), shown))) {
    const double share = ceiling.share(step.counts_flops ? step.flops : -1, step.bytes, step.seconds);
    table.add({human_seconds(step.seconds), fmt::format("{:.1f} %", 100 * step.seconds / seconds_),
               calls_text(step.calls), rate_text(step.counts_flops ? step.flops : 0, step.seconds),
               rate_text(step.bytes, step.seconds), share > 0 ? fmt::format("{:.0f} %", 100 * share) : "-",
               kernel_text(step), dims_text(step.dims), node_text(step.name)});
  }
  return table.text();
}

Json StepTotals::json(const Ceiling& ceiling) const {
  Json list(Json::Array{});
  for (const StepTotal& step : steps_) list.push(step_json(step, seconds_, ceiling));
  return list;
}

}  // namespace cli
