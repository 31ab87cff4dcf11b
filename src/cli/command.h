#pragma once

#include <memory>
#include <string>

#include "cli/failure.h"

namespace cli {

class Arguments;
class Console;

// One command of the command line. Made, declared, parsed into, executed once.
class Command {
 public:
  virtual ~Command() = default;
  virtual void declare(Arguments& arguments) = 0;
  // kDone, or kFailed when the result itself is that something differs. Throws Failure or tenon::Error when there is
  // no result to show.
  virtual Exit execute(Console& console) = 0;
};

struct CommandInfo {
  std::string name;
  std::string summary;   // one line
  std::string examples;  // shown at the end of --help
  std::unique_ptr<Command> (*make)();
};

// Each in the file of its name.
CommandInfo compile_command();
CommandInfo optimize_command();
CommandInfo analyze_command();
CommandInfo build_command();
CommandInfo weights_command();
CommandInfo run_command();
CommandInfo verify_command();
CommandInfo perf_command();
CommandInfo inspect_command();
CommandInfo sys_command();

}  // namespace cli
