#include <algorithm>
#include <cmath>

#include "cli/perf/comparison.h"
#include "cli/stopwatch.h"

namespace cli {

namespace {

constexpr double kBatchSeconds = 0.05;
constexpr int64_t kFewestRounds = 5;

// How many runs fill a batch. Warms up as well.
int64_t batch_of(const Contender& contender) {
  const double one = std::max(std::ranges::min(contender.run(2)), 1e-9);
  const auto batch = static_cast<int64_t>(std::clamp(std::round(kBatchSeconds / one), 1.0, 5000.0));
  contender.run(batch);
  return batch;
}

void run_batch(Contender& contender, int64_t count) {
  const std::vector<double> seconds = contender.run(count);
  for (const double one : seconds) contender.times.add(one);
  contender.rounds.push_back(std::ranges::min(seconds));
}

}  // namespace

void take_turns(std::vector<Contender>& contenders, const TurnLimits& limits) {
  struct Turn {
    Contender* contender;
    int64_t batch;
  };
  std::vector<Turn> turns;
  for (Contender& contender : contenders)
    if (contender.agrees()) turns.push_back({&contender, batch_of(contender)});
  if (limits.iterations > 0) {
    const int64_t batch = std::max<int64_t>(1, limits.iterations / kFewestRounds);
    for (int64_t done = 0; done < limits.iterations; done += batch)
      for (const Turn& turn : turns) run_batch(*turn.contender, std::min(batch, limits.iterations - done));
    return;
  }
  const Stopwatch watch;
  for (int64_t round = 0; round < kFewestRounds || watch.seconds() < limits.seconds * static_cast<double>(turns.size());
       ++round) {
    for (const Turn& turn : turns) run_batch(*turn.contender, turn.batch);
    std::ranges::rotate(turns, turns.begin() + 1);  // nobody always runs after the same one
  }
}

}  // namespace cli
