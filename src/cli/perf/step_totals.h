#pragma once

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "cli/perf/ceiling.h"

namespace cli {

// All runs of one step in a run of the model, or of the steps of a sub-graph that ran several times.
struct StepTotal {
  std::string name, kernel, variant;
  int64_t depth = 0;
  Json dims;                     // of the first output, the last time
  std::vector<double> by_run{};  // seconds
  double seconds = 0;            // the median of them: what disturbs some runs is left out
  double calls = 0;              // per run of the model, as all below
  double flops = 0, bytes = 0;
  bool counts_flops = true;  // somebody knows them
};

// The steps of profiled runs, summed up by name.
class StepTotals {
 public:
  // The document of tenon::Run::profile_json, and how long the run took.
  void add_run(const Json& profile, double seconds);
  // After the last run: what a run takes, the slowest step first.
  void finish();

  int64_t runs() const { return runs_; }
  bool empty() const { return steps_.empty(); }
  size_t size() const { return steps_.size(); }
  // Of the steps outside of sub-graphs, per run.
  double seconds() const { return seconds_; }
  // What a run takes besides: memory, inputs and outputs, and the profile itself.
  double seconds_between() const { return seconds_between_; }
  // What a run computes and moves; what nobody can tell is left out. Bodies run inside of the steps that have them.
  double flops() const;
  double bytes() const;

  std::string text(size_t shown, const Ceiling& ceiling) const;
  Json json(const Ceiling& ceiling) const;

 private:
  std::vector<StepTotal> steps_;
  std::map<std::tuple<std::string, std::string, int64_t>, size_t> places_;  // names of nodes need not be unique
  int64_t runs_ = 0;
  double seconds_ = 0, seconds_between_ = 0;
  std::vector<double> run_seconds_;
};

}  // namespace cli
