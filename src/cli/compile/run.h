#pragma once

#include <string>
#include <vector>

#include "cli/compile/settings.h"
#include "cli/console.h"
#include "cli/output_file.h"

namespace cli {

// One build as `tenon compile` asks for it: the library does the work, this shows what it tells.
class CompileRun {
 public:
  // Checks everything that can be checked before a model is read.
  CompileRun(const CompileSettings& settings, Console& console);

  // Compiles, and shows errors and warnings. The report of the library, in the words of the flags and with paths as
  // they were given, which need not be the UTF-8 that its text is.
  Json report();
  const OutputFile& report_file() const { return report_file_; }

 private:
  void hear(tn_build_event event, size_t model, const std::string& text);
  void end_warnings();
  void check_outputs() const;
  void warn_of_unused_settings() const;
  void check_flags() const;
  Json in_our_words(const Json& report) const;
  Json model_in_our_words(const Json& model, size_t number) const;
  void show_problems(const Json& report) const;
  template <class F>
  static auto refusing_options(F&& f);

  const CompileSettings& settings_;
  Console& console_;
  OutputFile report_file_;
  tenon::Build build_;
  size_t warned_model_ = TN_BUILD_NO_MODEL, warnings_ = 0;  // of that model
};

}  // namespace cli
