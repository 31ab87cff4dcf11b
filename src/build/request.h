#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "build/cache/cache_folder.h"

namespace tenon::build {

// Which capabilities are switched, by name.
using CapabilitySwitches = std::map<std::string, int64_t>;

struct ModelRequest {
  std::string path;
  std::string provider;             // "": that of the build
  std::string name;                 // of the results; "": the stem of the path
  CapabilitySwitches capabilities;  // over those of the build
};

// What happens to models before they are compiled.
struct OptimizeSettings {
  bool is_on = false;
  bool force = false;  // whatever their stamps say
  CapabilitySwitches capabilities;
};

// The stages around a compile, see staged_build.h.
struct StagedSettings {
  bool is_on = false;
  bool compile = true, keep_optimized = false;
  bool rebuild = false, rehash = false, dry_run = false;
  bool auto_enable = false;  // switches on what the analysis suggests
  int64_t most_rounds = 3;
  bool fail_on_reference = false;
};

// What comparisons with the reference use, each as NAME=VALUE: extents of open dimensions, shapes of inputs, and inputs
// themselves (a NumPy file or one value). The inputs of a model decide which of them concern it.
struct TrialRequest {
  std::vector<std::string> dims, shapes, inputs;
  bool empty() const { return dims.empty() && shapes.empty() && inputs.empty(); }
};

// What a build is asked to do.
struct BuildRequest {
  std::vector<ModelRequest> models;
  std::string output;        // the one context file; excludes output_dir
  std::string output_dir;    // "": beside the first model
  std::string weights_name;  // of the weights file, before the dash; "": chosen
  std::string compiler = "tenon", provider = "cpu";
  std::string cpu_isa;                // "": the best there is
  std::string sources = "reference";  // what later swaps of some weights draw on: reference, embed or none
  std::vector<std::string> pins;
  std::vector<std::string> frozen;  // initializers that are inputs too and become weights
  bool freeze_all = false;
  bool overwrite = false, embed = false, defer_weights = false, keep_going = true;
  bool validate = true;
  bool validate_existing = false;  // also what is up to date
  int64_t jobs = 1, threads = 0;
  int64_t validate_seconds = 600;  // that the reference may take for a set of inputs, and then the compiled model
  std::chrono::milliseconds compile_limit = std::chrono::hours(1);  // that a compiler in another process may be silent
  CacheOptions cache;
  OptimizeSettings optimize;
  StagedSettings staged;
  TrialRequest trial;
  std::string program;  // the `tenon` that tries results; "": the one beside the library
};

enum class Event { Progress, Warning, Detail };

// Hears what happens, from any thread but one call at a time. `model` is the number of the model that the text is
// about, or kNoModel. Must not throw.
using Listener = std::function<void(Event event, size_t model, const std::string& text)>;
inline constexpr size_t kNoModel = SIZE_MAX;

}  // namespace tenon::build
