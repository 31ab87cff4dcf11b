#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "cli/json.h"
#include "cli/perf/child.h"
#include "tenon/tenon.hpp"

namespace cli {

// What another engine says when it cannot run a model.
struct PeerRefusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Another engine in a Python process of its own (peer.py), with a session for one model.
class Peer {
 public:
  struct Job {
    std::string model;   // an ONNX file
    std::string inputs;  // an .npz file
    std::string folder;  // where outputs may be written
    int threads = 1;
  };

  // "onnxruntime" for "ort"; "" for what there is not.
  static std::string engine_of(const std::string& name);

  // Failure(kFailed) with what to install when the engine is not there.
  Peer(const std::string& engine, const Job& job);

  const std::string& engine() const { return engine_; }
  const std::string& version() const { return version_; }
  // Makes the session and runs it once. PeerRefusal when the engine cannot.
  std::vector<tenon::Value> open();
  // The seconds of each of several runs.
  std::vector<double> run(int64_t count);

 private:
  Json ask(const std::string& question);
  Json answer();

  std::string engine_, version_, outputs_;
  Child child_;
};

}  // namespace cli
