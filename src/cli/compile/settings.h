#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/config_problems.h"
#include "cli/trial_flags.h"

namespace cli {

class Console;

// "net" of "models/net.onnx".
std::string stem_of(const std::string& path);

using TextMap = std::map<std::string, std::string>;

// What a compile is asked to do: flags over the configuration file over defaults.
struct CompileSettings {
  std::vector<std::string> models;
  std::string output, output_dir, bin_name, report, config, cache_dir;
  std::string compiler = "tenon";
  std::string sources = "reference";
  TextMap provider_options;
  std::map<std::string, TextMap> model_options;  // by stem, over provider_options
  std::vector<std::string> pins;
  bool freeze_all = false;
  std::vector<std::string> frozen;
  bool overwrite = false, embed = false, validate = true, defer = false, keep_going = true, no_cache = false;
  bool validate_again = false;  // also what is up to date
  int64_t jobs = 1, threads = 0;
  int64_t validate_seconds = 0;  // 0: as usual
  TrialFlags flags;              // what results are tried with

  // As the library takes them.
  tenon::Options build_options() const;
  // What counts for one model, by its path.
  tenon::Options model_options_of(const std::string& path) const;
  // Every file that is read, as far as the flags name them.
  std::vector<std::string> inputs() const;
};

// The flags of `tenon compile`.
class CompileFlags {
 public:
  void declare(Arguments& arguments);
  // Both: Failure(kUsage) when other flags are given too, which would not count.
  bool wants_list() const;
  bool wants_option_help() const;
  // Failure(kUsage) for what does not fit together and for everything that is wrong in the configuration file.
  CompileSettings resolve(const Console& console) const;

 private:
  void check() const;
  void check_outputs() const;
  static void check_together(const CompileSettings& settings);
  void add_provider_options(CompileSettings& settings) const;
  std::vector<std::string> given() const;

  CompileSettings given_;
  std::string compiler_, sources_;
  int64_t jobs_ = 0;  // 0: not given
  std::vector<std::string> ep_options_, frozen_;
  bool list_ = false, validate_ = false, no_validate_ = false, keep_going_ = false, fail_fast_ = false;
};

// The same for the section 'compile' of another configuration file.
void read_compile_section(const Json& section, CompileSettings& settings, ConfigProblems& problems);
// Adds what a configuration file says to settings that still have their defaults.
void read_config(const std::string& path, CompileSettings& settings);

// The provider options there are, as a table for people.
std::string provider_option_help();
// "" or what is wrong with a provider option.
std::string check_provider_option(const std::string& key, const std::string& value, bool of_one_model);

}  // namespace cli
