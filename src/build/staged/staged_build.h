#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "build/names.h"
#include "build/staged/manifest.h"
#include "build/staged/stage.h"

namespace tenon::build {

class Build;

// Import, optimize, analyze and compile as one pipeline in memory. A stage runs when its key, of everything that
// decides about its result, is another one than the folder's manifest has; files are never trusted for being there.
class StagedBuild {
 public:
  // Refers to all of it.
  StagedBuild(const BuildRequest& request, const Listener& tell, const std::atomic<bool>& cancelled);
  ~StagedBuild();
  StagedBuild(const StagedBuild&) = delete;
  StagedBuild& operator=(const StagedBuild&) = delete;

  // Checks the request, and chooses names. Throws tenon::Error.
  void prepare();
  // The manifest, with the report of the compile as "report".
  std::string run();
  void cancel();
  // After prepare().
  std::vector<std::string> outputs() const;

 private:
  void check_inputs_stay() const;
  std::vector<std::string> planned_files() const;
  void check_outputs_are_own() const;
  void read_inputs();
  void decide();
  void decide(StagedModel& model, const Json& last);
  bool is_done(StageName name) const;
  bool is_compile_intact() const;
  void run_stages();
  void publish(bool compiles, bool writes);
  void announce();
  void withdraw() const;
  void load();
  void analyze_all();
  void analyze_one(size_t model);
  bool has_fallbacks();
  void finish();
  bool enable_suggested();
  void write_optimized();
  void compile();
  void note_compiled(const Json& report);
  void write_analysis();
  void write_effective();
  void remove_own_leftovers() const;
  Json manifest() const;
  std::string status() const;
  std::string path(const std::string& file) const { return names_.path(file); }
  void write_text(const std::string& file, const Json& value);
  void check_cancelled() const;

  BuildRequest request_;
  const Listener& tell_;
  const std::atomic<bool>& cancelled_;
  OutputNames names_;
  Manifest last_;
  std::vector<StagedModel> models_;
  std::vector<std::string> outputs_;  // files in the folder
  std::vector<std::string> made_folders_;
  std::shared_ptr<Build> build_;  // of the stages that run
  mutable std::mutex mutex_;      // of build_, for cancel()
  Json report_;
  std::string weights_file_;
  double seconds_ = 0;
};

}  // namespace tenon::build
