#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/settings.h"

namespace cli {

// What the command line asks for.
struct Request {
  Settings settings;
  std::unique_ptr<Command> command;  // null: there is only `text` to show
  std::string text;                  // help or version, for stdout
};

// Throws Failure(kUsage) on a wrong command line; `request.settings` holds what could be read until then.
void parse_arguments(int count, char** values, const std::vector<CommandInfo>& commands, Request& request);

}  // namespace cli
