#pragma once

#include <optional>

#include "cli/arguments.h"
#include "tenon/tenon.hpp"

namespace cli {

// --option KEY=VALUE: limits and settings of the library that have no flag of their own.
class OptionFlags {
 public:
  enum class Command { Reads, Runs };
  // Only what a command does with a model is offered.
  void declare(Arguments& arguments, Command command);

  // What was given for reading a model, for making a session, for making inputs up.
  tenon::Options for_loading() const;
  void add_for_session(tenon::Options& options) const;
  void add_for_inputs(tenon::Options& options) const;
  std::optional<int64_t> memory_limit() const;
  bool given() const { return !given_.empty(); }

 private:
  KeyValues given_;
};

// The same in messages of the library: "the option 'memory_limit'" is --option memory_limit here.
std::string with_flags(std::string message);

}  // namespace cli
