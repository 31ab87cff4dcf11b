#pragma once

#include <string>

#include "cli/console.h"

namespace cli {

// The report of a build for people: a table, and what is shared. Colors as the console has them.
std::string compile_report_text(const Json& report, const Console& console);

}  // namespace cli
