#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/compared_outputs.h"
#include "cli/console.h"
#include "cli/perf/peer.h"
#include "cli/perf/run_times.h"

namespace cli {

// One engine of a comparison.
struct Contender {
  std::string engine, version;
  std::function<std::vector<double>(int64_t)> run;  // the seconds of so many runs
  std::string refusal;                              // why it cannot run the model
  std::vector<ComparedOutput> outputs;              // against those of Tenon
  RunTimes times;
  std::vector<double> rounds;  // the least time in each

  bool agrees() const { return refusal.empty() && (outputs.empty() || verdict_of(outputs) != "different"); }
};

// How long engines may take.
struct TurnLimits {
  double seconds = 2;      // of each engine
  int64_t iterations = 0;  // of each engine, instead
};

// Lets engines run in turns, so that whatever else the machine does meets all of them. Only those that agree.
void take_turns(std::vector<Contender>& contenders, const TurnLimits& limits);

// Tenon and peers on one model; Tenon comes first.
class Comparison {
 public:
  struct Subject {
    const tenon::Model& source;  // what peers run
    std::string source_path;
    const tenon::Session& session;
    const tenon::Context& context;
    const std::vector<tenon::Value>& inputs;
  };

  Comparison(const std::vector<std::string>& engines, const Subject& subject, const Console& console);
  ~Comparison();
  Comparison(const Comparison&) = delete;
  Comparison& operator=(const Comparison&) = delete;

  void measure(const TurnLimits& limits) { take_turns(contenders_, limits); }
  const RunTimes& own_times() const { return contenders_[0].times; }
  // Whether all peers that ran computed the same.
  bool agrees() const;
  std::string text() const;
  Json json() const;

 private:
  void write_inputs(const Subject& subject) const;
  void add_peer(const std::string& engine, const Subject& subject, const Judge& judge,
                const std::vector<tenon::Value>& own);

  std::string folder_;
  std::vector<std::unique_ptr<Peer>> peers_;
  std::vector<Contender> contenders_;
};

}  // namespace cli
