#pragma once

#include <string>
#include <vector>

#include "cli/capability_flags.h"
#include "cli/compile/settings.h"

namespace cli {

class Console;

struct BuildModel {
  std::string path, name;  // "": named after the path
  std::vector<std::string> enable, disable;
  std::string provider;
};

// What `tenon build` is asked to do: flags over the configuration file over defaults.
struct BuildSettings {
  std::vector<BuildModel> models;
  std::string output, config, report;
  CapabilityFlags capabilities;
  CompileSettings compile;
  bool optimize = true, compiles = true, keep_optimized = false;
  bool rebuild = false, force = false, rehash = false, dry_run = false, overwrite = false;
  bool auto_enable = false, fail_on_reference = false;
  int64_t most_rounds = 3;

  tenon::Options options() const;
  tenon::Options model_options(const BuildModel& model) const;
};

class BuildFlags {
 public:
  void declare(Arguments& arguments);
  // Failure(kUsage) for what does not fit together and for everything that is wrong in the configuration file.
  BuildSettings resolve(const Console& console) const;

 private:
  static void check(const BuildSettings& settings);

  std::vector<std::string> models_;
  std::string output_, config_, keep_, cache_dir_, report_;
  CapabilityFlags capabilities_;
  int64_t jobs_ = 0;  // 0: not given
  bool rebuild_ = false, force_ = false, rehash_ = false, no_optimize_ = false, no_compile_ = false, dry_run_ = false;
  bool no_validate_ = false, no_cache_ = false, overwrite_ = false;
};

// Adds what a configuration file says. Paths in it start at its folder.
void read_build_config(const std::string& path, BuildSettings& settings);

}  // namespace cli
