#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "base/status.h"
#include "build/json.h"
#include "build/request.h"

namespace tenon::build {

// The `tenon` program that belongs to this library: beside it, or in the bin folder of where it is installed. NotFound,
// with the folders that were searched and what to do.
Result<std::string> find_program();

struct StagedCheck {
  std::string program;         // that compares
  std::string model, context;  // their paths
  int64_t threads = 0, seed = 1;
  int64_t memory = 0;  // that runs may take; 0: the usual limit
  std::string cpu_isa;
  bool freeze_all = false;
  std::vector<std::string> frozen;
  double rtol = -1, atol = -1;  // negative: what rounding explains
  int64_t samples = 0;          // sets of inputs; 0: one for each shape that is tried
  TrialRequest trial;           // what concerns the model
  int64_t seconds = 600;        // that the reference may take for a set, and then the compiled model
};

// Compares a context file with the model it was made from, in a process of its own, so that a crash there is only a
// result. The process is `tenon --check-staged REQUEST MODEL CONTEXT [--dim|--shape|--input TEXT ...]`: it writes a
// line end when the reference has run, a tab when the compiled model has, and the result as JSON at last. A reference
// that takes too long makes the verdict "inconclusive", a compiled model "failed". {verdict: "same" | "different" |
// "inconclusive" | "failed", message, outputs: [...], tried: [...], seconds}; with short_of_memory when the verdict is
// inconclusive for that reason.
Json validate_staged(const StagedCheck& check, const std::atomic<bool>* cancelled);

}  // namespace tenon::build
